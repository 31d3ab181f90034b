"""A server over HTTP, and a client of many connections that costs little: blocking sockets, one thread."""

import math
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pydantic_core import from_json

from benchmarks.processes import PATIENCE, Process, started
from benchmarks.talks import Message, Talk, WrongAnswer
from benchmarks.wire import Encode, post_to

OK = b"HTTP/1.1 200 "
LENGTH = b"\r\ncontent-length: "
CHUNK = 65536  # bytes


@dataclass(frozen=True)
class HttpServer:
    """A server that listens at a port of 127.0.0.1."""

    process: Process
    port: int

    @property
    def encode(self) -> Encode:
        return post_to(self.port)


@contextmanager
def http_server(contender: str) -> Iterator[HttpServer]:
    """Serve a contender, ``module:function`` of `benchmarks.contenders`. Requests wait for it to be ready."""
    with ExitStack() as stack:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            descriptor, port = listening.fileno(), listening.getsockname()[1]
            arguments = ["-m", "benchmarks.serving", contender, str(descriptor)]
            process = stack.enter_context(started(arguments, handed_down=[descriptor]))
        yield HttpServer(process, port)


class Connection:
    """One connection that is kept, and the talk on it."""

    def __init__(self, port: int, talk: Talk) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._talk = talk
        self._request = next(talk)

    def send(self) -> None:
        self._socket.sendall(self._request)

    def receive(self) -> None:
        """Take the answer to what was sent.

        Raises:
            WrongAnswer: it is none, or not the one that the talk wants to hear.
        """
        self._request = self._talk.send(self.message())

    def message(self) -> Message:
        """The next message, as it comes."""
        received = self._socket.recv(CHUNK)
        while (head := received.find(b"\r\n\r\n") + 4) < 4:
            received += self._more()
        begins = received.find(LENGTH, 0, head) + len(LENGTH)
        if not received.startswith(OK) or begins < len(LENGTH):
            raise WrongAnswer(received.decode("utf-8", "replace"))
        length = int(received[begins : received.find(b"\r", begins)])
        while len(received) < head + length:
            received += self._more()
        return from_json(received[head:])

    def _more(self) -> bytes:
        more = self._socket.recv(CHUNK)
        if not more:
            raise WrongAnswer("the server closed the connection")
        return more

    def close(self) -> None:
        self._socket.close()


@contextmanager
def connected(server: HttpServer, talks: Sequence[Talk]) -> Iterator[list[Connection]]:
    """One connection for each talk."""
    with ExitStack() as stack:
        found: list[Connection] = []
        for talk in talks:
            found.append(Connection(server.port, talk))
            stack.callback(found[-1].close)
        yield found


def exchange(
    connections: Sequence[Connection], *, seconds: float = math.inf, answers: float = math.inf
) -> tuple[int, float]:
    """Keep a request under way on every connection until the time is over or there are so many answers.

    The connections are visited in turn, each until its answer is there. Among that many requests to a server of one
    thread some other one is always waiting meanwhile, and no `select` has to be paid for.

    Returns:
        How many were answered, and how many seconds that took.
    """
    under_way = deque(connections)
    began = time.perf_counter()
    for connection in connections:
        connection.send()
    sent, taken = len(connections), 0
    while under_way:
        connection = under_way.popleft()
        connection.receive()
        taken += 1
        if sent < answers and time.perf_counter() - began < seconds:
            connection.send()
            sent += 1
            under_way.append(connection)
    return taken, time.perf_counter() - began
