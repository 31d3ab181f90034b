"""What is handed on comes back as it went in, or is refused with a reason (promise 9)."""

from __future__ import annotations

import dataclasses
import json
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import pydantic
import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Json, PrivateAttr, Secret, SecretBytes, SecretStr
from typing_extensions import TypedDict

from mrtr_tools.values import Codec, NotCarriable


class Size(IntEnum):
    SMALL = 1


class Colour(StrEnum):
    RED = "red"


class Point(Enum):
    ORIGIN = (0, 0)


class Base(BaseModel):
    a: int = 1


class Child(Base):
    extra: int = 2


class TextValue(BaseModel):
    v: str


class DateValue(BaseModel):
    v: date


class Aliased(BaseModel):
    numbers: Json[list[int]]
    login: str = Field(alias="userLogin")


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1
    _seen: int = PrivateAttr(default=0)


class Blob(BaseModel):
    data: bytes


class Packed(BaseModel):
    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    data: bytes


class Tree(BaseModel):
    children: list[Tree] = Field(default_factory=list)


@dataclasses.dataclass
class Parcel:
    data: bytes
    seen: set[tuple[int, str]]


class Row(TypedDict):
    data: bytes


class Pair(NamedTuple):
    a: int
    b: Decimal


UUID_TEXT = "12345678-1234-5678-1234-567812345678"

CARRIED: list[tuple[object, object]] = [
    (str, "Zoë\n"),
    (int, 2**63),
    (int, 10**4000),
    (bool, False),
    (None, None),
    (float, 1.5),
    (float, -0.0),
    (complex, 1 + 2j),
    (bytes, b"\xff\x00"),
    (bytes, b"YWJj"),
    (Decimal, Decimal("1.10")),
    (date, date(2026, 7, 28)),
    (datetime, datetime(2026, 7, 28, 9, 30, tzinfo=UTC)),
    (datetime, datetime(2026, 7, 28, 9, 30, tzinfo=timezone(timedelta(hours=2)))),
    (datetime, datetime(2026, 7, 28, 9, 30)),  # noqa: DTZ001
    (time, time(9, 30)),
    (timedelta, timedelta(days=1, microseconds=3)),
    (UUID, UUID(UUID_TEXT)),
    (PurePosixPath, PurePosixPath("a/b")),
    (Size, Size.SMALL),
    (Colour, Colour.RED),
    (Literal["a", 1], 1),
    (list[int | None], [1, None]),
    (tuple[int, str], (1, "a")),
    (set[tuple[int, str]], {(1, "a"), (2, "b")}),
    (frozenset[float], frozenset({1.0, 2.5})),
    (dict[int, bool], {1: True}),
    (dict[Size, int], {Size.SMALL: 1}),
    (OrderedDict[str, int], OrderedDict(a=1)),
    (UUID | str, UUID(UUID_TEXT)),
    (TextValue | DateValue, TextValue(v="2026-07-28")),
    (Base, Base(a=3)),
    (Aliased, Aliased(numbers="[1, 2]", userLogin="me")),  # type: ignore[arg-type]
    (Open, Open(a=1, more=[1])),  # type: ignore[call-arg]
    (Packed, Packed(data=b"\xff")),
    (Tree, Tree(children=[Tree()])),
    (Parcel, Parcel(b"\xff", {(1, "a")})),
    (Row, {"data": b"\xff"}),
    (Pair, Pair(1, Decimal("2.50"))),
    (Annotated[int, Field(alias="workItemId", ge=1)], 4522),
    (Any, {"a": [1, 1.5, True, None, "x"]}),
    (pydantic.JsonValue, {"a": [1, None]}),
]


@pytest.mark.parametrize(("annotation", "value"), CARRIED)
def test_a_value_comes_back_as_it_went_in(annotation: object, value: object) -> None:
    codec = Codec(annotation)
    data = codec.dump(value)
    back = codec.load(json.loads(json.dumps(data, allow_nan=False)))
    assert back == value
    assert type(back) is type(value)


