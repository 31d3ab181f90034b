"""What runs once: when it is claimed, as what, and what is kept of it."""

import threading
from dataclasses import replace
from typing import Annotated, Any, Literal

import mcp_types as types
import pytest
from pydantic import BaseModel
from pydantic_core import from_json, to_json

from mrtr_tools import AskAgain, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.calls import Complete
from mrtr_tools.errors import InvalidState
from mrtr_tools.events import Finished, HandBack, NeedInput, RunStep
from mrtr_tools.once import Claim, Once
from mrtr_tools.outcomes import Outcome
from mrtr_tools.rounds import Round
from tests.refusing import refused as definition_refused
from tests.rounds_by_hand import again, asked, begin, play_on, result, run
from tests.wire_by_hand import YES, accept


def till(ran: list[str], **options: Any) -> Toolbox:
    """A charge behind a question, in a step of its own."""
    toolbox = Toolbox("till")

    @toolbox.tool
    def shop(item: str) -> str:
        ran.append("shop")
        return then(charge, item=item)

    @toolbox.step(single_use=True, **options)
    @needs_input(amount="How much for {item}?")
    def charge(item: str, amount: int) -> str:
        ran.append(f"charge {amount}")
        return f"{item} for {amount}"

    return toolbox


def bare(**options: Any) -> Toolbox:
    """A tool that asks nothing and may run once."""
    toolbox = Toolbox("bare")

    @toolbox.tool(single_use=True, **options)
    def fire() -> str:
        return "fired"

    return toolbox


def claimed(machine: Round) -> tuple[RunStep, Claim]:
    """Play to a step that must be claimed."""
    while isinstance(event := machine.next_event(), RunStep) and event.claim is None:
        run(machine)
    assert isinstance(event, RunStep), event
    assert event.claim is not None
    return event, event.claim


def once(event: RunStep) -> Once:
    assert event.step.once is not None
    return event.step.once


def left(machine: Round) -> Outcome | None:
    """Run the claimed step; what is kept of it, as a store gives it back."""
    event, _ = claimed(machine)
    run(machine)
    return None if machine.asks_again else from_json(to_json(machine.outcome(once(event))))


# What is claimed


def test_a_step_of_single_use_is_claimed_before_it_runs():
    """Security 4."""
    ran: list[str] = []
    machine = begin(till(ran), "shop", {"item": "tea"})
    assert asked(machine) == ["amount"]
    event, claim = claimed(again(machine, {"amount": accept(amount=5)}))
    assert ran == ["shop"]
    assert event.step.name == "charge"
    assert claim.place == ("step", machine.progress.call, "charge", "1")
    assert claim.on_crash == "refuse"


def test_forks_of_a_call_make_the_same_claim_and_other_answers_are_other_inputs():
    """Security 4: the effect is claimed and not the state."""
    machine = begin(till([]), "shop", {"item": "tea"})
    asked(machine)
    _, ten = claimed(again(machine, {"amount": accept(amount=10)}))
    _, much = claimed(again(machine, {"amount": accept(amount=999)}))
    _, ten_again = claimed(again(machine, {"amount": accept(amount=10), "other": YES}))
    assert ten.place == much.place == ten_again.place
    assert ten.inputs != much.inputs
    assert ten_again.inputs == ten.inputs


def test_a_refusal_is_another_input_than_an_answer_of_no_value():
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(note="Any note?")
    def send(note: str | None = None) -> str:
        return str(note)

    machine = begin(toolbox, "send")
    asked(machine)
    _, empty = claimed(again(machine, {"note": accept()}))
    _, text = claimed(again(machine, {"note": accept(note="x")}))
    assert empty.inputs != text.inputs


def test_values_that_a_step_is_handed_are_inputs_too():
    machine = begin(quoting(), "go")
    asked(machine)
    _, cheap = claimed(again(machine, {"ok": YES}))
    _, dear = claimed(again(machine, {"ok": YES}))
    assert cheap.place == dear.place
    assert cheap.inputs != dear.inputs


