"""Steps, handed-on values and arguments that another build changes. Promises 1 and 8, Security 2 and 7."""

from itertools import count
from typing import Annotated, Any

import pytest
from pydantic import Field

from mrtr_tools import Context, Toolbox, confirm, needs_input, then
from mrtr_tools.errors import InvalidParams
from mrtr_tools.events import RunStep
from mrtr_tools.rounds import Round
from tests.builds import Price, build, handing_on
from tests.rounds_by_hand import again, asked, begin, failure, message, play, refused, result, run, tool
from tests.wire_by_hand import YES, accept

GATE = {"ok": confirm("Go?")}
NO_LONGER_FITS = {"reason": "no_longer_fits"}


def under_way(toolbox: Toolbox, target: str = "start", arguments: Any = None) -> Round:
    """A call whose next answer is the yes to `ok`."""
    machine = begin(toolbox, target, arguments)
    assert asked(machine) == ["ok"]
    return machine


# Names


def keyed(name: str, *aliases: str) -> Toolbox:
    """A step that tells the key of its effect; an input of it is made by a function that tells its own."""
    toolbox = Toolbox("t")

    def quote(ctx: Context) -> str:
        return ctx.idempotency_key.partition(":")[2]

    @toolbox.step(name=name, aliases=aliases)
    @needs_input(ok=confirm("Pay?"))
    @needs_input(price=quote)
    def pay(price: str, ctx: Context) -> str:
        return f"{ctx.idempotency_key.partition(':')[2]} {price}"

    @toolbox.tool
    def start() -> str:
        return then(pay)

    return toolbox


def test_the_effect_of_a_step_has_one_key_whatever_builds_call_the_step():
    """Promise 1: the old process died in it, and the client sends the round again, to a new one."""
    machine = under_way(keyed("pay"))
    before = result(again(machine, {"ok": YES}))
    assert before == "1:pay 1:pay/price"
    assert result(again(machine, {"ok": YES}, toolbox=keyed("settle", "pay"))) == before
    machine = again(machine, {}, toolbox=keyed("settle", "pay"))
    assert asked(machine) == ["ok"]
    assert result(again(machine, {"ok": YES}, toolbox=keyed("finish", "settle", "pay"))) == before
    assert result(again(machine, {"ok": YES}, toolbox=keyed("settle"))) == before


def test_a_step_that_the_call_comes_to_after_the_renaming_has_its_new_name():
    assert result(again(under_way(keyed("settle", "pay")), {"ok": YES})) == "1:settle 1:settle/price"


def looping(name: str, *aliases: str) -> Toolbox:
    toolbox = Toolbox("t")

    def end(left: int, ctx: Context) -> str:
        return then(end, left=left - 1) if left else ctx.idempotency_key.partition(":")[2]

    needs_input(ok=confirm("Go on from {left}?"))(end)
    toolbox.step(name=name, aliases=aliases)(end)

    @toolbox.tool
    def start() -> str:
        return then(end, left=1)

    return toolbox


def test_a_call_that_comes_to_a_renamed_step_once_more_comes_to_it_under_the_new_name():
    machine = again(under_way(looping("end")), {"ok": YES}, toolbox=looping("last", "end"))
    assert asked(machine) == ["ok-2"]
    assert result(again(machine, {"ok-2": YES})) == "2:last"


def test_a_step_renamed_in_two_deployments_is_found_by_old_and_new_machines_in_turn():
    """First the new name is an alias everywhere, then it is the name, and the old one the alias."""
    groups = {"a": "A?", "b": "B?"}
    first, second = (
        handing_on({}, "a: str, b: str", groups, GATE, name=name, aliases=(alias,))
        for name, alias in (("end", "last"), ("last", "end"))
    )
    machine = begin(second, "start")
    play(machine)
    play(machine := again(machine, {"a": accept(a="a")}, toolbox=first))
    play(machine := again(machine, {"b": accept(b="b")}, toolbox=second))
    assert result(again(machine, {"ok": YES}, toolbox=first)) == "a b"


def test_a_step_renamed_in_one_deployment_is_not_found_by_old_machines():
    old, new = (
        handing_on({}, "", GATE, name=name, aliases=aliases) for name, aliases in (("end", ()), ("last", ("end",)))
    )
    assert refused(under_way(new), {"ok": YES}, toolbox=old).data == NO_LONGER_FITS


def test_a_tool_that_was_renamed_is_unknown():
    """The client goes on with the name that it called."""
    old, new = (build("a: str", {"a": "A?"}, name=name) for name in ("go", "gone"))
    machine = begin(old, "go")
    play(machine)
    with pytest.raises(InvalidParams, match="Unknown tool"):
        again(machine, {"a": accept(a="x")}, toolbox=new)