REFUSED: list[tuple[object, object, str]] = [
    (float, float("nan"), "value would not come back"),
    (float, float("inf"), "value would not come back"),
    (float | None, float("nan"), "come back as None"),
    (Any, {"y": float("nan")}, r"value\[\.\.\.\] is of type float and would come back as None"),
    (float, True, "bool"),
    (int, True, "bool"),
    (int, Size.SMALL, "Size"),
    (int, "1", "valid integer"),
    (str, 1, "valid string"),
    (str, Colour.RED, "Colour"),
    (str, "\ud800", "lone surrogate"),
    (bool, 1, "valid boolean"),
    (None, 0, "None"),
    (Decimal, Decimal("NaN"), "finite"),
    (Any, {1, 2}, "set"),
    (Any, (1,), "tuple"),
    (Any, Decimal(1), "Decimal"),
    (Any, datetime(2026, 7, 28, tzinfo=UTC), "datetime"),
    (Any, {1: 2}, "other keys"),
    (Any, object(), "object"),
    (
        dict[str, Any],
        {"price": Decimal("1.10")},
        r"value\[\.\.\.\] is of type Decimal and would come back as of type str",
    ),
    (object, [{1}], r"value\[0\] is of type set"),
    (dict[int, int], {Size.SMALL: 1}, "Size"),
    (UUID | str, UUID_TEXT, "come back as of type UUID"),
    (TextValue | DateValue, DateValue(v=date(2026, 7, 28)), "come back as of type TextValue"),
    (Base, Child(), "come back as of type Base"),
    (list[Base], [Base(), Child()], r"value\[1\] is of type Child"),
    (Base, {"a": 1}, "does not go into JSON as annotated"),
    (Blob, Blob(data=b"\xff"), "ser_json_bytes"),
    (Annotated[int, Field(ge=3)], 1, "greater than"),
    (Annotated[str, AfterValidator(lambda text: text + "!")], "a", "changed"),
    (OrderedDict[str, int], {"a": 1}, "OrderedDict"),
    (datetime, datetime(2026, 7, 28, tzinfo=ZoneInfo("Europe/Vienna")), "not the time zone"),
    (datetime, datetime(2026, 10, 25, 2, 30, fold=1), "changed"),  # noqa: DTZ001
]


@pytest.mark.parametrize(("annotation", "value", "reason"), REFUSED)
def test_a_value_that_would_come_back_changed_is_refused_with_the_place(
    annotation: object, value: object, reason: str
) -> None:
    with pytest.raises(NotCarriable, match=reason):
        Codec(annotation).dump(value)


class WithSecret(BaseModel):
    names: list[SecretStr | None]


class Stalling(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    text: Annotated[str, Field(pattern=r"^(\w+\s?)*$")]


@dataclasses.dataclass
class Holder:
    secret: Secret[int]
    other: Stalling | None = None


UNCARRIABLE: list[tuple[object, str]] = [
    (SecretStr, "SecretStr is a secret"),
    (list[SecretBytes], "is a secret"),
    (WithSecret, "names is a secret"),
    (Holder, "secret is a secret"),
    (Stalling, "Python's own engine"),
    (dict[tuple[int, int], int], "text keys"),
    (Iterator[int], "Iterator"),
    (Callable[[], int], "is a function"),
    (type[int], "is a class"),
    (range, "range cannot travel"),
    (Point, "Point, whose members JSON cannot hold"),
    (dict[str, Point], "Point"),
    (Annotated[str, Field(pattern="(?=a)")], "look-around"),
    ("Nowhere", "'Nowhere' in it is not known"),
]


@pytest.mark.parametrize(("annotation", "reason"), UNCARRIABLE)
def test_an_annotation_that_json_cannot_hold_is_refused_at_definition(annotation: object, reason: str) -> None:
    with pytest.raises(NotCarriable, match=reason):
        Codec(annotation)


def test_nothing_that_was_handed_on_stays_behind() -> None:
    codec = Codec(list[str])
    [one], [other] = codec.load(["a secret"]), codec.load(["a secret"])

    assert one == other
    assert one is not other, "pydantic has kept it"


def test_no_secret_that_was_handed_on_stays_behind() -> None:
    codec = Codec(Secret[list[str]], carry_secrets=True)
    [one], [other] = (cast("list[str]", codec.dump(Secret(["a secret"]))) for _ in range(2))

    assert one == other == "a secret"
    assert one is not other, "pydantic has kept it"


def test_nan_and_infinity_are_refused_and_never_become_null() -> None:
    """Reported as pydantic/pydantic#7007."""

    class State(BaseModel):
        x: float
        y: Any = None

    for state in (State(x=float("inf")), State(x=0, y=float("nan"))):
        with pytest.raises(NotCarriable, match=r"value\.[xy]"):
            Codec(State).dump(state)


def test_an_enum_with_tuple_values_is_refused_with_the_way_out() -> None:
    """Reported as pydantic/pydantic#12828: it is no use at the second round only."""
    with pytest.raises(NotCarriable, match="give them text or numbers as values"):
        Codec(list[Point])


def test_a_type_that_cannot_be_resolved_is_refused_at_definition_not_at_the_second_round() -> None:
    """Reported as pydantic/pydantic#2678."""

    class Lost(BaseModel):
        flight: NotThere  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NotCarriable, match="'NotThere'"):
        Codec(Lost)


