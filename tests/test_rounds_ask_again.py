"""`AskAgain`: what is asked again, what is kept, and that nothing runs more often than it must."""

import pytest

from mrtr_tools import AskAgain, Context, Elicit, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.events import NeedInput
from tests.rounds_by_hand import again, asked, begin, crash, message, play, result
from tests.wire_by_hand import TEXT, YES, accept, form


def booking(ran: list[str]) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(day="Which day?", name="Who?")
    @needs_input(seats="How many?")
    def book(day: str, name: str, seats: int) -> str:
        ran.append(f"{day} {name} {seats}")
        if day == "mon":
            raise AskAgain(day="That day is full")
        return ran[-1]

    return toolbox


def test_the_input_is_asked_again_with_the_reason_and_the_rest_is_kept():
    ran: list[str] = []
    machine = begin(booking(ran), "book")
    play(machine)
    play(machine := again(machine, {"day": accept(day="mon"), "name": accept(name="Ann")}))
    machine = again(machine, {"seats": accept(seats=2)})
    assert play(machine) == NeedInput({"day-2": form("That day is full\nWhich day?", day=TEXT)})
    assert machine.progress.n == 1
    machine = again(machine, {"day-2": accept(day="tue"), "name": accept(name="Eve"), "seats": accept(seats=9)})
    assert result(machine) == "tue Ann 2"
    assert ran == ["mon Ann 2", "tue Ann 2"]


def test_the_reason_is_shown_on_one_line_and_cut():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(day="Which day?")
    def book(day: str) -> str:
        raise AskAgain(day=f"{day} is full")

    machine = begin(toolbox, "book")
    play(machine)
    machine = again(machine, {"day": accept(day="Free!\n\nSay yes\u202e" + "x" * 1000)})
    text = message(machine, "day-2")
    assert text.startswith("Free!\\n\\nSay yes\\u202exxx")
    assert len(text) <= 500 + len("\nWhich day?")


def test_several_inputs_are_asked_again_together():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(a="A?", b="B?", c="C?")
    def fill(a: str, b: str, c: str) -> str:
        if a == b:
            raise AskAgain(a="equal", b="equal too")
        return a + b + c

    machine = begin(toolbox, "fill")
    play(machine)
    machine = again(machine, {"a": accept(a="x"), "b": accept(b="x"), "c": accept(c="c")})
    assert play(machine) == NeedInput({"a-2": form("equal\nA?", a=TEXT), "b-2": form("equal too\nB?", b=TEXT)})
    machine = again(machine, {"b-2": accept(b="y")})
    assert asked(machine) == ["a-2"]
    assert message(machine, "a-2") == "equal\nA?"
    assert result(again(machine, {"a-2": accept(a="x")})) == "xyc"


def test_a_gate_is_asked_again():
    toolbox, seen = Toolbox("t"), []

    @toolbox.tool
    @needs_input(ok=confirm("Sure?"))
    def go() -> str:
        seen.append(1)
        if len(seen) < 3:
            raise AskAgain(ok="Prices have changed")
        return "gone"

    machine = begin(toolbox, "go")
    play(machine)
    machine = again(machine, {"ok": YES})
    assert message(machine, "ok-2") == "Prices have changed\nSure?"
    machine = again(machine, {"ok-2": YES, "ok": YES})
    assert asked(machine) == ["ok-3"]
    assert result(again(machine, {"ok-3": YES})) == "gone"


def test_a_confirm_with_a_parameter_is_asked_again():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Sure?"))
    def go(ok: bool | Refused, ctx: Context) -> str:
        if not ok and ctx.round == 1:
            raise AskAgain(ok="Really not?")
        return repr(ok)

    machine = begin(toolbox, "go")
    play(machine)
    machine = again(machine, {"ok": accept(ok=False)})
    assert message(machine, "ok-2") == "Really not?\nSure?"
    assert result(again(machine, {"ok-2": YES})) == "True"


def test_the_function_of_an_input_runs_again_and_the_key_of_its_question_moves_on():
    toolbox, offers = Toolbox("t"), iter([["1A", "1B"], ["2A"]])

    def seats() -> Elicit:
        return Elicit("Which seat?", choices=next(offers))

    @toolbox.tool
    @needs_input(seat=seats)
    def book(seat: str) -> str:
        if seat.startswith("1"):
            raise AskAgain(seat="Taken")
        return seat

    machine = begin(toolbox, "book")
    play(machine)
    machine = again(machine, {"seat": accept(seat="1A")})
    assert play(machine) == NeedInput({"seat-2": form("Taken\nWhich seat?", seat={"type": "string", "enum": ["2A"]})})
    machine = again(machine, {"seat-2": accept(seat="1B")})
    assert asked(machine) == ["seat-2"]
    assert result(again(machine, {"seat-2": accept(seat="2A")})) == "2A"


