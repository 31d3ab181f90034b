"""A JSON Schema of the author's, made as flat as the protocol has the forms of elicitation.

What pydantic writes for a model is taken: references are put in place, ``T | None`` becomes T, a constant a choice of
one. Keys that the protocol does not know, such as a pattern, are left out; whoever wrote the schema reads the answer
with it once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pydantic import JsonValue

from mrtr_tools.answers import choices_of
from mrtr_tools.choices import FormError

__all__ = ["flat_schema"]

Spec = Mapping[str, Any]

_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "format", "enum", "enumNames", "oneOf"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
    "array": ("items", "minItems", "maxItems"),
}
_COMMON: Final = ("title", "description", "default")
_FORMATS: Final = ("email", "uri", "date", "date-time")


def flat_schema(schema: object) -> dict[str, JsonValue]:
    """The `requestedSchema` for a schema.

    Raises:
        FormError: it is no object of plain fields.
    """
    given: Spec = cast("Spec", schema) if isinstance(schema, dict) else {}
    properties = given.get("properties")
    if not isinstance(properties, dict):
        raise FormError('a requested schema is {"type": "object", "properties": {...}}')
    named = cast("dict[str, Any]", properties)
    flat: dict[str, JsonValue] = {
        "type": "object",
        "properties": {name: _property(name, spec, given.get("$defs", {})) for name, spec in named.items()},
    }
    required = [name for name in given.get("required", ()) if name in named]
    return {**flat, "required": required} if required else flat


def _property(name: str, spec: Any, defined: Spec) -> JsonValue:
    plain = _plain(spec, defined)
    kind = plain.get("type")
    if kind == "array":
        plain["items"] = _plain(plain.get("items"), defined)
    if not isinstance(kind, str) or kind not in _KEYS or not _has_choices_where_needed(plain):
        raise FormError(f"{name!r}: a form shows text, numbers, yes or no, and choices of texts; not {spec!r}")
    if plain.get("format") not in _FORMATS:
        plain.pop("format", None)
    if plain.get("default") is None:
        plain.pop("default", None)
    return {key: plain[key] for key in ("type", *_COMMON, *_KEYS[kind]) if key in plain}


def _plain(spec: Any, defined: Spec) -> dict[str, Any]:
    """One schema without references, unions with null and constants."""
    plain = dict(cast("Spec", spec)) if isinstance(spec, dict) else {}
    if "$ref" in plain:
        of = defined.get(str(plain.pop("$ref")).rpartition("/")[2], {})
        return _plain({**of, **plain}, {})
    for union in ("anyOf", "allOf"):
        parts = cast("Sequence[Any]", plain.get(union) or ())
        kept = [part for part in parts if part != {"type": "null"}]
        if len(kept) == 1:
            del plain[union]
            return _plain({**kept[0], **plain}, defined)
    if isinstance(plain.get("const"), str):
        plain["enum"] = [plain.pop("const")]
    if isinstance(plain.get("enum"), list) and "type" not in plain:
        plain["type"] = "string"
    return plain


def _has_choices_where_needed(plain: Spec) -> bool:
    """Whether choices are texts, and a list has some."""
    try:
        choices = choices_of(plain["items"] if plain.get("type") == "array" else plain)
    except (KeyError, TypeError):
        return False
    if choices is None:
        return plain.get("type") != "array"
    return all(isinstance(cast("object", choice), str) for choice in choices)
