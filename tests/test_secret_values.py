"""Secrets of pydantic travel where that was said: whole, never as stars, and compared like everything else."""

import traceback
from collections import deque
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, Secret, SecretBytes, SecretStr, field_serializer
from typing_extensions import TypedDict

from mrtr_tools.digests import digest_of
from mrtr_tools.secret_values import holds_secret
from mrtr_tools.values import Codec, NotCarriable

STARS = "**********"


class Login(BaseModel):
    user: str
    password: SecretStr
    pin: SecretBytes | None = None
    picture: bytes = b"plain"


class Packed(BaseModel):
    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    pin: SecretBytes


class Aliased(BaseModel):
    password: SecretStr = Field(alias="passWord")


class Masked(BaseModel):
    password: SecretStr

    @field_serializer("password", when_used="json")
    def last(self, password: SecretStr) -> str:
        return f"...{password.get_secret_value()[-2:]}"


class Short(BaseModel):
    pin: Annotated[SecretBytes, Field(max_length=4)]


class Dropped(BaseModel):
    codes: dict[str, SecretStr]

    @field_serializer("codes", when_used="json")
    def none(self, codes: object) -> dict[str, str]:
        return {}


class Nested(BaseModel):
    logins: dict[str, list[Login | None]]


class Root(RootModel[SecretStr]):
    pass


class Date(Secret[date]):
    def _display(self) -> str:
        return "****-**-**"


@dataclass
class Door:
    code: SecretStr
    raw: SecretBytes


class Row(TypedDict):
    code: SecretStr


class Pair(NamedTuple):
    code: SecretStr
    number: int


def login(password: str = "hunter2", **more: Any) -> Login:
    return Login(user="ann", password=SecretStr(password), **more)


CARRIED: list[tuple[object, object, object]] = [
    (SecretStr, SecretStr("hunter2"), "hunter2"),
    (SecretStr, SecretStr(""), ""),
    (SecretStr, SecretStr(STARS), STARS),
    (SecretStr, SecretStr("Zoë\n\0 🔥"), "Zoë\n\0 🔥"),
    (SecretStr | None, None, None),
    (SecretStr | None, SecretStr("x"), "x"),
    (SecretStr | int, SecretStr("5"), "5"),
    (SecretStr | int, 5, 5),
    (Annotated[SecretStr, Field(min_length=3)], SecretStr("long"), "long"),
    (SecretBytes, SecretBytes(b"\xff\x00"), "/wA="),
    (SecretBytes, SecretBytes(b"YWJj"), "WVdKag=="),
    (list[SecretStr], [SecretStr("a"), SecretStr("b")], ["a", "b"]),
    (deque[SecretStr], deque([SecretStr("a")]), ["a"]),
    (tuple[SecretStr, int], (SecretStr("a"), 1), ["a", 1]),
    (dict[str, SecretStr], {"a": SecretStr("1"), "b": SecretStr("2")}, {"a": "1", "b": "2"}),
    (dict[int, SecretStr], {1: SecretStr("a")}, {"1": "a"}),
    (tuple[set[int], SecretStr], ({1}, SecretStr("a")), [[1], "a"]),
    (Login, login(), {"user": "ann", "password": "hunter2", "pin": None, "picture": "plain"}),
    (Login, login(pin=b"1234"), {"user": "ann", "password": "hunter2", "pin": "1234", "picture": "plain"}),
    (Short, Short(pin=SecretBytes(b"1234")), {"pin": "1234"}),
    (Packed, Packed(pin=SecretBytes(b"\xff")), {"pin": "/w=="}),
    (Aliased, Aliased(passWord=SecretStr("x")), {"password": "x"}),
    (Masked, Masked(password=SecretStr("hunter2")), {"password": "hunter2"}),
    (Root, Root(SecretStr("x")), "x"),
    (Door, Door(SecretStr("a"), SecretBytes(b"\xff")), {"code": "a", "raw": "/w=="}),
    (Row, {"code": SecretStr("a")}, {"code": "a"}),
    (Pair, Pair(SecretStr("a"), 1), ["a", 1]),
    (Date, Date(date(2026, 7, 28)), "2026-07-28"),
    (Secret[int], Secret[int](5), 5),
    (Secret[Decimal], Secret[Decimal](Decimal("1.10")), "1.10"),
    (Secret[bytes], Secret[bytes](b"\xff"), "/w=="),
    (Secret[list[int]], Secret[list[int]]([1]), [1]),
    (
        Nested,
        Nested(logins={"a": [None, login("one")], "b": [login("two")]}),
        {
            "logins": {
                "a": [None, {"user": "ann", "password": "one", "pin": None, "picture": "plain"}],
                "b": [{"user": "ann", "password": "two", "pin": None, "picture": "plain"}],
            }
        },
    ),
]


@pytest.mark.parametrize(("annotation", "value", "data"), CARRIED)
def test_a_secret_travels_whole_and_comes_back_as_it_went(annotation: object, value: object, data: object):
    codec = Codec(annotation, carry_secrets=True)

    dumped = codec.dump(value)
    back = codec.load(dumped)

    assert dumped == data
    assert (type(back), back) == (type(value), value)
    assert codec.has_secrets


