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

__all__ = ["METHODS", "OBJECT", "TASK_METHODS", "TEXT", "fits", "shape"]


def shape(required: Mapping[str, CoreSchema] | None = None, **optional: CoreSchema) -> TypedDictSchema:
    """An object with these members, and any others; null stands for an optional one that is left out."""
    fields = {name: core_schema.typed_dict_field(schema) for name, schema in (required or {}).items()}
    fields |= {
        name: core_schema.typed_dict_field(core_schema.nullable_schema(schema), required=False)
        for name, schema in optional.items()
    }
    return core_schema.typed_dict_schema(fields)


TEXT: Final = core_schema.str_schema()
OBJECT: Final = core_schema.is_instance_schema(dict)  # in JSON, all names are texts
OBJECTS: Final = core_schema.dict_schema(TEXT, OBJECT)

ICON: Final = shape(
    {"src": TEXT},
    mimeType=TEXT,
    sizes=core_schema.list_schema(TEXT),
    theme=core_schema.literal_schema(["dark", "light"]),
)
IMPLEMENTATION: Final = shape(
    {"name": TEXT, "version": TEXT},
    title=TEXT,
    description=TEXT,
    websiteUrl=TEXT,
    icons=core_schema.list_schema(ICON),
)
CLIENT_CAPABILITIES: Final = shape(
    elicitation=shape(form=OBJECT, url=OBJECT),
    sampling=shape(context=OBJECT, tools=OBJECT),
    roots=OBJECT,
    experimental=OBJECTS,
    extensions=OBJECTS,
)
META: Final = shape(
    {PROTOCOL_VERSION: TEXT, CAPABILITIES: CLIENT_CAPABILITIES},
    **{
        CLIENT_INFO: IMPLEMENTATION,
        LOG_LEVEL: core_schema.literal_schema(list(get_args(LogLevel))),
        "progressToken": core_schema.union_schema([TEXT, core_schema.int_schema()]),
    },
)
LIST: Final = shape({"_meta": META}, cursor=TEXT)

_PARAMS: Final[Mapping[str, TypedDictSchema]] = {
    "tools/call": shape({"_meta": META, "name": TEXT}, arguments=OBJECT),
    "prompts/get": shape({"_meta": META, "name": TEXT}, arguments=core_schema.dict_schema(TEXT, TEXT)),
    "resources/read": shape({"_meta": META, "uri": TEXT}),
    "tools/list": LIST,
    "prompts/list": LIST,
    "resources/list": LIST,
    "resources/templates/list": LIST,
    "server/discover": shape({"_meta": META}),
}
_TASK: Final = shape({"_meta": META, "taskId": TEXT})
_TASK_PARAMS: Final[Mapping[str, TypedDictSchema]] = {
    "tasks/get": _TASK,
    "tasks/update": shape({"_meta": META, "taskId": TEXT, "inputResponses": OBJECT}),
    "tasks/cancel": _TASK,
}

METHODS: Final = _PARAMS.keys()
"""What can be asked of a toolbox."""
TASK_METHODS: Final = _TASK_PARAMS.keys()
"""What can be asked of tasks, where there may be some."""


def fits(method: str, params: Mapping[str, JsonValue]) -> bool:
    """Whether the parameters of a request are what the protocol says; `method` is of `METHODS` or `TASK_METHODS`."""
    return _shape_of(method).isinstance_python(params)


@cache
def _shape_of(method: str) -> SchemaValidator:
    return SchemaValidator(_PARAMS.get(method) or _TASK_PARAMS[method])
