"""What a line over stdio says: a request, a notification, or nothing; and what is answered to what is neither."""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue
from pydantic_core import from_json

from mrtr_tools.server.envelope import INVALID_REQUEST, PARSE_ERROR, Rejected, Request, failed, read_request
from mrtr_tools.server.lines import Line, addressee

__all__ = ["Notification", "message_of", "refusal"]

Notification = dict[str, JsonValue]
"""A notification as it came; its `method` is a text, and its `params` are an object or none."""


def message_of(line: Line, limit: int) -> Request | Notification:
    """The message of a line.

    Args:
        line: what a client wrote.
        limit: bytes that it may have.

    Raises:
        Rejected: it is too long, no JSON, or neither of the two; a response is neither.
    """
    if line.end:
        raise Rejected(INVALID_REQUEST, f"A message may have {limit} bytes")
    try:
        message: JsonValue = from_json(line.text, cache_strings="keys")
    except ValueError:
        raise Rejected(PARSE_ERROR, "Parse error") from None
    try:
        request = read_request(message)
    except Rejected:
        raise Rejected(INVALID_REQUEST, "This is no JSON-RPC message") from None
    return cast("Notification", message) if request is None else request


def refusal(line: Line, error: Rejected) -> bytes | None:
    """What is answered to a line that was rejected; None when nobody waits for that, as after a response or noise."""
    waiting = addressee(line)
    if waiting.is_response or (waiting.name is None and not line.end):
        return None
    return failed(waiting.name, error).body
