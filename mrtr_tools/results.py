"""The result of a tool: its `outputSchema`, and the structured content that fits it.

The rules are those of the official SDK: an object type is its own schema, anything else stands under ``result``, and a
type that says nothing (`Any`, a bare ``dict``, content blocks) has no schema.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Annotated, Any, Final, cast, get_args, get_origin

from pydantic import BaseModel, JsonValue, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import from_json, to_json
from typing_extensions import is_typeddict

from mrtr_tools.annotations import is_call_result, without_refused
from mrtr_tools.arguments import PlainJsonSchema
from mrtr_tools.content import Audio, Embedded, Image
from mrtr_tools.marks import Refused
from mrtr_tools.records import record

__all__ = ["Output", "output_of"]

_SILENT: Final[tuple[Any, ...]] = (Any, object, dict, list, tuple, set, frozenset, Mapping, inspect.Signature.empty)


@record(eq=False)
class Output:
    """What a tool gives back, as a type.

    Attributes:
        schema: the `outputSchema`.
        wrapped: whether the value stands under ``result``.
    """

    schema: dict[str, JsonValue]
    wrapped: bool
    _adapter: TypeAdapter[Any] = dataclasses.field(repr=False)
    _plain: type | None = dataclasses.field(repr=False)

    def structured(self, value: object) -> dict[str, JsonValue] | None:
        """The value as structured content; None for a `CallToolResult` of the SDK, which brings its own.

        Raises:
            ValueError: it is not what the tool's return annotation promises.
        """
        if type(value) is self._plain:
            return {"result": cast("JsonValue", value)}
        if is_call_result(type(value)):
            self._check(cast("Any", value))
            return None
        known = self._adapter.validate_python(value, by_alias=True, by_name=True)
        if isinstance(known, BaseModel):  # with the fields of a subclass
            content = known.model_dump(mode="json", by_alias=True, warnings="error")
        else:
            content = self._adapter.dump_python(known, mode="json", by_alias=True, warnings="error")
        from_json(
            to_json(content, inf_nan_mode="constants"), allow_inf_nan=False, cache_strings="keys"
        )  # a NaN is no JSON
        return {"result": content} if self.wrapped else content

    def _check(self, ready: Any) -> None:
        """See that a `CallToolResult`, unless it is an error, brings structured content that fits."""
        if ready.is_error:
            return
        content: object = ready.structured_content
        if self.wrapped:
            wrapping = cast("dict[str, object]", content if isinstance(content, dict) else {})
            if "result" not in wrapping:
                raise ValueError("its structured content has no 'result'")
            content = wrapping["result"]
        self._adapter.validate_python(content)


def output_of(annotation: object) -> Output | None:
    """The output of a function with this return annotation, or None when it says too little for a schema.

    A `CallToolResult` of the SDK says it in its annotation: ``Annotated[CallToolResult, Weather]``.
    """
    kept: Any = without_refused(annotation)[0]
    if get_origin(kept) is Annotated and is_call_result(get_args(kept)[0]):
        said, *more = get_args(kept)[1:]
        kept = Annotated[(said, *more)] if more else said
    if kept is None or kept in _SILENT or not _is_plain(kept):
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(kept)
        schema = adapter.json_schema(mode="serialization", by_alias=True, schema_generator=PlainJsonSchema)
    except (PydanticUserError, TypeError):
        return None
    if "$ref" in schema:  # a model that holds itself
        schema = {**schema["$defs"][schema["$ref"].rpartition("/")[2]], "$defs": schema["$defs"]}
    wrapped = not (_is_object(kept) and schema.get("type") == "object")
    if wrapped:
        definitions = schema.pop("$defs", None)
        schema = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
        if definitions:
            schema["$defs"] = definitions
    plain = kept if kept in (str, bool) else None
    return Output(cast("dict[str, JsonValue]", schema), wrapped, adapter, plain)


def _is_plain(annotation: Any) -> bool:
    """Whether it is free of types that stand for content, or for no result at all."""
    sdk = getattr(annotation, "__module__", "").partition(".")[0] in ("mcp", "mcp_types", "fastmcp")
    if sdk or annotation in (Refused, Image, Audio, Embedded):
        return False
    return all(_is_plain(part) for part in get_args(annotation))


def _is_object(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_object(get_args(annotation)[0])
    if get_origin(annotation) is dict:
        return get_args(annotation)[:1] == (str,)
    return is_typeddict(annotation) or (
        isinstance(annotation, type)
        and (issubclass(annotation, BaseModel) or dataclasses.is_dataclass(cast("object", annotation)))
    )
