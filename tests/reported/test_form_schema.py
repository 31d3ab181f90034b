"""What others reported of this kind of software: what a form shows a client, and what comes back."""

from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from mrtr_tools import DefinitionError, Elicit, Toolbox, confirm, needs_input
from tests.attacker import Server, form
from tests.wire_by_hand import accept


class Color(Enum):
    RED = "red"
    BLUE = "blue"


def asking(annotation: Any, question: Any = "Which?", default: Any = ...) -> Server:
    """A server whose one tool asks for a value of this type, and says how it arrived."""
    toolbox = Toolbox("t")

    def tell(value: Any) -> str:
        return repr(value)

    if default is not ...:
        tell.__defaults__ = (default,)
    tell.__annotations__ = {"value": annotation, "return": str}
    toolbox.tool(needs_input(value=question)(tell))
    return Server(toolbox)


def shown(server: Server) -> dict[str, Any]:
    return form(server.ask("tell"), "value")


def arrives(server: Server, **content: object) -> object:
    """The result after an answer, or the word for being asked again."""
    reply: Any = server.send("tell", state=server.ask("tell").state, value=accept(**content))
    return getattr(reply, "value", "asked again")


def test_an_enum_is_a_choice_and_arrives_as_its_member() -> None:
    """Reported as PrefectHQ/fastmcp#1565: inline, without a reference; not a box for free text."""
    server = asking(Color)

    assert shown(server)["properties"] == {"value": {"type": "string", "enum": ["red", "blue"]}}
    assert arrives(server, value="red") == repr(Color.RED)
    assert arrives(server, value="RED") == "asked again"


def test_choices_of_run_time_are_frozen_for_one_and_for_many() -> None:
    """The answer is held against the list that was shown, though the live list has changed.

    Reported as PrefectHQ/fastmcp#2471.
    """
    live = ["a.csv", "b.csv"]
    for annotation, answer, other in ((str, "b.csv", "c.csv"), (list[str], ["b.csv"], ["c.csv"])):
        live[:] = ["a.csv", "b.csv"]
        server = asking(annotation, lambda: Elicit("Which?", choices=live))
        asked = server.ask("tell")
        live[:] = ["c.csv"]

        again = server.ask("tell", state=asked.state, value=accept(value=other))

        assert form(again, "value") == form(asked, "value")
        assert server.end("tell", state=again.state, value=accept(value=answer)).value == repr(answer)


def test_a_confirm_has_one_required_boolean() -> None:
    """Security 9. Reported as PrefectHQ/fastmcp#3910: never a form without properties."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(sure=confirm("Sure?"))
    def act() -> str:
        return "acted"

    schema = form(Server(toolbox).ask("act"), "sure")

    assert schema == {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}


def test_a_form_without_fields_is_refused_when_defined() -> None:
    """Reported as PrefectHQ/fastmcp#3910."""

    class Nothing(BaseModel):
        pass

    with pytest.raises(DefinitionError, match="value"):
        asking(Nothing)


@pytest.mark.parametrize(
    ("annotation", "kind", "sent", "arrived"),
    [
        (int, {"type": "integer"}, 3, 3),
        (Decimal, {"type": "string"}, "1.10", Decimal("1.10")),
        (UUID, {"type": "string"}, "12345678123456781234567812345678", UUID(int=0x12345678123456781234567812345678)),
        (Path, {"type": "string"}, "a/b", Path("a/b")),
        (time, {"type": "string"}, "09:30", time(9, 30)),
    ],
)
def test_only_types_and_formats_of_the_protocol_are_shown(
    annotation: object, kind: object, sent: object, arrived: object
) -> None:
    """Reported as spring-projects/spring-ai#4993: what it does not know is a text that we read."""
    server = asking(annotation)

    assert shown(server)["properties"]["value"] == kind
    assert arrives(server, value=sent) == repr(arrived)


def test_an_optional_with_a_description_is_a_plain_property() -> None:
    """Reported as PrefectHQ/fastmcp#1871: no anyOf, no null, not required."""
    server = asking(Annotated[str | None, Field(description="n")], default=None)

    assert shown(server) == {"type": "object", "properties": {"value": {"type": "string", "description": "n"}}}
    assert arrives(server) == arrives(server, value=None) == "None"
    assert arrives(server, value="x") == "'x'"


class Address(BaseModel):
    street: str


@pytest.mark.parametrize("field", ["addr", "rows", "pair", "table"])
def test_what_is_nested_is_refused_when_defined_with_its_name_and_a_way_out(field: str) -> None:
    """Reported as leehack/mcp_dart#165."""
    nested: dict[str, Any] = {
        "addr": Address,
        "rows": list[dict[str, str]],
        "pair": tuple[int, int],
        "table": dict[str, int],
    }
    order = type(
        "Order", (BaseModel,), {"__annotations__": {"name": str, field: nested[field]}, "__module__": __name__}
    )

    with pytest.raises(DefinitionError, match=f"'{field}'.*(use|put|ask)"):
        asking(order)


