"""Texts and conditions of inputs that name what is not there, or not known by then (promise 2; Security 6)."""

import dataclasses
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pytest
import typing_extensions
from pydantic import BaseModel, Field

from mrtr_tools import Context, Elicit, Toolbox, confirm, needs_input
from tests.refusing import refused


class Address(BaseModel):
    city: str


class Flight(BaseModel):
    price: int
    home: Address


class Size(Enum):
    SMALL = "s"


class Page(BaseModel):
    size: int

    @property
    def total(self) -> int:
        return 3 * self.size

    def double(self) -> int:
        return 2 * self.size


class Fare(typing_extensions.TypedDict):
    price: int


@pytest.fixture
def box():
    return Toolbox("wrong")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rename {nothing}?", ["'nothing'", "is no parameter", "known by then: new"]),
        ("Rename {login}?", ["'login'", "asked later or together with it"]),
        ("Rename {reason}?", ["'reason'", "asked later or together with it"]),
        ("Rename {later}?", ["'later'", "asked later or together with it"]),
        ("Rename {ctx.call_id}?", ["{ctx.handle}"]),
        ("Rename {new", ["template", "{{ and }}"]),
        ("Rename {new!r}?", ["template", "{new}"]),
        ("Rename {new.__class__}?", ["template", "underscore"]),
        ("Rename {new[0]}?", ["template", "parameter"]),
        ("Rename {}?", ["template", "parameter"]),
    ],
)
def test_a_text_that_names_what_is_not_known_by_then_is_refused(box, text, words):
    """Promise 2; Security 6, 22."""
    with refused("rename", "'login'", *words):

        @box.tool
        @needs_input(login=text, reason="Why?")
        @needs_input(later="And then?")
        def rename(new: str, login: str, reason: str, later: str, ctx: Context) -> str: ...


@dataclasses.dataclass
class Parcel:
    price: int
    weight: float = dataclasses.field(default_factory=float)


@pytest.mark.parametrize(
    ("annotation", "text", "missing"),
    [
        (Flight, "{it.prise}", "prise"),
        (Annotated[Flight, Field(description="A flight")], "{it.prise}", "prise"),
        (Flight | None, "{it.prise}", "prise"),
        (Flight, "{it.home.citty}", "citty"),
        (Parcel, "{it.prise}", "prise"),
        (Fare, "{it.prise}", "prise"),
        (str, "{it.prise}", "prise"),
        (Decimal, "{it.price}", "price"),
        (Page, "{it.double}", "double"),
    ],
)
def test_a_text_that_names_an_attribute_which_is_not_there_is_refused(box, annotation, text, missing):
    def pay(it) -> str: ...

    pay.__annotations__["it"] = annotation
    with refused("pay", "'ok'", missing):
        box.tool(needs_input(ok=confirm(f"Pay {text}?"))(pay))


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (Flight, "{it.price} in {it.home.city}"),
        (Parcel, "{it.price:.2f} at {it.weight}"),
        (Annotated[Flight, Field(description="A flight")], "{it.price}"),
        (Decimal, "{it.real:.2f}"),
        (int, "{it.real.imag}"),
        (Size, "{it.value} {it.name}"),
        (Page, "{it.total}"),
        (Any, "{it.anything}"),
    ],
)
def test_a_text_may_name_attributes_that_are_there(box, annotation, text):
    def pay(it) -> str: ...

    pay.__annotations__["it"] = annotation
    box.tool(needs_input(ok=confirm(f"Pay {text}?"))(pay))

    assert list(box.tools) == ["pay"]


@pytest.mark.parametrize(("annotation", "text"), [(int, "{it:zz}"), (str, "{it:.2f}"), (float, "{it:d}")])
def test_a_format_that_its_type_does_not_know_is_refused(box, annotation, text):
    def pay(it) -> str: ...

    pay.__annotations__["it"] = annotation
    with refused("pay", "'ok'"):
        box.tool(needs_input(ok=confirm(f"Pay {text}?"))(pay))


# Conditions


@pytest.mark.parametrize(
    ("only_if", "words"),
    [
        (lambda nothing: nothing, ["'nothing'", "is no parameter", "known by then: new"]),
        (lambda login: login, ["'login'", "asked later or together with it"]),
        (lambda later: later, ["'later'", "asked later or together with it"]),
        (lambda ctx: ctx.round, ["'ctx'"]),
        (lambda new, limit=3: len(new) > limit, ["'limit'", "is no parameter"]),
        (lambda *new: new, ["*new", "name each parameter"]),
        (lambda new, /: new, ["'new'", "positional only"]),
        (bool, ["bool", "not a function"]),
    ],
)
def test_a_condition_over_what_is_not_known_by_then_is_refused(box, only_if, words):
    with refused(*words):

        @box.tool
        @needs_input(login="Who?", only_if=only_if)
        @needs_input(later="And then?")
        def rename(new: str, ctx: Context, login: str = "", later: str = "") -> str: ...


def test_a_condition_that_is_async_is_refused(box):
    """A coroutine is always true, so such a condition would never skip."""

    async def is_new(new: str) -> bool:
        return False

    with refused("rename", "only_if="):

        @box.tool
        @needs_input(login="Who?", only_if=is_new)
        def rename(new: str, login: str = "") -> str: ...


@pytest.mark.parametrize("source", ["Who?", Elicit("Who?"), lambda new: new])
def test_an_input_under_a_condition_needs_a_default(box, source):
    with refused("rename", "'login'", "needs a default", "= None"):

        @box.tool
        @needs_input(login=source, only_if=lambda new: new)
        def rename(new: str, login: str) -> str: ...


def test_a_gate_under_a_condition_needs_no_default(box):
    @box.tool
    @needs_input(ok=confirm("Sure?"), only_if=lambda new: new)
    def rename(new: str) -> str: ...

    assert list(box.tools) == ["rename"]
