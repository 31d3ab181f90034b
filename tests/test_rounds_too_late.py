"""A call that comes too late, before and after something has run. Promise 8, Security 8."""

from typing import Any

import pytest

from mrtr_tools import Refused, Toolbox, confirm, needs_input, then
from tests.rounds_by_hand import again, asked, begin, play, refused, result, tool
from tests.wire_by_hand import YES, accept

# Too late, or no longer fitting, before and after something has run


def asking(ran: list[str] | None = None, version: int = 0, **groups: Any) -> Toolbox:
    def go(city: str, a: str, ok: bool | Refused) -> str:
        if ran is not None:
            ran.append("go")
        return f"{city} {a} {ok}"

    return tool(go, {"a": "A?", "ok": confirm("Sure?")}, version=version)


@pytest.mark.parametrize(("how", "version"), [({"expired": True}, 0), ({}, 1)], ids=["expired", "another version"])
def test_promise_8_before_anything_ran_it_is_as_if_neither_state_nor_answers_had_come(
    how: dict[str, Any], version: int
):
    """Security 3, 8."""
    toolbox = asking(version=version)
    first = begin(asking(), "go", {"city": "Rome"})
    play(first)
    play(machine := again(first, {"a": accept(a="x")}))
    late = again(machine, {"ok": YES}, toolbox=toolbox, **how)
    assert asked(late) == ["a-2", "ok-2"]  # an answer that comes too late, sent again, is none to these
    assert late.progress.call == first.progress.call
    assert late.progress.version == version
    assert late.progress.slots == {}
    assert late.progress.rounds == 3  # the client counts them too
    assert asked(again(late, {"a-2": accept(a="y"), "ok": YES})) == ["ok-2"]
    assert result(again(late, {"a-2": accept(a="y"), "ok-2": YES})) == "Rome y True"


def test_promise_8_a_condition_is_no_function_that_ran():
    calls: list[int] = []

    def go(n: int, a: str = "none") -> str:
        return a

    def condition(n: int) -> bool:
        calls.append(n)
        return True

    toolbox = Toolbox("t")
    toolbox.tool(needs_input(only_if=condition, a="A?")(go))
    machine = begin(toolbox, "go", {"n": 1})
    play(machine)
    assert calls
    assert asked(again(machine, {"a": accept(a="x")}, expired=True)) == ["a-2"]


@pytest.mark.parametrize("how", [{"expired": True}, {"toolbox": "another version"}], ids=["expired", "another version"])
@pytest.mark.parametrize("what", ["a body", "an input function"])
def test_promise_8_after_a_function_ran_it_is_an_error_that_says_why(how: dict[str, Any], what: str):
    """Security 8."""

    def build(version: int = 0) -> Toolbox:
        toolbox = Toolbox("t")

        @toolbox.tool(version=version)
        def body() -> str:
            return then(end)

        @toolbox.tool(version=version)
        @needs_input(price=lambda: 3)
        @needs_input(ok=confirm("Pay {price}?"))
        def function(price: int) -> str:
            return "paid"

        @toolbox.step
        @needs_input(ok=confirm("Sure?"))
        def end() -> str:
            return "end"

        return toolbox

    machine = begin(build(), "body" if what == "a body" else "function")
    assert asked(machine) == ["ok"]
    reason = "expired" if "expired" in how else "no_longer_fits"
    how = {"toolbox": build(1)} if "toolbox" in how else how
    assert refused(machine, {"ok": YES}, **how).data == {"reason": reason}


def test_promise_8_a_state_that_expired_and_no_longer_fits_says_that_it_expired():
    def build(name: str) -> Toolbox:
        def end(price: int) -> str:
            return f"{price}"

        toolbox = Toolbox("t")
        target = toolbox.step(name=name)(needs_input(ok=confirm("Go?"))(end))

        @toolbox.tool
        def start() -> str:
            return then(target, price=3)

        return toolbox

    machine = begin(build("pay"), "start")
    assert asked(machine) == ["ok"]
    assert refused(machine, expired=True, toolbox=build("settle")).data == {"reason": "expired"}
