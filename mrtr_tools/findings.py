"""What pydantic found wrong, told without the value that it is about: data belongs in no message."""

from __future__ import annotations

import json

from pydantic import JsonValue, ValidationError

__all__ = ["place_of", "reason_of"]


def place_of(error: ValueError, schema: JsonValue) -> str:
    """Where an error is, by the fields of a schema and by positions; the keys of a dict are data, and not shown."""
    if not isinstance(error, ValidationError):
        return ""
    fields, place = json.dumps(schema), ""
    has_keys = "additionalProperties" in fields  # then a number may be a key
    for part in error.errors(include_url=False, include_input=False, include_context=False)[0]["loc"]:
        if isinstance(part, int):
            place += "[...]" if has_keys else f"[{part}]"
        else:
            place += f".{part}" if json.dumps(part) in fields else "[...]"
    return place


def reason_of(error: ValueError) -> str:
    """What pydantic found, without the value it is about or where in it."""
    if not isinstance(error, ValidationError):
        return "it is no JSON"
    return error.errors(include_url=False, include_input=False, include_context=False)[0]["msg"]
