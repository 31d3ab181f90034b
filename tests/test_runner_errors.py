"""What goes wrong in a step or with a state: who is told, and what is logged."""

import logging
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from mrtr_tools import AskAgain, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.calls import Complete
from mrtr_tools.errors import RequestError
from mrtr_tools.runner import handle_call
from mrtr_tools.single_use import Ledger, MemoryClaims
from tests.calls_by_hand import FAILED, SIGNER, ask, call
from tests.wire_by_hand import accept

pytestmark = pytest.mark.anyio


# Errors


def failing() -> Toolbox:  # noqa: C901  one tool for each way to fail
    toolbox = Toolbox("t")

    def secret_helper() -> None:
        raise ValueError("the password is hunter2")

    def secret_exit() -> None:
        secret_helper_said = "the password is hunter2"
        raise SystemExit(secret_helper_said)

    @toolbox.tool
    def sync_fails() -> str:
        secret_helper()
        return "never"

    @toolbox.tool
    async def async_fails() -> str:
        secret_helper()
        return "never"

    @toolbox.tool
    @needs_input(x=secret_helper)
    def input_fails(x: str) -> str:
        return x

    @toolbox.tool
    async def group_fails() -> str:
        async def fail() -> None:
            secret_helper()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
        return "never"

    @toolbox.tool
    def exits() -> str:
        secret_exit()
        return "never"

    @toolbox.tool
    async def exits_late() -> str:
        await anyio.lowlevel.checkpoint()
        secret_exit()
        return "never"

    @toolbox.tool
    async def told() -> str:
        raise ToolError("No such order")

    @toolbox.tool
    async def told_from_a_task() -> str:
        async def fail() -> None:
            raise ToolError("No such order")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
        return "never"

    @toolbox.tool
    def wrong_result() -> int:
        return "three"  # type: ignore[return-value]

    @toolbox.tool
    def stops() -> str:
        raise StopIteration("hunter2")

    return toolbox


@pytest.mark.parametrize("tool", ["sync_fails", "async_fails", "input_fails", "group_fails", "exits", "exits_late"])
async def test_an_exception_is_logged_with_its_traceback_and_told_to_nobody(
    tool: str, caplog: pytest.LogCaptureFixture
):
    assert await handle_call(failing(), call(tool), SIGNER) == FAILED
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("mrtr_tools", logging.ERROR)
    assert tool in record.getMessage()
    assert "secret_helper" in caplog.text
    assert "hunter2" in caplog.text


async def test_a_result_that_is_not_what_the_tool_promises_is_unexpected(caplog: pytest.LogCaptureFixture):
    assert await handle_call(failing(), call("wrong_result"), SIGNER) == FAILED
    assert "wrong_result" in caplog.text


async def test_a_stop_iteration_from_a_thread_ends_the_call_as_unexpected():
    assert await handle_call(failing(), call("stops"), SIGNER) == FAILED


@pytest.mark.parametrize("tool", ["told", "told_from_a_task"])
async def test_a_tool_error_is_told_in_the_authors_words_and_is_nothing_to_log(
    tool: str, caplog: pytest.LogCaptureFixture
):
    assert await handle_call(failing(), call(tool), SIGNER) == Complete("No such order", is_error=True)
    assert caplog.records == []


async def test_an_ask_again_from_a_thread_asks_again():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(day="Which day?")
    def book(day: str) -> str:
        raise AskAgain(day="full")

    request = call("book")
    first = await ask(toolbox, request)
    second = await ask(toolbox, replace(request, state=first.state, responses={"day": accept(day="mon")}))
    assert second.requests["day-2"]["params"]["message"] == "full\nWhich day?"  # type: ignore[index, call-overload]


async def test_a_state_that_grows_too_large_is_a_tool_error_that_names_the_values(caplog: pytest.LogCaptureFixture):
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(end, report="hunter2" * 20_000, small=1)

    @toolbox.step
    @needs_input(ok=confirm("Go?"))
    def end(report: str, small: int) -> str:
        return report

    reply = await handle_call(toolbox, call("start"), SIGNER)
    assert isinstance(reply, Complete)
    assert reply.is_error
    assert "report" in str(reply.value)
    assert "hunter2" not in str(reply.value)
    assert "report" in caplog.text
    assert "hunter2" not in caplog.text


# Errors that are meant to be those of the protocol


class Gone(RequestError):
    """What a step ends its request with."""

    code = -32004


def gone(*, single_use: bool = False) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    def fetch(name: str) -> str:
        return then(look, name=name)

    @toolbox.step(single_use=single_use)
    @needs_input(ok=confirm("Look for {name}?"))
    async def look(name: str) -> str:
        await anyio.lowlevel.checkpoint()
        raise Gone("It is gone", {"name": name})

    return toolbox


async def test_a_step_can_end_its_request_with_an_error_of_the_protocol(caplog):
    asked = await ask(gone(), call("fetch", {"name": "x"}))
    answered = call("fetch", {"name": "x"}, state=asked.state, responses={"ok": accept(ok=True)})
    with pytest.raises(Gone) as caught:
        await handle_call(gone(), answered, SIGNER)

    assert (caught.value.code, caught.value.message, caught.value.data) == (-32004, "It is gone", {"name": "x"})
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_step_that_runs_once_does_not_run_again_after_such_an_error():
    toolbox, ledger = gone(single_use=True), Ledger(MemoryClaims(), SIGNER)
    asked = await ask(toolbox, call("fetch", {"name": "x"}))
    answered = call("fetch", {"name": "x"}, state=asked.state, responses={"ok": accept(ok=True)})
    with pytest.raises(Gone):
        await handle_call(toolbox, answered, SIGNER, ledger=ledger)

    assert await handle_call(toolbox, answered, SIGNER, ledger=ledger) == Complete("It is gone", is_error=True)
