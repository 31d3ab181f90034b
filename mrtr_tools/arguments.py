"""The arguments of a tool: their schema, and the way from what a client sent to what a step takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_json

from mrtr_tools.digests import digest_of
from mrtr_tools.errors import DefinitionError, InvalidArguments
from mrtr_tools.records import record
from mrtr_tools.signatures import Carried
from mrtr_tools.templates import shown
from mrtr_tools.values import NotCarriable

__all__ = ["MIRRORED", "TOKEN", "Arguments", "Given", "PlainJsonSchema"]

MIRRORED: Final = "x-mcp-header"
TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2


class PlainJsonSchema(GenerateJsonSchema):
    """JSON Schema with the titles that an author wrote and no made-up ones."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  pydantic names it
        """Never: what has no title of its own gets none."""
        return False


@record(shown=False, eq=False)
class Given:
    """Arguments that fit.

    Attributes:
        values: every parameter's value, defaults included.
        omitted: parameters that the client left out.
        digest: a digest of the values of the others.
        dumped: values as JSON, as far as somebody asked for them.
    """

    values: dict[str, object]
    omitted: tuple[str, ...]
    digest: str
    dumped: dict[str, JsonValue]


class Arguments:
    """The parameters of a tool that its caller gives.

    Args:
        where: how messages call the tool's function.
        parameters: by name, in order; the tool's inputs are not among them.

    Attributes:
        schema: the `inputSchema`.
        names: their names on the wire.
        required: the names of those that have no default.

    Raises:
        DefinitionError: two of them share a name on the wire, or one travels in a header that cannot be.
    """

    def __init__(self, where: str, parameters: Mapping[str, Carried]) -> None:
        self._parameters = parameters
        self._fields = {f"p{number}": name for number, name in enumerate(parameters)}
        wire = [taken.parameter.wire_name for taken in parameters.values()]
        if len(set(wire)) < len(wire):
            raise DefinitionError(f"{where}: two arguments have the same name on the wire: {', '.join(wire)}")
        self._model = _model(where, self._fields, parameters)
        self._validator, self._serializer = self._model.__pydantic_validator__, self._model.__pydantic_serializer__
        guards = {taken.parameter.wire_name: taken.codec.guard for taken in parameters.values()}
        self._guards = {name: guard for name, guard in guards.items() if guard.is_needed}
        self._is_ordered = all(guard.is_ordered for guard in guards.values())
        self.schema = self._schema()
        _check_mirrored(where, self.schema)
        self.names = frozenset(wire)
        self.required = frozenset(
            taken.parameter.wire_name for taken in parameters.values() if taken.parameter.required
        )

    def read(self, raw: Mapping[str, JsonValue], defaults: Mapping[str, JsonValue]) -> Given:
        """The arguments as values.

        Args:
            raw: what the client sent.
            defaults: the values that were taken before for what it left out, as JSON; see `defaults`.

        Raises:
            InvalidArguments: they do not fit; the text tells the caller which and why.
            ValueError: one of `defaults` no longer fits.
        """
        for name, guard in self._guards.items():
            if (trouble := guard.trouble(raw.get(name))) is not None:
                raise InvalidArguments(f"Invalid arguments: {name}: {trouble}")
        try:
            model = self._validator.validate_python(raw)
        except ValidationError as error:
            raise InvalidArguments(_told(error)) from None
        read = model.__dict__
        values: dict[str, object] = {name: read[key] for key, name in self._fields.items()}
        given = model.__pydantic_fields_set__
        omitted = () if len(given) == len(values) else tuple(n for key, n in self._fields.items() if key not in given)
        for name in omitted:
            if (wire := self._parameters[name].parameter.wire_name) in defaults:
                values[name] = self._parameters[name].load(defaults[wire])
        digest = digest_of(self._serializer, model, is_ordered=self._is_ordered, by_alias=True, exclude_unset=True)
        return Given(values, omitted, digest, {})

    def defaults(self, given: Given) -> dict[str, JsonValue]:
        """The values of what the client left out, as JSON, by names on the wire: those in Python may change."""
        if not given.omitted:
            return {}
        omitted = {name: self._parameters[name] for name in given.omitted}
        return {taken.parameter.wire_name: taken.dump(given.values[name]) for name, taken in omitted.items()}

    def dump(self, given: Given, name: str) -> JsonValue:
        """The value of one argument as JSON.

        Raises:
            ValueError: there is no such argument, or its value does not go through JSON.
        """
        try:
            if name not in given.dumped:
                given.dumped[name] = self._parameters[name].dump(given.values[name])
            return given.dumped[name]
        except (KeyError, NotCarriable) as error:
            raise ValueError(f"there is no argument {name!r} to carry") from error

    def is_same(self, given: Given, name: str, value: JsonValue) -> bool:
        """Whether `value` is that argument, unchanged."""
        try:
            return name in self._parameters and to_json(self.dump(given, name)) == to_json(value)
        except ValueError:
            return False

    def _schema(self) -> dict[str, JsonValue]:
        """The schema, with the parameters in the order of their definition; for the digest, the model sorts them."""
        schema = self._model.model_json_schema(by_alias=True, schema_generator=PlainJsonSchema)
        schema.pop("title", None)
        properties, needed = schema.get("properties", {}), schema.get("required", [])
        order = [taken.parameter.wire_name for taken in self._parameters.values()]
        schema["properties"] = {name: properties[name] for name in order}
        if needed:
            schema["required"] = [name for name in order if name in needed]
        return cast("dict[str, JsonValue]", schema)