def test_the_function_of_an_input_that_makes_the_value_itself_runs_again_and_the_yes_beside_it_is_asked_again():
    """Security 1."""
    toolbox, prices = Toolbox("t"), iter([100, 90])

    @toolbox.tool
    @needs_input(price=lambda: next(prices), ok=confirm("Buy?"))
    def buy(price: int) -> str:
        if price == 100:
            raise AskAgain(price="stale")
        return str(price)

    machine = begin(toolbox, "buy")
    play(machine)
    machine = again(machine, {"ok": YES})
    assert list(asked(machine)) == ["ok-2"]
    assert result(again(machine, {"ok-2": YES})) == "90"


def test_a_yes_beside_what_is_asked_again_is_asked_again_after_it():
    """Security 1: it was given to what stood with it on the form, and that is gone."""
    toolbox, sent = Toolbox("t"), list[str]()

    @toolbox.tool
    @needs_input(to="To whom?", ok=confirm("Send it?"))
    def send(to: str) -> str:
        sent.append(to)
        if to == "nobody":
            raise AskAgain(to="There is no such person")
        return to

    machine = begin(toolbox, "send")
    play(machine)
    machine = again(machine, {"to": accept(to="nobody"), "ok": YES})
    assert list(asked(machine)) == ["to-2", "ok-2"]
    machine = again(machine, {"to-2": accept(to="bob"), "ok": YES})
    assert list(asked(machine)) == ["ok-2"]
    assert sent == ["nobody"]
    assert result(again(machine, {"ok-2": YES})) == "bob"


@pytest.mark.parametrize("argument", ["mon", "sun"], ids=["handed on unchanged", "handed on changed"])
def test_a_handed_on_input_is_asked_under_its_first_key(argument: str):
    toolbox = Toolbox("t")

    @toolbox.tool
    def start(day: str) -> str:
        return then(book, day="mon", seats=2)

    @toolbox.step
    @needs_input(day="Which day?")
    def book(day: str, seats: int) -> str:
        if day == "mon":
            raise AskAgain(day="That day is full")
        return f"{day} {seats}"

    machine = begin(toolbox, "start", {"day": argument})
    assert message(machine, "day") == "That day is full\nWhich day?"
    assert result(again(machine, {"day": accept(day="tue")})) == "tue 2"


def test_an_input_that_was_skipped_cannot_be_asked_again():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(name="Who?", only_if=lambda: False)
    def go(name: str = "nobody") -> str:
        raise AskAgain(name="Who are you?")

    error = crash(begin(toolbox, "go"))
    assert isinstance(error, TypeError)
    assert "'name'" in str(error)


@pytest.mark.parametrize("name", ["place", "ctx", "nope", "other.name", "day.x"])
def test_what_is_no_input_of_the_step_cannot_be_asked_again(name: str):
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(day="Which day?")
    def go(day: str, place: str, ctx: Context) -> str:
        raise AskAgain(**{name: "because"})

    machine = begin(toolbox, "go", {"place": "Rome"})
    play(machine)
    assert isinstance(crash(again(machine, {"day": accept(day="mon")})), TypeError)


def test_an_input_of_the_step_before_cannot_be_asked_again():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(day="Which day?")
    def start(day: str) -> str:
        return then(end)

    @toolbox.step
    def end() -> str:
        raise AskAgain(day="full")

    machine = begin(toolbox, "start")
    play(machine)
    assert isinstance(crash(again(machine, {"day": accept(day="mon")})), TypeError)


def order() -> Toolbox:
    """A second question that depends on the first, which is asked again once."""
    toolbox, ran = Toolbox("t"), []

    @toolbox.tool
    @needs_input(kind="Which kind?")
    @needs_input(other="Which other?", only_if=lambda kind: kind == "other")
    def order(kind: str, other: str = "none") -> str:
        ran.append(f"{kind} {other}")
        if len(ran) == 1:
            raise AskAgain(kind="out of stock")
        return ran[-1]

    return toolbox


def test_a_condition_that_says_no_after_asking_again_skips_its_group():
    machine = begin(order(), "order")
    play(machine)
    play(machine := again(machine, {"kind": accept(kind="other")}))
    machine = again(machine, {"other": accept(other="juice")})
    assert asked(machine) == ["kind-2"]
    assert result(again(machine, {"kind-2": accept(kind="tea")})) == "tea none"


def test_a_condition_that_says_yes_after_asking_again_asks_its_group():
    machine = begin(order(), "order")
    play(machine)
    machine = again(machine, {"kind": accept(kind="tea")})
    assert asked(machine) == ["kind-2"]
    machine = again(machine, {"kind-2": accept(kind="other")})
    assert asked(machine) == ["other"]
    assert result(again(machine, {"other": accept(other="juice")})) == "other juice"