def test_a_type_that_is_local_to_a_function_is_carried() -> None:
    """Reported as pydantic/pydantic#2678."""

    class Inner(BaseModel):
        a: int

    class Outer(BaseModel):
        inner: Inner

    codec = Codec(Outer)
    assert codec.load(codec.dump(Outer(inner=Inner(a=1)))) == Outer(inner=Inner(a=1))


def test_a_decimal_and_a_zero_are_exact() -> None:
    """Reported as pydantic/pydantic#7457."""
    assert str(Codec(Decimal).load(Codec(Decimal).dump(Decimal("1.10")))) == "1.10"
    assert str(Codec(float).load(Codec(float).dump(-0.0))) == "-0.0"


def test_models_travel_under_the_names_of_their_fields() -> None:
    """Reported as pydantic/pydantic-core#327."""
    assert Codec(Aliased).dump(Aliased(numbers="[1]", userLogin="me")) == {"numbers": "[1]", "login": "me"}  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["YWJj ZA==", "YWJj\nZA==", "YWJjZB==", "!!!!", "a", 5])
def test_bad_base64_is_refused(text: pydantic.JsonValue) -> None:
    """Reported as pydantic/pydantic-core#1308, pydantic/pydantic#12047."""
    with pytest.raises(ValueError, match=r"valid (base64|bytes)"):
        Codec(bytes).load(text)


def test_an_int_is_fine_for_a_float_and_comes_back_as_one() -> None:
    codec = Codec(float)
    assert type(codec.load(codec.dump(3))) is float
    assert Codec(list[float]).dump([1, 2.5]) == [1.0, 2.5]


def test_an_integer_that_json_readers_do_not_take_is_refused() -> None:
    with pytest.raises(NotCarriable, match="does not go into JSON"):
        Codec(int).dump(10**5000)


def test_integers_beyond_what_javascript_holds_are_exact() -> None:
    """Reported as anthropics/claude-code#78762."""
    codec = Codec(int)
    assert codec.load(codec.dump(7960607143101464576)) == 7960607143101464576


def test_private_attributes_that_would_be_lost_are_refused() -> None:
    value = Open()
    value._seen = 3
    with pytest.raises(NotCarriable, match=r"value\._seen"):
        Codec(Open).dump(value)


@pytest.mark.parametrize("value", [{4111: True}, {4111: "x"}])
def test_a_key_is_data_and_stands_in_no_message(value: dict[int, Any]) -> None:
    """Security 23."""
    with pytest.raises(NotCarriable, match=r"value\[\.\.\.\]") as caught:
        Codec(dict[int, float]).dump(value)
    assert "4111" not in str(caught.value)


def test_values_never_share_objects() -> None:
    codec = Codec(list[dict[str, int]])
    value = [{"a": 1}]
    data = codec.dump(value)
    back = codec.load(data)
    value[0]["a"] = 2
    assert data == [{"a": 1}]
    data[0]["a"] = 3  # type: ignore[index, call-overload]
    assert back == [{"a": 1}]
    untyped = Codec(Any)
    assert untyped.load(data) is not data


@pytest.mark.parametrize(
    ("annotation", "data"), [(int, "x"), (str, 1), (bool, None), (Base, {"a": "x"}), (Colour, "blue")]
)
def test_data_that_no_longer_fits_is_a_value_error(annotation: object, data: pydantic.JsonValue) -> None:
    with pytest.raises(ValueError, match=r"^value(\.a)? does not fit its annotation: Input should be"):
        Codec(annotation).load(data)


def test_data_that_does_not_fit_is_not_shown() -> None:
    """Security 23: pydantic quotes what it cannot read."""
    data: list[pydantic.JsonValue] = [{"a": "hunter2"}]
    with pytest.raises(ValueError, match="does not fit") as caught:
        Codec(list[Base]).load(data)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


class Member(BaseModel, frozen=True):
    """What a set may hold."""

    name: str


@pytest.mark.parametrize(
    ("annotation", "value", "other", "is_same"),
    [
        (tuple[set[int], list[int]], ({1, 2}, [1, 2]), ({2, 1}, [1, 2]), True),
        (tuple[set[int], list[int]], ({1, 2}, [1, 2]), ({1, 2}, [2, 1]), False),
        (tuple[set[int], list[int]], ({1, 2}, [1, 2]), ({1, 3}, [1, 2]), False),
        (dict[str, int], {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        (list[str], ["a", "b"], ["b", "a"], False),
        (set[Member], {Member(name="a"), Member(name="b")}, {Member(name="b"), Member(name="a")}, True),
        (set[Member], {Member(name="a")}, {Member(name="b")}, False),
    ],
)
def test_a_digest_tells_values_apart_and_no_order_that_means_nothing(annotation, value, other, is_same):
    codec = Codec(annotation)
    assert (codec.digest(value) == codec.digest(other)) is is_same