@pytest.mark.parametrize(("annotation", "value", "data"), CARRIED)
def test_without_being_told_so_no_secret_travels(annotation: object, value: object, data: object):
    """Security 17: at definition, wherever in the annotation it stands."""
    with pytest.raises(
        NotCarriable, match=r"is a secret.*read it in the step that uses it, or give carry_secrets=True"
    ):
        Codec(annotation)


@pytest.mark.parametrize("annotation", [str, Any, list[bytes], dict[str, object]])
def test_an_annotation_that_shows_no_secret_has_none(annotation: object):
    assert not Codec(annotation, carry_secrets=True).has_secrets
    assert not Codec(annotation).has_secrets


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (dict[SecretStr, int], "has secrets as keys.*list of pairs"),
        (dict[str, dict[SecretStr, int]], "has secrets as keys.*list of pairs"),
        (set[SecretStr], "has secrets in a set.*use a list"),
        (list[frozenset[tuple[int, SecretStr]]], "has secrets in a set.*use a list"),
    ],
)
def test_a_secret_without_a_place_of_its_own_is_refused_at_definition(annotation: object, reason: str):
    with pytest.raises(NotCarriable, match=reason):
        Codec(annotation, carry_secrets=True)


class Sub(SecretStr):
    pass


@pytest.mark.parametrize(
    ("annotation", "value", "reason"),
    [
        (SecretStr, "hunter2", "is of type str"),
        (SecretStr, Sub("hunter2"), "is of type Sub and would come back as of type SecretStr"),
        (SecretStr, SecretStr("hunter2\ud800"), "lone surrogate"),
        (Annotated[SecretStr, Field(min_length=30)], SecretStr("hunter2"), "at least 30"),
        (Login, login(pin=b"hunter2\xff"), "ser_json_bytes='base64', val_json_bytes='base64'"),
        (Any, SecretStr("hunter2"), "is of type SecretStr and would come back as of type str"),
        (list[Any], [SecretStr("hunter2")], "is of type SecretStr and would come back as of type str"),
        (Secret[float], Secret[float](float("nan")), "value"),
        (
            Secret[Any],
            Secret[Any](("hunter2",)),
            r"value\[\.\.\.\] is of type tuple and would come back as of type list",
        ),
        (
            Dropped,
            Dropped(codes={"a": SecretStr("hunter2")}),
            r"value\.codes is of type dict and would come back with other",
        ),
        (SecretStr | SecretBytes, SecretBytes(b"hunter2"), "is of type SecretBytes"),
        (dict[str, SecretStr], {"hunter2": "hunter2"}, "value"),
        (Login, {"user": "hunter2", "password": SecretStr("hunter2")}, "value"),
    ],
)
def test_a_secret_that_would_not_come_back_is_refused_at_its_line_and_not_shown(
    annotation: object, value: object, reason: str
):
    """Security 23: neither the secret nor what stands beside it."""
    with pytest.raises(NotCarriable, match=reason) as caught:
        Codec(annotation, carry_secrets=True).dump(value)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("annotation", "one", "other"),
    [
        (SecretStr, SecretStr("a"), SecretStr("b")),
        (SecretBytes, SecretBytes(b"\xff"), SecretBytes(b"\xfe")),
        (list[SecretStr], [SecretStr("a"), SecretStr("b")], [SecretStr("b"), SecretStr("a")]),
        (Nested, Nested(logins={"a": [login("one")]}), Nested(logins={"a": [login("two")]})),
        (Secret[int], Secret[int](1), Secret[int](2)),
        (tuple[set[int], SecretStr], ({1, 2}, SecretStr("a")), ({1, 2}, SecretStr("b"))),
    ],
)
def test_a_digest_is_of_what_is_hidden_and_not_of_stars(annotation: object, one: object, other: object):
    """Security 1: a question that was made of another secret is another question."""
    codec = Codec(annotation, carry_secrets=True)

    assert codec.digest(one) == codec.digest(codec.load(codec.dump(one)))
    assert codec.digest(one) != codec.digest(other)


def test_the_digest_of_a_model_with_secrets_is_of_what_is_hidden_too():
    """Security 2: arguments are digested as one model."""
    digests = {
        digest_of(Login.__pydantic_serializer__, value, is_ordered=False, by_alias=True)
        for value in (login("a"), login("b"), login("b", pin=b"\xff"), login("b", pin=b"\xfe"))
    }
    assert len(digests) == 4


def test_data_that_does_not_fit_a_secret_is_not_shown():
    """Security 23."""
    codec, data = (
        Codec(Nested, carry_secrets=True),
        {"logins": {"hunter2": [{"user": "hunter2", "password": ["hunter2"]}]}},
    )
    with pytest.raises(ValueError, match="does not fit its annotation") as caught:
        codec.load(data)  # pyright: ignore[reportArgumentType]
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_a_secret_is_found_anywhere_in_a_schema_and_nothing_else_is():
    from pydantic import TypeAdapter

    assert holds_secret(TypeAdapter(dict[str, tuple[Nested, int]]).core_schema)
    assert not holds_secret(TypeAdapter(dict[str, tuple[bytes, int]]).core_schema)