class Wishes(BaseModel):
    count: int = 0
    note: str = ""
    gift: bool = False
    color: Color = Color.BLUE
    tags: list[Literal["a", "b"]] = Field(default_factory=lambda: ["a"])


def test_falsy_defaults_are_shown_and_applied() -> None:
    """0, "", False, a member as its value; what a factory makes is applied only.

    Reported as modelcontextprotocol/python-sdk#1540.
    """
    server = asking(Wishes)
    defaults = {name: spec.get("default", ...) for name, spec in shown(server)["properties"].items()}

    assert defaults == {"count": 0, "note": "", "gift": False, "color": "blue", "tags": ...}
    assert "required" not in shown(server)
    assert arrives(server) == repr(Wishes())
    assert arrives(server, tags=["b"], count=2) == repr(Wishes(tags=["b"], count=2))


class Sizes(BaseModel):
    count: int
    weight: float
    colors: list[Color]


def test_numbers_may_come_back_as_text() -> None:
    """Reported as laravel/mcp#190: a client that shows only boxes for text still gives typed values."""
    server = asking(Sizes)

    arrived = arrives(server, count="2", weight="1.5", colors=["red"])

    assert arrived == repr(Sizes(count=2, weight=1.5, colors=[Color.RED]))


@pytest.mark.parametrize(("annotation", "key", "answer"), [(str, "oneOf", "de"), (list[str], "anyOf", ["de"])])
def test_choices_with_labels_are_titled_and_a_label_is_no_value(annotation: object, key: str, answer: object) -> None:
    """Reported as leehack/mcp_dart#215: no `enumNames`."""
    server = asking(annotation, Elicit("Which?", choices={"de": "Germany", "fr": "France"}))
    titled = [{"const": "de", "title": "Germany"}, {"const": "fr", "title": "France"}]
    spec = shown(server)["properties"]["value"]

    assert (spec if annotation is str else spec["items"])[key] == titled
    assert "enumNames" not in str(spec)
    assert arrives(server, value=answer) == repr(answer)
    assert arrives(server, value="Germany" if annotation is str else ["Germany"]) == "asked again"


def test_a_single_value_has_the_caption_and_the_key_that_its_author_gives() -> None:
    """The property is called like the parameter, or its alias; never "value" by itself.

    Reported as PrefectHQ/fastmcp#3912.
    """
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(guests="How many come?", rooms="How many rooms?")
    def reserve(
        guests: Annotated[int, Field(title="Guests", description="with children")],
        rooms: Annotated[int, Field(alias="roomCount")],
    ) -> str:
        return f"{guests} {rooms}"

    server = Server(toolbox)
    asked = server.ask("reserve")

    assert form(asked, "guests")["properties"] == {
        "guests": {"type": "integer", "title": "Guests", "description": "with children"}
    }
    assert list(form(asked, "rooms")["properties"]) == ["roomCount"]
    done = server.end("reserve", state=asked.state, guests=accept(guests=2), rooms=accept(roomCount=1))
    assert done.value == "2 1"


@dataclass
class Point:
    x: int
    y: int = 0


class Row(TypedDict):
    x: int
    y: NotRequired[int]


class Model(BaseModel):
    x: int
    y: int = 0


@pytest.mark.parametrize(("annotation", "arrived"), [(Point, Point(1)), (Row, {"x": 1}), (Model, Model(x=1))])
def test_several_fields_come_from_a_model_a_dataclass_or_a_typed_dict(annotation: object, arrived: object) -> None:
    """Reported as PrefectHQ/fastmcp#1871, leehack/mcp_dart#165: flat, in one form, with the optional ones left out."""
    server = asking(annotation)

    assert shown(server)["required"] == ["x"]
    assert arrives(server, x="1") == repr(arrived)
    assert arrives(server, y=1) == "asked again"


def test_bounds_that_stand_in_the_default_bind_arguments_as_well_as_inputs() -> None:
    """`Field(5, ge=1)` says the same as `Annotated[int, Field(ge=1)] = 5`.

    Reported as PrefectHQ/fastmcp#1871, modelcontextprotocol/python-sdk#1540.
    """
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(size="Which size?")
    def make(count: int = Field(5, ge=1, le=10), size: int = Field(5, ge=1, le=10)) -> str:
        return f"{count} {size}"

    server = Server(toolbox)
    bounded = {"type": "integer", "minimum": 1, "maximum": 10, "default": 5}

    assert toolbox.tools["make"].input_schema["properties"] == {"count": bounded}
    assert form(server.ask("make"), "size")["properties"] == {"size": bounded}
    assert server.end("make", {"count": 99}).is_error
