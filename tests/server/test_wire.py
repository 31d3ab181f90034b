"""The core's objects as the protocol writes them."""

import datetime as dt
import enum
import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from mcp.server.mcpserver import Audio, Image
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from mcp.types import CallToolResult, ResourceLink, TextContent
from pydantic import BaseModel, Field
from pydantic_core import to_json

from mrtr_tools import Toolbox
from mrtr_tools.calls import Complete, InputRequired
from mrtr_tools.carriers import Tool
from mrtr_tools.errors import InvalidParams, InvalidState, MissingCapability
from mrtr_tools.questions import Asked, Question
from mrtr_tools.server.blocks import content_of
from mrtr_tools.server.wire import error_object, result_object, sendable, tool_entry, written_result


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.Enum):
    LOW = 1


class Person(BaseModel):
    full_name: str = Field(alias="fullName")
    note: str | None = None


@dataclass
class Point:
    x: int
    day: dt.date


VALUES = [
    None,
    "text",
    "Größe ✓ 🔥",
    Colour.RED,
    Level.LOW,
    True,
    7,
    1.5,
    b"bytes",
    [],
    ["a", "b"],
    ("a", 1, None),
    [{"a": 1}, [2, ["c"]]],
    {"a": [1, 2], "b": None},
    {1, 2},
    Person(fullName="Ada"),
    Point(1, dt.date(2026, 7, 28)),
    dt.date(2026, 7, 28),
    float("nan"),
    TextContent(type="text", text="block"),
    [TextContent(type="text", text="block"), "text"],
    ResourceLink(type="resource_link", uri="file:///a", name="a"),
    Image(data=b"1", format="png"),
    [Image(data=b"1", format="png"), "caption", Audio(data=b"2", format="wav")],
]


def by_the_sdk(value: object) -> list[dict[str, object]]:
    """What the SDK makes of a value that a tool without an output schema returns."""

    def tool(): ...

    result = func_metadata(tool).convert_result(value)
    assert isinstance(result, CallToolResult)
    return [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in result.content]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_content_is_what_the_sdk_would_show(value):
    assert content_of(value) == by_the_sdk(value)


def test_what_is_of_no_json_type_is_shown_by_its_text():
    class Thing:
        def __str__(self) -> str:
            return "a thing"

    assert content_of({"it": Thing()}) == [{"type": "text", "text": '{\n  "it": "a thing"\n}'}]


def test_a_complete_reply_says_so_and_whether_it_is_an_error():
    assert result_object(Complete("done")) == {
        "resultType": "complete",
        "content": [{"type": "text", "text": "done"}],
        "isError": False,
    }
    assert result_object(Complete("no", is_error=True))["isError"] is True


def test_structured_content_stands_beside_the_text():
    reply = result_object(Complete(7, {"result": 7}))

    assert reply["content"] == [{"type": "text", "text": "7"}]
    assert reply["structuredContent"] == {"result": 7}


def test_a_result_of_the_sdk_is_taken_as_it_is():
    given = CallToolResult(
        content=[TextContent(type="text", text="x")], structured_content={"a": None}, is_error=True, _meta={"m": 1}
    )

    assert result_object(Complete(given)) == {
        "resultType": "complete",
        "content": [{"type": "text", "text": "x"}],
        "structuredContent": {"a": None},
        "isError": True,
        "_meta": {"m": 1},
    }


def test_questions_and_state_go_out_together():
    question = {"method": "elicitation/create", "params": {}}

    assert result_object(InputRequired({"k": question}, "STATE")) == {
        "resultType": "input_required",
        "inputRequests": {"k": question},
        "requestState": "STATE",
    }


def test_a_state_alone_has_no_empty_map_of_questions_beside_it():
    """Reported as dart-lang/ai#602."""
    assert result_object(InputRequired({}, "STATE")) == {"resultType": "input_required", "requestState": "STATE"}


def test_questions_alone_have_no_null_state_beside_them():
    assert "requestState" not in result_object(InputRequired({"k": {"method": "elicitation/create"}}, None))


