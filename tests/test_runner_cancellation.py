"""Steps that are cancelled, and what is left of them."""

import asyncio
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.marks import watched
from mrtr_tools.runner import handle_call
from tests.calls_by_hand import FAILED, SIGNER, ask, call, value
from tests.wire_by_hand import YES

pytestmark = pytest.mark.anyio


# Cancellation


async def test_a_cancelled_step_leaves_nothing_and_the_state_before_is_still_good():
    toolbox, started, ended = Toolbox("t"), anyio.Event(), []

    @toolbox.tool
    @needs_input(ok=confirm("Go?"))
    async def go() -> str:
        if not started.is_set():
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                ended.append("cancelled")
        return then(end)

    @toolbox.step
    def end() -> str:
        return "end"

    request = call("go")
    asked = await ask(toolbox, request)
    answered = replace(request, state=asked.state, responses={"ok": YES})
    replies: list[object] = []

    async def one() -> None:
        replies.append(await handle_call(toolbox, answered, SIGNER))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one)
        await started.wait()
        tasks.cancel_scope.cancel()
    assert ended == ["cancelled"]
    assert replies == []
    assert await value(toolbox, answered) == "end"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # nothing else cancels tasks one by one
async def test_something_cancelled_that_a_step_waits_for_is_an_error_of_the_step():
    toolbox = Toolbox("t")

    @toolbox.tool
    async def go() -> str:
        task = asyncio.ensure_future(anyio.sleep_forever())
        task.cancel()
        await task
        return "never"

    assert await handle_call(toolbox, call("go"), SIGNER) == FAILED


async def test_a_step_cancelled_in_place_leaves_the_caller_as_it_was():
    toolbox = Toolbox("t")

    @toolbox.tool
    async def go() -> str:
        scope.cancel()
        await anyio.lowlevel.checkpoint()
        return "never"

    def free() -> str:
        return "free"

    other = Toolbox("other")
    other.step(free)
    with anyio.CancelScope() as scope:
        await handle_call(toolbox, call("go"), SIGNER)
    assert scope.cancelled_caught
    then(free)  # were the step still running here, this would be a step of another toolbox
    context, made = watched(other.steps.of)
    context.run(then, free)
    assert len(made) == 1


async def test_what_a_step_cancels_inside_itself_is_its_own_affair():
    toolbox = Toolbox("t")

    @toolbox.tool
    async def go() -> str:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anyio.lowlevel.checkpoint()
        return "timed out"

    assert await value(toolbox, call("go")) == "timed out"


async def test_a_cancelled_request_does_not_stop_another_one():
    toolbox, waiting, release = Toolbox("t"), anyio.Event(), anyio.Event()

    @toolbox.tool
    async def go(slow: bool) -> str:
        if slow:
            waiting.set()
            await anyio.sleep_forever()
        await release.wait()
        return "done"

    replies: list[object] = []

    async def fast() -> None:
        replies.append(await value(toolbox, call("go", {"slow": False})))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fast)
        async with anyio.create_task_group() as inner:
            inner.start_soon(handle_call, toolbox, call("go", {"slow": True}), SIGNER)
            await waiting.wait()
            inner.cancel_scope.cancel()
        release.set()
    assert replies == ["done"]


class Stop(BaseException):
    """What is no `Exception` is nothing that the runner may swallow."""


@pytest.mark.parametrize("tool", ["in_place", "in_thread"])
async def test_what_is_no_exception_is_not_swallowed(tool: str):
    toolbox = Toolbox("t")

    @toolbox.tool
    async def in_place() -> str:
        raise Stop

    @toolbox.tool
    def in_thread() -> str:
        raise Stop

    with pytest.raises(Stop):
        await handle_call(toolbox, call(tool), SIGNER)
