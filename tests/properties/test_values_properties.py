"""Whatever the annotation: what a codec takes comes back as it went in, and a form reads what it offers."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Union
from uuid import UUID

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, Field, JsonValue

from mrtr_tools.forms import Form, Misfit, form_for
from mrtr_tools.values import Codec, NotCarriable


class Colour(Enum):
    RED = "red"
    FOUR = 4


class Model(BaseModel):
    number: float = Field(alias="theNumber")
    when: date | None = None


@dataclasses.dataclass(frozen=True)
class Record:
    data: bytes
    price: Decimal


FINITE = st.floats(allow_nan=False, allow_infinity=False)
PRICES = st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**9), max_value=10**9)
HASHABLE: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, st.text()),
    (int, st.integers()),
    (bool, st.booleans()),
    (float, FINITE),
    (None, st.none()),
    (bytes, st.binary()),
    (Decimal, PRICES),
    (date, st.dates()),
    (datetime, st.datetimes(timezones=st.just(UTC))),
    (timedelta, st.timedeltas(min_value=timedelta(-999), max_value=timedelta(999))),
    (UUID, st.uuids()),
    (Colour, st.sampled_from(Colour)),
    (Literal["a", 1] | None, st.sampled_from(["a", 1, None])),
    (Record, st.builds(Record, st.binary(), PRICES)),
]
TYPED: list[tuple[Any, st.SearchStrategy[Any]]] = [
    *HASHABLE,
    (Model, st.builds(Model, theNumber=FINITE, when=st.dates())),
]


@st.composite
def typed_values(draw: st.DrawFn, depth: int = 2) -> tuple[Any, Any]:
    """An annotation and a value of it; inside a union the value is of one of the types."""
    kind = draw(st.sampled_from(["plain", "list", "dict", "tuple", "set", "optional", "union"] if depth else ["plain"]))
    if kind == "plain":
        annotation, values = draw(st.sampled_from(TYPED))
        return annotation, draw(values)
    if kind == "set":
        annotation, values = draw(st.sampled_from(HASHABLE))
        return set[annotation], draw(st.sets(values, max_size=3))
    annotation, value = draw(typed_values(depth - 1))
    other, _ = draw(typed_values(depth - 1))
    made: dict[str, tuple[Any, Any]] = {
        "list": (list[annotation], [value] * draw(st.integers(0, 2))),
        "dict": (dict[str, annotation], {draw(st.text()): value}),
        "tuple": (tuple[annotation, int], (value, 1)),
        "optional": (Union[annotation, None], draw(st.sampled_from([value, None]))),  # noqa: UP007
        "union": (Union[other, annotation], value),  # noqa: UP007
    }
    return made[kind]


def same(a: object, b: object) -> bool:
    """Equal, and of the same types all the way down; an int may have become a float."""
    if type(a) is not type(b):
        return type(a) is int and type(b) is float and a == b
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))  # type: ignore[arg-type, misc]
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))  # type: ignore[attr-defined]
    if isinstance(a, BaseModel):
        return same(a.__dict__, b.__dict__)
    return a == b and (isinstance(a, (set, datetime)) or repr(a) == repr(b))


def through_json(codec: Codec, value: object) -> object:
    return codec.load(json.loads(json.dumps(codec.dump(value), allow_nan=False)))


@given(typed_values())
def test_a_value_comes_back_as_it_went_in_or_is_refused(case: tuple[Any, Any]) -> None:
    annotation, value = case
    codec = Codec(annotation)
    try:
        back = through_json(codec, value)
    except NotCarriable:
        assert "Union" in repr(annotation) or "|" in repr(annotation)  # only a union can take one type for another
    else:
        assert same(value, back)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | PRICES
    | st.uuids(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=3)
        | st.frozensets(st.integers() | st.text(), max_size=2)
    ),
    max_leaves=8,
)


@given(st.sampled_from([Any, object, dict[str, Any], list, str, int, float, list[int] | str]), ANYTHING)
def test_a_value_of_any_type_comes_back_as_it_went_in_or_is_refused(annotation: Any, value: object) -> None:
    codec = Codec(annotation)
    try:
        back = through_json(codec, value)
    except NotCarriable:
        return
    assert same(value, back)


QUESTIONS: list[tuple[Any, st.SearchStrategy[Any], st.SearchStrategy[Any]]] = [
    (str, st.text(max_size=50), st.nothing()),
    (int, st.integers(-(10**30), 10**30), st.integers(-(10**30), 10**30).map(str)),
    (float, FINITE, FINITE.map(repr)),
    (bool, st.booleans(), st.sampled_from(["true", "false"])),
    (date, st.dates().map(str), st.nothing()),
    (Decimal, PRICES.map(str), st.nothing()),
    (UUID, st.uuids().map(str), st.nothing()),
    (Colour, st.sampled_from(["red", "4"]), st.nothing()),
    (list[Colour], st.lists(st.sampled_from(["red", "4"]), unique=True), st.nothing()),
]


@given(st.data())
def test_a_form_reads_what_fits_and_the_answer_can_be_carried(data: st.DataObject) -> None:
    annotation, exact, lenient = data.draw(st.sampled_from(QUESTIONS))
    value = form_for(annotation, "x").read({"x": data.draw(exact | lenient)})
    assert same(through_json(Codec(annotation), value), value)


FORMS: list[tuple[Form, Codec]] = [
    (form_for(annotation, "x"), Codec(annotation))
    for annotation in (
        *(annotation for annotation, _, _ in QUESTIONS),
        Annotated[int | None, Field(gt=3, le=9)],
        Annotated[str, Field(pattern="^a")],
        Literal["a", 1, True],
        Model,
    )
]
CONTENTS: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["red", "1e99999", "9" * 5000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "theNumber", "when"]), inner),
)


@given(st.sampled_from(FORMS), CONTENTS | CONTENTS.map(lambda content: {"x": content, "theNumber": content}))
def test_no_content_gives_anything_but_a_value_that_can_be_carried_or_a_misfit(
    case: tuple[Form, Codec], content: JsonValue
) -> None:
    form, codec = case
    try:
        value = form.read(content)
    except Misfit as misfit:
        told = str(misfit)
    else:
        assert same(through_json(codec, value), value)
        return
    assert told.isprintable()
    assert len(told) < 300


@given(st.lists(st.text(min_size=1, max_size=10), min_size=1, max_size=5, unique=True), st.data())
def test_a_form_takes_the_choices_it_offered_and_no_others(choices: list[str], data: st.DataObject) -> None:
    form = form_for(list[str], "x", at_run_time=True)
    sent = form.offering(
        choices if data.draw(st.booleans()) else {choice: f"Label {number}" for number, choice in enumerate(choices)}
    )
    picked = data.draw(st.lists(st.sampled_from(choices), unique=True))
    assert form.read({"x": picked}, sent) == picked
    other = data.draw(st.text().filter(lambda text: text not in choices))
    with pytest.raises(Misfit):
        form.read({"x": [*picked, other]}, sent)
