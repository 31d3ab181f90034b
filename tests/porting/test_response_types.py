"""What `ctx.elicit` is told to ask for: the form that is shown, the answers that fit, and what they become."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from mrtr_tools.answers import Misfit
from mrtr_tools.response_types import raw_form, response_type_of


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Booking(BaseModel):
    guests: int = Field(ge=1, title="Guests")
    note: str | None = None


@dataclass
class Address:
    street: str
    city: str = "Oslo"


class Person(TypedDict):
    name: str


class Picked(BaseModel):
    room: str = Field(json_schema_extra={"enum": ["sea", "garden"]})
    size: str = Field(json_schema_extra={"oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]})


def value(**spec: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"value": spec}, "required": ["value"]}


LOW_HIGH = [{"const": "low", "title": "Low"}, {"const": "high", "title": "high"}]
GIVEN = [
    (bool, value(type="boolean"), True, True),
    (int, value(type="integer"), 3, 3),
    (float, value(type="number"), 1.5, 1.5),
    (str, value(type="string"), "x", "x"),
    (Literal["a", "b"], value(type="string", enum=["a", "b"]), "b", "b"),
    (Literal[1, 2], value(type="string", enum=["1", "2"]), "2", 2),
    (Color, value(type="string", enum=["red", "blue"]), "blue", Color.BLUE),
    (list[Color], value(type="array", items={"type": "string", "enum": ["red", "blue"]}), ["red"], [Color.RED]),
    (["a", "b"], value(type="string", enum=["a", "b"]), "a", "a"),
    ([["a", "b"]], value(type="array", items={"type": "string", "enum": ["a", "b"]}), ["b", "a"], ["b", "a"]),
    ({"low": {"title": "Low"}, "high": {}}, value(type="string", oneOf=LOW_HIGH), "low", "low"),
    ([{"low": {"title": "Low"}, "high": {}}], value(type="array", items={"anyOf": LOW_HIGH}), ["high"], ["high"]),
]


@pytest.mark.parametrize(("given", "schema", "answer", "becomes"), GIVEN, ids=[str(row[0])[:30] for row in GIVEN])
def test_one_value_is_a_field_that_is_called_value(given, schema, answer, becomes):
    of = response_type_of(given)
    kept = of.read({"value": answer})

    assert of.schema == schema
    assert of.load(kept) == becomes
    assert type(of.load(kept)) is type(becomes)
    assert not of.is_yes


@pytest.mark.parametrize(("given", "wrong"), [(int, "x"), (["a"], "b"), ({"a": {}}, "b"), ([["a"]], ["a", "b"])])
def test_an_answer_that_was_not_offered_does_not_fit(given, wrong):
    with pytest.raises(Misfit):
        response_type_of(given).read({"value": wrong})


@pytest.mark.parametrize(
    ("given", "content", "becomes"),
    [
        (Booking, {"guests": 2}, Booking(guests=2)),
        (Address, {"street": "Main St"}, Address("Main St")),
        (Person, {"name": "Ada"}, {"name": "Ada"}),
        (Picked, {"room": "sea", "size": "l"}, Picked(room="sea", size="l")),
    ],
)
def test_a_type_with_fields_is_a_form_of_these_fields(given, content, becomes):
    of = response_type_of(given)

    assert of.load(of.read(content)) == becomes


def test_choices_that_were_written_into_the_schema_by_hand_are_shown_and_held():
    of = response_type_of(Picked)

    assert of.schema["properties"] == {
        "room": {"type": "string", "enum": ["sea", "garden"]},
        "size": {
            "type": "string",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
    }
    with pytest.raises(Misfit, match=r"room must be one of the choices offered"):
        of.read({"room": "roof", "size": "s"})


def test_a_title_and_a_description_go_with_the_one_value():
    of = response_type_of(["a"], "Letter", "The first one")

    assert of.schema == value(type="string", enum=["a"], title="Letter", description="The first one")
    with pytest.raises(TypeError, match="response_title= and response_description= are for one value"):
        response_type_of(Booking, "Letter")


class Empty(BaseModel):
    """No fields."""


@pytest.mark.parametrize(("given", "becomes"), [(None, {}), (Empty, Empty())])
def test_what_has_no_fields_asks_for_a_yes(given, becomes):
    """A client may accept what it cannot show."""
    of = response_type_of(given)

    assert of.is_yes
    assert of.schema == {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
    assert of.load(of.read({"confirm": True})) == becomes
    for content in ({}, None, {"confirm": "yes"}):
        with pytest.raises(Misfit, match="yes or no"):
            of.read(content)


class Nested(BaseModel):
    inner: Booking


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Nested, "a form is flat"),
        (list[str], r"a form shows a list only as choices"),
        (bytes, "a form has no bytes"),
        ([], r"elicit\(\) takes choices as texts"),
        ({}, r"elicit\(\) takes choices as texts"),
        ([1, 2], r"elicit\(\) takes choices as texts"),
        ([["a"], ["b"]], r"elicit\(\) takes choices as texts"),
    ],
)
def test_what_no_form_shows_is_refused_with_the_way_out(given, told):
    with pytest.raises(TypeError, match=told):
        response_type_of(given)


def test_a_type_that_cannot_be_looked_up_is_read_each_time():
    given = Annotated[str, Field(title="Name"), ["no hash"]]

    assert response_type_of(given).schema == value(type="string", title="Name")


def test_the_same_type_is_read_once():
    assert response_type_of(Booking) is response_type_of(Booking)
    assert response_type_of(["a", "b"]) is response_type_of(["a", "b"])
    assert response_type_of(["a", "b"]) is not response_type_of(["b", "a"])


# A schema by hand


def test_a_schema_by_hand_is_sent_as_it_is_and_its_answers_are_held_against_it():
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "mail": {"type": "string", "format": "email"},
            "age": {"type": "integer", "minimum": 18},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        },
        "required": ["mail"],
    }
    of = raw_form(schema)

    assert of.schema == schema
    assert of.load(of.read({"mail": "ada@example.com", "age": "20", "more": 1})) == {
        "mail": "ada@example.com",
        "age": 20,
    }
    with pytest.raises(Misfit, match="age must be at least 18"):
        of.read({"mail": "ada@example.com", "age": 3})


class Written(BaseModel):
    color: Color
    size: Literal["s", "l"] = "s"
    only: Literal["x"] = "x"
    many: list[Color] = []
    age: int | None = None
    mail: str | None = Field(default=None, pattern=".*@.*", title="Mail", json_schema_extra={"format": "password"})


def test_a_schema_that_pydantic_wrote_is_made_flat():
    of = raw_form(Written.model_json_schema())

    assert of.schema == {
        "type": "object",
        "properties": {
            "color": {"type": "string", "title": "Color", "enum": ["red", "blue"]},
            "size": {"type": "string", "title": "Size", "default": "s", "enum": ["s", "l"]},
            "only": {"type": "string", "title": "Only", "default": "x", "enum": ["x"]},
            "many": {
                "type": "array",
                "title": "Many",
                "default": [],
                "items": {"type": "string", "title": "Color", "enum": ["red", "blue"]},
            },
            "age": {"type": "integer", "title": "Age"},
            "mail": {"type": "string", "title": "Mail"},
        },
        "required": ["color"],
    }
    assert Written.model_validate(of.load(of.read({"color": "red", "age": 3}))) == Written(color=Color.RED, age=3)


def test_a_schema_by_hand_may_stand_in_place_of_a_type():
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}

    assert response_type_of(schema).schema == schema
    assert response_type_of({"type": "object", "properties": {}}).is_yes


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "object"},
        {"properties": {"a": "string"}},
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"a": {"type": ["string", "null"]}}},
        {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"properties": {"a": {"type": "integer", "enum": [1, 2]}}},
        {"properties": {"a": {"type": "array"}}},
        {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}},
    ],
)
def test_a_schema_that_the_protocol_does_not_have_is_refused(schema):
    with pytest.raises(TypeError, match=r"a requested schema is|a form shows text, numbers, yes or no, and choices"):
        raw_form(schema)
