"""A client of 2026-07-28 over pipes, served without the SDK, in one process with the test."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from mrtr_tools import Context, Toolbox, needs_input
from mrtr_tools.server.lean import LeanServer
from mrtr_tools.server.loop import MAX_LINES, StdioLoop
from mrtr_tools.server.pipes import Pipes
from mrtr_tools.server.streams import FULL
from tests.server.piped import LIMIT, SECONDS, server_of, talking
from tests.server.raw_http import accept, envelope

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

CLOSED = {"code": -32603, "message": "Connection closed"}
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


class Stop(BaseException):
    """What is no `Exception`."""


def line(number: int, tool: str, **arguments: Any) -> bytes:
    params = {"_meta": envelope(), "name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


class Desk:
    """Tools that wait for one another.

    Attributes:
        ran: which steps have begun.
        ended: which were cancelled.
    """

    def __init__(self) -> None:
        self.toolbox = Toolbox("desk")
        self.ran: list[str] = []
        self.ended: list[str] = []
        self.begun, self.gate = asyncio.Event(), asyncio.Event()
        for tool in (self.echo, self.wait, self.open, self.give_up, self.stop, self.count, self.chatter):
            self.toolbox.tool(tool)
        self.toolbox.tool(self.greet)

    async def echo(self, text: str = "") -> str:
        self.ran.append(f"echo {text}")
        return text

    async def wait(self, name: str = "") -> str:
        self.ran.append(f"wait {name}")
        self.begun.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.ended.append(name)
            raise
        return f"waited {name}"

    async def open(self) -> str:
        self.gate.set()
        return "open"

    async def give_up(self) -> str:
        task = asyncio.current_task()
        assert task
        task.cancel()
        await asyncio.sleep(0)
        return "never"

    async def stop(self) -> str:
        raise Stop

    async def count(self, ctx: Context) -> str:
        await ctx.report_progress(1, 2, "half")
        await ctx.log("info", "halfway")
        return "counted"

    async def chatter(self, ctx: Context) -> str:
        for number in range(1000):
            self.ran.append(f"chatter {number}")
            await ctx.report_progress(number, message="x" * 1000)
        return "done"

    @needs_input(who="Who?")
    def greet(self, who: str) -> str:
        return f"Hello {who}"


# Calls


async def test_calls_are_under_way_together_and_answered_as_they_are_done():
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "one"})
        peer.call("two", "open")

        assert await peer.text() == ("two", "open")
        assert await peer.text() == (1, "waited one")


async def test_what_nothing_has_to_run_for_waits_for_no_task(monkeypatch: pytest.MonkeyPatch):
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        monkeypatch.setattr(LeanServer, "answer", None)
        peer.send("tools/list", 1, _meta=envelope())
        peer.call(2, "greet")

        assert {tool["name"] for tool in (await peer.receive())["result"]["tools"]} >= {"greet", "echo"}
        assert "who" in (await peer.receive())["result"]["inputRequests"]


async def test_a_call_is_asked_for_and_goes_on_in_another_request():
    async with talking(Desk().toolbox) as peer:
        peer.call(1, "greet")
        asked = (await peer.receive())["result"]
        peer.call(2, "greet", inputResponses={"who": accept(who="Ada")}, requestState=asked["requestState"])

        assert await peer.text() == (2, "Hello Ada")


@pytest.mark.parametrize("sockets", [False, True])
async def test_messages_come_in_any_pieces_and_with_any_newlines(sockets):
    desk = Desk()
    async with talking(desk.toolbox, read=b'{"jsonrpc":"2.0",', sockets=sockets) as peer:
        rest = (
            b'"id":1,"method":"server/discover","params":{"_meta":%b}}\r\n' % str(envelope()).replace("'", '"').encode()
        )
        for place in range(0, len(rest), 50):
            peer.write(rest[place : place + 50])
            await asyncio.sleep(0)
        assert (await peer.receive())["result"]["supportedVersions"] == ["2026-07-28"]
        peer.write(b"\n\r\n \n\n")
        peer.call(2, "echo", {"text": "next"})
        assert await peer.text() == (2, "next")


async def test_the_last_message_needs_no_newline():
    async with talking(Desk().toolbox) as peer:
        peer.send("tools/list", 1)
        assert (await peer.receive())["error"]["code"] == -32602, "it has no envelope"
        peer.write(b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}')
        peer.leave()
        assert (await peer.receive())["id"] == 2


async def test_two_calls_of_one_id_are_both_answered():
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "first"})
        peer.call(1, "echo", {"text": "second"})
        assert await peer.text() == (1, "second")
        peer.call(2, "open")
        assert [await peer.text(), await peer.text()] == [(2, "open"), (1, "waited first")]


async def test_initialize_comes_too_late():
    async with talking(Desk().toolbox) as peer:
        peer.send("initialize", 1, protocolVersion="2025-11-25")
        peer.send("initialize", 2)
        first, second = await peer.receive(), await peer.receive()

    assert first["error"] == {
        "code": -32022,
        "message": "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted",
        "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"},
    }
    assert second["error"]["data"] == {"supported": ["2026-07-28"]}


async def test_a_step_that_cancels_its_own_task_ends_its_call_and_no_other():
    async with talking(Desk().toolbox) as peer:
        peer.call(1, "give_up")
        assert (await peer.receive())["error"] == CLOSED
        peer.call(2, "echo", {"text": "next"})
        assert await peer.text() == (2, "next")


async def test_what_is_no_exception_ends_the_server():
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "other"})
        await desk.begun.wait()
        peer.call(2, "stop")
        with pytest.raises(Stop):
            await peer.ended()
    await asyncio.sleep(0)
    assert desk.ended == ["other"]


# Cancellation


async def test_a_cancelled_call_ends_without_an_answer_and_no_other_does():
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "one"})
        peer.call(2, "wait", {"name": "two"})
        await desk.begun.wait()
        peer.cancel(1)
        peer.call(3, "open")

        assert [await peer.text(), await peer.text()] == [(3, "open"), (2, "waited two")]
        assert desk.ended == ["one"]


async def test_a_call_that_is_cancelled_before_it_begins_does_not_run():
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'
        peer.write(line(1, "echo") + cancel)
        peer.call(2, "open")
        assert await peer.text() == (2, "open")
    assert desk.ran == []


@pytest.mark.parametrize(("number", "named"), [(7, 7), ("seven", "seven"), (7, "7"), ("7", 7), (-7, "-7")])
async def test_the_id_of_a_call_is_known_as_number_and_as_text(number, named):
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(number, "wait")
        await desk.begun.wait()
        peer.cancel(named)
        peer.call(2, "open")
        assert await peer.text() == (2, "open")
    assert desk.ended == [""]


async def test_of_two_calls_the_one_that_is_named_exactly_is_cancelled():
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call("7", "wait", {"name": "text"})
        peer.call(7, "wait", {"name": "number"})
        await desk.begun.wait()
        peer.cancel("7")
        peer.call(2, "open")
        assert [await peer.text(), await peer.text()] == [(2, "open"), (7, "waited number")]


async def test_of_two_calls_of_one_id_the_one_that_is_still_there_is_cancelled():
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.write(line(1, "echo", text="first") + line(1, "wait", name="second"))
        assert await peer.text() == (1, "first")
        peer.cancel(1)
        peer.call(2, "open")
        assert await peer.text() == (2, "open")
    assert desk.ended == ["second"]


@pytest.mark.parametrize("named", [2, "one", None, True, 1.0, [1], {}, "", "9" * 5000, "x" * 300])
async def test_a_cancellation_that_names_nothing_cancels_nothing(named):
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "one"})
        await desk.begun.wait()
        peer.cancel(named)
        peer.write(b'{"jsonrpc":"2.0","method":"notifications/cancelled"}\n')
        peer.send("notifications/progress", requestId=1)
        peer.call(3, "open")
        assert [await peer.text(), await peer.text()] == [(3, "open"), (1, "waited one")]


# Progress and log messages


async def test_they_come_before_the_answer_to_whoever_asked():
    async with talking(Desk().toolbox) as peer:
        peer.call(1, "count", meta={"progressToken": "t", LOG_LEVEL: "info"})
        progress, log, answer = [await peer.receive() for _ in range(3)]
        assert progress["params"] == {"progressToken": "t", "progress": 1, "total": 2, "message": "half"}
        assert (log["method"], log["params"]) == ("notifications/message", {"level": "info", "data": "halfway"})
        assert answer["id"] == 1
        peer.call(2, "count")
        assert await peer.text() == (2, "counted")


async def test_nothing_is_told_once_the_request_is_answered():
    desk, kept = Desk(), list[Context]()

    @desk.toolbox.tool
    async def keep(ctx: Context) -> str:
        kept.append(ctx)
        return "kept"

    @desk.toolbox.tool
    async def use() -> str:
        await kept[0].report_progress(1)
        await kept[0].log("emergency", "late")
        return "used"

    async with talking(desk.toolbox) as peer:
        peer.call(1, "keep", meta={"progressToken": 1, LOG_LEVEL: "debug"})
        peer.call(2, "use", meta={"progressToken": 2, LOG_LEVEL: "debug"})
        assert [await peer.text(), await peer.text()] == [(1, "kept"), (2, "used")]


async def test_a_step_that_tells_more_than_is_read_waits():
    """Security 21: nothing piles up."""
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "chatter", meta={"progressToken": 1})
        peer.call(2, "open")
        await desk.gate.wait()
        await anyio.wait_all_tasks_blocked()
        assert len(desk.ran) < 2 * (FULL + 65_536) / 1000, "what is in the pipe, and as much again"

        told = [await peer.receive() for _ in range(1002)]
    assert [message["params"]["progress"] for message in told if "params" in message] == list(range(1000))
    assert sorted(message["id"] for message in told if "id" in message) == [1, 2]


# What there is no room for


async def test_no_more_calls_are_begun_than_there_may_be():
    """Security 21."""
    desk = Desk()
    async with talking(desk.toolbox, max_calls=2) as peer:
        for name in ("one", "two", "three"):
            peer.call(name, "wait", {"name": name})
        await desk.begun.wait()
        await anyio.wait_all_tasks_blocked()
        assert desk.ran == ["wait one", "wait two"]

        desk.gate.set()
        assert [await peer.text() for _ in range(3)] == [(n, f"waited {n}") for n in ("one", "two", "three")]


async def test_no_more_bytes_are_under_way_than_there_may_be():
    """Security 21."""
    desk = Desk()
    lines = b"".join(line(number, "wait", name="x" * (LIMIT - 1000)) for number in range(40))
    async with talking(desk.toolbox, read=lines) as peer:
        await desk.begun.wait()
        await anyio.wait_all_tasks_blocked()
        assert len(desk.ran) == MAX_LINES + 1, "the first that is over the bound is the last"

        desk.gate.set()
        assert {(await peer.receive())["id"] for _ in range(40)} == set(range(40))


async def test_while_answers_are_not_read_nothing_more_is_begun_and_then_all_are_answered():
    """Security 21."""
    desk = Desk()
    lines = b"".join(line(number, "echo", text="x" * 10_000) for number in range(300))
    async with talking(desk.toolbox, read=lines) as peer:
        await anyio.wait_all_tasks_blocked()
        assert 1 <= len(desk.ran) < 50

        assert [(await peer.text())[0] for _ in range(300)] == list(range(300))


async def test_what_waits_for_its_turn_is_not_read_in_advance():
    """Security 21."""
    desk, waiting = Desk(), list[int]()

    @desk.toolbox.tool
    async def look() -> None:
        waiting.append(len(peer.loop._lines._whole))

    calls = line(1, "look")
    async with talking(desk.toolbox) as peer:

        async def read() -> None:
            for _ in range(5000):
                await peer.receive()

        await asyncio.gather(asyncio.to_thread(lambda: [peer.write(calls) for _ in range(5000)]), read())
    assert max(waiting) <= 65_536 / len(calls)


# Noise


@pytest.mark.parametrize(
    "noise",
    [
        b"not json",
        b"\xff\xfe",
        b"[]",
        b"7",
        b"null",
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
        b'{"jsonrpc":"2.0","method":"notifications/whatever"}',
        b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":5,"result":{"a":"%b"}}' % (b"x" * LIMIT),
    ],
)
async def test_what_nobody_waits_for_is_passed_over(noise):
    async with talking(Desk().toolbox) as peer:
        await asyncio.to_thread(peer.write, noise + b"\n")
        peer.call(2, "echo", {"text": "heard"})
        assert await peer.text() == (2, "heard")


@pytest.mark.parametrize(
    ("sent", "name", "code"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"%b"}}' % (b"x" * LIMIT), 1, -32600),
        (b"x" * (LIMIT + 1), None, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\xff"}}', 1, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":"%b","method":"x"}' % (b"x" * 300), "x" * 300, -32600),
    ],
    ids=["too long", "endless", "no utf-8", "a list", "a long id"],
)
async def test_who_waits_for_an_answer_to_what_cannot_be_read_gets_one(sent, name, code):
    async with talking(Desk().toolbox) as peer:
        await asyncio.to_thread(peer.write, sent + b"\n")
        told = await peer.receive()

    assert (told["id"], told["error"]["code"]) == (name, code)


# The end


async def test_what_is_under_way_when_stdin_ends_is_answered():
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "one"})
        peer.call(2, "echo", {"text": "two"})
        peer.leave()
        assert await peer.text() == (2, "two")
        desk.gate.set()
        assert await peer.text() == (1, "waited one")


async def test_what_waits_for_room_when_stdin_ends_is_answered_too():
    desk = Desk()
    async with talking(desk.toolbox, max_calls=1) as peer:
        for number in range(3):
            peer.call(number, "wait", {"name": str(number)})
        peer.leave()
        await desk.begun.wait()
        desk.gate.set()
        assert [(await peer.text())[0] for _ in range(3)] == [0, 1, 2]


async def test_what_is_unread_when_stdin_ends_is_still_written():
    lines = b"".join(line(number, "echo", text="x" * 1000) for number in range(60))
    async with talking(Desk().toolbox, read=lines) as peer:
        peer.leave()
        await anyio.wait_all_tasks_blocked()
        assert [(await peer.text())[0] for _ in range(60)] == list(range(60))


async def test_what_takes_too_long_then_is_cancelled_and_its_client_told():
    desk = Desk()
    async with talking(desk.toolbox, grace=0.01) as peer:
        peer.call(1, "wait", {"name": "one"})
        await desk.begun.wait()
        peer.leave()
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "error": CLOSED}
    assert desk.ended == ["one"]


async def test_a_client_that_reads_no_more_ends_it_quietly(caplog):
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "one"})
        await desk.begun.wait()
        peer.read_no_more()
        peer.call(2, "echo")
        await peer.ended()
    assert desk.ended == ["one"]
    assert caplog.text == ""


async def test_a_client_that_neither_reads_nor_listens_does_not_hold_it_up():
    desk = Desk()
    async with talking(desk.toolbox, grace=0.01) as peer:
        peer.call(1, "chatter", meta={"progressToken": 1})
        peer.call(2, "open")
        await desk.gate.wait()
        peer.leave()
        await peer.ended()


# SIGTERM


@pytest.fixture
def terminated() -> Iterator[list[int]]:
    """What becomes of the signal when the server has ended."""
    passed_on: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: passed_on.append(number))
    yield passed_on
    signal.signal(signal.SIGTERM, before)


async def test_at_sigterm_nothing_new_is_begun_and_what_is_under_way_ends(terminated):
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "one"})
        await desk.begun.wait()
        signal.raise_signal(signal.SIGTERM)
        await anyio.wait_all_tasks_blocked()
        peer.call(2, "echo")
        await anyio.wait_all_tasks_blocked()
        assert terminated == []
        desk.gate.set()
        assert await peer.text() == (1, "waited one")
        await peer.ended()

    assert desk.ran == ["wait one"]
    assert terminated == [signal.SIGTERM], "and now it does what it would have done before"


@pytest.mark.parametrize("first", ["stdin ends", "sigterm"])
async def test_the_next_sigterm_cuts_it_short(terminated, first):
    desk = Desk()
    async with talking(desk.toolbox) as peer:
        peer.call(1, "wait", {"name": "one"})
        await desk.begun.wait()
        if first == "sigterm":
            signal.raise_signal(signal.SIGTERM)
        else:
            peer.leave()
        await anyio.wait_all_tasks_blocked()
        signal.raise_signal(signal.SIGTERM)
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "error": CLOSED}
        await peer.ended()

    assert desk.ended == ["one"]
    assert terminated == [signal.SIGTERM]


async def test_in_another_thread_the_signal_is_left_alone():
    def serve() -> None:
        async def main() -> None:
            async with talking(Desk().toolbox) as peer:
                peer.call(1, "echo", {"text": "served"})
                assert await peer.text() == (1, "served")

        asyncio.run(main())

    before = signal.getsignal(signal.SIGTERM)
    await asyncio.to_thread(serve)
    assert signal.getsignal(signal.SIGTERM) is before


# Files


async def test_stdin_and_stdout_may_be_files(tmp_path: Path):
    asks, answers = tmp_path / "asks", tmp_path / "answers"
    asks.write_bytes(b"".join(line(number, "echo") for number in range(1000)))
    reading, writing = os.open(asks, os.O_RDONLY), os.open(answers, os.O_WRONLY | os.O_CREAT)
    try:
        async with asyncio.timeout(SECONDS):
            await StdioLoop(server_of(Desk().toolbox), Pipes(reading, writing), LIMIT).serve()
    finally:
        os.close(reading)
        os.close(writing)

    told = [json.loads(answer) for answer in answers.read_text().splitlines()]
    assert [message["id"] for message in told] == list(range(1000))
