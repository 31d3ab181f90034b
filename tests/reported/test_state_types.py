"""What others reported of this kind of software: what is handed on comes back as it was, or is refused at its line."""

import base64
import math
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, Json, PlainSerializer

from mrtr_tools import DefinitionError, Toolbox, confirm, needs_input, then
from mrtr_tools.values import Codec
from tests.attacker import Server
from tests.wire_by_hand import accept

YES = accept(ok=True)
REFUSED = "refused"


def handed_on(annotation: Any, value: Any, refusals: list[str] | None = None) -> Any:
    """What a value is in the next step, on another machine; or that it was refused at the `then`."""
    toolbox = Toolbox("t")
    arrived: list[Any] = []

    def arrive(value: Any) -> str:
        arrived.append(value)
        return "arrived"

    arrive.__annotations__ = {"value": annotation, "return": str}
    toolbox.step(needs_input(ok=confirm("Go on?"))(arrive))

    @toolbox.tool
    def start() -> str:
        try:
            return then(arrive, value=value)
        except TypeError as refusal:
            (refusals if refusals is not None else []).append(str(refusal))
            return REFUSED

    reply: Any = Server(toolbox).send("start")
    if getattr(reply, "value", None) == REFUSED:
        return REFUSED
    assert Server(toolbox).end("start", state=reply.state, ok=YES).value == "arrived"
    return arrived[0]


class Reading(BaseModel):
    x: float


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("annotation", [float, Any, Reading, list[float], dict[str, Any]])
def test_a_number_that_json_has_not_is_never_null(annotation: Any, number: float) -> None:
    """Reported as pydantic/pydantic#7007: refused, with the name of the parameter."""
    value = {Reading: Reading(x=number), list[float]: [number], dict[str, Any]: {"y": number}}.get(annotation, number)
    refusals: list[str] = []

    assert handed_on(annotation, value, refusals) == REFUSED
    assert "'value'" in refusals[0]


def test_a_decimal_is_the_same_decimal() -> None:
    """With its zeros; where the annotation does not say so, it is refused and is no silent text.

    Reported as pydantic/pydantic#7457.
    """
    assert str(handed_on(Decimal, Decimal("1.10"))) == "1.10"
    assert handed_on(dict[str, Any], {"price": Decimal("1.10")}) == REFUSED


@pytest.mark.parametrize("value", ["12345678-1234-5678-1234-567812345678", UUID(int=7), "no uuid"])
def test_a_member_of_a_union_keeps_its_type_or_is_refused(value: object) -> None:
    """Reported as pydantic/pydantic#7097: the text of a UUID is no UUID."""
    arrived = handed_on(UUID | str, value)

    assert arrived == REFUSED or (type(arrived), arrived) == (type(value), value)


class Base(BaseModel):
    name: str


class Child(Base):
    extra: int = 0


@pytest.mark.parametrize("annotation", [Base, list[Base], dict[str, Base], Base | None])
def test_a_subclass_is_never_trimmed(annotation: Any) -> None:
    """Reported as pydantic/pydantic#9378: refused, with both names."""
    child = Child(name="c", extra=1)
    refusals: list[str] = []

    assert (
        handed_on(annotation, {list[Base]: [child], dict[str, Base]: {"a": child}}.get(annotation, child), refusals)
        == REFUSED
    )
    assert "Child" in refusals[0]


class TextVal(BaseModel):
    v: str


class DateVal(BaseModel):
    v: date


@pytest.mark.parametrize("annotation", [TextVal | DateVal, DateVal | TextVal])
@pytest.mark.parametrize("value", [DateVal(v=date(2026, 7, 28)), TextVal(v="2026-07-28"), TextVal(v="x")])
def test_a_model_of_a_union_is_never_taken_for_another(annotation: Any, value: BaseModel) -> None:
    """Reported as pydantic/pydantic#11817: back as it was, or refused."""
    arrived = handed_on(annotation, value)

    assert arrived == REFUSED or (type(arrived), arrived) == (type(value), value)


