"""Servers in processes of their own."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcp import StdioServerParameters

ROOT = Path(__file__).parents[2]
SERVE = str(Path(__file__).with_name("serve.py"))
SECONDS = 20  # a process needs a moment to import the SDK


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server: this one's without keys, and what is given."""
    kept = {name: value for name, value in os.environ.items() if name != "MRTR_TOOLS_KEYS"}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def peak_memory(pid: int) -> int:
    """The most that a process has held in memory so far, in KiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])


def stdio(toolbox: str, **more: str) -> StdioServerParameters:
    """How a client starts `serve.py` over stdio; `toolbox` is a module that holds one, or ``module:name``."""
    return StdioServerParameters(command=sys.executable, args=[SERVE, "stdio", toolbox], env=environment(more))


@dataclass(frozen=True)
class Served:
    """A server over HTTP in a process of its own."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def http(toolbox: str, **more: str) -> Iterator[str]:
    """Run `serve.py` over HTTP in a process of its own; gives the URL of its endpoint."""
    with http_process(toolbox, **more) as served:
        yield served.url


@contextmanager
def http_process(toolbox: str, **more: str) -> Iterator[Served]:
    """The same, with the process."""
    with serving([SERVE, "http", toolbox], **more) as served:
        yield served


@contextmanager
def serving(program: Sequence[str], **more: str) -> Iterator[Served]:
    """Run a Python program that serves over HTTP with uvicorn, with more in its environment."""
    command = [sys.executable, *program]
    process = subprocess.Popen(
        command, env=environment(more), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    told: list[str] = []
    found: list[str] = []
    ready = threading.Event()

    def read() -> None:
        for line in process.stderr or ():
            told.append(line)
            if running := re.search(r"running on (http://\S+)", line):
                found.append(running[1])
                ready.set()
        ready.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert ready.wait(SECONDS)
        assert found, "".join(told)
        yield Served(f"{found[0]}/mcp", process)
    finally:
        process.terminate()
        process.wait(SECONDS)
        reader.join(SECONDS)
        process.stderr.close()


@contextmanager
def script(
    command: Sequence[str | Path], folder: Path, *, seconds: float, **more: str
) -> Iterator[subprocess.Popen[str]]:
    """Run a script as a person would, with an `mrtr-tools` of this Python; in any case it is ended as by Ctrl-C.

    Args:
        command: the script and its arguments.
        folder: takes the `mrtr-tools`, and is the first that the script looks into.
        seconds: it may take.
        more: of its environment.
    """
    tool = folder / "mrtr-tools"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mrtr_tools.cli "$@"\n')
    tool.chmod(0o755)
    given = {"PYTHONPATH": str(ROOT), **more, "PATH": f"{folder}:{more.get('PATH', os.environ['PATH'])}"}
    process = subprocess.Popen(
        command, env={**os.environ, **given}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    too_late = threading.Timer(seconds, process.send_signal, [signal.SIGINT])
    too_late.start()
    try:
        yield process
    finally:
        too_late.cancel()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=seconds)
