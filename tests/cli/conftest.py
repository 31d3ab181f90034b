"""`mrtr-tools` as a real process: with pipes, against a real server, and in a pseudo-terminal."""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mrtr_tools.cli import main
from tests.server.processes import serving

ROOT = Path(__file__).parents[2]
DESK = "tests/cli/desk.py"
WORKS = str(ROOT / "tests" / "client" / "works.py")
COMMAND = [sys.executable, "-W", "error", "-m", "mrtr_tools.cli"]
TIMEOUT = 60
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(**more: str) -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if key not in ("MRTR_TOOLS_KEYS", "NO_COLOR", "FORCE_COLOR")
    }
    return kept | {"PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm-256color", "PYTHONUTF8": "1"} | more


@pytest.fixture(scope="session")
def run() -> Run:
    def run(*args: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *args],
            cwd=cwd,
            env=environment(PYTHONPATH=str(ROOT), **env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT,
            check=False,
        )

    return run


@pytest.fixture
def command(monkeypatch, capsys) -> Run:
    """`mrtr-tools` inside this process, which has imported the SDK already; otherwise like `run`."""

    def command(*args: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["mrtr-tools", *args])
        with pytest.raises(SystemExit) as exited:
            main()
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(args, int(exited.value.code or 0), out, err)

    return command


class Desk:
    """The tools of desk.py behind an address of this machine; `said` is what the server printed while it started."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "run", DESK, "--http", "--port", "0"],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert self.process.stderr
        self.said: list[str] = []
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                self.url = f"{found.group()}/mcp"
                break

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=TIMEOUT)


@pytest.fixture(scope="session")
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.close()


@pytest.fixture(scope="session")
def works() -> Iterator[str]:
    """The address of tools that go on as tasks."""
    with serving([WORKS]) as served:
        yield served.url


class Scripted(ThreadingHTTPServer):
    """A server that answers each `tools/call` with the next result of its script; the last one over and over.

    A result with a ``code`` is an error; one whose ``status`` is a number has that of HTTP and nothing else, and with
    0 there is none. `tool` is
    the one tool that it lists. `messages` are all that came, `calls` the params of the calls among them. It says hello
    to older clients too. `tasks` are the scripts of other methods, such as ``tasks/get``; `headers` has the method and
    the `Mcp-Name` of each request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self.server_port}/mcp"
        self.script: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.tasks: dict[str, list[dict[str, Any]]] = {}
        self.headers: list[tuple[str, str | None]] = []
        self.tool: dict[str, Any] = {"name": "do", "inputSchema": {"type": "object"}}

    def reply(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        hints = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if method == "server/discover":
            return hints | {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        if method == "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "0"},
            }
        if method == "tools/list":
            return hints | {"tools": [self.tool]}
        if method in self.tasks:
            script = self.tasks[method]
            return script.pop(0) if len(script) > 1 else script[0]
        self.calls.append(params)
        return self.script[min(len(self.calls), len(self.script)) - 1]


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert isinstance(self.server, Scripted)
        self.server.messages.append(message)
        if "id" not in message:
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.server.headers.append((message["method"], self.headers["Mcp-Name"]))
        result = self.server.reply(message["method"], message.get("params", {}))
        if result.get("status") == 0:
            self.close_connection = True
            return
        if isinstance(result.get("status"), int):
            self.send_response(result["status"])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        outcome = "error" if "code" in result else "result"
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], outcome: result}).encode()
        self.send_response(400 if outcome == "error" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        pass


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    with Scripted() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join(TIMEOUT)


class Typist:
    """`mrtr-tools` in a terminal of 40 lines of 100 columns, with its stdout in a pipe of its own."""

    def __init__(self, *args: str) -> None:
        self._terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.process = subprocess.Popen(
            [*COMMAND, *args], cwd=ROOT, env=environment(), stdin=inside, stderr=inside, stdout=subprocess.PIPE
        )
        os.close(inside)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.seen = ""
        self._read_to = 0

    def see(self, text: str) -> None:
        """Wait until a text is on the screen, after what was waited for before."""
        deadline = time.monotonic() + TIMEOUT
        while (at := self.seen.find(text, self._read_to)) < 0:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} did not come; on the screen:\n{self.seen}"
            if select.select([self._terminal], [], [], left)[0]:
                try:
                    self._take()
                except OSError:
                    raise AssertionError(f"{text!r} did not come before the end:\n{self.seen}") from None
        self._read_to = at + len(text)

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def end(self) -> tuple[int, str]:
        """The exit code and what was written to stdout."""
        out, _ = self.process.communicate(timeout=TIMEOUT)
        while select.select([self._terminal], [], [], 0)[0]:
            try:
                self._take()
            except OSError:  # the other side is closed
                break
        return self.process.returncode, out.decode()

    def _take(self) -> None:
        self.seen = ANSI.sub("", self.seen + self._decode(os.read(self._terminal, 65536)))

    def close(self) -> None:
        self.process.kill()
        self.process.wait(TIMEOUT)
        if self.process.stdout:
            self.process.stdout.close()
        os.close(self._terminal)


@pytest.fixture
def typist() -> Iterator[Callable[..., Typist]]:
    started: list[Typist] = []

    def start(*args: str) -> Typist:
        started.append(Typist(*args))
        return started[-1]

    yield start
    for each in started:
        each.close()
