"""Attacks with requests that cost more than they take room. Security 21; what is counted is work, never time."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Tag

from mrtr_tools import Elicit, Toolbox, needs_input, then
from mrtr_tools.calls import Call
from mrtr_tools.errors import InvalidParams
from mrtr_tools.rounds import Round
from tests.attacker import Server, message
from tests.wire_by_hand import accept

read: list[object] = []
"""What a validator was given."""


def noted(value: Any) -> Any:
    read.append(value)
    return value


Noted = Annotated[int, AfterValidator(noted)]


def taking(annotation: Any) -> Server:
    """A server whose one tool takes a value of this type."""
    toolbox = Toolbox("t")

    def take(value):
        return "taken"

    take.__annotations__ = {"value": annotation, "return": str}
    toolbox.tool(take)
    return Server(toolbox)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (set[Noted], list(range(1001))),
        (frozenset[Noted], list(range(1001))),
        (dict[Noted, str], {str(number): "" for number in range(1001)}),
        (dict[str, set[Noted]], {"a": list(range(1001))}),
        (list[dict[Noted, str]], [{str(number): "" for number in range(1001)}]),
    ],
    ids=str,
)
def test_a_set_that_is_too_large_is_refused_before_it_is_made(annotation: Any, value: Any) -> None:
    """Security 21: numbers that fall into one place of a set cost the square of their number."""
    read.clear()
    server = taking(annotation)

    done = server.end("take", {"value": value})

    assert done.is_error
    assert "at most 1000 members" in str(done.value)
    assert (read, server.ran) == ([], [])


@pytest.mark.parametrize("number", ["1e999999999", "-1E+999999999", "1e-999999999", "9" * 41])
@pytest.mark.parametrize(
    "annotation",
    [Decimal, list[Decimal], dict[str, Decimal | None], Annotated[Decimal, Tag("a")] | Annotated[bool, Tag("b")]],
    ids=str,
)
def test_a_decimal_of_a_few_characters_is_refused_as_an_argument_too(annotation: Any, number: str) -> None:
    """Security 21: as an integer it would have a thousand million digits."""
    value: Any = {list[Decimal]: [number], dict[str, Decimal | None]: {"a": number}}.get(annotation, number)
    server = taking(annotation)

    done = server.end("take", {"value": value})

    assert done.is_error
    assert "at most 40 digits" in str(done.value)
    assert server.ran == []


def test_the_arguments_of_a_prompt_are_looked_at_as_well() -> None:
    """Security 21: whatever is asked for by name takes arguments."""
    toolbox = Toolbox("t")

    @toolbox.prompt()
    def price(amount: Decimal) -> str:
        return str(int(amount))

    with pytest.raises(InvalidParams, match="at most 40 digits"):
        Round(toolbox, Call("price", {"amount": "1e999999999"}, method="prompts/get"))


def test_more_than_20000_values_are_refused_whether_they_are_read_or_not() -> None:
    """Security 21: all of them are bound, so all of them cost."""
    server = taking(int)

    assert server.end("take", {"value": 1, "more": [0] * 19_998}).value == "taken"
    with pytest.raises(InvalidParams, match="more than 20000 values"):
        server.send("take", {"value": 1, "more": [0] * 19_999})
    with pytest.raises(InvalidParams, match="more than 20000 values"):
        server.send("take", {"value": 1, "more": [[0] * 100 for _ in range(200)]})


@dataclass
class Heavy:
    """Counts how often it is copied."""

    size: int

    def __deepcopy__(self, memo: object) -> "Heavy":
        noted(self)
        return Heavy(self.size)


def test_an_argument_is_copied_for_a_function_that_takes_it_and_for_no_other() -> None:
    """Security 21: else a thousand functions that need a number would copy a megabyte each."""
    toolbox = Toolbox("t")

    def double(number: int) -> int:
        return number * 2

    @toolbox.tool
    @needs_input(one=double, two=double, three=double)
    @needs_input(last="Which?")
    def carry(heavy: Heavy, number: int, *, one: int, two: int, three: int, last: str) -> str:
        return f"{heavy.size} {one + two + three} {last}"

    server = Server(toolbox)
    arguments = {"heavy": {"size": 5}, "number": 2}
    read.clear()
    asked = server.ask("carry", arguments)
    assert (server.ran, read) == (["one", "two", "three"], [])

    assert server.end("carry", arguments, state=asked.state, last=accept(last="x")).value == "5 12 x"
    assert len(read) == 1


def test_arguments_are_not_copied_for_steps_that_take_none_of_them() -> None:
    """Security 21."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def count(heavy: Heavy, number: int) -> str:
        return then(down, number=number)

    @toolbox.step
    def down(number: int) -> str:
        return then(down, number=number - 1) if number else "done"

    read.clear()

    assert Server(toolbox).end("count", {"heavy": {"size": 5}, "number": 100}).value == "done"
    assert len(read) == 1


# The form of a run-time question does not take a parameter's bounds away


class Other(BaseModel):
    """Calls its one field otherwise than the parameter."""

    other: str


def asked_otherwise(annotation: Any) -> Server:
    toolbox = Toolbox("t")

    def form() -> Elicit:
        return Elicit("How much?", form=Other)

    def pay(amount):
        return f"{amount}"

    pay.__annotations__ = {"amount": annotation, "return": str}
    toolbox.tool(needs_input(amount=form)(pay))
    return Server(toolbox)


@pytest.mark.parametrize(
    ("annotation", "answer", "reason"),
    [
        (Decimal, "1e999999", "must be a decimal number of at most 40 digits"),
        (Decimal | None, "1e999999", "must be a decimal number of at most 40 digits"),
        (int, "9" * 5000, "must be a whole number"),
        (int, "ten", "must be a whole number"),
    ],
    ids=["decimal", "decimal or nothing", "long", "no number"],
)
def test_a_form_that_calls_a_parameter_otherwise_keeps_its_bounds(annotation: Any, answer: str, reason: str) -> None:
    """Security 21: the bounds are of the parameter, whatever a form calls it."""
    server = asked_otherwise(annotation)
    asked = server.ask("pay")

    again = server.ask("pay", state=asked.state, amount=accept(other=answer))

    assert message(again, "amount") == f"amount {reason}.\nHow much?"
    assert server.end("pay", state=again.state, amount=accept(other="40")).value == "40"
