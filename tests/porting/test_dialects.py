"""The classes of the SDK and of FastMCP that a body gets back: what `match` and `isinstance` see."""

import subprocess
import sys
from typing import Any

import mcp_types as types
import pytest
from mcp.server import elicitation as sdk
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mrtr_tools import Refused, Sampled, Toolbox
from mrtr_tools.calls import Client
from mrtr_tools.errors import RequestError
from mrtr_tools.porting import resumable
from mrtr_tools.server import dialects
from mrtr_tools.server.wire import result_object
from mrtr_tools.testing import Player, in_turn
from tests.porting.loose import Context


class Yes(BaseModel):
    confirm: bool


def played(body: Any, **answers: object) -> str:
    toolbox = Toolbox("dialects")
    toolbox.tool(resumable(body), name="go")
    return Player(toolbox).play("go", {}, **answers).text


def test_an_answer_is_of_both_classes_where_fastmcp_is_there():
    fastmcp = pytest.importorskip("fastmcp.server.elicitation")

    found = dialects.elicited("x")

    assert isinstance(found, sdk.AcceptedElicitation)
    assert isinstance(found, fastmcp.AcceptedElicitation)
    match found:
        case fastmcp.AcceptedElicitation(data=data):
            assert data == "x"
    assert repr(found) == "AcceptedElicitation(action='accept', data='x')"


ALONE = """
import sys
from mrtr_tools.server import dialects
assert "mcp" not in sys.modules
found = dialects.elicited("x")
from mcp.server.elicitation import AcceptedElicitation
assert type(found) is AcceptedElicitation
assert "fastmcp" not in sys.modules
"""


def test_without_fastmcp_it_is_the_class_of_the_sdk_and_nothing_is_imported_before_it_is_needed():
    subprocess.run([sys.executable, "-c", ALONE], check=True, timeout=60)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (True, "AcceptedElicitation"),
        (Refused("decline"), "DeclinedElicitation"),
        (Refused("cancel"), "CancelledElicitation"),
    ],
)
def test_what_a_person_may_do_with_a_form_has_three_classes(answer, kind):
    async def go(ctx: Context) -> str:
        match await ctx.elicit("Go on?", schema=Yes):
            case sdk.AcceptedElicitation(data=Yes(confirm=True)):
                return "AcceptedElicitation"
            case sdk.DeclinedElicitation():
                return "DeclinedElicitation"
            case sdk.CancelledElicitation():
                return "CancelledElicitation"
        return "none of them"

    assert played(go, ask=answer) == kind


@pytest.mark.parametrize(("answer", "action"), [(True, "accept"), (False, "decline"), (Refused("cancel"), "cancel")])
def test_a_page_is_opened_declined_or_cancelled(answer, action):
    async def go(ctx: Context) -> str:
        found = await ctx.elicit_url("Sign in", "https://example.com/", "id")
        assert isinstance(found, sdk.AcceptedUrlElicitation) == (found.action == "accept")
        raw = await ctx.session.elicit_url("Sign in", "https://example.com/", "id")
        assert isinstance(raw, types.ElicitResult)
        assert raw.content is None
        return found.action + raw.action

    assert played(go, ask=answer) == action * 2


@pytest.mark.parametrize(("answer", "action"), [(True, "accept"), (False, "decline"), (Refused("cancel"), "cancel")])
def test_a_form_without_fields_is_a_yes_or_none(answer, action):
    async def go(ctx: Context) -> str:
        return (await ctx.elicit("Go on?", response_type=None)).action

    assert played(go, ask=answer) == action


def test_a_schema_by_hand_has_a_result_by_hand():
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

    async def go(ctx: Context) -> str:
        first = await ctx.session.elicit("Name?", requested_schema=schema)
        second = await ctx.request_context.session.elicit_form("Name?", schema)
        return f"{type(first).__name__} {first.content} {second.action} {second.content}"

    assert played(go, **{"ask": "Ada", "ask-2": Refused("decline")}) == "ElicitResult {'name': 'Ada'} decline None"


def test_an_empty_schema_by_hand_asks_for_a_yes():
    empty = {"type": "object", "properties": {}}

    async def go(ctx: Context) -> str:
        first = await ctx.session.elicit_form("Go on?", requestedSchema=empty)
        second = await ctx.elicit("And on?", schema=empty)
        return f"{first.action} {first.content} {second.action} {second.data}"

    assert played(go, ask=True) == "accept {} accept {}"


