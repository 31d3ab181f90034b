"""Target ``lines``: what a client writes over stdio, through what `run_stdio` serves it with, in this process.

Whatever comes, the server goes on to the end of it; every request that has an ``id`` is answered, unless somebody is
being asked or the request was cancelled; no internal error, nothing in the log; and no function runs that needs an
answer, or a state, that no line has.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import anyio

from mrtr_tools.server.alone import server_for
from mrtr_tools.server.lines import EDGE, Line, lines_of
from mrtr_tools.server.service import Service
from mrtr_tools.server.stdio import serve_lines
from tests.fuzz import desk
from tests.fuzz.genuine import may_run, may_run_pushed
from tests.fuzz.messages import read
from tests.fuzz.samples import ALL, MESSAGES, RIGHT, SIGNER
from tests.fuzz.watch import look_at, nothing_logged

LIMIT = 8 * 1024  # bytes of a line
SECONDS = 15  # in which all answers must have come
TURNS = 12  # of the event loop in which a line has its effect, where nothing waits for something else


def _message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def hello(version: str) -> bytes:
    """How a client of before 2026-07-28 begins."""
    about = {"protocolVersion": version, "capabilities": ALL, "clientInfo": {"name": "raw", "version": "0"}}
    return b"\n".join([_message(id=0, method="initialize", params=about), _message(method="notifications/initialized")])


def _older(version: str, tool: str, *answers: str, **arguments: Any) -> bytes:
    """A conversation of before 2026-07-28, in which what is asked is answered, by the names of `RIGHT`."""
    call = _message(id="call", method="tools/call", params={"name": tool, "arguments": arguments})
    told = [_message(id=number, result=RIGHT[name]) for number, name in enumerate(answers, 1)]
    return b"\n".join([hello(version), call, *told])


OLDER = "2025-11-25"
SEEDS: list[bytes] = [
    *MESSAGES,
    b"\n".join(MESSAGES[:6]),
    *(_older(version, "consider", "ok") for version in ("2025-03-26", "2025-06-18", OLDER)),
    _older(OLDER, "pay", "ok", amount=5),
    _older(OLDER, "visit", "page"),
    _older(OLDER, "buy", "order"),
    _older("2025-06-18", "buy", "order"),
    _older(OLDER, "ask_around", "said", "heard", "roots", "seat", count=3),
    _older(OLDER, "book", "who.login", "day", "ok", city="Rome"),
    b"\n".join(
        [
            _older(OLDER, "pay", amount=5),
            _message(id=9, method="logging/setLevel", params={"level": "debug"}),
            _message(id=1, error={"code": -32600, "message": "no"}),
            _message(id=2, method="tools/call", params={"name": "pay", "arguments": {"amount": 6}}),
            _message(method="notifications/cancelled", params={"requestId": 2}),
        ]
    ),
    _message(id=1, method="tools/call", params={"requestState": "x" * LIMIT}),
    b'{"method":"tools/call","params":{"x":"' + b"y" * LIMIT + b'"},"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud800"}}',
]


class Out:
    """Takes what the server writes, for the wire."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    async def write(self, text: str) -> None:
        """A line."""
        self.messages.append(json.loads(text))

    async def flush(self) -> None:
        """There is nothing to push."""

    @property
    def answered(self) -> set[object]:
        """The ids of the requests that were answered."""
        return {message["id"] for message in self.messages if message.keys() & {"result", "error"}}

    @property
    def asks(self) -> bool:
        """Whether somebody was asked."""
        return any("id" in message and "method" in message for message in self.messages)


def expected(line: bytes) -> object:
    """The id that a line must be answered under, or None: that of a request, where it is the first or last member.

    One that cannot be read and has two ids, the last of them in its middle, may be answered under the other one.
    """
    message = read(line)
    if not isinstance(message, dict) or len(line) > EDGE or not isinstance(message.get("method"), str):
        return None
    name, names = message.get("id"), _names(line)
    is_name = isinstance(name, str) or type(name) is int
    return name if is_name and names.count("id") == 1 and "id" in (names[0], names[-1]) and _is_text(name) else None


def _names(line: bytes) -> list[str]:
    """The names of the members of an object, in order, with those that are there twice."""
    names: list[str] = []

    def note(members: list[tuple[str, Any]]) -> dict[str, Any]:
        names[:] = [name for name, _ in members]  # the outermost object ends last
        return dict(members)

    json.loads(line, object_pairs_hook=note)
    return names


def _is_text(value: object) -> bool:
    return not isinstance(value, str) or not any("\ud800" <= letter <= "\udfff" for letter in value)


async def talk(server: Any, data: bytes, out: Out) -> set[object]:
    """Write lines to a server and wait for the answers; gives the ids that are still to be answered."""
    giving, taking = anyio.create_memory_object_stream[Line]()
    parts = iter([data, b""])
    waiting: set[object] = set()
    async with asyncio.timeout(SECONDS), taking, anyio.create_task_group() as tasks, giving:
        tasks.start_soon(serve_lines, server, taking, LIMIT, cast("Any", out))
        for line in lines_of(lambda: next(parts), LIMIT):
            if not line.end:
                waiting |= {expected(line.text)} - {None}
            await giving.send(line)
            await _turns(out)
        await _settled(out, waiting)
    return waiting - out.answered


async def _turns(out: Out) -> None:
    quiet = 0
    while quiet < TURNS:
        before = len(out.messages)
        await asyncio.sleep(0)
        quiet = quiet + 1 if len(out.messages) == before else 0


async def _settled(out: Out, waiting: set[object]) -> None:
    for _ in range(1000):  # a function in a thread, or a question that nobody answers
        if waiting <= out.answered or out.asks:
            return
        await asyncio.sleep(0.001)


def judge(data: bytes, out: Out, unanswered: set[object]) -> None:
    """See that the answers are those to these lines."""
    sent = [message for line in data.split(b"\n") if isinstance(message := read(line), dict)]
    for message in out.messages:
        look_at(message)
    assert not unanswered or out.asks or b"cancelled" in data, f"nobody answered {unanswered}"
    responses = [message["result"] for message in sent if "result" in message]
    for function in desk.ran:
        assert any(may_run(function, message) for message in sent) or may_run_pushed(function, responses), (
            f"{function} ran, and was not asked for or answered"
        )


@contextmanager
def checking() -> Iterator[Callable[[bytes], None]]:
    """Give what looks at the lines of one client."""
    server = server_for(Service(desk.toolbox, SIGNER, anonymous_ok=True))
    with asyncio.Runner() as runner:

        def check(data: bytes) -> None:
            desk.ran.clear()
            out = Out()
            with nothing_logged():
                unanswered = runner.run(talk(server, data, out))
            judge(data, out, unanswered)

        yield check
