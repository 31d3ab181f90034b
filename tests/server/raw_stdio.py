"""A client that knows nothing but JSON and lines, and a server in a process of its own for it."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.server import processes
from tests.server.raw_http import envelope

TALKER = "tests.server.talker"


class Wire:
    """A server as a process, spoken to in JSON, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self._out = process.stdin
        self._in = process.stdout

    def write(self, line: bytes) -> None:
        self._out.write(line + b"\n")
        self._out.flush()

    def send(self, method: str, number: Any = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self.write(json.dumps(message).encode())

    def call(self, number: Any, tool: Any, arguments: Any = None, **params: Any) -> None:
        self.send("tools/call", number, _meta=envelope(), name=tool, arguments=arguments, **params)

    def receive(self) -> dict[str, Any]:
        return json.loads(self._in.readline())


@contextmanager
def served(module: str = TALKER, *, transport: str = "stdio", **more: str) -> Iterator[Wire]:
    """A server of a module's toolbox; it must end by itself when stdin does."""
    command = [sys.executable, processes.SERVE, transport, module]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=processes.environment(more), stdin=pipe, stdout=pipe) as process:
        watchdog = threading.Timer(60, process.kill)  # then `receive` finds nothing, and the test fails
        watchdog.start()
        try:
            yield Wire(process)
            process.communicate(timeout=processes.SECONDS)
        finally:
            watchdog.cancel()
            process.kill()
    assert process.returncode == 0


def told(message: dict[str, Any]) -> str:
    """The text of a result."""
    return message["result"]["content"][0]["text"]
