"""What an `inputSchema` says of an argument: a table of annotations."""

from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from pydantic import BaseModel, ConfigDict, Field

from mrtr_tools import Refused, Toolbox


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    """Where somebody lives."""

    model_config = ConfigDict(extra="forbid")
    street: str
    zip_code: str = Field(alias="zipCode", default="")


@dataclass
class Point:
    x: int
    y: int = 0


class Options(typing_extensions.TypedDict, total=False):
    deep: bool


class Node(BaseModel):
    children: list["Node"] = []


def schema_of(annotation: object, *default: object) -> dict[str, Any]:
    def work(it) -> str: ...

    work.__annotations__["it"] = annotation
    work.__defaults__ = default or None
    box = Toolbox("schemas")
    box.tool(work)
    schema = dict(box.tools["work"].input_schema)
    assert schema.pop("type") == "object"
    return schema


def one(spec: object, *, name: str = "it", required: bool = True, defs: object = None) -> dict[str, Any]:
    return {"properties": {name: spec}} | ({"required": [name]} if required else {}) | ({"$defs": defs} if defs else {})


@pytest.mark.parametrize(
    ("parameter", "schema"),
    [
        ((str,), one({"type": "string"})),
        ((int,), one({"type": "integer"})),
        ((float, 1.5), one({"type": "number", "default": 1.5}, required=False)),
        ((bool, False), one({"type": "boolean", "default": False}, required=False)),
        ((str, ""), one({"type": "string", "default": ""}, required=False)),
        ((date,), one({"type": "string", "format": "date"})),
        ((Literal["a", "b"],), one({"type": "string", "enum": ["a", "b"]})),
        ((list[int],), one({"type": "array", "items": {"type": "integer"}})),
        ((list[str], []), one({"type": "array", "items": {"type": "string"}, "default": []}, required=False)),
        ((dict[str, float],), one({"type": "object", "additionalProperties": {"type": "number"}})),
        ((str | None, None), one({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, required=False)),
        ((str | Refused,), one({"type": "string"})),
        ((Any,), one({})),
        (
            (Annotated[int, Field(ge=1, le=9, title="Count", description="How many", examples=[3])],),
            one(
                {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 9,
                    "title": "Count",
                    "description": "How many",
                    "examples": [3],
                }
            ),
        ),
        ((Annotated[int, Field(alias="itId")],), one({"type": "integer"}, name="itId")),
        ((int, Field(alias="itId", description="d")), one({"type": "integer", "description": "d"}, name="itId")),
        ((int, Field(3, alias="itId")), one({"type": "integer", "default": 3}, name="itId", required=False)),
        (
            (Annotated[list[int], Field(default_factory=list)],),
            one({"type": "array", "items": {"type": "integer"}}, required=False),
        ),
        ((Annotated[str, Field(json_schema_extra={"x-hint": 1})],), one({"type": "string", "x-hint": 1})),
        (
            (Color, Color.RED),
            one(
                {"$ref": "#/$defs/Color", "default": "red"},
                required=False,
                defs={"Color": {"title": "Color", "type": "string", "enum": ["red", "blue"]}},
            ),
        ),
        (
            (Address,),
            one(
                {"$ref": "#/$defs/Address"},
                defs={
                    "Address": {
                        "title": "Address",
                        "description": "Where somebody lives.",
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"street": {"type": "string"}, "zipCode": {"type": "string", "default": ""}},
                        "required": ["street"],
                    }
                },
            ),
        ),
        (
            (Point,),
            one(
                {"$ref": "#/$defs/Point"},
                defs={
                    "Point": {
                        "title": "Point",
                        "type": "object",
                        "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
                        "required": ["x"],
                    }
                },
            ),
        ),
        (
            (Options,),
            one(
                {"$ref": "#/$defs/Options"},
                defs={"Options": {"title": "Options", "type": "object", "properties": {"deep": {"type": "boolean"}}}},
            ),
        ),
        (
            (Node,),
            one(
                {"$ref": "#/$defs/Node"},
                defs={
                    "Node": {
                        "title": "Node",
                        "type": "object",
                        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}, "default": []}},
                    }
                },
            ),
        ),
    ],
)
def test_the_schema_of_an_argument_says_what_its_annotation_says(parameter, schema):
    assert schema_of(*parameter) == schema
