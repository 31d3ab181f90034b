"""stdin and stdout as the wire between a client and a server."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

if sys.platform != "win32":
    import fcntl

from mrtr_tools.records import record

__all__ = ["Pipes", "claimed", "write_all"]


@record
class Pipes:
    """The file descriptors that lead to the client."""

    input: int
    output: int


@contextmanager
def claimed() -> Generator[Pipes]:
    """Take stdin and stdout for the wire. For everything else stdin is empty meanwhile, and stdout is stderr.

    So a step, or a program that it starts, can neither eat messages nor write between them. The copies are never
    closed: a thread that still waits in one must not wake up in another file of the same number.
    """
    pipes = Pipes(_copy(0), _copy(1))
    _divert(0, os.open(os.devnull, os.O_RDONLY))
    try:
        elsewhere = os.dup(2)
    except OSError:  # there is no stderr
        elsewhere = os.open(os.devnull, os.O_WRONLY)
    _divert(1, elsewhere)
    try:
        yield pipes
    finally:
        with suppress(OSError, ValueError, AttributeError):  # it is broken, closed or not there
            sys.stdout.flush()  # what was printed meanwhile
        os.dup2(pipes.input, 0)
        os.dup2(pipes.output, 1)


def _copy(number: int) -> int:
    """A copy that is none of the standard three, one of which may be closed."""
    if sys.platform == "win32":
        return os.dup(number)
    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)


def _divert(number: int, to: int) -> None:
    os.dup2(to, number)
    os.close(to)


def write_all(number: int, data: bytes) -> None:
    """Write to a file descriptor before there is an event loop.

    Raises:
        OSError: nobody reads any more.
    """
    left = memoryview(data)
    while left:
        left = left[os.write(number, left) :]
