"""The arguments of a tool: schemas, aliases, defaults, and what does not fit."""

from datetime import date
from typing import Annotated, Any, Literal, cast

import pytest
from pydantic import BaseModel, ConfigDict, Field, Json
from pydantic.fields import FieldInfo

from mrtr_tools import Context, DefinitionError, Toolbox, ToolError, confirm, needs_input
from mrtr_tools.testing import Player
from tests.refusing import refused


class Address(BaseModel):
    """Where somebody lives."""

    model_config = ConfigDict(extra="forbid")
    street: str
    zip_code: str = Field(alias="zipCode", default="")


def test_inputs_and_the_context_are_not_arguments():
    box = Toolbox("inputs")

    @box.tool
    @needs_input(login="Who?", ok=confirm("Sure?"), made=lambda city: city)
    def work(city: str, login: str, made: str, ctx: Context, *, unit: str = "C") -> str: ...

    assert box.tools["work"].input_schema == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "default": "C"}},
        "required": ["city"],
    }


def test_no_argument_that_is_json_in_itself_stays_behind():
    box = Toolbox("json")
    seen: list[str] = []

    @box.tool
    def work(told: Json[list[str]]) -> str:
        seen.extend(told)
        return ""

    for _ in range(2):
        Player(box).play("work", {"told": '["an argument"]'})
    assert seen == ["an argument"] * 2
    assert seen[0] is not seen[1], "pydantic has kept it"


@pytest.mark.parametrize("alias", ["other", "shared"])
def test_two_arguments_of_one_name_on_the_wire_are_refused(alias):
    def work(one, other) -> str: ...

    work.__annotations__ |= {
        "one": Annotated[str, Field(alias=alias)],
        "other": str if alias == "other" else Annotated[str, Field(alias=alias)],
    }
    with refused("work", "same name on the wire", alias):
        Toolbox("clash").tool(work)


def test_an_input_may_share_its_wire_name_with_an_argument():
    """They never meet: one is asked, the other is given."""
    box = Toolbox("aliases")

    @box.tool
    @needs_input(login="Who are you, {city}?")
    def work(city: Annotated[str, Field(alias="name")], login: Annotated[str, Field(alias="name")]) -> str:
        return f"{city} {login}"

    assert Player(box).play("work", {"name": "Rome"}, login="ann").text == "Rome ann"


def test_a_validation_alias_is_honoured_or_refused_and_never_ignored():
    def work(it) -> str:
        return it

    work.__annotations__["it"] = Annotated[str, Field(validation_alias="itId")]
    box = Toolbox("aliases")
    try:
        box.tool(work)
    except DefinitionError as error:
        assert "'it'" in str(error)  # noqa: PT017
        assert "alias=" in str(error)  # noqa: PT017
    else:
        assert box.tools["work"].input_schema["required"] == ["itId"]


# Reading


box = Toolbox("reading")


@box.tool
def work(
    size: Annotated[int, Field(ge=3, alias="theSize")],
    address: Address | None = None,
    tags: list[int] = [],  # noqa: B006
    kind: Literal["a", "b"] = "a",
    *,
    day: date = date(2026, 7, 28),
) -> str:
    return f"{size!r} {address!r} {tags!r} {kind!r} {day!r}"


def test_arguments_become_the_values_of_their_annotations():
    played = Player(box).play(
        "work", {"theSize": 5, "address": {"street": "s", "zipCode": "z"}, "tags": [1], "day": "2026-01-02"}
    )

    assert played.text == "5 Address(street='s', zip_code='z') [1] 'a' datetime.date(2026, 1, 2)"
    assert Player(box).play("work", {"theSize": 5}).text == "5 None [] 'a' datetime.date(2026, 7, 28)"


def test_unknown_arguments_are_let_pass():
    assert Player(box).play("work", {"theSize": 5, "size": 99, "colour": "red"}).text.startswith("5 ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["theSize", "required"]),
        ({"size": 5}, ["theSize", "required"]),
        ({"theSize": "five"}, ["theSize", "integer"]),
        ({"theSize": 2}, ["theSize", "greater than or equal to 3"]),
        ({"theSize": None}, ["theSize", "integer"]),
        ({"theSize": 5, "tags": [1, "x"]}, ["tags.1", "integer"]),
        ({"theSize": 5, "address": {"street": 3, "zipcode": "z"}}, ["address", "street", "zipcode"]),
        ({"theSize": 5, "kind": "c"}, ["kind", "'a' or 'b'"]),
        ({"theSize": 5, "tags": None}, ["tags", "list"]),
    ],
)
def test_arguments_that_do_not_fit_are_a_readable_tool_error(arguments, words):
    """A tool error, so that the model can read it and try again."""
    played = Player(box).play("work", arguments)

    assert played.is_error
    assert [word for word in ("Invalid arguments", *words) if word not in played.text] == [], played.text


