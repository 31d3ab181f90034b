"""What the parameters of a request look like: the schema of revision 2026-07-28, compiled when it is first asked for.

Only that: answers and state are looked at by the core, so that one that cannot be read does not end the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, get_args

from pydantic import JsonValue
from pydantic_core import SchemaValidator, core_schema
from pydantic_core.core_schema import CoreSchema, TypedDictSchema

from mrtr_tools.context import LogLevel
from mrtr_tools.server.envelope import CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION

__all__ = ["METHODS", "fits"]


def _shape(required: Mapping[str, CoreSchema] | None = None, **optional: CoreSchema) -> TypedDictSchema:
    """An object with these members, and any others; null stands for an optional one that is left out."""
    fields = {name: core_schema.typed_dict_field(schema) for name, schema in (required or {}).items()}
    fields |= {
        name: core_schema.typed_dict_field(core_schema.nullable_schema(schema), required=False)
        for name, schema in optional.items()
    }
    return core_schema.typed_dict_schema(fields)


TEXT: Final = core_schema.str_schema()
OBJECT: Final = core_schema.dict_schema(TEXT)
OBJECTS: Final = core_schema.dict_schema(TEXT, OBJECT)

ICON: Final = _shape(
    {"src": TEXT},
    mimeType=TEXT,
    sizes=core_schema.list_schema(TEXT),
    theme=core_schema.literal_schema(["dark", "light"]),
)
IMPLEMENTATION: Final = _shape(
    {"name": TEXT, "version": TEXT},
    title=TEXT,
    description=TEXT,
    websiteUrl=TEXT,
    icons=core_schema.list_schema(ICON),
)
CLIENT_CAPABILITIES: Final = _shape(
    elicitation=_shape(form=OBJECT, url=OBJECT),
    sampling=_shape(context=OBJECT, tools=OBJECT),
    roots=OBJECT,
    experimental=OBJECTS,
    extensions=OBJECTS,
)
META: Final = _shape(
    {PROTOCOL_VERSION: TEXT, CAPABILITIES: CLIENT_CAPABILITIES},
    **{
        CLIENT_INFO: IMPLEMENTATION,
        LOG_LEVEL: core_schema.literal_schema(list(get_args(LogLevel))),
        "progressToken": core_schema.union_schema([TEXT, core_schema.int_schema()]),
    },
)
LIST: Final = _shape({"_meta": META}, cursor=TEXT)

_PARAMS: Final[Mapping[str, TypedDictSchema]] = {
    "tools/call": _shape({"_meta": META, "name": TEXT}, arguments=OBJECT),
    "prompts/get": _shape({"_meta": META, "name": TEXT}, arguments=core_schema.dict_schema(TEXT, TEXT)),
    "resources/read": _shape({"_meta": META, "uri": TEXT}),
    "tools/list": LIST,
    "prompts/list": LIST,
    "resources/list": LIST,
    "resources/templates/list": LIST,
    "server/discover": _shape({"_meta": META}),
}

METHODS: Final = _PARAMS.keys()
"""What can be asked of a toolbox."""


def fits(method: str, params: Mapping[str, JsonValue]) -> bool:
    """Whether the parameters of a request are what the protocol says; `method` is one of `METHODS`."""
    return _shape_of(method).isinstance_python(params)


@cache
def _shape_of(method: str) -> SchemaValidator:
    return SchemaValidator(_PARAMS[method])