_CONFIG: Final = ConfigDict(cache_strings="keys")  # of what is inside JSON; see `envelope.read_json`


def _model(where: str, fields: Mapping[str, str], parameters: Mapping[str, Carried]) -> type[BaseModel]:
    definitions: dict[str, Any] = {}
    for key, name in sorted(fields.items(), key=lambda field: parameters[field[1]].parameter.wire_name):
        parameter = parameters[name].parameter
        more: dict[str, Any] = {"alias": parameter.wire_name}
        if parameter.field.default_factory is not None:
            more["default_factory"] = parameter.field.default_factory
        elif not parameter.required:
            more["default"] = parameter.field.default
        for text in ("title", "description", "examples", "json_schema_extra"):
            if (value := getattr(parameter.field, text)) is not None:
                more[text] = value
        definitions[key] = (parameter.annotation, Field(**more))
    try:
        return create_model("arguments", __config__=_CONFIG, **definitions)
    except (PydanticUserError, TypeError) as error:
        raise DefinitionError(f"{where}: its arguments have no JSON schema: {error}") from error


def _check_mirrored(where: str, schema: Mapping[str, JsonValue]) -> None:
    """See that each ``x-mcp-header`` is one that clients can send: over HTTP they leave out a tool with any other."""
    taken: set[str] = set()
    properties = cast("dict[str, dict[str, JsonValue]]", schema["properties"])
    for name, told in properties.items():
        inside = {key: value for key, value in told.items() if key != MIRRORED}
        if _mirrors(inside) or (MIRRORED in told and told.get("type") not in ("string", "integer", "boolean")):
            raise DefinitionError(f"{where}: {name!r} has {MIRRORED} but is no plain str, int or bool")
        if MIRRORED not in told:
            continue
        header = told[MIRRORED]
        if not isinstance(header, str) or not TOKEN.fullmatch(header):
            raise DefinitionError(f"{where}: {name!r} has {MIRRORED}={header!r}, and no header has such a name")
        if header.lower() in taken:
            raise DefinitionError(f"{where}: two arguments have {MIRRORED}={header!r}, in upper or lower case")
        taken.add(header.lower())
    if _mirrors(schema.get("$defs")):
        raise DefinitionError(f"{where}: {MIRRORED} is inside a type, and only an argument itself travels in a header")


def _mirrors(value: JsonValue) -> bool:
    """Whether an ``x-mcp-header`` is anywhere in a schema."""
    if isinstance(value, dict):
        return MIRRORED in value or any(_mirrors(each) for each in value.values())
    return isinstance(value, list) and any(_mirrors(each) for each in value)


def _told(error: ValidationError) -> str:
    told = [
        f"{shown('.'.join(str(part) for part in detail['loc'])) or 'arguments'}: {detail['msg']}"
        for detail in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "Invalid arguments: " + "; ".join(told[:10])