def test_a_tool_error_about_arguments_does_not_repeat_them():
    played = Player(box).play("work", {"theSize": "sekret", "kind": "sekret"})

    assert "sekret" not in played.text


def test_a_tool_error_about_arguments_has_an_end():
    assert len(Player(box).play("work", {"theSize": 5, "tags": [*"x" * 5_000]}).text) < 2_000


def test_what_the_client_omitted_keeps_the_value_of_the_first_round():
    """Promise 9."""
    arguments = box.tools["work"].arguments
    first = arguments.read({"theSize": 5}, {})
    kept = arguments.defaults(first)

    assert kept == {"address": None, "tags": [], "kind": "a", "day": "2026-07-28"}
    again = arguments.read({"theSize": 5}, kept | {"day": "2026-01-01", "kind": "b"})
    assert (again.values["day"], again.values["kind"], again.values["size"]) == (date(2026, 1, 1), "b", 5)
    assert again.omitted == first.omitted == ("address", "tags", "kind", "day")


def test_the_digest_of_arguments_is_of_what_was_given():
    arguments = box.tools["work"].arguments

    assert arguments.read({"theSize": 5}, {}).digest == arguments.read({"theSize": 5.0}, {}).digest
    assert arguments.read({"theSize": 5}, {}).digest != arguments.read({"theSize": 6}, {}).digest


def test_an_argument_handed_on_unchanged_is_recognised():
    arguments = box.tools["work"].arguments
    given = arguments.read({"theSize": 5, "address": {"street": "s"}}, {})

    assert arguments.is_same(given, "size", 5)
    assert arguments.is_same(given, "address", {"street": "s", "zip_code": ""})
    assert not arguments.is_same(given, "size", 6)
    assert not arguments.is_same(given, "nothing", None)
    with pytest.raises(ValueError, match="nothing"):
        arguments.dump(given, "nothing")


def test_arguments_that_are_no_values_of_the_tool_raise_a_tool_error():
    with pytest.raises(ToolError, match="theSize"):
        box.tools["work"].arguments.read({}, {})


def mirrored(header: object) -> FieldInfo:
    return Field(json_schema_extra={"x-mcp-header": cast("str", header)})


class Place(BaseModel):
    region: Annotated[str, mirrored("Region")]


@pytest.mark.parametrize("header", ["", "a b", "a\r\nb", "ä", "a:b", 7, None])
def test_an_argument_does_not_travel_in_a_header_that_cannot_be(header):
    """A client would leave out the whole tool."""

    def fetch(region) -> str: ...

    fetch.__annotations__["region"] = Annotated[str, mirrored(header)]
    with refused("fetch", "'region'", f"x-mcp-header={header!r}"):
        Toolbox("headers").tool(fetch)


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (Annotated[float, mirrored("R")], "'region' has x-mcp-header but is no plain str, int or bool"),
        (Annotated[str | None, mirrored("R")], "'region' has x-mcp-header but is no plain str, int or bool"),
        (Annotated[list[str], mirrored("R")], "'region' has x-mcp-header but is no plain str, int or bool"),
        (list[Annotated[str, mirrored("R")]], "'region' has x-mcp-header but is no plain str, int or bool"),
        (Place, "x-mcp-header is inside a type"),
    ],
)
def test_only_a_plain_argument_travels_in_a_header(annotation, told):
    def fetch(region) -> str: ...

    fetch.__annotations__["region"] = annotation
    with refused("fetch", told):
        Toolbox("headers").tool(fetch)


def test_two_arguments_do_not_travel_in_one_header():
    def fetch(one: Annotated[str, mirrored("region")], other: Annotated[bool, mirrored("Region")]) -> str: ...

    with refused("fetch", "two arguments", "'Region'"):
        Toolbox("headers").tool(fetch)


@pytest.mark.parametrize("annotation", [str, int, bool, Literal["eu", "us"]])
def test_a_plain_argument_travels_in_a_header(annotation):
    def fetch(region) -> str: ...

    fetch.__annotations__["region"] = Annotated[annotation, mirrored("X-Region_1")]
    box = Toolbox("headers")
    box.tool(fetch)

    properties: Any = box.tools["fetch"].input_schema["properties"]
    assert properties["region"]["x-mcp-header"] == "X-Region_1"