@pytest.mark.parametrize("value", [b"abcd", b"YWJjZA==", b"YWJjZA", b"\x00\xff\xfe", b"", base64.b64encode(b"?>" * 50)])
def test_bytes_are_the_same_bytes(value: bytes) -> None:
    """Reported as pydantic/pydantic-core#1308: also those that read as base64."""
    assert handed_on(bytes, value) == value


@pytest.mark.parametrize("text", ["YW Jj", "YWJj\n", "YWJj!", "YWJjZ", "=YWJj"])
def test_base64_with_characters_that_do_not_belong_is_refused(text: str) -> None:
    """Reported as pydantic/pydantic#12047: only whoever has the key could make one, and even so."""
    with pytest.raises(ValueError, match=r"base64|Base64"):
        Codec(bytes).load(text)


LOCAL = """
from __future__ import annotations
from pydantic import BaseModel
from mrtr_tools import Toolbox, needs_input

def build():
    class Guest(BaseModel):
        name: str

    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(guest="Who?")
    def invite(guest: Guest) -> str:
        return guest.name

    return toolbox
"""


def test_a_type_that_is_local_to_a_function_and_named_in_text_is_refused_when_defined() -> None:
    """Reported as pydantic/pydantic#2678: with postponed annotations; never in round two."""
    scope: dict[str, Any] = {"__name__": "local"}
    exec(LOCAL, scope)

    with pytest.raises(DefinitionError, match=r"invite.*Guest"):
        scope["build"]()


class Aliased(BaseModel):
    work_item: int = Field(alias="workItem")
    numbers: Json[list[int]]


def test_aliases_and_json_in_json_load_again() -> None:
    """Reported as pydantic/pydantic-core#327: inside a state the names are those of the fields."""
    value = Aliased(workItem=3, numbers="[1, 2]")  # pyright: ignore[reportArgumentType]

    assert handed_on(Aliased, value) == value
    assert handed_on(Json[list[int]], [1, 2]) == [1, 2]


BIG = 7960607143101464576


def test_a_large_whole_number_is_exact_all_the_way() -> None:
    """Reported as anthropics/claude-code#78762: as an argument, as an answer and handed on."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(other="Which other?")
    def compare(item: int, other: int) -> str:
        return then(show, item=item + 1, other=other)

    @toolbox.step
    @needs_input(ok=confirm("Show {item} and {other}?"))
    def show(item: int, other: int) -> str:
        return f"{item} {other}"

    server = Server(toolbox)
    asked = server.ask("compare", {"item": BIG})
    asked = server.ask("compare", {"item": BIG}, state=asked.state, other=accept(other=BIG + 1))
    assert server.end("compare", {"item": BIG}, state=asked.state, ok=YES).value == f"{BIG + 1} {BIG + 1}"

    rounded = server.refuse("compare", {"item": BIG + 1000}, state=asked.state, ok=YES)
    assert rounded.reason == "arguments"


def test_a_large_result_goes_out_as_text_where_its_author_says_so_and_the_schema_agrees() -> None:
    """Reported as mrexodia/ida-pro-mcp#510: README gives this way."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def identify() -> Annotated[int, PlainSerializer(str)]:
        return 2**60

    done = Server(toolbox).end("identify")

    assert done.structured == {"result": str(2**60)}
    schema: Any = toolbox.tools["identify"].output_schema
    assert schema["properties"]["result"]["type"] == "string"


class Size(IntEnum):
    S = 1
    L = 2


class Pair(Enum):
    A = (1, 2)


def test_keys_that_are_members_come_back_as_members_or_are_refused() -> None:
    """Reported as pydantic/pydantic#8168."""
    arrived = handed_on(dict[Size, int], {Size.S: 1, Size.L: 2})

    assert arrived == REFUSED or [type(key) for key in arrived] == [Size, Size]


def test_a_member_with_a_composed_value_is_refused_when_defined() -> None:
    """Reported as pydantic/pydantic#12828: back, or refused; refused it is."""
    with pytest.raises(DefinitionError, match="Pair"):
        handed_on(Pair, Pair.A)
