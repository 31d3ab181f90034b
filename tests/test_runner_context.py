"""What a running step sees of its surroundings, and what is left of it when it is cancelled."""

import contextvars

import anyio
import anyio.lowlevel
import pytest

from mrtr_tools import Toolbox, ToolError, needs_input, then
from mrtr_tools.runner import handle_call
from tests.calls_by_hand import FAILED, SIGNER, call, value

pytestmark = pytest.mark.anyio

TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")


# Context variables


def tenants() -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    def sync_step() -> str:
        return TENANT.get()

    @toolbox.tool
    async def async_step() -> str:
        await anyio.lowlevel.checkpoint()
        return TENANT.get()

    @toolbox.tool
    @needs_input(who=lambda: f"{TENANT.get()}")
    def of_an_input(who: str) -> str:
        return who

    @toolbox.tool
    def sync_spoils() -> str:
        TENANT.set("spoiled")
        return then(last)

    @toolbox.tool
    async def async_spoils() -> str:
        TENANT.set("spoiled")
        await anyio.lowlevel.checkpoint()
        assert TENANT.get() == "spoiled"
        return then(last)

    @toolbox.tool
    async def async_fails() -> str:
        TENANT.set("spoiled")
        raise ToolError("no")

    @toolbox.step
    async def last() -> str:
        return TENANT.get()

    return toolbox


@pytest.mark.parametrize("tool", ["sync_step", "async_step", "of_an_input"])
async def test_context_variables_are_carried_into_steps_and_input_functions(tool: str):
    TENANT.set("alice")
    assert await value(tenants(), call(tool)) == "alice"


@pytest.mark.parametrize("spoiler", ["sync_spoils", "async_spoils"])
async def test_what_a_step_sets_in_a_context_variable_does_not_reach_the_next_step(spoiler: str):
    TENANT.set("alice")
    assert await value(tenants(), call(spoiler)) == "alice"


@pytest.mark.parametrize("spoiler", ["sync_spoils", "async_spoils", "async_fails"])
async def test_what_a_step_sets_in_a_context_variable_does_not_reach_another_call_or_the_caller(spoiler: str):
    TENANT.set("alice")
    toolbox = tenants()
    await handle_call(toolbox, call(spoiler), SIGNER)
    assert await value(toolbox, call("async_step")) == "alice"
    assert TENANT.get() == "alice"


async def test_two_calls_at_the_same_time_see_their_own_context_variables():
    toolbox, seen = Toolbox("t"), []

    @toolbox.tool
    async def start() -> list[str]:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        return then(end, was=TENANT.get())

    @toolbox.step
    def end(was: str) -> list[str]:
        return [was, TENANT.get()]

    async def one(name: str) -> None:
        TENANT.set(name)
        seen.append(await value(toolbox, call("start")))

    async with anyio.create_task_group() as tasks:
        for name in ("alice", "bob", "carol"):
            tasks.start_soon(one, name)
    assert sorted(seen) == [["alice", "alice"], ["bob", "bob"], ["carol", "carol"]]


async def test_a_step_that_calls_a_tool_itself_does_not_mix_up_what_it_hands_on():
    inner = Toolbox("inner")

    @inner.tool
    def inner_start() -> str:
        return then(inner_end)

    @inner.step
    def inner_end() -> str:
        return "inner"

    outer = Toolbox("outer")

    @outer.tool
    async def outer_start() -> str:
        text = await value(inner, call("inner_start"))
        return then(outer_end, text=str(text))

    @outer.step
    def outer_end(text: str) -> str:
        return f"outer {text}"

    assert await value(outer, call("outer_start")) == "outer inner"


async def test_a_then_made_in_a_task_of_a_step_counts_as_made_by_it():
    toolbox = Toolbox("t")

    @toolbox.tool
    async def start() -> str:
        async def forget() -> None:
            then(end)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(forget)
        return "done"

    @toolbox.step
    def end() -> str:
        return "end"

    assert await handle_call(toolbox, call("start"), SIGNER) == FAILED
