"""Requests of 2026-07-28 as a client of today sends them, and what to make of the answers.

See https://modelcontextprotocol.io/specification/2026-07-28/basic.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import to_json

VERSION = "2026-07-28"
CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}}}
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
}

Encode = Callable[[int, str, Mapping[str, Any]], bytes]
"""From the id of a request, its method and its params to what is sent."""


def message(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    return to_json({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}})


def line(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    """For stdin."""
    return message(number, method, params) + b"\n"


def post_to(port: int) -> Encode:
    """For a server at this port of 127.0.0.1."""

    def post(number: int, method: str, params: Mapping[str, Any]) -> bytes:
        body = message(number, method, params)
        name = f"mcp-name: {params['name']}\r\n" if "name" in params else ""
        head = (
            f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
            f"accept: application/json, text/event-stream\r\nmcp-protocol-version: {VERSION}\r\n"
            f"mcp-method: {method}\r\n{name}content-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    return post


def next_round(params: Mapping[str, Any], result: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """The params of the request that answers every question of `result`, each with what of `content` it asks for."""
    responses = {}
    for key, question in result["inputRequests"].items():
        wanted = {name: content[name] for name in question["params"]["requestedSchema"]["properties"]}
        responses[key] = {"action": "accept", "content": wanted}
    return {**params, "inputResponses": responses, "requestState": result["requestState"]}
