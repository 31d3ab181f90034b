"""A server over stdin and stdout, and how long it takes to answer."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pydantic_core import from_json

from benchmarks.processes import CONTENDERS, Process, started
from benchmarks.talks import Message, Talk, WrongAnswer

CHUNK = 65536  # bytes


class StdioServer:
    """A server that reads lines and writes lines."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._write = process.stdin.write
        self._read = process.stdout.read
        self._held = b""

    def send(self, line: bytes) -> None:
        self._write(line)

    def receive(self) -> bytes:
        """The next line."""
        while (end := self._held.find(b"\n") + 1) == 0:
            chunk = self._read(CHUNK)
            if not chunk:
                raise WrongAnswer("the server has ended")
            self._held += chunk
        line, self._held = self._held[:end], self._held[end:]
        return line

    def ask(self, line: bytes) -> Message:
        self.send(line)
        return from_json(self.receive())


@contextmanager
def stdio_server(contender: str) -> Iterator[StdioServer]:
    """Run a contender, a module of `benchmarks.contenders`."""
    with started([str(CONTENDERS / f"{contender}.py")]) as process:
        yield StdioServer(process)


def latencies(server: StdioServer, talk: Talk, count: int) -> list[float]:
    """Seconds from the request to its answer, one request after the other."""
    taken: list[float] = []
    line = next(talk)
    for _ in range(count):
        began = time.perf_counter()
        server.send(line)
        answer = server.receive()
        taken.append(time.perf_counter() - began)
        line = talk.send(from_json(answer))
    return taken


def pipelined(server: StdioServer, talks: Sequence[Talk], count: int) -> float:
    """Answers per second, with a request of each talk under way; the talks number their requests 0, 1, 2 ..."""
    began = time.perf_counter()
    for talk in talks:
        server.send(next(talk))
    for taken in range(1, count + 1):
        answer = from_json(server.receive())
        line = talks[answer["id"]].send(answer)
        if taken <= count - len(talks):
            server.send(line)
    return count / (time.perf_counter() - began)