def test_a_request_is_its_state_and_its_answers():
    """Security 4: the same one is a repeat, whatever functions make of it."""
    machine = begin(quoting(), "go")
    asked(machine)
    _, once = claimed(again(machine, {"ok": YES}))
    _, twice = claimed(again(machine, {"ok": YES}))
    _, other = claimed(again(machine, {"ok": YES, "more": YES}))
    assert once.request == twice.request
    assert other.request != once.request
    assert once.request not in {once.inputs, ""}


def quoting() -> Toolbox:
    """A tool that hands on another price each time."""
    toolbox = Toolbox("t")
    prices = iter(range(100))

    @toolbox.tool
    @needs_input(ok=confirm("Go?"))
    def go() -> str:
        return then(pay, price=next(prices))

    @toolbox.step(single_use=True)
    def pay(price: int) -> str:
        return f"paid {price}"

    return toolbox


def test_each_time_that_a_call_comes_to_a_step_by_then_is_a_claim_of_its_own():
    toolbox = Toolbox("t")

    @toolbox.tool
    def go() -> str:
        return then(pay, left=2)

    @toolbox.step(single_use=True)
    @needs_input(ok=confirm("Pay {left}?"))
    def pay(left: int) -> str:
        return then(pay, left=left - 1) if left else "paid"

    machine = begin(toolbox, "go")
    places = []
    for key in ("ok", "ok-2", "ok-3"):
        assert asked(machine) == [key]
        machine = again(machine, {key: YES})
        _, claim = claimed(machine)
        places.append(claim.place[-1])
        run(machine)
    assert places == ["1", "2", "3"]
    assert machine.progress.visits == {"pay": 3}


def test_a_renamed_step_claims_under_its_oldest_name():
    """Security 4: or the effect would happen once under each name, while two builds serve side by side."""

    def shop(name: str, aliases: tuple[str, ...]) -> Toolbox:
        toolbox = Toolbox("t")

        @toolbox.tool
        def go() -> str:
            return then(pay)

        @toolbox.step(single_use=True, name=name, aliases=aliases)
        @needs_input(ok=confirm("Pay?"))
        def pay() -> str:
            return "paid"

        return toolbox

    old = begin(shop("buy", ()), "go")
    asked(old)
    _, before = claimed(again(old, {"ok": YES}))
    for aliases in [("buy",), ("buy", "purchase")]:
        _, after = claimed(again(old, {"ok": YES}, toolbox=shop("pay", aliases)))
        assert after == before


def test_steps_that_may_run_twice_leave_no_trace_in_the_state():
    toolbox = till([])
    machine = begin(toolbox, "shop", {"item": "tea"})
    asked(machine)
    assert machine.progress.to_json()["visits"] == {"charge": 1}
    assert "visits" not in begin(toolbox, "shop", {"item": "tea"}).progress.to_json()


# When there is nothing to claim yet


def test_what_would_run_in_the_first_request_hands_back_first():
    """Security 4: the same request sent twice is two calls, and no claim could tell them apart."""
    machine = begin(bare(), "fire")
    assert machine.next_event() == HandBack()
    assert machine.next_event() == HandBack()
    assert (machine.progress.rounds, machine.progress.ran) == (1, False)
    second = again(machine)
    _, claim = claimed(second)
    assert claim.place == ("step", machine.progress.call, "fire", "0")
    assert result(second) == "fired"


def test_a_step_that_asks_first_needs_no_hand_back():
    machine = begin(till([]), "shop", {"item": "tea"})
    assert asked(machine) == ["amount"]
    assert machine.progress.rounds == 1
    assert result(again(machine, {"amount": accept(amount=5)})) == "tea for 5"


def test_a_step_that_is_come_to_in_the_first_request_hands_back_with_what_ran_kept():
    toolbox = Toolbox("t")
    ran: list[str] = []

    @toolbox.tool
    def go() -> str:
        ran.append("go")
        return then(pay, price=7)

    @toolbox.step(single_use=True)
    def pay(price: int) -> str:
        return f"paid {price}"

    machine = begin(toolbox, "go")
    assert isinstance(play_on(machine), HandBack)
    assert result(again(machine)) == "paid 7"
    assert ran == ["go"]


def test_a_hand_back_counts_as_a_round():
    machine = begin(bare(max_rounds=1), "fire")
    play_on(machine)
    assert result(again(machine)) == "fired"
    assert machine.progress.rounds == 1


