"""What tools return, as it reaches a client of either era."""

import base64
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from mcp import Client, types

from mrtr_tools import Toolbox, ToolError
from mrtr_tools.content import Audio, Embedded, Image
from tests.server.desk import server_of

toolbox = Toolbox("content")
DATA = base64.b64encode(b"\1\2").decode()


@dataclass
class Report:
    place: str
    wind: int | None = None


@dataclass
class Sorry:
    why: str


@toolbox.tool
def image() -> Image:
    return Image(b"\1\2")


@toolbox.tool
def either(text: bool) -> str | Image:
    return "text" if text else Image(b"\1\2")


@toolbox.tool
def several() -> list[str | Image | Audio | Embedded]:
    return ["text", Image(b"\1\2"), Audio(b"\1\2"), Embedded("a:b", "c")]


@toolbox.tool
def report() -> Report:
    return Report("Kiel")


@toolbox.tool
def report_or_not(sorry: bool) -> Report | Sorry | None:
    return Sorry("fog") if sorry else None


@toolbox.tool
def ready() -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text="x")], structured_content={"a": 1}, is_error=True
    )


@toolbox.tool
def block() -> types.ResourceLink:
    return types.ResourceLink(type="resource_link", uri="file:///a", name="a")


@toolbox.tool
def give_up() -> str:
    raise ToolError("No such order")


@toolbox.tool
def fail() -> str:
    raise RuntimeError("postgres://secret")


IMAGE = {"type": "image", "data": DATA, "mimeType": "image/png"}
SOUND = {"type": "audio", "data": DATA, "mimeType": "audio/wav"}
EMBEDDED = {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "c"}}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@pytest.mark.parametrize(
    ("tool", "arguments", "content", "structured"),
    [
        ("image", {}, [IMAGE], None),
        ("either", {"text": True}, [text("text")], None),
        ("either", {"text": False}, [IMAGE], None),
        ("several", {}, [text("text"), IMAGE, SOUND, EMBEDDED], None),
        ("report", {}, [text('{\n  "place": "Kiel",\n  "wind": null\n}')], {"place": "Kiel", "wind": None}),
        ("report_or_not", {"sorry": True}, [text('{\n  "why": "fog"\n}')], {"result": {"why": "fog"}}),
        ("report_or_not", {"sorry": False}, [], {"result": None}),
        ("ready", {}, [text("x")], {"a": 1}),
        ("block", {}, [LINK], None),
    ],
)
async def test_content_arrives_as_the_step_returned_it(mode, tool, arguments, content, structured):
    """The client checks structured content against the listed schema."""
    with anyio.fail_after(10):
        async with Client(server_of(toolbox), mode=mode) as client:
            await client.list_tools()
            result = await client.call_tool(tool, arguments)

    assert isinstance(result, types.CallToolResult)
    assert [each.model_dump(by_alias=True, mode="json", exclude_none=True) for each in result.content] == content
    assert result.structured_content == structured
    assert result.is_error is (tool == "ready")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_an_error_of_the_author_is_readable_and_any_other_says_nothing(mode):
    with anyio.fail_after(10):
        async with Client(server_of(toolbox), mode=mode) as client:
            told = [(await client.call_tool(tool)).model_dump(by_alias=True) for tool in ("give_up", "fail")]

    assert told[0]["content"][0]["text"] == "No such order"
    assert all(result["isError"] for result in told)
    assert "postgres" not in str(told[1])
