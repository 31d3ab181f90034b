"""What a step returned, as a result: the blocks of a tool, the messages of a prompt, the contents of a resource.

Revision 2026-07-28 of the protocol. No SDK is imported; its own types are known when somebody else imported them.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools.calls import Complete
from mrtr_tools.carriers import Carrier, Resource
from mrtr_tools.content import Audio, Embedded, Image

__all__ = ["content_of", "contents_of", "messages_of", "prompt_result", "resource_result", "tool_result"]

Json = dict[str, JsonValue]

_BLOCKS: Final = ("TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource")
_BLOCK_TYPES: Final = ("text", "image", "audio", "resource_link", "resource")
_CONTENTS: Final = ("TextResourceContents", "BlobResourceContents")
_MEDIA: Final = {"Image": "to_image_content", "Audio": "to_audio_content"}
_TEXT: Final = "text/plain"
_BYTES: Final = "application/octet-stream"
_JSON: Final = "application/json"


def tool_result(reply: Complete) -> Json:
    """What a tool returned, as its result."""
    ready = sdk_object(reply.value, "CallToolResult") or fastmcp_result(reply.value)
    if ready is not None:
        return {"resultType": "complete"} | ready
    result: Json = {"resultType": "complete", "content": cast("JsonValue", content_of(reply.value))}
    if reply.structured is not None:
        result["structuredContent"] = dict(reply.structured)
    result["isError"] = reply.is_error
    return result


def prompt_result(prompt: Carrier, reply: Complete) -> Json:
    """What a prompt returned, as its result."""
    ready = sdk_object(reply.value, "GetPromptResult")
    if ready is not None:
        return {"resultType": "complete"} | ready
    described: Json = {} if prompt.description is None else {"description": prompt.description}
    return {"resultType": "complete", **described, "messages": cast("JsonValue", messages_of(reply.value))}


def resource_result(resource: Resource, uri: str, reply: Complete) -> Json:
    """What a resource returned, as its result."""
    ready = sdk_object(reply.value, "ReadResourceResult")
    if ready is not None:
        return {"resultType": "complete"} | ready
    contents = contents_of(reply.value, uri, resource.mime_type)
    return {"resultType": "complete", "contents": cast("JsonValue", contents)}


def content_of(value: object) -> list[Json]:
    """What a tool returned as content blocks, by the official SDK's rules.

    None is no block, text stands as it is, lists and tuples are flattened, content is taken as it is; anything else
    becomes JSON, indented by 2.

    Raises:
        ValueError: JSON cannot show it.
    """
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [block for item in cast("Sequence[object]", value) for block in content_of(item)]
    return [_block(value) or _text(to_json(value, fallback=str, indent=2).decode())]


def messages_of(value: object) -> list[Json]:
    """What a prompt returned as messages.

    Text and content are messages of the user; a mapping with `role` and `content`, or a message of the SDK, says itself
    whose it is. Several blocks are several messages. Anything else becomes JSON.

    Raises:
        ValueError: JSON cannot show it, or a role is neither ``user`` nor ``assistant``.
    """
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [message for item in cast("Sequence[object]", value) for message in messages_of(item)]
    role, said = _spoken(value)
    if role not in ("user", "assistant"):
        raise ValueError("a message is of the user or of the assistant")
    blocks = [_ready(said)] if _is_ready(said) else [block for part in _parts(said) for block in _said(part)]
    return [{"role": role, "content": block} for block in blocks]


def contents_of(value: object, uri: str, mime_type: str | None) -> list[Json]:
    """What a resource returned as contents.

    Args:
        value: text, bytes, content, or a list of content; anything else becomes JSON. None is nothing.
        uri: what was read.
        mime_type: what the resource says it holds, or None to go by what is returned.

    Raises:
        ValueError: JSON cannot show it.
    """
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        items = [_content(item, uri, mime_type) for item in cast("Sequence[object]", value)]
        if items and all(items):
            return [item for item in items if item is not None]
    if isinstance(value, str):
        return [{"uri": uri, "mimeType": mime_type or _TEXT, "text": str.__str__(value)}]
    if isinstance(value, (bytes, bytearray)):
        return [{"uri": uri, "mimeType": mime_type or _BYTES, "blob": _encoded(value)}]
    if (content := _content(cast("object", value), uri, mime_type)) is not None:
        return [content]
    text = to_json(value, fallback=str, indent=2, inf_nan_mode="null").decode()
    return [{"uri": uri, "mimeType": mime_type or _JSON, "text": text}]


def sdk_object(value: object, *names: str) -> Json | None:
    """`value` as the wire has it when it is one of these types of the SDK. It cannot be one that was never imported."""
    types = sys.modules.get("mcp_types")
    if types is None or not isinstance(value, tuple(getattr(types, name) for name in names)):
        return None
    return cast("Any", value).model_dump(by_alias=True, mode="json", exclude_none=True)


def fastmcp_result(value: object) -> Json | None:
    """A `ToolResult` of FastMCP as the wire has it; None for anything else. FastMCP is not imported for it."""
    if not any(
        kind.__name__ == "ToolResult" and kind.__module__.startswith("fastmcp.") for kind in type(value).__mro__
    ):
        return None
    theirs = cast("Any", value)
    structured: Json = {"structuredContent": theirs.structured_content} if theirs.structured_content is not None else {}
    meta: Json = {"_meta": theirs.meta} if getattr(theirs, "meta", None) is not None else {}
    is_error = getattr(theirs, "is_error", False)
    return {"content": cast("JsonValue", content_of(theirs.content)), **structured, **meta, "isError": is_error}


def _block(value: object) -> Json | None:
    """Text or content as one block, else None."""
    match value:
        case str():
            return _text(str.__str__(value))
        case Image():
            return {"type": "image", "data": _encoded(value.data), "mimeType": value.mime_type}
        case Audio():
            return {"type": "audio", "data": _encoded(value.data), "mimeType": value.mime_type}
        case Embedded():
            return {"type": "resource", "resource": _embedded(value)}
        case _:
            return _sdk_block(value)


def _content(value: object, uri: str, mime_type: str | None) -> Json | None:
    """Content as the contents of a resource, else None."""
    match value:
        case Embedded():
            return _embedded(value)
        case Image() | Audio():
            return {"uri": uri, "mimeType": mime_type or value.mime_type, "blob": _encoded(value.data)}
        case _:
            pass
    if (contents := sdk_object(value, *_CONTENTS)) is not None:
        return contents
    match _sdk_block(value):
        case {"type": "resource", "resource": dict() as resource}:
            return resource
        case {"type": "image" | "audio", "data": data, "mimeType": kind}:
            return {"uri": uri, "mimeType": mime_type or kind, "blob": data}
        case {"type": "text", "text": text}:
            return {"uri": uri, "mimeType": mime_type or _TEXT, "text": text}
        case _:
            return None


def _embedded(value: Embedded) -> Json:
    if isinstance(value.content, str):
        return {"uri": value.uri, "mimeType": value.mime_type or _TEXT, "text": value.content}
    return {"uri": value.uri, "mimeType": value.mime_type or _BYTES, "blob": _encoded(value.content)}


def _sdk_block(value: object) -> Json | None:
    media = sys.modules.get("mcp.server.mcpserver")
    for name, method in _MEDIA.items():
        if media is not None and isinstance(value, getattr(media, name)):
            value = getattr(value, method)()
    return sdk_object(value, *_BLOCKS)


def _spoken(value: object) -> tuple[object, object]:
    """Whose a message is, and what it says."""
    if isinstance(value, Mapping):
        message = cast("Mapping[str, object]", value)
        return (message["role"], message["content"]) if {"role", "content"} <= message.keys() else ("user", message)
    types, prompts = sys.modules.get("mcp_types"), sys.modules.get("mcp.server.mcpserver.prompts.base")
    known = [getattr(types, "PromptMessage", None), getattr(prompts, "Message", None)]
    if isinstance(value, tuple(kind for kind in known if kind is not None)):
        message = cast("Any", value)
        return message.role, message.content
    return "user", value


def _parts(said: object) -> Sequence[object]:
    return cast("Sequence[object]", said) if isinstance(said, (list, tuple)) else [said]


def _said(part: object) -> Iterator[Json]:
    if _is_ready(part):
        yield _ready(part)
    else:
        yield from content_of(part)


def _is_ready(value: object) -> bool:
    """Whether an author wrote a block as the wire has it."""
    return isinstance(value, Mapping) and cast("Mapping[str, object]", value).get("type") in _BLOCK_TYPES


def _ready(value: object) -> Json:
    return dict(cast("Mapping[str, JsonValue]", value))


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _encoded(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode()