def test_nobody_in_particular_uses_nothing_once_unless_the_adapter_says_so():
    """Security 12."""
    machine = begin(bare(), "fire")
    event = Round(bare(), replace(machine.call, anonymous_ok=False)).next_event()
    assert isinstance(event, Finished)
    assert event.reply.is_error
    known = replace(machine.call, anonymous_ok=False, principal="alice")
    assert Round(bare(), known).next_event() == HandBack()


# What is kept


def test_a_result_is_kept_through_its_annotation():
    class Receipt(BaseModel):
        total: int

    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Pay?"))
    def pay() -> Receipt:
        return Receipt(total=5)

    machine = begin(toolbox, "pay")
    asked(machine)
    first, second = again(machine, {"ok": YES}), again(machine, {"ok": YES})
    outcome = left(first)
    assert outcome is not None
    assert outcome == {"done": {"total": 5}}
    event, _ = claimed(second)
    second.restore(outcome, once(event))
    ended, repeated = first.next_event(), second.next_event()
    assert isinstance(ended, Finished)
    assert isinstance(repeated, Finished)
    assert repeated.reply == ended.reply
    assert repeated.reply.value == Receipt(total=5)
    assert repeated.reply.structured == {"total": 5}


@pytest.mark.parametrize(
    ("error", "text"),
    [(ToolError("Sold out"), "Sold out"), (OSError("disk"), "The tool failed unexpectedly.")],
    ids=["a tool error", "anything else"],
)
def test_an_error_is_kept_as_its_text(error: Exception, text: str):
    """What failed may have acted before: it does not run again."""
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Pay?"))
    def pay() -> str:
        raise error

    machine = begin(toolbox, "pay")
    asked(machine)
    outcome = left(again(machine, {"ok": YES}))
    assert outcome == {"error": text}
    repeat = again(machine, {"ok": YES})
    event, _ = claimed(repeat)
    assert outcome is not None
    repeat.restore(outcome, once(event))
    ended = repeat.next_event()
    assert isinstance(ended, Finished)
    assert (ended.reply.value, ended.reply.is_error) == (text, True)


def test_a_then_is_kept_as_what_the_call_has_after_it():
    toolbox = Toolbox("t")
    ran: list[str] = []

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Order?"))
    def order() -> str:
        ran.append("order")
        return then(rate, number=len(ran))

    @toolbox.step
    @needs_input(stars="How was order {number}?")
    def rate(number: int, stars: int) -> str:
        return f"{number}: {stars}"

    machine = begin(toolbox, "order")
    asked(machine)
    outcome = left(again(machine, {"ok": YES}))
    repeat = again(machine, {"ok": YES})
    event, _ = claimed(repeat)
    assert outcome is not None
    repeat.restore(outcome, once(event))
    assert asked(repeat) == ["stars"]
    assert result(again(repeat, {"stars": accept(stars=4)})) == "1: 4"
    assert ran == ["order"]


def test_ask_again_gives_the_claim_back():
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(day="Which day?")
    def book(day: str) -> str:
        if day == "Monday":
            raise AskAgain(day="Monday is full")
        return day

    machine = begin(toolbox, "book")
    asked(machine)
    full = again(machine, {"day": accept(day="Monday")})
    _, first = claimed(full)
    assert left(full) is None
    assert asked(full) == ["day-2"]
    _, second = claimed(again(full, {"day-2": accept(day="Tuesday")}))
    assert second.place == first.place


def returning(value: object, annotation: object) -> Toolbox:
    """A tool that returns a value, annotated so."""
    toolbox = Toolbox("t")

    def pay() -> Any:
        return value

    pay.__annotations__["return"] = annotation
    toolbox.tool(single_use=True)(needs_input(ok=confirm("Pay?"))(pay))
    return toolbox