def test_half_a_surrogate_pair_is_spelled_out_and_a_whole_one_stays():
    """As in the name of a file that is no UTF-8: written as it is, it would end the connection."""
    reply = result_object(Complete("name\udc80 🔥", {"a\ud800": ["b\udfff", {"c": 1}]}))

    assert reply["content"] == [{"type": "text", "text": "name\\udc80 🔥"}]
    assert reply["structuredContent"] == {"a\\ud800": ["b\\udfff", {"c": 1}]}
    json.dumps(reply, ensure_ascii=False).encode()


def test_what_is_no_json_is_not_sent():
    looped: dict[str, object] = {}
    looped["self"] = looped
    for value in (b"\xff", looped):
        with pytest.raises(ValueError, match=r".+"):
            result_object(Complete(value))
    with pytest.raises(ValueError, match=r".+"):
        sendable({"a": float("nan")})


def test_a_tool_is_listed_with_all_it_has_and_nothing_empty():
    toolbox = Toolbox("t")

    @toolbox.tool
    def bare(): ...

    @toolbox.tool(title="Full", annotations={"readOnlyHint": True})
    def full(a: int) -> int:
        """All of it."""
        return a

    assert tool_entry(toolbox.tools["bare"]) == {"name": "bare", "inputSchema": {"type": "object", "properties": {}}}
    entry = tool_entry(toolbox.tools["full"])
    assert list(entry) == ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]
    assert entry["title"] == "Full"
    assert entry["description"] == "All of it."
    assert entry["annotations"] == {"readOnlyHint": True}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InvalidParams("Unknown tool"), {"code": -32602, "message": "Unknown tool"}),
        (InvalidState("signature"), {"code": -32602, "message": "Invalid or expired requestState"}),
        (
            InvalidState("expired", public="expired"),
            {"code": -32602, "message": "Invalid or expired requestState", "data": {"reason": "expired"}},
        ),
        (
            MissingCapability({"elicitation": {"form": {}}}),
            {
                "code": -32021,
                "message": "This call needs a client capability: elicitation",
                "data": {"requiredCapabilities": {"elicitation": {"form": {}}}},
            },
        ),
    ],
)
def test_an_error_is_its_code_message_and_data(error, told):
    assert error_object(error) == told


META = {"io.modelcontextprotocol/serverInfo": {"name": "weather", "version": ""}}
LOGIN = Question("form", "elicitation/create", {"mode": "form", "message": 'Your "name"?', "requestedSchema": {}})
FIXED = replace(LOGIN, text=to_json(LOGIN.request(None)))
TOKEN = "AQ-_.x"


def said(text: object) -> str:
    """Gives it back."""
    return str(text)


def said_in_blocks(text: object) -> list[TextContent]:
    """Gives it back."""
    return [TextContent(type="text", text=str(text))]


def tool_of(function: Callable[..., object]) -> Tool:
    toolbox = Toolbox("weather")
    toolbox.tool(function)
    return toolbox.tools[function.__name__]


@pytest.mark.parametrize(
    "reply",
    [
        InputRequired(Asked({"login": (FIXED, None)}), TOKEN),
        InputRequired(Asked({"login": (FIXED, ""), "größe": (LOGIN, None)}), TOKEN),
        InputRequired(Asked({"login": (FIXED, 'Not "that"'), "x-2": (FIXED, None)}), TOKEN),
        InputRequired(Asked({"login": (FIXED, None)}), None),
        Complete("ok"),
        Complete('Größe "✓" NaN \n', {"result": 'Größe "✓" NaN \n'}),
        Complete("it failed", is_error=True),
        Complete(""),
    ],
)
@pytest.mark.parametrize("function", [said, said_in_blocks])
def test_what_is_put_together_is_what_the_whole_would_be(reply, function):
    whole = to_json({**result_object(reply), "_meta": META})

    assert written_result(tool_of(function), reply, to_json(META)) == whole


@pytest.mark.parametrize(
    "reply",
    [
        InputRequired({"login": LOGIN.request(None)}, TOKEN),
        InputRequired(Asked({"login": (FIXED, "\ud800")}), TOKEN),
        InputRequired(Asked({"login": (FIXED, None)}), "ä"),
        Complete(Colour.RED),
        Complete(["text"]),
        Complete("half \ud800"),
        Complete("x", {"result": "\udfff"}),
    ],
)
def test_what_needs_more_care_is_left_to_the_whole(reply):
    assert written_result(tool_of(said), reply, to_json(META)) is None
