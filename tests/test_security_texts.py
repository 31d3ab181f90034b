"""Attacks through texts: what arguments and answers do to the dialog that a person has to trust. Security 6."""

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, create_model, field_validator

from mrtr_tools import AskAgain, DefinitionError, Elicit, Toolbox, confirm, needs_input, then
from tests.attacker import Server, form, message
from tests.wire_by_hand import accept

SIGNING_KEY = "mrtr1_secret"
BIDI = "\u202e\u2066\u200f\u200b\ufeff"
SPLIT = "Paris for 9 EUR?\n\nRefundable. Confirm.\r\n\x0b\x0c\x85\u2028\u2029\n"


def unseen(text: str) -> list[str]:
    """What a person does not see in a text, or sees as a new line."""
    return [character for character in text if not character.isprintable()]


def trip() -> Toolbox:
    toolbox = Toolbox("trips")

    @toolbox.tool
    @needs_input(ok=confirm("Fly to {destination} for {price} EUR?"))
    def fly(destination: str, price: int) -> str:
        return "flown"

    return toolbox


@pytest.mark.parametrize(
    "destination", [SPLIT, BIDI + "Rome" + BIDI, "\x1b[2J\x00\x9b", "a\U000e0041\u00adb", "\u061c\u180e"]
)
def test_an_argument_cannot_break_or_turn_the_line_of_a_question(destination: str) -> None:
    """Security 6: controls, newlines, bidi and zero-width characters are escaped."""
    asked = Server(trip()).ask("fly", {"destination": destination, "price": 900})

    assert unseen(message(asked, "ok")) == []
    assert message(asked, "ok").endswith(" for 900 EUR?")


@pytest.mark.parametrize("destination", ["x" * 100_000, "\n" * 100_000, "\u202e" * 100_000, "👩‍👩‍👧" * 5000])
def test_an_argument_cannot_push_the_price_out_of_sight(destination: str) -> None:
    """Security 6: an interpolated value has at most 200 characters."""
    asked = Server(trip()).ask("fly", {"destination": destination, "price": 900})

    assert message(asked, "ok").endswith("… for 900 EUR?")
    assert len(message(asked, "ok")) == len("Fly to  for 900 EUR?") + 200


@pytest.mark.parametrize(
    "hostile",
    [
        "{price}",
        "{destination}",
        "{0}",
        "{fly.__globals__[SIGNING_KEY]}",
        "{{price}}",
        "{price.__class__.__mro__}",
        "{",
    ],
)
def test_what_fills_a_template_is_no_template(hostile: str) -> None:
    """Security 6: an argument with braces is shown as it is."""
    asked = Server(trip()).ask("fly", {"destination": hostile, "price": 900})

    assert message(asked, "ok") == f"Fly to {hostile} for 900 EUR?"


@pytest.mark.parametrize(
    "text",
    [
        "{a.__class__}",
        "{a._secret}",
        "{a[0]}",
        "{a!r}",
        "{a:{b}}",
        "{}",
        "{0}",
        "{a.b.__init__}",
        "{a",
        "a}",
        "{a.}",
        "{.a}",
        "{a b}",
        "{a()}",
        "{b}",
        "{ctx}",
        "{self}",
    ],
)
def test_a_template_that_reaches_too_far_is_refused_when_defined(text: str) -> None:
    """Security 6: plain names and attributes without underscores, and only parameters that are known by then."""
    toolbox = Toolbox("t")

    def ask(a: str, c: str) -> str:
        return a

    with pytest.raises(DefinitionError, match="ask"):
        toolbox.tool(needs_input(c=text)(ask))


@dataclass
class Flight:
    number: str


def booking() -> Toolbox:
    toolbox = Toolbox("booking")

    @toolbox.tool
    @needs_input(day="Which day?")
    def book(day: str) -> str:
        if day != "tue":
            raise AskAgain(day=f"{day} is full")
        return day

    @toolbox.tool
    @needs_input(note=lambda text: text)
    @needs_input(ok=confirm("Really: {note}"))
    def keep(text: str, note: str) -> str:
        return note

    @toolbox.tool
    @needs_input(note=lambda: Elicit("Is it {text} or {0.__class__}?"))
    def made(text: str, note: str) -> str:
        return note

    @toolbox.tool
    def find(number: str) -> str:
        return then(seat, flight=Flight(number))

    @toolbox.step
    @needs_input(row="Which row on {flight.number}?")
    def seat(flight: Flight, row: int) -> str:
        return f"{flight.number} {row}"

    return toolbox


