"""The `outputSchema` and the structured content, beside what the official SDK makes of the same annotations."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Optional

import pytest
import typing_extensions
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from mcp_types import CallToolResult, ContentBlock, TextContent
from pydantic import BaseModel, Field, PlainSerializer, RootModel
from pydantic_core import to_json

from mrtr_tools import Refused, Toolbox, needs_input, then
from mrtr_tools.calls import Call, Complete
from mrtr_tools.results import Output, output_of
from mrtr_tools.runner import handle_call
from mrtr_tools.testing import Player
from tests.calls_by_hand import SIGNER


class Model(BaseModel):
    a: int = Field(alias="A", default=1)
    n: int | None = None


class Child(Model):
    b: int = 2


@dataclass
class Point:
    x: int
    day: date | None = None


class Options(typing_extensions.TypedDict, total=False):
    k: int


class Color(Enum):
    RED = "red"


class Plain:
    pass


class Node(BaseModel):
    kids: list["Node"] = []


class Numbers(RootModel[list[int]]):
    pass


class Pair(NamedTuple):
    a: int


def untitled(schema: Any, *, names: bool = False) -> Any:
    """A schema without its titles: the SDK makes titles up, we only keep those that somebody wrote."""
    if isinstance(schema, dict):
        return {
            key: untitled(value, names=key in ("properties", "$defs"))
            for key, value in schema.items()
            if names or key != "title"
        }
    return [untitled(item) for item in schema] if isinstance(schema, list) else schema


def of_sdk(annotation: object):
    def tool(): ...

    tool.__annotations__ = {} if annotation is inspect.Signature.empty else {"return": annotation}
    return func_metadata(tool)


def of_ours(annotation: object) -> Output | None:
    """What a tool with this return annotation has."""

    def tool(): ...

    tool.__annotations__ = {} if annotation is inspect.Signature.empty else {"return": annotation}
    box = Toolbox("results")
    box.tool(tool)
    return box.tools["tool"].output


SAME = [
    (inspect.Signature.empty, [{"a": 1}, None]),
    (Any, [{"a": 1}, "x"]),
    (object, [1]),
    (dict, [{"a": 1}]),
    (list, [[1]]),
    (set, [{1}]),
    (tuple, [(1,)]),
    (str, ["héllo", 5]),
    (int, [5, "7", True, "x"]),
    (float, [1.0, 2]),
    (bytes, [b"ab"]),
    (bool, [True, "yes"]),
    (None, [None, 3]),
    (list[str], [["a", "b"], []]),
    (list[Any], [[1, "a"]]),
    (list[dict[str, int]], [[{"a": 1}, {"b": 2}]]),
    (tuple[int, str], [(1, "a")]),
    (set[int], [{1}]),
    (Sequence[int], [[1]]),
    (dict[str, int], [{"a": 1}, {"a": "x"}]),
    (dict[str, Any], [{"a": [1]}]),
    (dict[int, str], [{1: "a"}]),
    (Mapping[str, int], [{"a": 1}]),
    (str | None, [None, "x"]),
    (int | str, [1, "x"]),
    (Optional[Model], [Model(), None]),  # noqa: UP045
    (Model | Point, [Model()]),
    (Model, [Model(), Child(), {"A": 3}, {"a": 3}, {"A": "x"}]),
    (Annotated[Model, "note"], [Model()]),
    (list[Model], [[Model()]]),
    (dict[str, Model], [{"a": Model()}]),
    (Point, [Point(1, date(2020, 1, 2)), {"x": 1}]),
    (Options, [{"k": 1}, {}]),
    (Node, [Node(), Node(kids=[Node()])]),
    (list[Node], [[Node()]]),
    (BaseModel, []),
    (Literal["a", "b"], ["a", "c"]),
    (Annotated[int, Field(ge=3)], [5, 1]),
    (Annotated[int, Field(ge=3, description="d")], [5]),
    (Color | None, [Color.RED, None]),
    (list[Color], [[Color.RED]]),
    (Callable[[], int], []),
    (Plain, [Plain()]),
    (TextContent, [TextContent(text="x")]),
    (list[TextContent], [[TextContent(text="x")]]),
    (list[ContentBlock], []),
    (Annotated[TextContent, "note"], []),
    (TextContent | None, []),
    (str | TextContent, []),
    (tuple[TextContent, int], []),
    (Image, [Image(data=b"1")]),
    (list[Image | str], []),
    (CallToolResult, [CallToolResult(content=[])]),
]


def outcome(structure: Callable[[], object]) -> object:
    try:
        return structure()
    except Exception:  # noqa: BLE001
        return "refused"


@pytest.mark.parametrize(("annotation", "values"), SAME, ids=[str(annotation) for annotation, _ in SAME])
def test_the_output_is_the_one_of_the_sdk(annotation, values):
    sdk, ours = of_sdk(annotation), of_ours(annotation)

    assert untitled(ours.schema if ours else None) == untitled(sdk.output_schema)
    for value in values:
        mine = outcome(lambda value=value: ours.structured(value) if ours else None)
        assert mine == outcome(lambda value=value: vars(sdk.convert_result(value))["structured_content"])


class Ready(CallToolResult):
    """One of the author's own."""


