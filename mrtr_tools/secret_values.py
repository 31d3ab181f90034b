"""Secrets of pydantic among what is handed on: where an annotation holds one, and what stands for it in a sealed state.

Into JSON pydantic writes ``**********`` for a secret. Into Python it writes the secret itself, at the same place: so
the two forms of a value are gone through side by side, and each secret is written out where it belongs. What comes of
it goes into a state that is sealed, and nowhere else.
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast

from pydantic import JsonValue, Secret, SecretBytes, SecretStr
from pydantic_core import from_json, to_json

__all__ = ["SECRETS", "Encoding", "holds_secret", "is_secret", "written_out"]

SECRETS: Final = (Secret, SecretStr, SecretBytes)

Encoding = Literal["base64", "utf8"]
"""How bytes stand in JSON; which one brings them back is for the class that holds them to say."""


def is_secret(node: Mapping[str, Any]) -> bool:
    """Whether a node of a core schema is that of a secret, as its serializer tells."""
    serializer: object = node.get("serialization", {}).get("function")
    name = getattr(serializer, "__name__", "")
    return getattr(serializer, "__module__", None) == "pydantic.types" and "secret" in name


def holds_secret(schema: object) -> bool:
    """Whether there is a secret anywhere in a core schema."""
    if isinstance(schema, (list, tuple)):
        return any(map(holds_secret, cast("Sequence[object]", schema)))
    if not isinstance(schema, Mapping):
        return False
    node = cast("Mapping[str, Any]", schema)
    return is_secret(node) or any(holds_secret(part) for name, part in node.items() if name != "metadata")


def written_out(data: JsonValue, value: object, encoding: Encoding) -> JsonValue:
    """The JSON of a value with its secrets in it.

    Args:
        data: the JSON that pydantic makes of the value.
        value: the Python that it makes of it.
        encoding: of secrets that are bytes.
    """
    if isinstance(value, SECRETS):
        return _plain(cast("object", value.get_secret_value()), encoding)
    if isinstance(data, dict) and isinstance(value, Mapping):
        parts = cast("Mapping[object, object]", value).values()
        if len(parts) == len(data):
            return {
                name: written_out(item, part, encoding) for (name, item), part in zip(data.items(), parts, strict=True)
            }
    if isinstance(data, list) and isinstance(value, Sequence) and len(cast("Sequence[object]", value)) == len(data):
        parts = cast("Sequence[object]", value)
        return [written_out(item, part, encoding) for item, part in zip(data, parts, strict=True)]
    return data  # of another shape: it does not come back, and the value is refused


def _plain(value: object, encoding: Encoding) -> JsonValue:
    if isinstance(value, str):
        return value
    if not isinstance(value, bytes):
        return cast(
            "JsonValue",
            from_json(to_json(value, by_alias=False, round_trip=True, bytes_mode=encoding), cache_strings="keys"),
        )
    if encoding == "base64":
        return binascii.b2a_base64(value, newline=False).decode()
    return value.decode(errors="surrogateescape")  # what is no text is no JSON either, and is refused as such