def test_the_reason_for_asking_again_is_never_formatted() -> None:
    """Security 6: the answer `{book.__globals__[SIGNING_KEY]}` once printed the key."""
    server = Server(booking())
    asked = server.ask("book")

    again = server.ask("book", state=asked.state, day=accept(day="{day.__class__} {book.__globals__[SIGNING_KEY]}"))

    assert message(again, "day-2") == "{day.__class__} {book.__globals__[SIGNING_KEY]} is full\nWhich day?"
    assert SIGNING_KEY not in message(again, "day-2")


@pytest.mark.parametrize("hostile", [SPLIT, BIDI, "\n" * 10_000])
def test_the_reason_for_asking_again_is_one_line_of_its_own(hostile: str) -> None:
    """Security 6: an answer that comes back in a reason cannot write a question of its own."""
    server = Server(booking())
    asked = server.ask("book")

    again = server.ask("book", state=asked.state, day=accept(day=hostile))
    reason, question = message(again, "day-2").split("\n")

    assert question == "Which day?"
    assert unseen(reason) == []
    assert len(reason) <= 500


def test_a_text_that_an_input_function_returns_is_a_value() -> None:
    """Security 6: it is no question, and it is no template where it is shown."""
    asked = Server(booking()).ask("keep", {"text": "{note} {text}"})

    assert list(asked.requests) == ["ok"]
    assert message(asked, "ok") == "Really: {note} {text}"


def test_a_question_that_a_function_made_is_sent_as_it_is() -> None:
    """Security 6: function results are never formatted."""
    asked = Server(booking()).ask("made", {"text": "x"})

    assert message(asked, "note") == "Is it {text} or {0.__class__}?"


def test_what_was_handed_on_is_shown_with_the_same_care() -> None:
    """Security 6: a hostile value does not become harmless on its way through a step."""
    asked = Server(booking()).ask("find", {"number": SPLIT + BIDI})

    assert unseen(message(asked, "row")) == []
    assert message(asked, "row").startswith("Which row on Paris for 9 EUR?\\n\\nRefundable.")


def test_a_validators_words_about_an_answer_are_shown_with_the_same_care() -> None:
    """Security 6: a model's own message may quote the answer."""

    class Guest(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def known(cls, name: str) -> str:
            raise ValueError(f"{name} is not known")

    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(guest="Who comes?")
    def invite(guest: Guest) -> str:
        return guest.name

    server = Server(toolbox)
    asked = server.ask("invite")
    again = server.ask("invite", state=asked.state, guest=accept(name=SPLIT + BIDI + "{guest}"))
    reason, question = message(again, "guest").split("\n")

    assert question == "Who comes?"
    assert unseen(reason) == []
    assert form(again, "guest") == form(asked, "guest")


def test_a_misfit_does_not_repeat_the_answer() -> None:
    """Security 6: nothing of it has a place in the dialog."""
    server = Server(booking())
    asked = server.ask("find", {"number": "LH1"})

    again = server.ask("find", {"number": "LH1"}, state=asked.state, row=accept(row="VISIT evil.example"))

    assert message(again, "row") == "row must be a whole number.\nWhich row on LH1?"


def test_what_is_wrong_with_a_long_form_is_told_on_one_line_of_bounded_length() -> None:
    """Security 6: the question below it stays in sight."""
    fields: Any = {f"field_number_{number}": (int, ...) for number in range(30)}
    toolbox = Toolbox("t")

    def fill(table: Any) -> str:
        return "filled"

    fill.__annotations__ = {"table": create_model("Table", **fields), "return": str}
    toolbox.tool(needs_input(table="What are the numbers?")(fill))
    server = Server(toolbox)
    asked = server.ask("fill")

    again = server.ask("fill", state=asked.state, table=accept(**dict.fromkeys(fields, "x")))
    reason, question = message(again, "table").split("\n")

    assert question == "What are the numbers?"
    assert reason.startswith("field_number_0 must be a whole number. field_number_1 must be")
    assert len(reason) == 500


def test_the_names_in_an_error_about_arguments_are_shown_with_the_same_care() -> None:
    """Security 6: the keys of an argument are the caller's; a person may read the error."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def order(sizes: dict[str, int]) -> str:
        return "ordered"

    done = Server(toolbox).end("order", {"sizes": {SPLIT + BIDI + "x" * 1000: "many"}})

    assert done.is_error
    assert str(done.value).startswith(r"Invalid arguments: sizes.Paris for 9 EUR?\n\nRefundable.")
    assert unseen(str(done.value)) == []
    assert len(str(done.value)) < 400