def test_a_result_of_fastmcp_is_the_result():
    results = pytest.importorskip("fastmcp.tools.base")

    async def go(ctx: Context) -> results.ToolResult:  # pyright: ignore[reportInvalidTypeForm]
        name = (await ctx.elicit("Name?", str)).data
        return results.ToolResult(content=name, structured_content={"name": name}, meta={"a": 1})

    toolbox = Toolbox("dialects")
    toolbox.tool(resumable(go))
    played = Player(toolbox).play("go", {}, ask="Ada")

    assert toolbox.tools["go"].output_schema is None
    assert result_object(played.reply) == {
        "resultType": "complete",
        "content": [{"type": "text", "text": "Ada"}],
        "structuredContent": {"name": "Ada"},
        "_meta": {"a": 1},
        "isError": False,
    }


def test_a_model_answers_in_the_classes_of_the_sdk():
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Hello"))
    tool = types.Tool(name="look", input_schema={"type": "object"})

    async def go(ctx: Context) -> str:
        plain = await ctx.session.create_message(
            [message], max_tokens=10, model_preferences=types.ModelPreferences(hints=[types.ModelHint(name="m")])
        )
        with_tools = await ctx.session.create_message([message], max_tokens=10, tools=[tool])
        friendly = await ctx.sample(["Hello", message], model_preferences=["m", "n"], temperature=0.5)
        said = f"{plain.content.text} {type(with_tools).__name__} {friendly.text} {friendly.result}"
        return f"{type(plain).__name__} {said}"

    assert played(go, ask="hi") == "CreateMessageResult hi CreateMessageResultWithTools hi hi"


def test_a_loop_of_a_model_and_its_tools_is_written_out():
    tool = types.Tool(name="add", input_schema={"type": "object"})
    use = types.ToolUseContent(id="1", name="add", input={"a": 1})

    async def go(ctx: Context) -> str:
        messages = [types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Add one"))]
        while (
            said := await ctx.session.create_message(messages, max_tokens=10, tools=[tool])
        ).stop_reason == "toolUse":
            found: list[Any] = [types.TextContent(type="text", text="2")]
            results: list[Any] = [
                types.ToolResultContent(tool_use_id=each.id, content=found) for each in said.content_as_list
            ]
            messages += [
                types.SamplingMessage(role="assistant", content=said.content),
                types.SamplingMessage(role="user", content=results),
            ]
        return said.content.text

    wants = Sampled(use.model_dump(by_alias=True, exclude_none=True), "m", stop_reason="toolUse")

    assert played(go, ask=in_turn(wants, wants, "done")) == "done"


def test_what_a_client_may_ignore_does_not_reach_it():
    async def go(ctx: Context) -> str:
        said = await ctx.session.create_message(
            [{"role": "user", "content": {"type": "text", "text": "?"}}],
            max_tokens=10,
            include_context="thisServer",
            metadata={"a": 1},
        )
        await ctx.session.send_elicit_complete("id")
        return said.content.text

    assert played(go, ask=lambda asked: ", ".join(sorted(asked["params"]))) == "maxTokens, messages"


@pytest.mark.parametrize("data", [None, {"a": 1}])
def test_an_error_of_the_sdk_that_a_body_raises_is_the_error_of_the_request(data):
    async def go(ctx: Context) -> str:
        raise MCPError(-32003, "No such order", data)

    with pytest.raises(RequestError) as refused:
        played(go)

    assert (refused.value.code, refused.value.message, refused.value.data) == (-32003, "No such order", data)


def test_folders_come_in_the_classes_of_the_sdk():
    async def go(ctx: Context) -> str:
        listed = await ctx.session.list_roots()
        again = await ctx.list_roots()
        return f"{type(listed).__name__} {listed.roots[0].uri} {type(again[0]).__name__} {again[0].name}"

    assert played(go, ask=["file:///work"]) == "ListRootsResult file:///work Root None"


def test_a_capability_is_looked_up_as_the_sdk_does():
    client = Client({"elicitation": {}, "roots": {"listChanged": True}})

    def has(**wanted: Any) -> bool:
        return dialects.has_capability(client, types.ClientCapabilities(**wanted))

    assert has(elicitation=types.ElicitationCapability())
    assert has(roots=types.RootsCapability(list_changed=True))
    assert not has(sampling=types.SamplingCapability())
    assert dialects.client_params(client).client_info.name == ""


def test_who_cannot_be_asked_is_told_in_the_words_of_the_sdk():
    error = dialects.cannot_be_asked("url", {"elicitation": {"url": {}}})

    assert isinstance(error, MCPError)
    assert (error.code, str(error)) == (-32600, "Elicitation not supported")
