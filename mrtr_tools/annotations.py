"""Annotations, taken apart."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import is_typeddict

from mrtr_tools.marks import Refused
from mrtr_tools.templates import TemplateError

__all__ = ["attribute_type", "bare", "is_bridge_context", "is_call_result", "try_format", "without_refused"]


_CONTEXTS: Final = {
    ("mrtr_tools.porting", "Context"),
    ("mcp.server.mcpserver.context", "Context"),
    ("mcp.server.fastmcp.server", "Context"),
    ("fastmcp.server.context", "Context"),
}


def is_bridge_context(kind: object) -> bool:
    """Whether it is the context of await-style tools: ours, or that of the SDK or of FastMCP, which are not imported
    for it."""
    kinds = [part for part in get_args(kind) if part is not type(None)] or [kind]
    return len(kinds) == 1 and any(
        (base.__module__, base.__qualname__) in _CONTEXTS for base in getattr(kinds[0], "__mro__", ())
    )


def is_call_result(kind: object) -> bool:
    """Whether it is the SDK's `CallToolResult`, which is imported only where it is used."""
    return isinstance(kind, type) and any(
        base.__name__ == "CallToolResult" and base.__module__.partition(".")[0] == "mcp_types" for base in kind.__mro__
    )


def without_refused(annotation: object) -> tuple[object, bool]:
    """An annotation without `Refused`, None when nothing is left, and whether it was there."""
    origin = get_origin(annotation)
    if annotation is Refused:
        return None, True
    if origin is Annotated:
        inner, admits = without_refused(get_args(annotation)[0])
        metadata = cast("tuple[object, ...]", cast("Any", annotation).__metadata__)
        return (inner and cast("Any", Annotated)[(inner, *metadata)]), admits
    if origin is Union or origin is types.UnionType:
        parts = [without_refused(part) for part in get_args(annotation)]
        kept = tuple(part for part, _ in parts if part is not None)
        return (cast("Any", Union)[kept] if kept else None), any(admits for _, admits in parts)
    return annotation, False


def attribute_type(kind: Any, name: str) -> object:
    """The annotation of an attribute of values of this annotation; `object` where nothing is known.

    Raises:
        TemplateError: such values have no such attribute.
    """
    kind = bare(kind)
    if is_typeddict(kind):
        raise TemplateError(f"{kind.__name__} is a dict, and a dict has no attributes; use a model or dataclass")
    if not isinstance(kind, type) or kind is object or kind is Any:
        return object
    told: dict[str, object] = {}
    if issubclass(kind, BaseModel):
        told = {key: field.annotation for key, field in kind.model_fields.items()}
    elif is_dataclass(cast("object", kind)):
        told = {field.name: field.type for field in fields(cast("Any", kind))}
    elif kind.__module__ not in ("builtins", "datetime", "decimal", "uuid"):
        return object
    if name not in told and callable(getattr(cast("object", kind), name, callable)):
        raise TemplateError(f"{kind.__name__} has no {name!r} to show")
    return told.get(name, object)


def try_format(kind: object, spec: str) -> None:
    """Try a format on a value of a plain type.

    Raises:
        TemplateError: it is none for such values.
    """
    plain = bare(kind)
    sample = next((sample for sample in ("", 0, 0.0, False) if type(sample) is plain), None)
    try:
        if sample is not None:
            format(sample, spec)
    except ValueError as error:
        raise TemplateError(f":{spec} is no format for {type(sample).__name__}: {error}") from None


def bare(kind: Any) -> Any:
    """An annotation without what was written around it: ``Annotated[M | None, ...]`` is ``M``."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    parts = [part for part in get_args(kind) if part is not type(None)]
    if get_origin(kind) in (Union, types.UnionType) and len(parts) == 1:
        return bare(parts[0])
    return kind
