"""What prompts and resources return, as messages and contents; `test_wire.py` has the blocks of tools."""

import base64
from dataclasses import dataclass
from typing import Any

import pytest
from mcp.server.mcpserver import Audio as SdkAudio, Image as SdkImage
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from mcp.types import (
    BlobResourceContents,
    EmbeddedResource,
    GetPromptResult,
    PromptMessage,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

from mrtr_tools import Toolbox
from mrtr_tools.calls import Call, Complete, InputRequired
from mrtr_tools.content import Audio, Embedded, Image
from mrtr_tools.server.blocks import content_of, contents_of, messages_of
from mrtr_tools.server.wire import CallFailed, prompt_entry, resource_entry, result_for

URI = "memo://x"
DATA = base64.b64encode(b"\1\2").decode()


@dataclass
class Point:
    x: int


class Person(BaseModel):
    full_name: str = Field(alias="fullName")


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def user(block: Any) -> dict[str, Any]:
    return {"role": "user", "content": block}


IMAGE = {"type": "image", "data": DATA, "mimeType": "image/png"}
SOUND = {"type": "audio", "data": DATA, "mimeType": "audio/wav"}
MEMO = {"uri": "memo://1", "mimeType": "text/plain", "text": "a"}


# Blocks


@pytest.mark.parametrize(
    ("value", "block"),
    [
        (Image(b"\1\2"), IMAGE),
        (Image(b"\1\2", "image/webp"), {**IMAGE, "mimeType": "image/webp"}),
        (Audio(b"\1\2"), SOUND),
        (Embedded("memo://1", "a"), {"type": "resource", "resource": MEMO}),
        (
            Embedded("memo://1", b"\1\2"),
            {
                "type": "resource",
                "resource": {"uri": "memo://1", "mimeType": "application/octet-stream", "blob": DATA},
            },
        ),
    ],
)
def test_content_of_our_own_is_a_block_anywhere(value, block):
    assert content_of(value) == [block]
    assert content_of(["Look:", (value,)]) == [text("Look:"), block]
    assert messages_of(value) == [user(block)]


# Messages


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        (None, []),
        ("Hi", [user(text("Hi"))]),
        (["Hi", "there"], [user(text("Hi")), user(text("there"))]),
        ({"role": "assistant", "content": "Hi"}, [{"role": "assistant", "content": text("Hi")}]),
        ({"role": "user", "content": text("Hi")}, [user(text("Hi"))]),
        ({"role": "user", "content": ["Hi", Image(b"\1\2")]}, [user(text("Hi")), user(IMAGE)]),
        ({"role": "user", "content": [text("Hi"), IMAGE]}, [user(text("Hi")), user(IMAGE)]),
        ({"role": "user", "content": Point(1)}, [user(text('{\n  "x": 1\n}'))]),
        ({"a": 1}, [user(text('{\n  "a": 1\n}'))]),
        (Person(fullName="Ada"), [user(text('{\n  "fullName": "Ada"\n}'))]),
        (UserMessage("Hi"), [user(text("Hi"))]),
        (AssistantMessage("Hi"), [{"role": "assistant", "content": text("Hi")}]),
        (PromptMessage(role="user", content=TextContent(type="text", text="Hi")), [user(text("Hi"))]),
        (SdkImage(data=b"\1\2", format="png"), [user(IMAGE)]),
    ],
    ids=repr,
)
def test_a_prompt_says_messages_in_any_of_these_ways(value, messages):
    assert messages_of(value) == messages


@pytest.mark.parametrize("role", ["system", None, 7])
def test_nobody_else_says_a_message(role):
    with pytest.raises(ValueError, match="of the user or of the assistant"):
        messages_of({"role": role, "content": "Obey"})


# Contents


@pytest.mark.parametrize(
    ("value", "contents"),
    [
        (None, []),
        ("a", [{"uri": URI, "mimeType": "text/plain", "text": "a"}]),
        (b"\1\2", [{"uri": URI, "mimeType": "application/octet-stream", "blob": DATA}]),
        (Image(b"\1\2"), [{"uri": URI, "mimeType": "image/png", "blob": DATA}]),
        (SdkAudio(data=b"\1\2", format="wav"), [{"uri": URI, "mimeType": "audio/wav", "blob": DATA}]),
        (TextContent(type="text", text="a"), [{"uri": URI, "mimeType": "text/plain", "text": "a"}]),
        (Embedded("memo://1", "a"), [MEMO]),
        ([Embedded("memo://1", "a"), Embedded("memo://1", "a")], [MEMO, MEMO]),
        (TextResourceContents(uri="memo://1", mime_type="text/plain", text="a"), [MEMO]),
        (BlobResourceContents(uri="memo://1", blob=DATA), [{"uri": "memo://1", "blob": DATA}]),
        (
            EmbeddedResource(
                type="resource", resource=TextResourceContents(uri="memo://1", mime_type="text/plain", text="a")
            ),
            [MEMO],
        ),
        ({"a": 1}, [{"uri": URI, "mimeType": "application/json", "text": '{\n  "a": 1\n}'}]),
        (["a"], [{"uri": URI, "mimeType": "application/json", "text": '[\n  "a"\n]'}]),
        ([], [{"uri": URI, "mimeType": "application/json", "text": "[]"}]),
        (Point(1), [{"uri": URI, "mimeType": "application/json", "text": '{\n  "x": 1\n}'}]),
        (Person(fullName="A"), [{"uri": URI, "mimeType": "application/json", "text": '{\n  "fullName": "A"\n}'}]),
        (float("nan"), [{"uri": URI, "mimeType": "application/json", "text": "null"}]),
    ],
    ids=repr,
)
def test_a_resource_holds_whatever_it_returns(value, contents):
    assert contents_of(value, URI, None) == contents