def both(toolbox: Toolbox, later: Toolbox | None = None) -> tuple[Finished, Finished]:
    """How the first and a repeat end, the latter perhaps in another build."""
    machine = begin(toolbox, "pay")
    asked(machine)
    first, second = again(machine, {"ok": YES}), again(machine, {"ok": YES}, toolbox=later)
    outcome = left(first)
    event, _ = claimed(second)
    assert outcome is not None
    second.restore(outcome, once(event))
    ended, repeated = first.next_event(), second.next_event()
    assert isinstance(ended, Finished)
    assert isinstance(repeated, Finished)
    return ended, repeated


def test_a_result_that_is_none_of_its_annotation_is_a_failure_both_times():
    ended, repeated = both(returning(float("nan"), float))
    assert ended.reply == repeated.reply == Complete("The tool failed unexpectedly.", is_error=True)
    assert ended.cause is not None


def test_the_first_is_answered_from_what_is_kept():
    """Or a repeat would read 1.0 where the first one read 1."""
    ended, repeated = both(returning(1, float))
    assert type(ended.reply.value) is float
    assert repeated.reply == ended.reply


def test_a_result_that_cannot_be_kept_is_not_taken_from_who_paid_for_it():
    ended, repeated = both(returning((1, 2), list[int]))
    assert ended.reply == Complete((1, 2), {"result": [1, 2]})
    assert "pay: single_use=True keeps what is returned" in str(ended.cause)
    assert repeated.reply == Complete("This was done before, and what came of it cannot be told again.", is_error=True)


def test_a_result_of_the_sdk_is_kept_though_its_annotation_says_what_is_in_it():
    class Weather(BaseModel):
        degrees: int

    told = types.CallToolResult(
        content=[types.TextContent(type="text", text="Warm")], structured_content={"degrees": 21}, _meta={"a": 1}
    )
    ended, repeated = both(returning(told, Annotated[types.CallToolResult, Weather]))
    assert (ended.reply.value, ended.reply.is_error) == (told, False)
    assert repeated.reply == ended.reply


@pytest.mark.parametrize("now", [int, Literal["unpaid"]], ids=["another type", "other values"])
def test_what_another_build_left_and_this_one_cannot_read_does_not_run_again(now: object):
    ended, repeated = both(returning("paid", str), returning("paid", now))
    assert ended.reply.value == "paid"
    assert repeated.reply == Complete("This was done before, and what came of it cannot be told again.", is_error=True)
    assert isinstance(repeated.cause, ValueError)


@pytest.mark.parametrize(
    "changed",
    [{"version": 1}, {"step": "gone"}, {"carried": {}}, {"new": 1}],
    ids=["version", "step", "what was handed on", "something new"],
)
def test_a_call_does_not_go_on_from_what_another_build_left_where_it_no_longer_fits(changed: dict[str, Any]):
    """Security 7: what is kept is as old as a state, and jumps over a new step no more than one."""
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Order?"))
    def order() -> str:
        return then(ship, number=7)

    @toolbox.step
    def ship(number: int) -> str:
        raise AssertionError(number)

    machine = begin(toolbox, "order")
    asked(machine)
    outcome: Any = left(again(machine, {"ok": YES}))
    repeat = again(machine, {"ok": YES})
    event, _ = claimed(repeat)
    outcome["progress"] |= changed
    with pytest.raises(InvalidState) as caught:
        repeat.restore(outcome, once(event))
    assert caught.value.data == {"reason": "no_longer_fits"}


# Rounds of a tool


def form() -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(name="Who?")
    @needs_input(day="When?")
    def book(name: str, day: str) -> str:
        return f"{name} {day}"

    return toolbox


def test_on_a_tool_each_round_is_claimed_with_the_answers_to_what_is_open():
    """Security 4: a tool of single use has no forks."""
    machine = begin(form(), "book")
    assert machine.claim is None
    asked(machine)
    ann = again(machine, {"name": accept(name="Ann")})
    more = again(machine, {"name": accept(name="Ann"), "unasked": YES})
    bob = again(machine, {"name": accept(name="Bob")})
    assert ann.claim is not None
    assert ann.claim.place == ("round", machine.progress.call, "1")
    assert more.claim == ann.claim
    assert bob.claim is not None
    assert bob.claim.place == ann.claim.place
    assert bob.claim.inputs != ann.claim.inputs
    asked(ann)
    last = again(ann, {"day": accept(day="Monday")})
    assert last.claim is not None
    assert last.claim.place[-1] == "2"


