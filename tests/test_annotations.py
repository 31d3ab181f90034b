"""What annotations tell without a value: what is left without a refusal, and what a template may name."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional, Union, get_args
from uuid import UUID

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from mrtr_tools import Refused
from mrtr_tools.annotations import attribute_type, bare, try_format, without_refused
from mrtr_tools.templates import TemplateError


class Address(BaseModel):
    town: str

    @property
    def line(self) -> str:
        return f"To {self.town}"

    def ship(self) -> None:
        """Does something, and shows nothing."""


class Guest(BaseModel):
    name: str
    address: Address | None = None


@dataclass
class Flight:
    price: float
    seat: "str"

    def book(self) -> None:
        """Does something, and shows nothing."""


class Options(TypedDict):
    lunch: bool


class Plain:
    """Says nothing of its attributes."""

    def __init__(self) -> None:
        self.colour = "red"


@pytest.mark.parametrize(
    ("annotation", "left", "admits"),
    [
        (str, str, False),
        (str | Refused, str, True),
        (Union[str, int, Refused], str | int, True),  # noqa: UP007
        (Optional[Union[str, Refused]], str | None, True),  # noqa: UP007, UP045
        (Refused, None, True),
        (Annotated[str | Refused, "note"], Annotated[str, "note"], True),
        (Annotated[Refused, "note"], None, True),
        (Annotated[str, "note"] | Refused, Annotated[str, "note"], True),
        (list[str | Refused], list[str | Refused], False),
        (Any, Any, False),
    ],
)
def test_a_refusal_is_taken_out_of_an_annotation(annotation: Any, left: Any, admits: bool):
    assert without_refused(annotation) == (left, admits)


def test_notes_stay_as_they_were():
    bounds = Field(ge=1)
    kept, _ = without_refused(Annotated[int | Refused, bounds])
    assert get_args(kept) == (int, bounds)


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (int, int),
        (int | None, int),
        (Annotated[int | None, "note"], int),
        (Optional[Annotated[int, "note"]], int),  # noqa: UP045
        (Optional[Annotated[Annotated[int, "a"] | None, "b"]], int),  # noqa: UP045
        (int | str | None, int | str | None),
        (list[int], list[int]),
        (Literal["a"], Literal["a"]),
        (Any, Any),
    ],
)
def test_what_was_written_around_a_type_is_taken_off(annotation: Any, kind: Any):
    assert bare(annotation) == kind


@pytest.mark.parametrize(
    ("annotation", "name", "kind"),
    [
        (Guest, "name", str),
        (Guest, "address", Address | None),
        (Address | None, "town", str),
        (Annotated[Guest, "note"], "name", str),
        (Address, "line", object),
        (Flight, "price", float),
        (date, "year", object),
        (Decimal, "real", object),
        (UUID, "hex", object),
        (Plain, "colour", object),
        (Any, "anything", object),
        (object, "anything", object),
        (int | str, "anything", object),
        (list[int], "anything", object),
    ],
)
def test_an_attribute_has_the_type_that_it_is_annotated_with_or_any(annotation: Any, name: str, kind: object):
    assert attribute_type(annotation, name) == kind


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        (Guest, "nam"),
        (Guest, "address2"),
        (Address, "ship"),
        (Guest, "model_dump"),
        (Flight, "book"),
        (Flight, "prize"),
        (date, "isoformat"),
        (str, "upper"),
        (int, "name"),
        (Decimal, "quantize"),
    ],
)
def test_what_is_not_there_or_is_a_method_is_nothing_to_show(annotation: Any, name: str):
    with pytest.raises(TemplateError, match=f"{annotation.__name__} has no '{name}' to show"):
        attribute_type(annotation, name)


@pytest.mark.parametrize("annotation", [Options, Options | None, Annotated[Options, "note"]])
def test_a_dict_has_no_attributes(annotation: Any):
    with pytest.raises(TemplateError, match="Options is a dict, and a dict has no attributes"):
        attribute_type(annotation, "lunch")


@pytest.mark.parametrize(
    ("annotation", "spec"),
    [
        (str, "d"),
        (str, ".2f"),
        (int, "s"),
        (int | None, "%Y"),
        (float, "d"),
        (Annotated[float, "note"], "x"),
        (bool, "s"),
    ],
)
def test_a_format_that_such_values_do_not_have_is_refused(annotation: Any, spec: str):
    with pytest.raises(TemplateError, match=f"^:{spec} is no format for {bare(annotation).__name__}: "):
        try_format(annotation, spec)


@pytest.mark.parametrize(
    ("annotation", "spec"),
    [
        (str, ">10"),
        (int, "d"),
        (int, ".2f"),
        (float | None, ".2f"),
        (bool, "d"),
        (float, ""),
        (date, "%Y"),
        (Any, "whatever"),
        (int | str, "d"),
        (list[int], "d"),
    ],
)
def test_a_format_that_some_values_have_is_taken(annotation: Any, spec: str):
    try_format(annotation, spec)