@pytest.mark.parametrize(
    "annotation", [Model, int, Annotated[CallToolResult, Model], Annotated[Ready, int, Field(ge=3)]]
)
@pytest.mark.parametrize("kind", [CallToolResult, Ready])
@pytest.mark.parametrize(
    ("content", "is_error"),
    [
        ({"A": 3}, False),
        ({"A": "x"}, False),
        ({"result": 3}, False),
        ({"result": "x"}, False),
        (None, False),
        (None, True),
    ],
)
def test_a_ready_result_has_the_schema_of_the_sdk_and_is_checked_as_there(annotation, kind, content, is_error):
    sdk, ours = of_sdk(annotation), of_ours(annotation)
    ready = kind(content=[], structured_content=content, is_error=is_error)

    assert ours is not None
    assert untitled(ours.schema) == untitled(sdk.output_schema)
    taken = outcome(lambda: vars(sdk.convert_result(ready))) != "refused"
    assert outcome(lambda: ours.structured(ready)) == (None if taken else "refused")


@pytest.mark.parametrize(
    ("annotation", "value", "structured"),
    [
        (Color, Color.RED, {"result": "red"}),
        (date, date(2026, 7, 28), {"result": "2026-07-28"}),
        (datetime, datetime(2026, 7, 28, 9, 30), {"result": "2026-07-28T09:30:00"}),  # noqa: DTZ001
        (Pair, Pair(1), {"result": [1]}),
    ],
)
def test_where_the_output_is_not_that_of_the_sdk_it_still_fits_its_schema(annotation, value, structured):
    """The SDK has no schema for these classes on their own (only inside others); with or without one is right."""
    assert of_sdk(annotation).output_schema is None
    ours = of_ours(annotation)

    assert ours is None or ours.structured(value) == structured


@pytest.mark.parametrize("annotation", [dict[str, int], typing_extensions.Dict, typing_extensions.Dict[str, int]])
def test_a_dict_has_an_object_as_its_schema_however_it_is_spelled(annotation):
    """The SDK puts ``typing.Dict[str, int]`` under ``result``: a quirk that we leave to it."""
    ours = of_ours(annotation)

    assert ours is None or ours.schema["type"] == "object"
    if annotation is not typing_extensions.Dict:
        assert ours is not None
        assert ours.schema == {"type": "object", "additionalProperties": {"type": "integer"}}


@pytest.mark.parametrize(
    "annotation",
    [str | Refused, Annotated[str | Refused, Field(description="d")], list[str | Refused], dict[str, str | Refused]],
)
def test_our_own_types_never_enter_an_output_schema(annotation):
    ours = of_ours(annotation)

    assert "Refused" not in str(ours.schema if ours else "")
    assert "decline" not in str(ours.schema if ours else "")


def test_a_refusal_in_a_union_leaves_the_rest_as_the_output():
    assert untitled(of_ours(str | Refused).schema) == {  # pyright: ignore[reportOptionalMemberAccess]
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
    }
    assert of_ours(Refused) is None


@pytest.mark.parametrize(
    "annotation", [item[0] for item in SAME if item[0] is not None] + [str | Refused, Pair, Numbers]
)
def test_every_output_schema_is_an_object_at_its_root(annotation):
    """The protocol: ``outputSchema`` has ``type: object``."""
    ours = of_ours(annotation)

    assert ours is None or ours.schema["type"] == "object"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_result_that_json_cannot_hold_is_refused(number):
    """`NaN` on the wire would break the connection."""
    for annotation, value in ((float, number), (list[float], [number]), (dict[str, float], {"a": number})):
        ours = output_of(annotation)
        assert ours is not None
        with pytest.raises(ValueError, match=r"."):
            ours.structured(value)


def test_a_root_model_of_no_object_stands_under_result():
    """The SDK puts an array at the root, which the protocol does not allow."""
    ours = of_ours(Numbers)

    assert ours is not None
    assert ours.structured(Numbers([1])) == {"result": [1]}


def test_titles_are_those_that_somebody_wrote():
    class Titled(BaseModel):
        a: Annotated[int, Field(title="The A")]
        b: int

    ours = output_of(Titled)

    assert ours is not None
    assert ours.schema["properties"] == {"a": {"type": "integer", "title": "The A"}, "b": {"type": "integer"}}


def test_a_tool_that_asks_first_has_structured_content_at_its_end_only():
    """Reported as microsoft/wassette#263, PrefectHQ/fastmcp#1241."""

    class Note(BaseModel):
        note: str | None

    box = Toolbox("notes")

    @box.tool
    @needs_input(note="A note?")
    def take(note: str | Refused) -> Note:
        return then(keep, note=note or None)

    @box.step
    def keep(note: str | None) -> Note:
        return Note(note=note)

    assert Player(box).play("take", note="n").reply.structured == {"note": "n"}  # pyright: ignore[reportAttributeAccessIssue]
    played = Player(box).play("take", note=Refused("decline"))
    assert played.reply.structured == {"note": None}  # pyright: ignore[reportAttributeAccessIssue]


def test_a_large_integer_may_be_sent_as_text_and_the_schema_says_so():
    """Reported as mrexodia/ida-pro-mcp#510."""
    big = Annotated[int, PlainSerializer(str, return_type=str)]
    ours = output_of(big)

    assert ours is not None
    assert ours.structured(2**60) == {"result": str(2**60)}
    assert ours.schema["properties"] == {"result": {"type": "string"}}
    assert to_json(ours.structured(2**60))


@pytest.mark.anyio
async def test_a_result_that_is_not_what_was_promised_is_a_tool_error():
    box = Toolbox("broken")

    @box.tool
    def count() -> int:
        return "many"  # pyright: ignore[reportReturnType]

    reply = await handle_call(box, Call("count"), SIGNER)

    assert isinstance(reply, Complete)
    assert reply.is_error
    assert "many" not in str(reply.value)
