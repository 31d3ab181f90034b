"""``KEY=VALUE`` on the command line, and what a VALUE means under a schema.

It stays text where the schema takes text: ``location=4522`` for a string is ``"4522"``. Elsewhere it is JSON when it
reads as JSON, and else text: ``workItemId=4522`` is a number, ``fields={"State": "Resolved"}`` an object.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import JsonValue
from pydantic_core import from_json

from mrtr_tools.cli.exits import Stop

__all__ = ["arguments_of", "split_pairs", "value_of"]

Schema = Mapping[str, Any]


def split_pairs(pairs: Iterable[str], what: str) -> dict[str, str]:
    """``KEY=VALUE`` texts by key.

    Args:
        pairs: the texts.
        what: how the error calls one of them.

    Raises:
        Stop: one has no ``=``, or two have the same key.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise Stop(f"{what} {pair!r} must look like KEY=VALUE")
        if any("\ud800" <= character <= "\udfff" for character in pair):
            raise Stop(f"{what} {key} is no valid text: it is not in the encoding of this terminal")
        if key in found:
            raise Stop(f"{what} {key} is given twice")
        found[key] = value
    return found


def arguments_of(texts: Mapping[str, str], schema: Schema) -> dict[str, JsonValue]:
    """A tool's arguments, by its `inputSchema`.

    Raises:
        Stop: the schema lists its arguments, and one of these is not among them.
    """
    listed: Schema = schema.get("properties") or {}
    is_open = "additionalProperties" in schema or "patternProperties" in schema
    for key in texts:
        if listed and key not in listed and not is_open:
            raise Stop(
                f"There is no argument {key!r}; it takes: {', '.join(listed)}. "
                f"To answer a question beforehand: --answer {key}=VALUE"
            )
    return {key: value_of(text, listed.get(key) or {}, schema) for key, text in texts.items()}


def value_of(text: str, spec: Schema, root: Schema | None = None) -> JsonValue:
    """The value that a text means.

    Args:
        text: what was typed.
        spec: the schema of the value.
        root: the schema that ``#/...`` references in `spec` go through.
    """
    if _takes_text(spec, root or {}, set()):
        return text
    try:
        value: JsonValue = from_json(text, allow_inf_nan=False)
        json.dumps(value, allow_nan=False)  # 1e999 is read as infinite all the same, and has no way back
    except ValueError:
        return text
    return value


def _takes_text(spec: object, root: Schema, seen: set[int]) -> bool:
    if not isinstance(spec, Mapping) or id(cast("object", spec)) in seen:
        return False
    spec = cast("Schema", spec)
    seen.add(id(spec))
    if isinstance(reference := spec.get("$ref"), str):
        return _takes_text(_referenced(reference, root), root, seen)
    kind = spec.get("type")
    if kind == "string" or (isinstance(kind, list) and "string" in kind):
        return True
    choices = [*_listed(spec, "enum"), *([spec["const"]] if "const" in spec else [])]
    if kind is None and any(isinstance(choice, str) for choice in choices):
        return True
    arms = [*_listed(spec, "anyOf"), *_listed(spec, "oneOf"), *_listed(spec, "allOf")]
    return any(_takes_text(arm, root, seen) for arm in arms)


def _listed(spec: Schema, key: str) -> list[object]:
    value = spec.get(key)
    return cast("list[object]", value) if isinstance(value, list) else []


def _referenced(reference: str, root: Schema) -> object:
    found: object = root
    for part in reference.removeprefix("#/").split("/"):
        found = cast("Mapping[str, object]", found).get(part) if isinstance(found, Mapping) else None
    return found
