"""Annotations become the flat forms that clients can show; answers become the values that annotations promise."""

from __future__ import annotations

import dataclasses
import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NewType, NotRequired, Optional, Required
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    AnyUrl,
    BaseModel,
    ConfigDict,
    EmailStr,
    Field,
    HttpUrl,
    JsonValue,
    PositiveInt,
    RootModel,
    SecretStr,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from mrtr_tools.forms import Form, FormError, Misfit, form_for, schema_of


class Color(Enum):
    """Not for clients."""

    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


class Answer(Enum):
    YES = True
    NO = False


class Nothing(Enum):
    pass


class Address(BaseModel):
    street: str


class Trip(BaseModel):
    """The docstring is for readers of the code."""

    name: str = Field(alias="fullName", title="Your name", min_length=2)
    guests: int = Field(default=0, ge=0, lt=10)
    budget: Annotated[float, Field(gt=0, le=9000)] = 1.5
    breakfast: bool = False
    colour: Color = Color.BLUE
    extras: list[Literal["sauna", "bike"]] = Field(default_factory=lambda: ["bike"], max_length=2)
    note: Annotated[str | None, Field(description="n")] = None
    until: date | None
    comment: str = ""

    @model_validator(mode="after")
    def within_reason(self) -> Trip:
        if self.guests == 7:
            raise ValueError("seven guests\nbring bad luck")
        return self


@dataclasses.dataclass
class Room:
    beds: int
    view: str = "sea"
    count: ClassVar[int] = 0
    sold: bool = dataclasses.field(default=False, init=False)


class Options(TypedDict, total=False):
    a: Required[int]
    b: Annotated[str, Field(alias="bee")]
    c: NotRequired[bool]


def one(spec: dict[str, JsonValue], *, required: bool = True) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = {"type": "object", "properties": {"x": spec}}
    if required:
        schema["required"] = ["x"]
    return schema


def form(annotation: object, default: object = ..., *, must_answer: bool = False, at_run_time: bool = False) -> Form:
    info = FieldInfo.from_annotated_attribute(annotation, default)  # type: ignore[arg-type]
    return form_for(annotation, "x", field=info, must_answer=must_answer, at_run_time=at_run_time)


# What is shown.

