"""What is handed on: it arrives as it was, and nobody shares it. Promise 9."""

import enum
import math
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic_core import to_json

from mrtr_tools import Context, Refused, Toolbox, confirm, needs_input, then
from tests.rounds_by_hand import again, begin, crash, play, result
from tests.wire_by_hand import YES


@dataclass
class Flight:
    number: str
    price: int
    stops: list[str] = field(default_factory=list)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def carrying(annotation: Any, value: object) -> tuple[Toolbox, list[object]]:
    """A toolbox whose tool hands `value` on to a step that takes it under `annotation`, after a question."""
    toolbox, seen = Toolbox("t"), []

    @toolbox.tool
    def start() -> str:
        return then(end, x=value)

    def end(x):
        seen.append(x)
        return "end"

    end.__annotations__ = {"x": annotation, "return": str}
    end = toolbox.step(needs_input(ok=confirm("Go?"))(end))
    return toolbox, seen


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (str, "ü \u202e \x00"),
        (int, 2**62),
        (float, 0.1),
        (bool, False),
        (None, None),
        (bytes, b"\xff\x00"),
        (date, date(2026, 7, 28)),
        (datetime, datetime(2026, 7, 28, 9, 30, tzinfo=UTC)),
        (Decimal, Decimal("1.10")),
        (Colour, Colour.BLUE),
        (Literal["a", 1], 1),
        (Flight, Flight("LH1", 120, ["MUC"])),
        (list[Flight], [Flight("LH1", 1)]),
        (dict[str, Flight | None], {"a": None, "b": Flight("x", 2)}),
        (tuple[int, str], (1, "a")),
        (set[int], {1, 2}),
        (dict[int, str], {1: "a"}),
        (Any, {"a": [1, 2.5, None, "x"]}),
        (str | Refused, Refused("decline")),
        (bool | int, True),
        (int | float, 1.0),
    ],
    ids=str,
)
def test_promise_9_a_value_arrives_as_it_was_handed_on(annotation: Any, value: object):
    toolbox, seen = carrying(annotation, value)
    machine = begin(toolbox, "start")
    play(machine)
    result(again(machine, {"ok": YES}))
    assert seen == [value]
    assert type(seen[0]) is type(value)


class Sub(str):
    __slots__ = ()


WRONG = {
    "wrong type": (int, "a"),
    "text for a number": (int, "1"),
    "nothing": (str, None),
    "not a number": (float, math.nan),
    "infinite": (float, math.inf),
    "subclass": (str, Sub("a")),
    "a set where anything goes": (Any, {1, 2}),
    "a tuple where anything goes": (Any, (1, 2)),
    "an object": (Any, object()),
    "a lone surrogate": (str, "\ud800"),
    "a refusal that is not admitted": (str, Refused("decline")),
    "a question": (str, confirm("Sure?")),
    "a broken model": (Flight, Flight("a", "b")),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("annotation", "value"), WRONG.values(), ids=list(WRONG))
def test_promise_9_a_value_that_would_not_come_back_alike_is_a_type_error_at_its_line(annotation: Any, value: object):
    toolbox, seen = carrying(annotation, value)
    error = crash(begin(toolbox, "start"))
    assert isinstance(error, TypeError)
    assert "'x'" in str(error)
    lines = []
    trace = error.__traceback__
    while trace is not None:
        lines.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert "start" in lines
    assert seen == []


def pair() -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    def start(kind: str) -> str:
        match kind:
            case "missing":
                return then(end)
            case "unknown":
                return then(end, x=1, y=2)
            case "context":
                return then(end, x=1, ctx=None)
            case _:
                return then(end, x=1, gate=True)

    @toolbox.step
    @needs_input(gate=confirm("Go?"))
    def end(x: int, ctx: Context) -> str:
        return "end"

    return toolbox


@pytest.mark.parametrize(("kind", "name"), [("missing", "x"), ("unknown", "y"), ("context", "ctx"), ("gate", "gate")])
def test_promise_9_a_then_is_checked_like_a_call_at_its_line(kind: str, name: str):
    error = crash(begin(pair(), "start", {"kind": kind}))
    assert isinstance(error, TypeError)
    assert f"'{name}'" in str(error)


def test_a_wrong_then_may_be_caught_where_it_is_written():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        try:
            return then(end, x="one")
        except TypeError:
            return then(end, x=1)

    @toolbox.step
    def end(x: int) -> str:
        return f"x={x}"

    assert result(begin(toolbox, "start")) == "x=1"


def test_an_argument_that_is_handed_on_unchanged_costs_no_bytes():
    toolbox = Toolbox("t")
    text = "x" * 10_000

    @toolbox.tool
    def start(text: str, items: list[Flight], other: str) -> str:
        return then(end, text=text, items=items, other=other + "!")

    @toolbox.step
    @needs_input(ok=confirm("Go?"))
    def end(text: str, items: list[Flight], other: str) -> str:
        return f"{len(text)} {items[0].number} {other}"

    flights = [{"number": "LH1", "price": 1}] * 100
    machine = begin(toolbox, "start", {"text": text, "items": flights, "other": "o"})
    play(machine)
    assert machine.progress.same == ["text", "items"]
    assert machine.progress.carried == {"other": "o!"}
    assert len(to_json(machine.progress.to_json())) < 300
    assert result(again(machine, {"ok": YES})) == "10000 LH1 o!"


def test_an_argument_that_is_handed_on_changed_or_under_another_name_is_carried():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start(a: str, b: str) -> str:
        return then(end, a=b, b=a, c=a)

    @toolbox.step
    @needs_input(ok=confirm("Go?"))
    def end(a: str, b: str, c: str) -> str:
        return a + b + c

    machine = begin(toolbox, "start", {"a": "1", "b": "2"})
    play(machine)
    assert result(again(machine, {"ok": YES})) == "211"


@pytest.mark.parametrize(
    ("argument", "annotation", "value", "parameter"),
    [
        (1, int, True, bool | int),
        (True, bool, 1, bool | int),
        (1, int, 1.0, int | float),
        (0, int, False, Any),
        ([1], list[int], [True], Any),
    ],
    ids=str,
)
def test_an_equal_value_of_another_type_is_not_the_same(argument: Any, annotation: Any, value: object, parameter: Any):
    toolbox, seen = Toolbox("t"), []

    def start(x):
        return then(end, x=value)

    start.__annotations__ = {"x": annotation}
    toolbox.tool(start)

    def end(x):
        seen.append(x)

    end.__annotations__ = {"x": parameter}
    end = toolbox.step(end)
    result(begin(toolbox, "start", {"x": argument}))
    assert repr(seen) == repr([value])


def test_a_default_that_was_taken_and_handed_on_is_the_same():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start(items: list[str] = ["a"]) -> str:  # noqa: B006
        return then(end, items=items)

    @toolbox.step
    @needs_input(ok=confirm("Go?"))
    def end(items: list[str]) -> str:
        return "".join(items)

    machine = begin(toolbox, "start")
    play(machine)
    assert machine.progress.same == ["items"]
    assert result(again(machine, {"ok": YES})) == "a"
