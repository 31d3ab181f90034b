"""Servers in processes of their own, all on one core, and what such a process has used. Linux only."""

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
CONTENDERS = Path(__file__).parent / "contenders"
PATIENCE = 30  # seconds for a server to answer, and to end

Process = subprocess.Popen[bytes]


@functools.cache
def cores() -> tuple[int, int]:
    """The core of the servers and the one of the load."""
    found = sorted(os.sched_getaffinity(0))
    if len(found) < 2:
        raise SystemExit("Two cores are needed: one for a server, one for the load")
    return found[0], found[1]


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Stay on one core, with all processes that are started meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def start(arguments: list[str], log: IO[bytes], handed_down: Sequence[int]) -> Process:
    """Start Python on the core of the servers, with pipes to its stdin and from its stdout."""
    with on_core(cores()[0]):
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            # Bytecode is kept, whatever is said around here: without it a start compiles all modules anew.
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            pass_fds=handed_down,
        )


def end(process: Process) -> None:
    """Close the stdin of a process, which has to end then."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


@contextmanager
def started(arguments: list[str], *, handed_down: Sequence[int] = ()) -> Iterator[Process]:
    """A process that ends with the block. If it fails there, what the process wrote to stderr is shown."""
    with tempfile.TemporaryFile() as log:
        process = start(arguments, log, handed_down)
        try:
            yield process
        except Exception:
            log.seek(0)
            print(log.read()[-4000:].decode("utf-8", "replace"), file=sys.stderr)
            raise
        finally:
            end(process)


def cpu_seconds(process: Process) -> float:
    """Processor time of all threads of a process, those that have ended included."""
    return time.clock_gettime((~process.pid << 3) | 2)  # clock_getcpuclockid(3), which Python does not have


def resident(process: Process) -> float:
    """Resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
