"""The core's objects as the protocol writes them, revision 2026-07-28. Pure functions, and no SDK.

What older revisions do not know (`resultType`) is taken off by whoever serves them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Final, cast

from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools.calls import Call, Complete, Created, InputRequired, Reply
from mrtr_tools.carriers import Carrier, Prompt, Resource, Tool
from mrtr_tools.errors import RequestError
from mrtr_tools.questions import Asked

__all__ = [
    "NOT_CACHED",
    "CallFailed",
    "encoded",
    "error_object",
    "not_shown",
    "prompt_entry",
    "resource_entry",
    "result_for",
    "result_object",
    "sendable",
    "shown",
    "tool_entry",
    "unchecked_result",
    "written_result",
]

Json = dict[str, JsonValue]

NOT_CACHED: Final[Json] = {"ttlMs": 0, "cacheScope": "private"}
"""What tells caches to keep nothing."""

_log = logging.getLogger("mrtr_tools")


class CallFailed(RequestError):
    """A prompt or resource ended with a tool error, which only tools can show as a result (-32603)."""

    code = -32603


def tool_entry(tool: Tool) -> Json:
    """A tool as `tools/list` shows it."""
    entry = _named(tool)
    entry["inputSchema"] = tool.input_schema
    if tool.output_schema is not None:
        entry["outputSchema"] = tool.output_schema
    if tool.annotations is not None:
        entry["annotations"] = dict(tool.annotations)
    return entry


def prompt_entry(prompt: Prompt) -> Json:
    """A prompt as `prompts/list` shows it."""
    required = cast("list[str]", prompt.input_schema.get("required", []))
    properties = cast("Mapping[str, Json]", prompt.input_schema["properties"])
    arguments: list[JsonValue] = []
    for name, told in properties.items():
        texts = {text: told[text] for text in ("title", "description") if text in told}
        arguments.append({"name": name, **texts, "required": name in required})
    return {**_named(prompt), **({"arguments": arguments} if arguments else {})}


def resource_entry(resource: Resource) -> Json:
    """A resource as `resources/list` shows it, or as `resources/templates/list` does when its URI is a template."""
    where = "uriTemplate" if resource.uri.variables else "uri"
    entry: Json = {where: resource.uri.text, **_named(resource)}
    if resource.mime_type is not None:
        entry["mimeType"] = resource.mime_type
    return entry


def _named(carrier: Carrier) -> Json:
    entry: Json = {"name": carrier.name}
    if carrier.title is not None:
        entry["title"] = carrier.title
    if carrier.description is not None:
        entry["description"] = carrier.description
    return entry


def result_object(reply: Reply) -> Json:
    """A reply as the result of `tools/call`: an `InputRequiredResult` or a `CallToolResult`.

    Raises:
        ValueError: what the last step returned cannot be shown (bytes that are no text, a cycle, NaN).
    """
    if isinstance(reply, Created):
        return _created(reply)
    return sendable(_input_required(reply) if isinstance(reply, InputRequired) else _of_tool(reply))


def result_for(call: Call, carrier: Carrier, reply: Reply) -> Json:
    """A reply as the result of its request, whatever was called.

    Raises:
        ValueError: as for `result_object`.
        CallFailed: a prompt or resource ended with a tool error.
    """
    return sendable(unchecked_result(call, carrier, reply))


def unchecked_result(call: Call, carrier: Carrier, reply: Reply) -> Json:
    """As `result_for`, for `encoded`, which finds as it writes what cannot be sent."""
    if isinstance(reply, InputRequired):
        return _input_required(reply)
    if isinstance(reply, Created):
        return _created(reply)
    if isinstance(carrier, Tool):
        return _of_tool(reply)
    from mrtr_tools.server.blocks import prompt_result, resource_result

    resource = carrier if isinstance(carrier, Resource) else None
    if reply.is_error:
        raise CallFailed(str(reply.value), None if resource is None else {"uri": call.target})
    if resource is None:
        return prompt_result(carrier, reply)
    is_made_of_answers = call.state is not None or bool(call.responses)  # which are no part of the URI
    return NOT_CACHED | resource_result(resource, call.target, reply) | (NOT_CACHED if is_made_of_answers else {})


def shown(call: Call, carrier: Carrier, reply: Reply) -> Json:
    """As `result_for`, with a tool error in place of what cannot be shown.

    Raises:
        CallFailed: a prompt or resource ended with a tool error.
    """
    try:
        return result_for(call, carrier, reply)
    except ValueError:
        return result_for(call, carrier, not_shown(carrier))


def written_result(carrier: Carrier, reply: Reply, meta: bytes) -> bytes | None:
    """What most requests get as JSON, put together of parts: questions, or the text of a tool. None for all else.

    To make an object of it all, and JSON of that, takes several times as long. It comes to the same bytes.

    Args:
        carrier: what was called.
        reply: what it gave.
        meta: the `_meta` of the result, as JSON.
    """
    try:
        if isinstance(reply, InputRequired):
            return _written_questions(reply, meta) if reply.requests and isinstance(reply.requests, Asked) else None
        if isinstance(reply, Complete) and type(reply.value) is str and isinstance(carrier, Tool):
            return _written_text(reply.value, reply, meta)
    except ValueError:  # half a surrogate pair
        pass
    return None


def _written_questions(reply: InputRequired, meta: bytes) -> bytes:
    asked = cast("Asked", reply.requests).written()
    # A state has nothing in it that JSON writes otherwise: it is base64url and a point.
    state = b"" if reply.state is None else b'"requestState":"%b",' % reply.state.encode("ascii")
    return b'{"resultType":"input_required","inputRequests":%b,%b"_meta":%b}' % (asked, state, meta)


def _written_text(text: str, reply: Complete, meta: bytes) -> bytes:
    fields = b"" if reply.structured is None else b'"structuredContent":%b,' % to_json(reply.structured)
    wrong = b"true" if reply.is_error else b"false"
    return b'{"resultType":"complete","content":[{"type":"text","text":%b}],%b"isError":%b,"_meta":%b}' % (
        to_json(text),
        fields,
        wrong,
        meta,
    )


def not_shown(carrier: Carrier) -> Complete:
    """What takes the place of a reply that is a ValueError; the log says why."""
    _log.exception("%s returned what cannot be shown", carrier.name)
    return Complete(f"{carrier.name} returned something that cannot be shown.", is_error=True)


def _input_required(reply: InputRequired) -> Json:
    result: Json = {"resultType": "input_required"}
    if reply.requests:
        result["inputRequests"] = {key: dict(request) for key, request in reply.requests.items()}
    if reply.state is not None:
        result["requestState"] = reply.state
    return result


# What most results do without is imported when one needs it.


def _of_tool(reply: Complete) -> Json:
    from mrtr_tools.server.blocks import tool_result

    return tool_result(reply)


def _created(reply: Created) -> Json:
    from mrtr_tools.server.tasks import created_object

    return created_object(reply)


def sendable(message: Json) -> Json:
    """The message with nothing in it that would break the connection it is written to.

    Half a surrogate pair, as in the name of a file that is no UTF-8, is spelled out.

    Raises:
        ValueError: a number in it is not finite.
    """
    # json writes what is not ASCII as escapes, halves and whole pairs alike.
    halves = "\\ud" in json.dumps(message, allow_nan=False)
    return cast("Json", _spelled_out(message)) if halves else message


def encoded(message: Json) -> bytes:
    """A message as it is sent, by the rules of `sendable`.

    Raises:
        ValueError: a number in it is not finite.
    """
    try:
        data = to_json(message)
    except ValueError:  # half a surrogate pair
        return to_json(sendable(message))
    if b"NaN" in data or b"Infinity" in data:  # perhaps in a text
        sendable(message)
    return data


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
    return sendable(told)
