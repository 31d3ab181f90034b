"""Groups: what goes out together, what waits, what is skipped; and Security 2."""

from pydantic import Field

from mrtr_tools import DefinitionError, Elicit, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.events import NeedInput, RunStep
from tests.rounds_by_hand import again, asked, begin, crash, message, play, result, run
from tests.wire_by_hand import TEXT, YES, accept, form


def test_stacked_groups_are_asked_from_top_to_bottom_and_a_lower_one_uses_the_answers_above():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(country="Which country?")
    @needs_input(city="Which city in {country}?", year="Which year?")
    @needs_input(street=lambda country, city: Elicit(f"Which street in {city}, {country}?"))
    def move(country: str, city: str, year: int, street: str) -> str:
        return f"{street}, {city}, {country}, {year}"

    machine = begin(toolbox, "move")
    assert asked(machine) == ["country"]
    machine = again(machine, {"country": accept(country="Italy")})
    assert play(machine) == NeedInput(
        {"city": form("Which city in Italy?", city=TEXT), "year": form("Which year?", year={"type": "integer"})}
    )
    machine = again(machine, {"city": accept(city="Rome")})
    assert asked(machine) == ["year"]
    machine = again(machine, {"year": accept(year=1999)})
    assert message(machine, "street") == "Which street in Rome, Italy?"
    assert result(again(machine, {"street": accept(street="Via")})) == "Via, Rome, Italy, 1999"


def conditional(seen: list[object] | None = None) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(kind="Which kind?")
    @needs_input(other="Which other kind?", count="How many?", only_if=lambda kind: kind == "other")
    @needs_input(ok=confirm("{kind}, {other}, {count}?"))
    def order(kind: str, other: str = "none", count: int = 1) -> str:
        return f"{kind} {other} {count}"

    return toolbox


def test_a_group_whose_condition_says_no_is_skipped_and_its_inputs_have_their_defaults():
    machine = begin(conditional(), "order")
    play(machine)
    machine = again(machine, {"kind": accept(kind="tea"), "other": accept(other="x"), "count": accept(count=9)})
    assert message(machine, "ok") == "tea, none, 1?"
    assert result(again(machine, {"ok": YES})) == "tea none 1"


def test_a_group_whose_condition_says_yes_is_asked_and_shows_no_default():
    machine = begin(conditional(), "order")
    play(machine)
    machine = again(machine, {"kind": accept(kind="other")})
    assert play(machine) == NeedInput(
        {"other": form("Which other kind?", other=TEXT), "count": form("How many?", count={"type": "integer"})}
    )
    machine = again(machine, {"other": accept(), "count": accept(count=2)})
    assert asked(machine) == ["other"]
    machine = again(machine, {"other": accept(other="juice")})
    assert message(machine, "ok") == "other, juice, 2?"


def test_a_default_that_stands_elsewhere_is_shown_in_the_form_and_taken_when_left_empty():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(count="How many?")
    def order(count: int = 2) -> str:
        return str(count)

    machine = begin(toolbox, "order")
    assert play(machine) == NeedInput(
        {"count": form("How many?", required=False, count={"type": "integer", "default": 2})}
    )
    assert result(again(machine, {"count": accept()})) == "2"


def test_a_condition_over_arguments_may_skip_all_questions():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(reason="Why?", only_if=lambda urgent: not urgent)
    def call(urgent: bool, reason: str | None = None) -> str:
        return repr(reason)

    assert result(begin(toolbox, "call", {"urgent": True})) == "None"
    assert asked(begin(toolbox, "call", {"urgent": False})) == ["reason"]


def test_a_condition_sees_a_refusal_above():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(name="Who?")
    @needs_input(why="Why not?", only_if=lambda name: not name)
    def ask(name: str | Refused, why: str = "") -> str:
        return why or str(name)

    machine = begin(toolbox, "ask")
    play(machine)
    machine = again(machine, {"name": {"action": "cancel"}})
    assert asked(machine) == ["why"]
    assert result(again(machine, {"why": accept(why="private")})) == "private"


def test_a_gate_may_be_skipped():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Spend {amount}?"), only_if=lambda amount: amount > 10)
    def spend(amount: int) -> int:
        return amount

    assert result(begin(toolbox, "spend", {"amount": 5})) == 5
    assert asked(begin(toolbox, "spend", {"amount": 50})) == ["ok"]


def test_a_condition_that_fails_ends_the_call_as_unexpected():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Spend?"), only_if=lambda fields: fields["amount"] > 10)
    def spend(fields: dict[str, int]) -> int:
        return 1

    assert isinstance(crash(begin(toolbox, "spend", {"fields": {}})), KeyError)


# Defaults that were shown


def test_values_that_a_default_factory_gave_stay_those_of_the_first_round():
    days = iter(range(1, 100))
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Book day {day}?"))
    def book(day: int = Field(default_factory=lambda: next(days)), hours: int = 2) -> str:
        return f"day {day}, {hours} hours"

    machine = begin(toolbox, "book")
    assert message(machine, "ok") == "Book day 1?"
    machine = again(machine, {})
    assert play(machine) == play(machine)
    assert result(again(machine, {"ok": YES})) == "day 1, 2 hours"


def test_values_that_a_default_factory_gave_to_a_step_stay_those_of_the_then():
    days = iter(range(1, 100))
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(book)

    @toolbox.step
    @needs_input(ok=confirm("Book day {day}?"))
    def book(day: int = Field(default_factory=lambda: next(days))) -> str:
        return f"day {day}"

    machine = begin(toolbox, "start")
    shown = message(machine, "ok")
    play(machine := again(machine, {}))
    booked = result(again(machine, {"ok": YES}))
    assert shown == f"Book {booked}?"


def test_what_a_function_is_given_is_its_own():
    """A function that changes what it was given changes nothing that was shown or is handed to others."""
    toolbox = Toolbox("t")

    def spoil(items: list[str]) -> int:
        items.append("spoiled")
        return len(items)

    @toolbox.tool
    @needs_input(count=spoil)
    @needs_input(ok=confirm("Buy {items}?"))
    def buy(items: list[str], count: int) -> list[str]:
        return items

    machine = begin(toolbox, "buy", {"items": ["tea"]})
    assert isinstance(machine.next_event(), RunStep)
    run(machine)
    assert message(machine, "ok") == "Buy ['tea']?"
    assert result(again(machine, {"ok": YES})) == ["tea"]


def test_a_parameter_of_an_input_function_that_the_step_does_not_have_takes_its_default():
    toolbox = Toolbox("t")

    def made(a: int = 1, b: int = Field(default=2), c: int = Field(default_factory=lambda: 3)) -> str:
        return f"{a} {b} {c}"

    @toolbox.tool
    @needs_input(x=made)
    def start(x: str) -> str:
        return x

    assert result(begin(toolbox, "start")) == "1 2 3"


def test_a_default_that_a_skipped_input_has_is_the_one_that_was_shown():
    days = iter(range(1, 100))
    toolbox = Toolbox("t")

    def build() -> None:
        @toolbox.tool
        @needs_input(day="Which day?", only_if=lambda: False)
        @needs_input(ok=confirm("Book day {day}?"))
        def book(day: int = Field(default_factory=lambda: next(days))) -> str:
            return f"day {day}"

    try:
        build()
    except DefinitionError:
        return  # refusing it is as good
    machine = begin(toolbox, "book")
    shown = message(machine, "ok")
    assert shown == f"Book {result(again(machine, {'ok': YES}))}?"