def test_a_round_that_asked_is_kept_with_its_questions():
    machine = begin(form(), "book")
    asked(machine)
    first, second = again(machine, {"name": accept(name="Ann")}), again(machine, {"name": accept(name="Ann")})
    asked(first)
    assert first.carrier.step.once is not None
    outcome = first.outcome(first.carrier.step.once)
    second.restore(from_json(to_json(outcome)), first.carrier.step.once)
    assert second.next_event() == first.next_event()
    assert isinstance(second.next_event(), NeedInput)
    assert second.progress.to_json() == first.progress.to_json()


def test_a_round_that_handed_back_is_kept_as_one():
    machine = begin(bare(), "fire")
    play_on(machine)
    assert machine.carrier.step.once is not None
    outcome = machine.outcome(machine.carrier.step.once)
    repeat = begin(bare(), "fire")
    repeat.restore(outcome, machine.carrier.step.once)
    assert repeat.next_event() == HandBack()
    assert repeat.progress.call == machine.progress.call


def test_only_a_tool_of_single_use_claims_its_rounds():
    machine = begin(till([]), "shop", {"item": "tea"})
    asked(machine)
    assert again(machine, {"amount": accept(amount=5)}).claim is None


def test_a_call_that_begins_anew_does_not_count_a_round_twice():
    """Or its second round would be taken for a repeat with other answers."""
    machine = begin(form(), "book")
    asked(machine)
    early = again(machine, {"name": accept(name="Ann")})
    asked(early)
    late = again(early, {"day": accept(day="Monday")}, expired=True)
    assert late.claim is None
    assert asked(late) == ["name-2"]
    goes_on = again(late, {"name-2": accept(name="Ann")})
    assert goes_on.claim is not None
    assert early.claim is not None
    assert goes_on.claim.place != early.claim.place


def test_two_lines_of_a_call_cannot_both_go_on_though_they_answer_alike():
    """Security 4: one of them began anew when its state was too old, and asks what the other was told."""
    machine = begin(form(), "book")
    asked(machine)
    on_time, late = again(machine, {"name": accept(name="Ann")}), again(machine, expired=True)
    assert asked(on_time) == ["day"]
    assert asked(late) == ["name-2"]
    one, other = again(on_time), again(late)
    assert one.claim is not None
    assert other.claim is not None
    assert one.claim.place == other.claim.place
    assert one.claim.inputs != other.claim.inputs


def test_who_can_read_claims_cannot_try_out_which_answers_were_given():
    """Security 4: a yes of one call has another digest in the next."""
    claims = []
    for _ in range(2):
        machine = begin(till([]), "shop", {"item": "tea"})
        asked(machine)
        claims.append(claimed(again(machine, {"amount": accept(amount=5)}))[1])
    assert claims[0].inputs != claims[1].inputs


# What cannot be of single use


def test_what_a_step_of_single_use_returns_must_be_annotated():
    toolbox = Toolbox("t")
    with definition_refused("pay", "single_use=True", "-> str"):

        @toolbox.step(single_use=True)
        def pay():
            return "paid"


def test_what_a_step_of_single_use_returns_must_go_through_json():
    toolbox = Toolbox("t")
    with definition_refused("pay", "single_use=True", "cannot travel"):

        @toolbox.step(single_use=True)
        def pay() -> threading.Lock:
            return threading.Lock()


def test_answers_that_come_before_their_question_do_not_go_with_single_use():
    """Security 9: such a request can be sent for ever."""
    toolbox = Toolbox("t")
    with definition_refused("cold_answers", "single_use"):

        @toolbox.tool(cold_answers=True, single_use=True)
        @needs_input(day="When?")
        def book(day: str) -> str:
            return day


@pytest.mark.parametrize(
    "options",
    [{"on_crash": "rerun"}, {"single_use": True, "on_crash": "retry"}, {"single_use": "yes"}, {"single_use": 1}],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options: Any):
    toolbox = Toolbox("t")
    with definition_refused("pay_at_once", "single_use"):
        toolbox.step(**options)(pay_at_once)


def pay_at_once() -> str:
    return "paid"
