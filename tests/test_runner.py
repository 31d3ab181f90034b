"""The runner: one call in, one reply out, on asyncio and on trio."""

import functools
import threading
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Client, Complete
from mrtr_tools.errors import InvalidParams, MissingCapability
from mrtr_tools.events import Event, RunStep
from mrtr_tools.runner import handle_call
from tests.calls_by_hand import SIGNER, ask, call, flights, value
from tests.wire_by_hand import YES, accept

pytestmark = pytest.mark.anyio


async def test_a_call_is_played_round_by_round_remembering_nothing():
    ran: list[str] = []
    request = call("book", {"city": "Rome"})
    first = await ask(flights(ran), request)
    assert list(first.requests) == ["seat"]
    second = await ask(flights(ran), replace(request, state=first.state, responses={"seat": accept(seat="1B")}))
    assert list(second.requests) == ["ok"]
    third = replace(request, state=second.state, responses={"ok": YES})
    assert await handle_call(flights(ran), third, SIGNER) == Complete("Rome 1B 4", {"result": "Rome 1B 4"})
    assert ran == ["book", "quote", "seats", "pay", "send"]


async def test_an_observer_is_told_of_every_function_before_it_runs_and_of_the_end():
    seen: list[tuple[str, int]] = []
    ran: list[str] = []

    def observer(event: Event) -> None:
        seen.append((event.step.name if isinstance(event, RunStep) else type(event).__name__, len(ran)))

    await handle_call(flights(ran), call("book", {"city": "Rome"}), SIGNER, observer)
    assert seen == [("book", 0), ("price", 1), ("seat", 2), ("NeedInput", 3)]


async def test_an_unknown_tool_is_refused_also_with_a_state():
    for state in (None, "x"):
        with pytest.raises(InvalidParams, match="Unknown tool"):
            await handle_call(flights([]), call("buy", state=state), SIGNER)


async def test_a_question_that_the_client_cannot_show_is_an_error_with_what_is_missing():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Go?"))
    def go() -> str:
        return "gone"

    with pytest.raises(MissingCapability) as caught:
        await handle_call(toolbox, call("go", client=Client()), SIGNER)
    assert caught.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


# Threads


async def test_sync_steps_and_input_functions_run_in_threads_and_async_ones_in_place():
    toolbox, threads = Toolbox("t"), {}

    def made() -> str:
        threads["made"] = threading.get_ident()
        return "a"

    @toolbox.tool
    @needs_input(x=made)
    async def start(x: str) -> str:
        threads["start"] = threading.get_ident()
        return then(end)

    @toolbox.step
    def end() -> str:
        threads["end"] = threading.get_ident()
        return "end"

    assert await value(toolbox, call("start")) == "end"
    here = threading.get_ident()
    assert threads["start"] == here
    assert threads["made"] != here
    assert threads["end"] != here


async def test_two_sync_steps_run_at_the_same_time():
    toolbox, barrier, replies = Toolbox("t"), threading.Barrier(2), []

    @toolbox.tool
    def meet() -> str:
        barrier.wait(60)
        return "met"

    async def one() -> None:
        replies.append(await value(toolbox, call("meet")))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one)
        tasks.start_soon(one)
    assert replies == ["met", "met"]


async def test_two_async_steps_run_at_the_same_time():
    toolbox, replies = Toolbox("t"), []
    here, there = anyio.Event(), anyio.Event()

    @toolbox.tool
    async def meet(first: bool) -> str:
        mine, other = (here, there) if first else (there, here)
        mine.set()
        await other.wait()
        return "met"

    async def one(first: bool) -> None:
        replies.append(await value(toolbox, call("meet", {"first": first})))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one, True)
        tasks.start_soon(one, False)
    assert replies == ["met", "met"]


async def test_a_sync_function_that_returns_an_awaitable_is_awaited():
    toolbox = Toolbox("t")

    async def later() -> str:
        await anyio.lowlevel.checkpoint()
        return then(end)

    @toolbox.tool
    def start():
        return later()

    @toolbox.step
    def end() -> str:
        return "end"

    assert await value(toolbox, call("start")) == "end"


async def test_partials_and_bound_methods_run_as_what_they_stand_for():
    toolbox = Toolbox("t")

    async def add(a: int, b: int) -> int:
        await anyio.lowlevel.checkpoint()
        return a + b

    class Shop:
        async def pay(self, amount: int) -> int:
            await anyio.lowlevel.checkpoint()
            return amount * 2

    toolbox.tool(functools.partial(add, b=2), name="add_two")
    toolbox.tool(Shop().pay)
    assert await value(toolbox, call("add_two", {"a": 1})) == 3
    assert await value(toolbox, call("pay", {"amount": 3})) == 6
