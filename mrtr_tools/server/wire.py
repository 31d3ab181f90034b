"""The core's objects as the protocol writes them, revision 2026-07-28. Pure functions, and no SDK.

What older revisions do not know (`resultType`) is taken off by whoever serves them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, cast

from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools.calls import Complete, InputRequired, Reply
from mrtr_tools.carriers import Tool
from mrtr_tools.errors import RequestError

__all__ = ["content_of", "error_object", "result_object", "sendable", "tool_entry"]

Json = dict[str, JsonValue]


def tool_entry(tool: Tool) -> Json:
    """A tool as `tools/list` shows it."""
    entry: Json = {"name": tool.name}
    if tool.title is not None:
        entry["title"] = tool.title
    if tool.description is not None:
        entry["description"] = tool.description
    entry["inputSchema"] = tool.input_schema
    if tool.output_schema is not None:
        entry["outputSchema"] = tool.output_schema
    if tool.annotations is not None:
        entry["annotations"] = dict(tool.annotations)
    return entry


def result_object(reply: Reply) -> Json:
    """A reply as the result of `tools/call`: an `InputRequiredResult` or a `CallToolResult`.

    Raises:
        ValueError: what the last step returned cannot be shown (bytes that are no text, a cycle, NaN).
    """
    return sendable(_input_required(reply) if isinstance(reply, InputRequired) else _complete(reply))


def _input_required(reply: InputRequired) -> Json:
    result: Json = {"resultType": "input_required"}
    if reply.requests:
        result["inputRequests"] = {key: dict(request) for key, request in reply.requests.items()}
    if reply.state is not None:
        result["requestState"] = reply.state
    return result


def _complete(reply: Complete) -> Json:
    ready = _sdk_object(reply.value, "CallToolResult")
    if ready is not None:
        return {"resultType": "complete"} | ready
    result: Json = {"resultType": "complete", "content": cast("JsonValue", content_of(reply.value))}
    if reply.structured is not None:
        result["structuredContent"] = dict(reply.structured)
    result["isError"] = reply.is_error
    return result


def content_of(value: object) -> list[Json]:
    """What a step returned as content blocks, by the official SDK's rules.

    None is no block, text stands as it is, lists and tuples are flattened, the SDK's own blocks and images are taken as
    they are; anything else becomes JSON, indented by 2.

    Raises:
        ValueError: JSON cannot show it.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [{"type": "text", "text": str.__str__(value)}]
    if isinstance(value, (list, tuple)):
        return [block for item in cast("Sequence[object]", value) for block in content_of(item)]
    if (block := _sdk_block(value)) is not None:
        return [block]
    return [{"type": "text", "text": to_json(value, fallback=str, indent=2).decode()}]


_BLOCKS = ("TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource")
_MEDIA = {"Image": "to_image_content", "Audio": "to_audio_content"}


def _sdk_block(value: object) -> Json | None:
    media = sys.modules.get("mcp.server.mcpserver")
    for name, method in _MEDIA.items():
        if media is not None and isinstance(value, getattr(media, name)):
            value = getattr(value, method)()
    return _sdk_object(value, *_BLOCKS)


def _sdk_object(value: object, *names: str) -> Json | None:
    """`value` as the wire has it when it is one of these types of the SDK. It cannot be one that was never imported."""
    types = sys.modules.get("mcp_types")
    if types is None or not isinstance(value, tuple(getattr(types, name) for name in names)):
        return None
    return cast("Any", value).model_dump(by_alias=True, mode="json", exclude_none=True)


def sendable(message: Json) -> Json:
    """The message with nothing in it that would break the connection it is written to.

    Half a surrogate pair, as in the name of a file that is no UTF-8, is spelled out.

    Raises:
        ValueError: a number in it is not finite.
    """
    # json writes what is not ASCII as escapes, halves and whole pairs alike.
    halves = "\\ud" in json.dumps(message, allow_nan=False)
    return cast("Json", _spelled_out(message)) if halves else message


def _spelled_out(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_spelled_out(item) for item in value]
    if isinstance(value, dict):
        return {cast("str", _spelled_out(key)): _spelled_out(item) for key, item in value.items()}
    return value


def error_object(error: RequestError) -> Json:
    """The `error` of a JSON-RPC error response."""
    told: Json = {"code": error.code, "message": error.message}
    if error.data is not None:
        told["data"] = error.data
    return told