SHOWN: list[tuple[object, dict[str, JsonValue]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (date, {"type": "string", "format": "date"}),
    (datetime, {"type": "string", "format": "date-time"}),
    (AnyUrl, {"type": "string", "format": "uri"}),
    (HttpUrl, {"type": "string", "format": "uri"}),
    (Annotated[str, Field(json_schema_extra={"format": "email"})], {"type": "string", "format": "email"}),
    (Annotated[str, Field(json_schema_extra={"format": "phone"})], {"type": "string"}),
    (
        Annotated[list[str], Field(json_schema_extra={"items": {"type": "string", "enum": ["a", "b"], "x": 1}})],
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    ),
    (
        Annotated[list[str], Field(json_schema_extra={"items": {"anyOf": [{"const": "a", "title": "A"}]}})],
        {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
    ),
    (Decimal, {"type": "string"}),
    (Annotated[Decimal, Field(ge=1)], {"type": "string"}),
    (UUID, {"type": "string"}),
    (Path, {"type": "string"}),
    (time, {"type": "string"}),
    (timedelta, {"type": "string"}),
    (Annotated[str, Field(min_length=0, max_length=9, pattern="^a")], {"type": "string", "maxLength": 9}),
    (
        Annotated[str, Field(min_length=2, title="T", description="D")],
        {"type": "string", "minLength": 2, "title": "T", "description": "D"},
    ),
    (Annotated[int, Field(ge=1, le=5)], {"type": "integer", "minimum": 1, "maximum": 5}),
    (Annotated[int, Field(gt=1, lt=5)], {"type": "integer", "minimum": 2, "maximum": 4}),
    (PositiveInt, {"type": "integer", "minimum": 1}),
    (Annotated[float, Field(gt=1, lt=5)], {"type": "number"}),
    (Annotated[float, Field(ge=1.5, multiple_of=0.5)], {"type": "number", "minimum": 1.5}),
    (NewType("Login", str), {"type": "string"}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal[1, True, "a"], {"type": "string", "enum": ["1", "true", "a"]}),
    (Color, {"type": "string", "enum": ["red", "blue"]}),
    (Size, {"type": "string", "enum": ["1", "2"]}),
    (Answer, {"type": "string", "enum": ["YES", "NO"]}),
    (list[Color], {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}}),
    (
        Annotated[list[Literal["a", "b"]], Field(min_length=1, max_length=2)],
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
    ),
]


@pytest.mark.parametrize(("annotation", "spec"), SHOWN)
def test_a_scalar_is_one_property_of_keys_that_the_protocol_has(annotation: object, spec: dict[str, JsonValue]) -> None:
    """An inline enum, only formats of the protocol, no caption that nobody gave.

    Reported as PrefectHQ/fastmcp#1565, spring-projects/spring-ai#4993, PrefectHQ/fastmcp#3912.
    """
    assert form(annotation).schema == one(spec)


def test_an_alias_is_the_name_on_the_wire() -> None:
    shown = form_for(Annotated[str, Field(alias="name")], "github_login")
    assert shown.schema == {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert shown.read({"name": "octocat"}) == "octocat"


OPTIONAL: list[object] = [
    Annotated[str | None, Field(description="n")],
    Optional[Annotated[str, Field(description="n")]],  # noqa: UP045
    Annotated[Annotated[str, Field(description="inner")] | None, Field(description="n")],
]


@pytest.mark.parametrize("annotation", OPTIONAL)
def test_what_may_be_none_is_not_required_and_shows_no_union(annotation: object) -> None:
    """Reported as PrefectHQ/fastmcp#1871."""
    shown = form(annotation, None)
    assert shown.schema == one({"type": "string", "description": "n"}, required=False)
    assert shown.read({}) is None


def test_none_stands_for_no_answer_without_a_default_too() -> None:
    assert form(int | None).schema == one({"type": "integer"}, required=False)
    assert form(int | None).read({}) is None
    assert form(Literal["a", None]).schema == one({"type": "string", "enum": ["a"]}, required=False)  # noqa: PYI061


DEFAULTS: list[tuple[object, object, JsonValue]] = [
    (int, 0, 0),
    (str, "", ""),
    (bool, False, False),
    (float, 0.5, 0.5),
    (Color, Color.BLUE, "blue"),
    (Literal[1, 2], 2, "2"),
    (date, date(2026, 7, 28), "2026-07-28"),
    (Decimal, Decimal("1.10"), "1.10"),
    (list[Color], [Color.RED], ["red"]),
]


@pytest.mark.parametrize(("annotation", "default", "shown"), DEFAULTS)
def test_a_default_is_shown_as_it_would_be_answered_and_applied(
    annotation: object, default: object, shown: JsonValue
) -> None:
    """Reported as modelcontextprotocol/python-sdk#1540: falsy defaults too."""
    asked = form(annotation, default)
    properties = asked.schema["properties"]
    assert isinstance(properties, dict)
    assert "required" not in asked.schema
    assert properties["x"] == (form(annotation).schema["properties"]["x"] | {"default": shown})  # type: ignore[index, call-overload, operator]
    assert asked.read({}) == default
    assert asked.read({"x": shown}) == default


def test_a_default_factory_is_applied_and_not_shown() -> None:
    """Reported as modelcontextprotocol/python-sdk#1540."""
    asked = form(list[Color], Field(default_factory=lambda: [Color.RED]))
    assert "default" not in json.dumps(asked.schema)
    first, second = asked.read({}), asked.read({})
    assert first == second == [Color.RED]
    assert first is not second


def test_a_form_under_only_if_must_be_answered_and_shows_no_default() -> None:
    for annotation, default in ((str | None, None), (Literal["a", "b"] | None, "a"), (int, 3)):
        asked = form(annotation, default, must_answer=True)
        assert asked.schema["required"] == ["x"]
        assert "default" not in json.dumps(asked.schema)
        with pytest.raises(Misfit, match=r"^x is missing\.$"):
            asked.read({})


def test_a_model_is_a_form_of_several_properties() -> None:
    """Without its docstring, and with defaults in the form of answers.

    Reported as PrefectHQ/fastmcp#1871, modelcontextprotocol/python-sdk#1540, laravel/mcp#190.
    """
    assert form(Trip).schema == {
        "type": "object",
        "properties": {
            "fullName": {"type": "string", "minLength": 2, "title": "Your name"},
            "guests": {"type": "integer", "minimum": 0, "maximum": 9, "default": 0},
            "budget": {"type": "number", "maximum": 9000, "default": 1.5},
            "breakfast": {"type": "boolean", "default": False},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
            "extras": {"type": "array", "items": {"type": "string", "enum": ["sauna", "bike"]}, "maxItems": 2},
            "note": {"type": "string", "description": "n"},
            "until": {"type": "string", "format": "date"},
            "comment": {"type": "string", "default": ""},
        },
        "required": ["fullName"],
    }


def test_dataclasses_and_typed_dicts_are_forms_too() -> None:
    assert schema_of(Room) == {
        "type": "object",
        "properties": {"beds": {"type": "integer"}, "view": {"type": "string", "default": "sea"}},
        "required": ["beds"],
    }
    assert schema_of(Options) == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "bee": {"type": "string"}, "c": {"type": "boolean"}},
        "required": ["a"],
    }