def test_a_tool_may_have_its_old_name_beside_the_new_one():
    old = build("a: str", {"a": "A?"}, name="go")
    both = Toolbox("t")

    @both.tool(name="go")
    @both.tool(name="gone")
    @needs_input(a="A?")
    def go(a: str) -> str:
        return a

    machine = begin(old, "go")
    play(machine)
    assert result(again(machine, {"a": accept(a="x")}, toolbox=both)) == "x"


def test_a_name_that_was_given_to_another_step_leads_there_where_the_values_fit():
    """What the step means is the author's affair: give it a name of its own, or raise version=."""
    old = handing_on({"price": 5}, "price: int", GATE)
    machine = under_way(old)
    other = handing_on({"price": 5}, "price: int", {"ok": confirm("Throw {price} away?")})
    assert message(again(machine, {"ok": YES}, toolbox=other), "ok-2") == "Throw 5 away?"


# Order


def inserting(check: bool, version: int = 0) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.step
    @needs_input(ok=confirm("Pay?"))
    def pay() -> str:
        return "paid"

    @toolbox.step
    @needs_input(sure=confirm("Really?"))
    def examine() -> str:
        return then(pay)

    @toolbox.tool(version=version)
    def start() -> str:
        return then(examine) if check else then(pay)

    return toolbox


def test_a_call_that_is_past_a_step_that_is_new_goes_on_without_it():
    assert result(again(under_way(inserting(check=False)), {"ok": YES}, toolbox=inserting(check=True))) == "paid"


def test_a_raised_version_lets_no_call_past_a_step_that_is_new():
    """Security 7."""
    machine = under_way(inserting(check=False))
    assert refused(machine, {"ok": YES}, toolbox=inserting(check=True, version=1)).data == NO_LONGER_FITS


def splitting(split: bool) -> Toolbox:
    """The questions of the tool become those of a step."""
    toolbox = Toolbox("t")

    @toolbox.step
    @needs_input(a="A?")
    def end(a: str) -> str:
        return a

    def start() -> str:
        return then(end)

    def whole(a: str) -> str:
        return a

    toolbox.tool(start if split else needs_input(a="A?")(whole), name="start")
    return toolbox


def test_a_question_that_moved_to_a_step_of_its_own_is_asked_there():
    machine = begin(splitting(split=False), "start")
    play(machine)
    machine = again(machine, {"a": accept(a="x")}, toolbox=splitting(split=True))
    assert asked(machine) == ["a-2"]
    assert result(again(machine, {"a-2": accept(a="y")})) == "y"


def test_a_step_that_became_part_of_the_tool_is_gone():
    old = handing_on({}, "", GATE)
    new = tool(lambda: "whole", GATE, name="start")
    assert refused(under_way(old), {"ok": YES}, toolbox=new).data == NO_LONGER_FITS


def test_the_new_body_of_a_step_runs_with_what_the_old_build_kept():
    old = handing_on({"price": 5}, "price: int", GATE)
    new = handing_on({"price": 5}, "price: int", GATE)
    machine = again(under_way(old), {"ok": YES}, toolbox=new)
    event = machine.next_event()
    assert isinstance(event, RunStep)
    assert event.step is new.steps.named("end")
    assert run(machine)


def test_a_lowered_max_rounds_counts_at_once():
    old, new = (build("a: str", {"a": "A?"}, max_rounds=most) for most in (10, 2))
    machine = begin(old, "go")
    for _ in range(3):
        play(machine)
        machine = again(machine)
    assert failure(again(machine, toolbox=new)) == "The call asked 3 times without an end, at 'go'."


# Values that were handed on


@pytest.mark.parametrize(
    ("before", "after", "value", "seen"),
    [
        ("int", "float", 5, "5.0"),
        ("int", "int | str", 5, "5"),
        ("str", "Literal['x', 'y']", "x", "x"),
        ("Price", "PriceIn", Price(amount=5), "amount=5 currency='EUR'"),
    ],
    ids=["a number", "one more type", "choices", "a model with one more field that has a default"],
)
def test_a_value_is_taken_by_another_type_that_it_fits(before: str, after: str, value: Any, seen: str):
    old = handing_on({"v": value}, f"v: {before}", GATE)
    new = handing_on({}, f"v: {after}", GATE)
    assert result(again(under_way(old), {"ok": YES}, toolbox=new)) == seen


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("str", "int", "five"),
        ("str", "Literal['y', 'z']", "x"),
        ("PriceIn | dict[str, int]", "Price", {"sum": 5}),
        ("int", "int | Refused", 5),
        ("int | Refused", "int", 5),
        ("int", "Annotated[int, Field(gt=5)]", 5),
    ],
    ids=["another type", "a choice less", "another model", "admits a refusal", "admits none", "another limit"],
)
def test_a_value_that_does_not_fit_another_type_no_longer_fits(before: str, after: str, value: Any):
    old = handing_on({"v": value}, f"v: {before}", GATE)
    new = handing_on({}, f"v: {after}", GATE)
    late = refused(under_way(old), {"ok": YES}, toolbox=new)
    assert late.data == NO_LONGER_FITS
    assert late.because == "what was handed on to 'end' as 'v' no longer fits"


