"""Arguments that cost far more to read than they take room."""

import json
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest
from pydantic import BaseModel, Json

from mrtr_tools.arguments import Given
from mrtr_tools.errors import InvalidArguments
from tests.rounds_by_hand import tool


class Price(BaseModel):
    amount: Decimal


class Size(IntEnum):
    SMALL = 1


def read(annotation: Any, value: Any, **more: Any) -> Given:
    """The arguments of a tool that takes `x`, and also `other` when it is given: a type and a value."""

    def go(x, other=None):
        return ""

    go.__annotations__ = {"x": annotation, "other": more.get("kind", str | None), "return": str}
    given = {"x": value} | ({"other": more["other"]} if "other" in more else {})
    return tool(go).tools["go"].arguments.read(given, {})


HUGE = [
    "1e3000000",
    "1E+3000000",
    "-1e-3000000",
    " 1e3000000 ",
    "\u30001e3000000",
    "1.e3000000",
    ".1e3000000",
    "\u0661e3000000",
    "1_0e3000000",
    "1e3_000_000",
    "9" * 41,
    "0." + "9" * 41,
    "1e41",
]


@pytest.mark.parametrize("number", HUGE)
def test_a_decimal_argument_cannot_stand_for_millions_of_digits(number: str):
    """Security 21: however Python lets it be written."""
    with pytest.raises(InvalidArguments, match="at most 40 digits"):
        read(Decimal, number)


@pytest.mark.parametrize("number", ["1", "-1.50", "1e40", "1E-40", " 7 ", "9" * 40, "0." + "9" * 39])
def test_an_ordinary_decimal_argument_is_taken(number: str):
    assert read(Decimal, number).values["x"] == Decimal(number.strip())


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[Decimal], ["1", "1e3000000"]),
        (dict[str, Decimal], {"a": "1e3000000"}),
        (dict[Decimal, str], {"1e3000000": "a"}),
        (Decimal | None, "1e3000000"),
        (str | Decimal, "1e3000000"),
        (Price, {"amount": "1e3000000"}),
        (list[Price], [{"amount": "1"}, {"amount": "1e3000000"}]),
        (tuple[int, Price], [1, {"amount": "1e3000000"}]),
        (Json[list[Decimal]], '["1", "1e3000000"]'),
        (Json[Decimal], '"1e3000000"'),
    ],
    ids=str,
)
def test_a_decimal_is_found_wherever_it_is(annotation: Any, value: Any):
    """Security 21."""
    with pytest.raises(InvalidArguments, match="at most 40 digits"):
        read(annotation, value)


@pytest.mark.parametrize("annotation", [str, Any, list[str], dict[str, str]])
def test_a_text_may_look_like_any_number(annotation: Any):
    value: Any = {str: "1e3000000", Any: "1e3000000", list[str]: ["1e3000000"]}.get(annotation, {"1e9": "1e3000000"})

    assert read(annotation, value).values["x"] == value


COLLIDING = [number * (2**61 - 1) for number in range(1001)]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (set[int], COLLIDING),
        (frozenset[str], [str(number) for number in COLLIDING]),
        (dict[int, str], {str(number): "" for number in COLLIDING}),
        (dict[Size, str], {str(number): "" for number in COLLIDING}),
        (list[set[int]], [[1], COLLIDING]),
        (set[int] | None, COLLIDING),
        (Json[set[int]], json.dumps(COLLIDING)),
    ],
    ids=str,
)
def test_a_set_or_a_dict_with_other_keys_than_text_has_at_most_1000_members(annotation: Any, value: Any):
    """Security 21: numbers that all fall into one place take a time that grows with the square of their number."""
    with pytest.raises(InvalidArguments, match="at most 1000 members"):
        read(annotation, value)


def test_a_thousand_members_are_taken():
    assert read(set[int], COLLIDING[:1000]).values["x"] == set(COLLIDING[:1000])
    assert len(read(dict[int, str], {str(n): "" for n in COLLIDING[:1000]}).values["x"]) == 1000  # type: ignore[arg-type]


@pytest.mark.parametrize(("annotation", "value"), [(list[int], COLLIDING), (dict[str, int], dict.fromkeys("ab", 1))])
def test_lists_and_dicts_with_text_for_keys_have_no_such_limit(annotation: Any, value: Any):
    assert read(annotation, value).values["x"] == value


def test_other_arguments_are_left_alone():
    assert read(Decimal, "1", other="9" * 41).values["other"] == "9" * 41
    assert read(set[int], [1], other=COLLIDING, kind=list[int] | None).values["other"] == COLLIDING
