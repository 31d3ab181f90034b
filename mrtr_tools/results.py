"""The result of a tool: its `outputSchema`, and the structured content that fits it.

The rules are those of the official SDK: an object type is its own schema, anything else stands under ``result``, and a
type that says nothing (`Any`, a bare ``dict``, content blocks) has no schema.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Mapping
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin, is_typeddict

from pydantic import BaseModel, JsonValue, TypeAdapter
from pydantic.errors import PydanticUserError

from mrtr_tools.arguments import PlainJsonSchema
from mrtr_tools.marks import Refused, Then

__all__ = ["Output", "output_of"]

_OWN: Final[tuple[Any, ...]] = (Refused, Then)
_SILENT: Final[tuple[Any, ...]] = (Any, object, dict, list, tuple, set, frozenset, Mapping, inspect.Signature.empty)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Output:
    """What a tool gives back, as a type.

    Attributes:
        schema: the `outputSchema`.
        wrapped: whether the value stands under ``result``.
    """

    schema: dict[str, JsonValue]
    wrapped: bool
    _adapter: TypeAdapter[Any] = dataclasses.field(repr=False)

    def structured(self, value: object) -> dict[str, JsonValue]:
        """The value as structured content.

        Raises:
            ValueError: it is not what the tool's return annotation promises.
        """
        content = self._adapter.dump_python(self._adapter.validate_python(value), mode="json", by_alias=True)
        return {"result": content} if self.wrapped else content


def output_of(annotation: object) -> Output | None:
    """The output of a function with this return annotation, or None when it says too little for a schema."""
    kept = _own_types_removed(annotation)
    if kept is None or not _says_something(kept):
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(kept)
        schema = adapter.json_schema(mode="serialization", by_alias=True, schema_generator=PlainJsonSchema)
    except (PydanticUserError, TypeError):
        return None
    wrapped = not _is_object(kept)
    if wrapped:
        definitions = schema.pop("$defs", None)
        schema = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
        if definitions:
            schema["$defs"] = definitions
    return Output(cast("dict[str, JsonValue]", schema), wrapped, adapter)


def _own_types_removed(annotation: Any) -> Any:
    if get_origin(annotation) not in (Union, types.UnionType):
        return None if annotation in _OWN else annotation
    kept = tuple(part for part in get_args(annotation) if part not in _OWN)
    return cast("Any", Union)[kept] if kept else None


def _says_something(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _says_something(get_args(annotation)[0])
    if annotation in _SILENT:
        return False
    if getattr(annotation, "__module__", "").startswith("mcp"):
        return False
    return all(_says_something(part) for part in get_args(annotation) if isinstance(part, type) or get_origin(part))


def _is_object(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_object(get_args(annotation)[0])
    if get_origin(annotation) is dict:
        return get_args(annotation)[0] is str
    return is_typeddict(annotation) or (
        isinstance(annotation, type)
        and (issubclass(annotation, BaseModel) or hasattr(annotation, "__dataclass_fields__"))
    )
