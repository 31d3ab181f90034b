"""States that the runner takes, refuses and logs."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from mrtr_tools import Context, Toolbox, confirm, needs_input
from mrtr_tools.errors import InvalidState
from mrtr_tools.keys import generate_key
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner
from tests.calls_by_hand import FAILED, SIGNER, ask, call, flights, value
from tests.wire_by_hand import YES, accept

pytestmark = pytest.mark.anyio


# States


def gate() -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Go?"))
    def go(x: int, ctx: Context) -> str:
        return ctx.call_id

    return toolbox


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"arguments": {"x": 2}}, "arguments"),
        ({"principal": "mallory"}, "principal"),
        ({"state": "x" * 200_000}, "length"),
        ({"state": "nonsense"}, "spelling"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_refused_state_is_logged_with_its_reason_and_nothing_of_the_token(
    change: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
):
    request = call("go", {"x": 1}, principal="alice")
    first = await ask(gate(), request)
    assert first.state is not None
    bad = replace(request, **{"state": first.state, "responses": {"ok": accept(ok=True, note="hunter2")}, **change})
    with pytest.raises(InvalidState) as caught:
        await handle_call(gate(), bad, SIGNER)
    assert (caught.value.message, caught.value.data) == ("Invalid or expired requestState", None)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("mrtr_tools", logging.WARNING)
    assert reason in record.getMessage()
    assert record.exc_info is None
    assert bad.state is not None
    for token in (bad.state, first.state):
        pieces = [token[start : start + 8] for start in range(min(len(token), 400) - 8)]
        assert not any(piece in caplog.text for piece in pieces)
    assert "hunter2" not in caplog.text
    assert "mallory" not in caplog.text


async def test_a_state_of_a_server_with_another_key_is_refused_with_the_frozen_message(
    caplog: pytest.LogCaptureFixture,
):
    request = call("go", {"x": 1})
    first = await ask(gate(), request)
    with pytest.raises(InvalidState):
        await handle_call(gate(), replace(request, state=first.state), StateSigner([generate_key()], "tests"))
    assert "unknown_key" in caplog.text


async def test_a_state_that_came_too_late_is_asked_for_anew_and_after_work_refused_with_a_public_reason(
    caplog: pytest.LogCaptureFixture,
):
    now = [1_000_000_000.0]
    key = generate_key()
    signer = StateSigner([key], "tests", ttl=600, clock=lambda: now[0])
    request = call("go", {"x": 1})
    first = await ask(gate(), request, signer)
    now[0] += 700
    second = await ask(gate(), replace(request, state=first.state, responses={"ok": YES}), signer)
    assert list(second.requests) == ["ok-2"]
    assert await value(gate(), replace(request, state=second.state, responses={"ok-2": YES}), signer)
    booking = call("book", {"city": "Rome"})
    asked = await ask(flights([]), booking, signer)
    now[0] += 700
    with pytest.raises(InvalidState) as caught:
        await handle_call(flights([]), replace(booking, state=asked.state), signer)
    assert caught.value.data == {"reason": "expired"}
    assert "expired" in caplog.text


async def test_the_first_round_of_a_tool_with_cold_answers_carries_no_state():
    toolbox = Toolbox("t")

    @toolbox.tool(cold_answers=True)
    @needs_input(name="Who?")
    def greet(name: str) -> str:
        return f"Hello {name}"

    assert (await ask(toolbox, call("greet"))).state is None
    assert await value(toolbox, call("greet", responses={"name": accept(name="Ann")})) == "Hello Ann"


async def test_a_mistake_in_a_condition_or_a_default_is_logged_and_told_to_nobody(caplog: pytest.LogCaptureFixture):
    from pydantic import Field

    toolbox = Toolbox("t")

    def boom() -> int:
        raise RuntimeError("hunter2")

    @toolbox.tool
    def of_a_default(x: int = Field(default_factory=boom)) -> int:
        return x

    @toolbox.tool
    @needs_input(y="Y?", only_if=lambda x: x > boom())
    def of_a_condition(x: int, y: int = 1) -> int:
        return x

    assert await handle_call(toolbox, call("of_a_default"), SIGNER) == FAILED
    assert await handle_call(toolbox, call("of_a_condition", {"x": 1}), SIGNER) == FAILED
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert "hunter2" in caplog.text