@pytest.mark.parametrize("value", ["a", b"\1", {"a": 1}, Image(b"\1")])
def test_a_resource_that_says_what_it_holds_is_believed(value):
    assert contents_of(value, URI, "text/x")[0]["mimeType"] == "text/x"
    assert contents_of(value, URI, "text/x")[0]["uri"] == URI


# Entries and results


toolbox = Toolbox("t")


@toolbox.prompt(title="Poem")
def poem(topic: str, style: str = "free") -> str:
    """A poem."""
    return topic


@toolbox.prompt()
def bare(): ...


@toolbox.resource("memo://{name}", mime_type="text/x")
def memo(name: str): ...


@toolbox.resource("memo:all", title="All")
def memos():
    """All of them."""


def test_prompts_and_resources_are_listed_with_all_they_have_and_nothing_empty():
    assert prompt_entry(toolbox.prompts["poem"]) == {
        "name": "poem",
        "title": "Poem",
        "description": "A poem.",
        "arguments": [{"name": "topic", "required": True}, {"name": "style", "required": False}],
    }
    assert prompt_entry(toolbox.prompts["bare"]) == {"name": "bare"}
    assert resource_entry(toolbox.resources["memo://{name}"]) == {
        "uriTemplate": "memo://{name}",
        "name": "memo",
        "mimeType": "text/x",
    }
    assert resource_entry(toolbox.resources["memo:all"]) == {
        "uri": "memo:all",
        "name": "memos",
        "title": "All",
        "description": "All of them.",
    }


READ = Call(URI, method="resources/read")
ASKED = [Call(URI, state="s", method="resources/read"), Call(URI, responses={"a": {}}, method="resources/read")]


def test_a_prompts_result_has_its_description_and_messages():
    result = result_for(Call("poem", method="prompts/get"), toolbox.prompts["poem"], Complete("Hi"))

    assert result == {"resultType": "complete", "description": "A poem.", "messages": [user(text("Hi"))]}


def test_results_of_the_sdk_are_taken_as_they_are():
    prompt = GetPromptResult(description="d", messages=[])
    assert result_for(Call("poem", method="prompts/get"), toolbox.prompts["poem"], Complete(prompt)) == {
        "resultType": "complete",
        "description": "d",
        "messages": [],
    }
    resource = ReadResourceResult(contents=[], ttl_ms=5000, cache_scope="public")
    kept = result_for(READ, toolbox.resources["memo://{name}"], Complete(resource))
    assert (kept["ttlMs"], kept["cacheScope"]) == (5000, "public")


@pytest.mark.parametrize("call", ASKED)
@pytest.mark.parametrize("value", ["a", ReadResourceResult(contents=[], ttl_ms=5000, cache_scope="public")])
def test_what_was_made_of_answers_is_nobodys_to_keep(call, value):
    """Reported as modelcontextprotocol/php-sdk#449."""
    result = result_for(call, toolbox.resources["memo://{name}"], Complete(value))

    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


def test_a_question_has_no_cache_hints():
    asked = result_for(READ, toolbox.resources["memo://{name}"], InputRequired({"k": {"method": "roots/list"}}, "S"))

    assert set(asked) == {"resultType", "inputRequests", "requestState"}


def test_a_failure_of_a_prompt_or_resource_is_an_error_with_its_text():
    failed = Complete("No such memo", is_error=True)

    with pytest.raises(CallFailed, match="No such memo") as told:
        result_for(READ, toolbox.resources["memo://{name}"], failed)
    assert (told.value.code, told.value.data) == (-32603, {"uri": URI})
    with pytest.raises(CallFailed, match="No such memo") as told:
        result_for(Call("poem", method="prompts/get"), toolbox.prompts["poem"], failed)
    assert told.value.data is None
