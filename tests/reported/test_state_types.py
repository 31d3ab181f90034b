"""What others reported of this kind of software: what is handed on comes back as it was, or is refused at its line.

Nothing of it is left out but a linter that suggests texts for the ids of large things: there is none yet. Where the
outcome that was asked for is the value itself and JSON does not tell it from another, it is refused here: a text that
is also a UUID, a model that another member of its union takes, a member of an enum whose value is no text or number.
"""

import base64
import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, Json, PlainSerializer

from mrtr_tools import DefinitionError, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Call
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
@pytest.mark.parametrize(
    ("annotation", "wrapped", "place"),
    [
        (float, lambda number: number, "value "),
        (Any, lambda number: number, "value "),
        (Reading, lambda number: Reading(x=number), "value.x "),
        (list[float], lambda number: [1.0, number], "value[1] "),
        (dict[str, Any], lambda number: {"y": number}, "value[...] "),  # keys of a dict are data
    ],
    ids=["float", "anything", "model", "list", "dict"],
)
def test_a_number_that_json_has_not_is_never_null(
    annotation: Any, wrapped: Callable[[float], Any], place: str, number: float
) -> None:
    """Reported as pydantic/pydantic#7007: refused, with the name of the parameter and the field."""
    refusals: list[str] = []

    assert handed_on(annotation, wrapped(number), refusals) == REFUSED
    assert refusals[0].startswith(f"then(arrive): 'value': {place}")


def test_a_decimal_is_the_same_decimal() -> None:
    """With its zeros; where the annotation does not say so, it is refused and is no silent text.

    Reported as pydantic/pydantic#7457.
    """
    for digits in ("1.10", "0.00", "-1E+2", "12345678901234567890.12345678901234567890"):
        arrived = handed_on(Decimal, Decimal(digits))
        assert (type(arrived), str(arrived)) == (Decimal, digits)
    assert handed_on(Any, Decimal("1.10")) == REFUSED
    assert handed_on(dict[str, Any], {"price": Decimal("1.10")}) == REFUSED
    assert handed_on(dict[str, Decimal], {"price": Decimal("1.10")}) == {"price": Decimal("1.10")}


@pytest.mark.parametrize("annotation", [UUID | str, str | UUID])
def test_a_member_of_a_union_keeps_its_type_or_is_refused(annotation: Any) -> None:
    """Reported as pydantic/pydantic#7097: the text of a UUID is no UUID."""
    refusals: list[str] = []

    assert handed_on(annotation, UUID(int=7)) == UUID(int=7)
    assert handed_on(annotation, "no uuid") == "no uuid"
    assert handed_on(annotation, str(UUID(int=7)), refusals) == REFUSED
    assert "is of type str and would come back as of type UUID" in refusals[0]


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
    assert "of type Child and would come back as of type Base" in refusals[0]


def test_a_subclass_that_its_annotation_names_keeps_all_it_has() -> None:
    """Reported as pydantic/pydantic#9378."""
    arrived = handed_on(Child, Child(name="c", extra=1))

    assert (type(arrived), arrived.extra) == (Child, 1)


class TextVal(BaseModel):
    v: str


class DateVal(BaseModel):
    v: date


DAY, TEXT, TEXT_OF_DAY = DateVal(v=date(2026, 7, 28)), TextVal(v="x"), TextVal(v="2026-07-28")


@pytest.mark.parametrize(
    ("annotation", "lost"),
    [(TextVal | DateVal, DAY), (DateVal | TextVal, TEXT_OF_DAY)],
    ids=["the text first", "the date first"],
)
def test_a_model_of_a_union_is_never_taken_for_another(annotation: Any, lost: BaseModel) -> None:
    """Reported as pydantic/pydantic#11817: back as it was, or refused."""
    refusals: list[str] = []

    for value in (DAY, TEXT, TEXT_OF_DAY):
        arrived = handed_on(annotation, value, refusals)
        assert arrived == REFUSED if value is lost else (type(arrived), arrived) == (type(value), value)
    assert len(refusals) == 1
    assert f"is of type {type(lost).__name__} and would come back as of type" in refusals[0]


class Dated(BaseModel):
    kind: Literal["date"] = "date"
    v: date


class Worded(BaseModel):
    kind: Literal["text"] = "text"
    v: str


@pytest.mark.parametrize("annotation", [Worded | Dated, Annotated[Worded | Dated, Field(discriminator="kind")]])
def test_models_of_a_union_that_say_what_they_are_come_back_as_they_were(annotation: Any) -> None:
    """Reported as pydantic/pydantic#11817: the way to have both."""
    for value in (Dated(v=date(2026, 7, 28)), Worded(v="2026-07-28")):
        arrived = handed_on(annotation, value)
        assert (type(arrived), arrived) == (type(value), value)


class Blob(BaseModel):
    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    blob: bytes


@pytest.mark.parametrize("value", [b"abcd", b"YWJjZA==", b"YWJjZA", b"\x00\xff\xfe", b"", base64.b64encode(b"?>" * 50)])
def test_bytes_are_the_same_bytes(value: bytes) -> None:
    """Reported as pydantic/pydantic-core#1308: also those that read as base64."""
    assert handed_on(bytes, value) == value
    assert handed_on(Blob, Blob(blob=value)) == Blob(blob=value)


@pytest.mark.parametrize("text", ["abcd", "YWJjZA==", "YWJjZA"])
def test_text_that_reads_as_base64_stays_text(text: str) -> None:
    """Reported as pydantic/pydantic-core#1308: and is never decoded, nor taken for bytes."""
    assert handed_on(str, text) == text
    assert handed_on(bytes, text) == REFUSED
    assert handed_on(bytes | str, text) in (text, REFUSED)


@pytest.mark.parametrize("text", ["YW Jj", "YWJj\n", "YWJj!", "YWJjZ", "=YWJj"])
def test_base64_with_characters_that_do_not_belong_is_refused(text: str) -> None:
    """Reported as pydantic/pydantic#12047: only whoever has the key could make one, and even so."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(show, blob=b"abc")

    @toolbox.step
    @needs_input(ok=confirm("Go on?"))
    def show(blob: bytes) -> str:
        return blob.decode()

    server = Server(toolbox)
    state, call = server.ask("start").state, Call("start")
    progress = server.signer.loads(str(state), call).progress
    assert progress.carried == {"blob": "YWJj"}
    progress.carried["blob"] = text

    edited = server.signer.dumps(progress, call)

    assert server.refuse("start", state=edited, ok=YES).data == {"reason": "no_longer_fits"}
    assert server.end("start", state=state, ok=YES).value == "abc"
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
AS_JAVASCRIPT_WRITES_IT = 7960607143101465000


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

    rounded = server.refuse("compare", {"item": AS_JAVASCRIPT_WRITES_IT}, state=asked.state, ok=YES)
    assert (rounded.reason, rounded.data) == ("arguments", None)


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

    assert arrived == {Size.S: 1, Size.L: 2}
    assert [type(key) for key in arrived] == [Size, Size]
    assert handed_on(dict[Any, int], {Size.S: 1}) == REFUSED


def test_a_member_with_a_composed_value_is_refused_when_defined() -> None:
    """Reported as pydantic/pydantic#12828: back, or refused; refused it is."""
    with pytest.raises(DefinitionError, match=r"'value'.*Pair.*give them text or numbers as values"):
        handed_on(Pair, Pair.A)