# Arguments


def argued(parameters: str, *, after_work: bool) -> tuple[str, Toolbox]:
    """A tool with these arguments and a gate: its own, or that of a step that it goes on with."""
    if after_work:
        return "start", handing_on({}, "", GATE, takes=parameters)
    return "go", build(parameters, GATE)


BEFORE_OR_AFTER = pytest.mark.parametrize("after_work", [False, True], ids=["before any work", "after some work"])
MISFITS = {
    "is required and new": ("", "b: int", {}, "b: Field required"),
    "is of another type": ("a: int", "a: str", {"a": 5}, "a: Input should be a valid string"),
    "has another limit": ("a: int", "a: Annotated[int, Field(gt=5)]", {"a": 5}, "a: Input should be greater than 5"),
    "has another name on the wire": ("a: int", "b: int", {"a": 5}, "b: Field required"),
}


@BEFORE_OR_AFTER
@pytest.mark.parametrize("misfit", MISFITS.values(), ids=MISFITS)
def test_an_argument_that_does_not_fit_ends_the_call(misfit: tuple[str, str, Any, str], after_work: bool):
    before, after, sent, told = misfit
    target, old = argued(before, after_work=after_work)
    _, new = argued(after, after_work=after_work)
    machine = under_way(old, target, sent)
    if after_work:
        late = refused(machine, {"ok": YES}, toolbox=new)
        assert (late.data, late.because) == (NO_LONGER_FITS, "its arguments no longer fit")
    else:
        assert failure(again(machine, {"ok": YES}, toolbox=new)) == f"Invalid arguments: {told}"


OTHERS = {
    "is read as another value": ("a: int", "a: float", {"a": 5}),
    "was sent and is gone": ("a: int", "", {"a": 5}),
}


@BEFORE_OR_AFTER
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_an_argument_that_means_something_else_begins_the_call_anew_or_ends_it(
    other: tuple[str, str, Any], after_work: bool
):
    """Security 2."""
    before, after, sent = other
    target, old = argued(before, after_work=after_work)
    _, new = argued(after, after_work=after_work)
    machine = under_way(old, target, sent)
    if after_work:
        late = refused(machine, {"ok": YES}, toolbox=new)
        assert (late.data, late.because) == (NO_LONGER_FITS, "its arguments are read as other values than before")
    else:
        assert asked(again(machine, {"ok": YES}, toolbox=new)) == ["ok-2"]


STANDS = {
    "is new and has a default": ("", "b: int = 7", {}),
    "was left out and is gone": ("b: int = 7", "", {}),
    "takes one more type": ("a: int", "a: int | str", {"a": 5}),
    "has another name in Python": ("a: int", "b: Annotated[int, Field(alias='a')]", {"a": 5}),
}


@BEFORE_OR_AFTER
@pytest.mark.parametrize("case", STANDS.values(), ids=STANDS)
def test_an_argument_that_means_the_same_changes_nothing(case: tuple[str, str, Any], after_work: bool):
    before, after, sent = case
    target, old = argued(before, after_work=after_work)
    _, new = argued(after, after_work=after_work)
    assert not play(again(under_way(old, target, sent), {"ok": YES}, toolbox=new)).reply.is_error  # type: ignore[union-attr]


def test_a_default_stays_as_it_was_shown_where_its_argument_has_another_name_in_python():
    """Security 2: what the client left out is known by its name on the wire."""

    def old(day: int = 1) -> str:
        return f"on {day}"

    def new(when: Annotated[int, Field(alias="day")] = 2) -> str:
        return f"on {when}"

    machine = under_way(tool(old, GATE, name="go"), "go")
    assert result(again(machine, {"ok": YES}, toolbox=tool(new, GATE, name="go"))) == "on 1"


def test_a_default_is_kept_through_a_build_that_does_not_know_its_argument():
    """Security 2: in a rolling upgrade, old and new machines in turn."""
    days = count(1)

    def old(day: int = Field(default_factory=lambda: next(days))) -> str:
        return f"on {day}"

    def new() -> str:
        return "some day"

    before, after = tool(old, GATE, name="go"), tool(new, GATE, name="go")
    machine = again(under_way(before, "go"), {}, toolbox=after)
    assert asked(machine) == ["ok"]
    assert result(again(machine, {"ok": YES}, toolbox=before)) == "on 1"


def test_an_argument_that_was_handed_on_unchanged_keeps_its_name_in_python():
    """The state notes that it is the argument, by that name, and not its value."""
    old = handing_on({}, "a: int", GATE, takes="a: int", unchanged=("a",))
    new = handing_on({"a": 5}, "a: int", GATE, takes="b: Annotated[int, Field(alias='a')]")
    late = refused(under_way(old, "start", {"a": 5}), {"ok": YES}, toolbox=new)
    assert (late.data, late.because) == (NO_LONGER_FITS, "what was handed on to 'end' as 'a' no longer fits")
