"""What the conformance suite wants of a server that is the SDK's own, and no toolbox's."""

from typing import Any

import anyio
from mcp import types
from mcp.server import MCPServer, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId

PAUSE = 0.1  # seconds

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

THREE = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": THREE},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": THREE}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


def json_schema_2020_12_tool() -> str:
    """Tool with JSON Schema 2020-12 features"""
    return "ok"


async def subscriptions_of_older_clients(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """`resources/subscribe` and its opposite, for sessions of before 2026-07-28, which the SDK leaves to its users."""
    if ctx.method in ("resources/subscribe", "resources/unsubscribe") and ctx.protocol_version <= "2025-11-25":
        return {}
    return await call_next(ctx)


by_hand = Tool.from_function(json_schema_2020_12_tool)
by_hand.parameters = SCHEMA
server = MCPServer(
    "conformance", version="1", log_level="WARNING", tools=[by_hand], middleware=[subscriptions_of_older_clients]
)


@server.tool()
async def test_trigger_tool_change(ctx: Context[Any]) -> str:
    """Tells subscribers that there are other tools."""
    await ctx.notify_tools_changed()
    return "told"


@server.tool()
async def test_trigger_prompt_change(ctx: Context[Any]) -> str:
    """Tells subscribers that there are other prompts."""
    await ctx.notify_prompts_changed()
    return "told"


@server.tool()
async def test_reconnection(ctx: Context[Any]) -> str:
    """Closes its stream; the client comes back for the result."""
    await anyio.sleep(PAUSE)  # or the stream is closed before its first event is written
    await ctx.close_sse_stream()
    await anyio.sleep(PAUSE)
    return "reconnected"


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context[Any]) -> str:
    """Asks with every way of writing choices, one of them no longer in use and therefore no form's."""
    answer = await ctx.session.elicit_form("Choose", ENUMS, ctx.request_id)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


@server.completion()
async def complete(
    ref: types.PromptReference | types.ResourceTemplateReference,
    argument: types.CompletionArgument,
    context: types.CompletionContext | None,
) -> types.Completion:
    """Suggests values of arguments."""
    return types.Completion(values=[word for word in ("paris", "park", "party") if word.startswith(argument.value)])


class Events(EventStore):
    """What was sent over streams, so that a client that comes back gets what it missed."""

    def __init__(self) -> None:
        self._sent: list[tuple[StreamId, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: types.JSONRPCMessage | None) -> EventId:
        self._sent.append((stream_id, message))
        return str(len(self._sent))

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        stream = self._sent[int(last_event_id) - 1][0]
        for number, (each, message) in enumerate(self._sent, start=1):
            if each == stream and message is not None and number > int(last_event_id):
                await send_callback(EventMessage(message, str(number)))
        return stream