class Empty(BaseModel):
    pass


class Nested(BaseModel):
    addr: Address


class Rows(BaseModel):
    rows: list[dict[str, str]]


class Clash(BaseModel):
    a: int = Field(alias="c")
    b: int = Field(alias="c")


class Stalling(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    text: str = Field(pattern=r"^(\w+\s?)*$")


class Password(BaseModel):
    password: SecretStr


REFUSED: list[tuple[object, str]] = [
    (Empty, "'x': a form without fields cannot be answered; give it one, or ask with confirm"),
    (Nested, "'addr': a form is flat and cannot hold Address; make it an input of its own"),
    (Rows, "'rows': a form shows a list only as choices"),
    (Clash, "two fields are called 'c' on the wire"),
    (Password, "'password': a form must not ask for a secret; .* ElicitUrl"),
    (SecretStr, "must not ask for a secret"),
    (Stalling, "Python's own engine"),
    (dict[str, str], "a form is flat and cannot hold dict"),
    (list, "a form is flat and cannot hold list"),
    (list[str], "a form shows a list only as choices"),
    (set[Color], "use a field for each value, or list"),
    (tuple[int, int], "cannot hold tuple"),
    (bytes, "a form has no bytes"),
    (int | str, "several types"),
    (list[int | str], "several types"),
    (Any, "cannot show Any"),
    (object, "cannot show object"),
    (complex, "cannot show complex"),
    (RootModel[int], "cannot hold RootModel"),
    (Nothing, "no members"),
    (Literal[1, "1"], "two of its choices read alike"),
    (Annotated[str, Field(pattern="(?=a)")], "look-around"),
]


@pytest.mark.parametrize(("annotation", "reason"), REFUSED)
def test_what_no_flat_form_shows_is_refused_at_definition_with_the_way_out(annotation: object, reason: str) -> None:
    """Reported as PrefectHQ/fastmcp#3910, leehack/mcp_dart#165."""
    with pytest.raises(FormError, match=reason):
        form(annotation)


@pytest.mark.parametrize(
    ("annotation", "default"),
    [(int, "x"), (int, True), (Color, "green"), (Annotated[int, Field(ge=1)], 0), (float, float("inf"))],
)
def test_a_default_that_does_not_fit_is_refused_at_definition(annotation: object, default: object) -> None:
    with pytest.raises(FormError, match="'x': its default does not fit"):
        form(annotation, default)


def test_a_dataclass_whose_types_are_unknown_is_refused_at_definition() -> None:
    """Reported as pydantic/pydantic#2678."""

    @dataclasses.dataclass
    class Lost:
        a: NotThere  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(FormError, match="'NotThere' is not known"):
        form(Lost)


# What is read.

FITS: list[tuple[object, object, object]] = [
    *((int, answer, 42) for answer in (42, 42.0, "42", " 42 ")),
    (int, 2**63, 2**63),
    *((float, answer, 3.5) for answer in (3.5, "3.5", " 3.5 ", "35e-1")),
    (float, 4301, 4301.0),
    *((bool, answer, True) for answer in (True, "true", " True ")),
    (bool, "false", False),
    (str, "", ""),
    (str, " a\n", " a\n"),
    (date, "2026-07-28", date(2026, 7, 28)),
    (datetime, "2026-07-28T09:30", datetime(2026, 7, 28, 9, 30)),  # noqa: DTZ001
    (time, "09:30", time(9, 30)),
    (timedelta, "PT1H", timedelta(hours=1)),
    (Decimal, " 1.10 ", Decimal("1.10")),
    (Decimal, "-1e-40", Decimal("-1e-40")),
    (UUID, "12345678-1234-5678-1234-567812345678", UUID("12345678-1234-5678-1234-567812345678")),
    (Path, "a/b", Path("a/b")),
    (HttpUrl, "https://example.com", HttpUrl("https://example.com")),
    (Annotated[str, Field(json_schema_extra={"format": "email"})], "a@b", "a@b"),
    (Annotated[list[str], Field(json_schema_extra={"items": {"enum": ["a", "b"]}})], ["b"], ["b"]),
    (Color, "red", Color.RED),
    (Size, "2", Size.LARGE),
    (Answer, "NO", Answer.NO),
    (Literal[1, True, "a"], "1", 1),
    (Literal["", "a"], "", ""),
    (list[Color], ["red", "red", "blue"], [Color.RED, Color.BLUE]),
    (list[Literal["a"]], [], []),
    (Annotated[str, AfterValidator(str.upper)], "a", "A"),
]


@pytest.mark.parametrize(("annotation", "answer", "value"), FITS)
def test_an_answer_becomes_the_value_that_the_annotation_promises(
    annotation: object, answer: object, value: object
) -> None:
    """An Enum gives the member; the leniency with numbers goes so far.

    Reported as PrefectHQ/fastmcp#1565, QwenLM/qwen-code#4405.
    """
    read = form(annotation).read({"x": answer, "unknown": 1})
    assert read == value
    assert type(read) is type(value)


MISFITS: list[tuple[object, object, str]] = [
    *((int, answer, "x must be a whole number.") for answer in (42.5, "42xyz", "yes", True, float("inf"), "1_0", [1])),
    *((int, answer, "x must be a whole number.") for answer in (10**400, "9" * 5000)),
    *((float, answer, "x must be a number.") for answer in (True, float("nan"), "nan", "1e400", "3,5", {})),
    *((bool, answer, "x must be true or false.") for answer in ("yes", 1, 0, "1", [])),
    *((str, answer, "x must be text.") for answer in (1, True, ["a"], {"a": 1})),
    (str, "\ud800", "x must be text that is valid Unicode."),
    (str, "a" * 16_385, "x is too long, at most 16384 characters can be taken."),
    *((date, answer, "x must be a date such as 2026-07-28.") for answer in ("20260728", "0", "2026-02-30", "tomorrow")),
    (datetime, "1700000000", "x must be a date and time such as 2026-07-28T09:30Z."),
    (time, "9", "x must be a time such as 09:30."),
    (timedelta, "3600", "x must be a duration such as PT1H30M."),
    (UUID, "abc", "x must be a UUID."),
    (HttpUrl, "javascript:alert(1)", "x must be an address such as https://example.com."),
    (Annotated[str, Field(json_schema_extra={"format": "email"})], "a b@c", "x must be an e-mail address."),
    *(
        (Decimal, answer, "x must be a decimal number of at most 40 digits.")
        for answer in ("1e3000000", "1e41", "9" * 41, "NaN", ".", "1_0", "0x1")
    ),
    (Decimal, 5, "x must be text."),
    (Color, "RED", "x must be one of the choices offered."),
    (Color, 1, "x must be one of the choices offered."),
    (list[Color], "red", "x must be a list of the choices offered."),
    (
        Annotated[list[str], Field(json_schema_extra={"items": {"anyOf": [{"const": "a", "title": "A"}]}})],
        ["A"],
        "x must be one of the choices offered.",
    ),
    (list[Color], ["red", "green"], "x must be one of the choices offered."),
    (list[Color], ["red"] * 101, "x has too many choices, at most 100 can be taken."),
    (Annotated[list[Color], Field(min_length=2)], ["red", "red"], "x needs at least 2 of the choices."),
    (Annotated[list[Color], Field(max_length=1)], ["red", "blue"], "x takes at most 1 of the choices."),
    (Annotated[int, Field(title="Guests", ge=1)], 0, "Guests must be at least 1."),
    (Annotated[int, Field(le=5)], 6, "x must be at most 5."),
    (Annotated[float, Field(gt=1)], 1, "x must be more than 1.0."),
    (Annotated[int, Field(multiple_of=5)], 6, "x must be a multiple of 5."),
    (Annotated[str, Field(min_length=2)], "a", "x must have at least 2 characters."),
    (Annotated[str, Field(pattern="^a+$")], "b", "x does not look as it should."),
    *(
        (annotation, blank, "x is missing.")
        for annotation in (int, bool, date, Decimal, Color)
        for blank in (None, "", " ")
    ),
]


@pytest.mark.parametrize(("annotation", "answer", "told"), MISFITS)
def test_an_answer_that_does_not_fit_is_refused_in_a_sentence_that_does_not_repeat_it(
    annotation: object, answer: object, told: str
) -> None:
    """Security 21: nothing costs more than reading the answer. Reported as QwenLM/qwen-code#4405."""
    with pytest.raises(Misfit) as misfit:
        form(annotation).read({"x": answer})
    assert str(misfit.value) == told


@pytest.mark.parametrize("content", [None, [], "x", 1, True])
def test_content_that_is_no_object_is_a_misfit(content: object) -> None:
    """Reported as modelcontextprotocol/typescript-sdk#966: nothing else is made of it."""
    with pytest.raises(Misfit, match="without its fields"):
        form(str).read(content)


@pytest.mark.parametrize("annotation", [int, bool, date, Decimal, Color])
def test_an_empty_text_is_no_answer_unless_text_was_asked_for(annotation: object) -> None:
    assert form(annotation | None, None).read({"x": ""}) is None  # type: ignore[operator]
    assert form(str | None, None).read({"x": ""}) == ""


def test_a_model_is_made_of_its_answers() -> None:
    trip = form(Trip).read(
        {"fullName": "Ada", "guests": "2", "breakfast": "true", "colour": "red", "extras": ["sauna"], "name": "ignored"}
    )
    assert trip == Trip(fullName="Ada", guests=2, breakfast=True, colour=Color.RED, extras=["sauna"], until=None)
    assert form(Trip).read({"fullName": "Ada"}).extras == ["bike"]
    assert form(Room).read({"beds": 2}) == Room(2)
    assert form(Options).read({"a": 1, "bee": "x"}) == {"a": 1, "b": "x"}


def test_every_trouble_of_a_model_is_told_at_once() -> None:
    with pytest.raises(Misfit, match=r"^Your name is missing\. guests must be a whole number\.$"):
        form(Trip).read({"guests": "many"})
    with pytest.raises(Misfit, match=r"^budget must be more than 0\.0\.$"):
        form(Trip).read({"fullName": "Ada", "budget": 0})


def test_what_an_authors_validator_says_is_told_on_one_line() -> None:
    """Security 6."""
    with pytest.raises(Misfit, match=r"^seven guests\\nbring bad luck$"):
        form(Trip).read({"fullName": "Ada", "guests": 7})

    def refuse(text: str) -> str:
        raise ValueError(f"no {text}")

    with pytest.raises(Misfit) as misfit:
        form(Annotated[str, AfterValidator(refuse)]).read({"x": "a\u202e\x00" + "b" * 999})
    assert str(misfit.value).startswith("x: no a\\u202e\\x00bbb")
    assert len(str(misfit.value)) < 230

    def complain(value: int) -> int:
        raise PydanticCustomError("taken", "that one is taken")

    with pytest.raises(Misfit, match=r"^x: that one is taken$"):
        form(Annotated[int, AfterValidator(complain)]).read({"x": 1})


def test_a_strict_model_reads_answers_all_the_same() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid")
        when: date
        colour: Color

    assert form(Strict).read({"when": "2026-07-28", "colour": "red", "more": 1}) == Strict(
        when=date(2026, 7, 28), colour=Color.RED
    )


def test_a_parameter_of_several_fields_has_its_default_when_nothing_was_answered() -> None:
    asked = form(Room | None, None)
    assert "required" not in asked.schema
    assert asked.read({}) is None
    assert asked.read({"beds": 1}) == Room(1)
    with pytest.raises(Misfit, match=r"^beds is missing\.$"):
        asked.read({"view": "lake"})
    assert form(Room, Room(3)).read({"view": None}) == Room(3)
    assert form(Room | None, None, must_answer=True).schema == schema_of(Room)


# Choices and forms that are known at run time.


def test_choices_known_at_run_time_are_what_the_answer_is_checked_against() -> None:
    """Reported as PrefectHQ/fastmcp#2471: the list that was sent, whatever became of the live one."""
    asked = form(list[str], at_run_time=True)
    sent = asked.offering(["a.csv", "b.csv"])
    assert sent == one({"type": "array", "items": {"type": "string", "enum": ["a.csv", "b.csv"]}})
    assert asked.read({"x": ["b.csv"]}, sent) == ["b.csv"]
    with pytest.raises(Misfit, match="choices offered"):
        asked.read({"x": ["c.csv"]}, sent)


@pytest.mark.parametrize(("element", "sent"), [(EmailStr, "a@example.com"), (AnyUrl, "https://example.com/a")])
def test_a_list_of_mail_addresses_or_links_can_have_choices_at_run_time(element: type, sent: str) -> None:
    asked = form(list[element], at_run_time=True)
    offered = asked.offering([sent])

    assert asked.read({"x": [sent]}, offered) == [element(sent) if element is AnyUrl else sent]


def test_labels_are_shown_and_never_come_back_as_values() -> None:
    """Reported as leehack/mcp_dart#215."""
    asked = form(str)
    sent = asked.offering({"a": "Alpha", "b": "Beta"})
    assert sent == one({"type": "string", "oneOf": [{"const": "a", "title": "Alpha"}, {"const": "b", "title": "Beta"}]})
    assert asked.read({"x": "a"}, sent) == "a"
    with pytest.raises(Misfit, match="choices offered"):
        asked.read({"x": "Alpha"}, sent)
    several = form(list[Size])
    sent = several.offering({"1": "Small", "2": "Large"})
    assert sent == one(
        {"type": "array", "items": {"anyOf": [{"const": "1", "title": "Small"}, {"const": "2", "title": "Large"}]}}
    )
    assert several.read({"x": ["2"]}, sent) == [Size.LARGE]


def test_choices_come_back_typed_and_keep_title_and_default() -> None:
    asked = form(Annotated[int, Field(title="Guests", ge=1)], 2)
    sent = asked.offering([1, 2])
    assert sent == one({"type": "string", "enum": ["1", "2"], "title": "Guests", "default": "2"}, required=False)
    assert asked.read({"x": "1"}, sent) == 1
    assert asked.read({}, sent) == 2
    assert "default" not in json.dumps(asked.offering([3]))
    assert form(Color).offering([Color.RED]) == one({"type": "string", "enum": ["red"]})
    assert form(date).read({"x": "2026-07-28"}, form(date).offering([date(2026, 7, 28)])) == date(2026, 7, 28)


NO_CHOICES: list[tuple[object, object, str]] = [
    (str, [], "choices= is empty"),
    (str, "abc", "list of values"),
    (str, {"a"}, "list of values"),
    (str, ["a", "a"], "read alike"),
    (str, [None], "does not fit"),
    (str, [object()], "does not fit"),
    (str, {"a": ""}, "text as the label"),
    (int, ["x"], "does not fit"),
    (int, [True], "does not fit"),
    (Color, ["green"], "does not fit"),
    (Literal[1, 2], [3], "does not fit"),
    (list[int], [1.5], "does not fit"),
    (Trip, ["a"], "choices go with a parameter that takes one value"),
]


@pytest.mark.parametrize(("annotation", "choices", "reason"), NO_CHOICES)
def test_choices_that_cannot_be_offered_are_refused(annotation: object, choices: Any, reason: str) -> None:
    with pytest.raises(FormError, match=reason):
        form(annotation, at_run_time=True).asking(choices=choices)


def test_a_form_known_at_run_time_is_checked_and_read_through_the_annotation() -> None:
    asked = form(dict[str, str | int], at_run_time=True)
    assert asked.schema == {}
    sent = asked.asking(form=Room)
    assert sent == schema_of(Room)
    assert asked.read({"beds": "2", "view": "lake", "more": 1}, sent) == {"beds": 2, "view": "lake"}
    with pytest.raises(Misfit, match="beds must be a whole number"):
        asked.read({"beds": "two"}, sent)
    with pytest.raises(Misfit, match=r"beds|fit"):
        form(dict[str, date], at_run_time=True).read({"beds": 10**9}, sent)


def test_an_annotation_that_is_no_form_needs_one_at_run_time() -> None:
    for annotation, reason in (
        (dict[str, str], "flat"),
        (list[str], "only as choices"),
        (bytes | int, "several types"),
    ):
        with pytest.raises(FormError, match=f"^'x': a form .*{reason}.* \\(or give choices= or form=\\)$"):
            form(annotation, at_run_time=True).asking()
    assert form(str, at_run_time=True).asking() == form(str).schema


def test_one_value_cannot_come_from_a_form_of_several_fields() -> None:
    class Two(BaseModel):
        street: str
        town: str

    with pytest.raises(FormError, match="'x' takes one value"):
        form(str).asking(form=Two)
    sent = form(str).asking(form=Address)
    assert form(str).read({"street": "Main"}, sent) == "Main"


@pytest.mark.parametrize("shape", [int, "x", RootModel[int], Empty, Nested])
def test_a_run_time_form_must_be_flat(shape: Any) -> None:
    with pytest.raises(FormError):
        schema_of(shape)


def test_a_choice_that_was_sent_and_is_gone_from_the_annotation_is_a_misfit() -> None:
    with pytest.raises(Misfit, match=r"^x must be one of the choices offered\.$"):
        form(Color).read({"x": "green"}, one({"type": "string", "enum": ["red", "green"]}))


def of(annotation: Any) -> type[BaseModel]:
    """A form of one field."""
    return create_model("Bounded", x=(annotation, ...))


class Checked(BaseModel):
    street: str

    @field_validator("street")
    @classmethod
    def known(cls, street: str) -> str:
        return street


class CheckedAsOne(BaseModel):
    street: str

    @model_validator(mode="after")
    def known(self) -> CheckedAsOne:
        return self


class CheckedDict(TypedDict):
    street: Annotated[str, Field(pattern="^a")]


@dataclasses.dataclass
class CheckedRoom:
    number: Annotated[float, Field(lt=10)]


@dataclasses.dataclass
class CheckedAfterwards:
    street: str

    def __post_init__(self) -> None:
        pass


class CheckedModel(BaseModel):
    street: str

    def model_post_init(self, context: Any, /) -> None:
        pass


class Short(BaseModel):
    model_config = ConfigDict(str_max_length=5)
    street: str


UNSAID = {
    "an earliest date": of(Annotated[date, Field(ge=date(2026, 1, 1))]),
    "a validator of each choice": of(list[Annotated[Literal["a", "b"], AfterValidator(str)]]),
    "a dataclass that looks at itself": CheckedAfterwards,
    "a model that looks at itself": CheckedModel,
    "a length for all fields": Short,
    "a decimal": of(Decimal),
    "an address": of(AnyUrl),
    "a time": of(time),
    "an id": of(UUID),
    "a pattern": of(Annotated[str, Field(pattern="^a")]),
    "a pattern of what may be missing": of(Annotated[Annotated[str, Field(pattern="^a")] | None, "note"]),
    "a strict field": of(Annotated[int, Field(strict=True)]),
    "a number above": of(Annotated[float, Field(gt=1)]),
    "a number below": of(Annotated[float, Field(lt=1)]),
    "a multiple": of(Annotated[int, Field(multiple_of=5)]),
    "a validator on a type": of(Annotated[str, AfterValidator(str)]),
    "a validator on a choice": of(Annotated[Literal["a", "b"], AfterValidator(str)]),
    "a validator of a field": Checked,
    "a validator of all fields": CheckedAsOne,
    "a dict": CheckedDict,
    "a dataclass": CheckedRoom,
}


@pytest.mark.parametrize("shape", UNSAID.values(), ids=UNSAID)
@pytest.mark.parametrize("annotation", [dict[str, Any], str], ids=["dict", "text"])
def test_a_run_time_form_whose_rules_it_cannot_say_is_refused(annotation: Any, shape: Any) -> None:
    """Security 21: the machine that reads the answer has the schema that was sent, and nothing else of the model."""
    with pytest.raises(FormError, match="asks for more than a form can say; annotate the parameter with it"):
        form(annotation, at_run_time=True).asking(form=shape)


@pytest.mark.parametrize("shape", [Checked, CheckedAsOne, CheckedDict, CheckedRoom, of(Decimal)])
def test_a_run_time_form_that_the_parameter_is_annotated_with_may_have_any_rules(shape: Any) -> None:
    assert form(shape, at_run_time=True).asking(form=shape) == form(shape).schema


@pytest.mark.parametrize(
    ("shape", "answer"),
    [
        (of(Annotated[str, Field(min_length=2, max_length=3)]), "abcd"),
        (of(Annotated[int, Field(ge=1, le=3)]), 4),
        (of(Annotated[int, Field(gt=1, lt=3)]), 3),
        (of(Annotated[float, Field(ge=1.5)]), 1.4),
        (of(date), "soon"),
        (of(datetime), "soon"),
        (of(Color), "green"),
        (of(Literal["a", "b"]), "c"),
        (of(Annotated[list[Literal["a", "b"]], Field(max_length=1)]), ["a", "b"]),
    ],
)
def test_what_a_run_time_form_says_is_kept_to(shape: Any, answer: JsonValue) -> None:
    """Security 21."""
    asked = form(dict[str, Any], at_run_time=True)
    with pytest.raises(Misfit):
        asked.read({"x": answer}, asked.asking(form=shape))


@pytest.mark.parametrize("number", ["1e999999", "9" * 41, "1_0"])
@pytest.mark.parametrize("annotation", [Decimal, Decimal | None, Annotated[Decimal, Field(ge=0)]], ids=str)
def test_one_value_keeps_its_bounds_whatever_a_run_time_form_calls_it(annotation: Any, number: str) -> None:
    """Security 21."""
    asked = form(annotation, at_run_time=True)
    sent = asked.asking(form=Address)

    with pytest.raises(Misfit, match=r"^x must be a decimal number of at most 40 digits\.$"):
        asked.read({"street": number}, sent)
    assert asked.read({"street": "1e40"}, sent) == Decimal("1e40")


@pytest.mark.parametrize("annotation", [dict[str, Decimal], dict[str, list[Decimal]] | dict[str, Decimal]], ids=str)
def test_what_a_run_time_form_fills_in_keeps_the_bounds_of_the_parameter(annotation: Any) -> None:
    """Security 21: the form says text, and the parameter makes numbers of it."""
    asked = form_for(annotation, "x", at_run_time=True)

    with pytest.raises(Misfit, match="at most 40 digits"):
        asked.read({"street": "1e999999"}, schema_of(Address))
    assert asked.read({"street": "1e40"}, schema_of(Address)) == {"street": Decimal("1e40")}


class Extras(BaseModel):
    insurance: bool = False
    tip: int = 0
    note: str | None = "none"


@dataclasses.dataclass
class ExtrasAsClass:
    insurance: bool = False
    tip: int = 0
    note: str | None = "none"


class ExtrasAsDict(TypedDict, total=False):
    insurance: bool
    tip: int
    note: str | None


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    insurance: Annotated[bool, Field(alias="isInsured")] = False
    tip: Annotated[int, Field(alias="tipInCents")] = 0
    note: str | None = "none"


OTHERWISE = {"insurance": True, "tip": 500, "note": None}


@pytest.mark.parametrize("kind", [Extras, ExtrasAsClass, ExtrasAsDict])
def test_a_form_shows_the_default_of_the_parameter_and_not_that_of_its_type(kind: Any) -> None:
    """Security 1: what is shown is what stands where nothing is answered."""
    asked = form(kind, kind(**OTHERWISE))
    shown: Any = asked.schema["properties"]

    assert {name: spec.get("default") for name, spec in shown.items()} == OTHERWISE
    assert "required" not in asked.schema
    for answers in ({}, {"tip": 7}, {"insurance": False}, {"note": "hi"}, {"tip": None}):
        given = {name: value for name, value in answers.items() if value is not None}
        assert asked.read(answers) == kind(**{**OTHERWISE, **given})


def test_a_default_is_shown_under_the_names_on_the_wire() -> None:
    """Security 1."""
    asked = form(Aliased, Aliased(**OTHERWISE))
    shown: Any = asked.schema["properties"]

    assert (shown["isInsured"]["default"], shown["tipInCents"]["default"]) == (True, 500)
    assert asked.read({"tipInCents": 7}) == Aliased(**{**OTHERWISE, "tip": 7})


def test_a_default_that_belongs_to_the_skipped_case_is_not_shown() -> None:
    asked = form(Extras, Extras(insurance=True, tip=500), must_answer=True)
    shown: Any = asked.schema["properties"]

    assert (shown["insurance"]["default"], shown["tip"]["default"]) == (False, 0)
    assert asked.read({}) == Extras()


@pytest.mark.parametrize("annotation", [str, list[str]])
def test_two_choices_that_are_called_alike_are_refused(annotation: Any) -> None:
    """Security 1: a person could not tell which of the two they chose."""
    with pytest.raises(FormError, match="two of the choices have the same label"):
        form(annotation, at_run_time=True).offering({"ann": "Ann", "eve": "Ann"})
