"""`Toolbox` and `Tool`: what is registered, and how it is shown."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from mrtr_tools import Context, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Complete
from mrtr_tools.server.wire import tool_entry
from mrtr_tools.testing import Player
from tests.refusing import refused


class Weather(BaseModel):
    city: str
    degrees: float = Field(alias="temperature")


box = Toolbox("weather", title="Weather", version="1.2", instructions="Ask for a city.")


@box.tool
@needs_input(login="Who are you?")
@needs_input(ok=confirm("Sure, {login}?"))
def get_weather(city: str, login: str, ctx: Context, unit: str = "C") -> Weather:
    """Current weather.

    For those who say who they are.
    """
    return Weather(city=f"{city} for {login}", temperature=21)


@box.tool(
    name="weather.tomorrow",
    title="Tomorrow",
    description="Not from the docstring",
    annotations={"readOnlyHint": True},
    cold_answers=True,
    max_rounds=3,
    version=7,
)
async def tomorrow():
    """Nobody reads this."""
    return then(report)


@box.step(name="say", aliases=("tell", "speak"))
def report() -> str:
    return "rain"


def test_a_tool_shows_what_its_function_says():
    tool = box.tools["get_weather"]

    assert (tool.name, tool.title, tool.annotations) == ("get_weather", None, None)
    assert tool.description == "Current weather.\n\nFor those who say who they are."
    assert (tool.cold_answers, tool.max_rounds, tool.version) == (False, 10, 0)
    assert tool.input_schema == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "default": "C"}},
        "required": ["city"],
    }
    assert tool.output_schema == {
        "title": "Weather",
        "type": "object",
        "properties": {"city": {"type": "string"}, "temperature": {"type": "number"}},
        "required": ["city", "temperature"],
    }


def test_a_tool_shows_what_its_options_say():
    tool = box.tools["weather.tomorrow"]

    assert (tool.title, tool.description, tool.annotations) == (
        "Tomorrow",
        "Not from the docstring",
        {"readOnlyHint": True},
    )
    assert (tool.cold_answers, tool.max_rounds, tool.version) == (True, 3, 7)
    assert tool.input_schema == {"type": "object", "properties": {}}
    assert tool.output_schema is None


def test_a_listing_holds_what_is_there_and_nothing_else():
    @(empty := Toolbox("empty")).tool
    def silent():
        return None

    assert tool_entry(empty.tools["silent"]) == {"name": "silent", "inputSchema": {"type": "object", "properties": {}}}
    assert list(tool_entry(box.tools["weather.tomorrow"])) == [
        "name",
        "title",
        "description",
        "inputSchema",
        "annotations",
    ]


def test_an_empty_description_is_kept():
    tools = Toolbox("empty")
    tools.tool(name="quiet", description="")(get_weather)

    assert tools.tools["quiet"].description == ""


def test_tools_stand_in_the_order_of_definition_and_steps_are_not_among_them():
    assert list(box.tools) == ["get_weather", "weather.tomorrow"]
    with pytest.raises(TypeError):
        box.tools["x"] = box.tools["get_weather"]  # pyright: ignore[reportIndexIssue]


def test_a_step_is_found_by_its_names_and_by_its_function():
    step = box.steps.of(report)

    assert step is not None
    assert step.name == "say"
    assert box.steps.named("say") is box.steps.named("tell") is box.steps.named("speak") is step
    assert box.steps.named("report") is None
    assert box.steps.of(lambda: 3) is None
    assert box.steps.of([]) is None  # pyright: ignore[reportArgumentType]


def test_an_argument_with_the_name_of_an_input_is_never_read():
    """Neither under the name of the input nor under its alias; what the person says counts."""
    tools = Toolbox("inputs")

    def work(login) -> str:
        return login

    work.__annotations__["login"] = Annotated[str, Field(alias="theLogin")]
    tools.tool(needs_input(login="Who?")(work))

    played = Player(tools).play("work", {"login": "mallory", "theLogin": "mallory"}, login="ann")

    assert tools.tools["work"].input_schema == {"type": "object", "properties": {}}
    assert played.text == "ann"
    assert played.questions == ["login"]


def test_an_argument_with_the_name_of_a_gate_is_never_read():
    tools = Toolbox("gates")

    @tools.tool
    @needs_input(ok=confirm("Sure?"))
    def work() -> str:
        return "done"

    assert Player(tools).play("work", {"ok": True}, ok=Refused("decline")).is_error


def test_a_result_is_held_against_the_return_annotation_of_the_first_step():
    tool = box.tools["get_weather"]

    assert tool.complete(Weather(city="Rome", temperature=3)) == Complete(
        Weather(city="Rome", temperature=3), {"city": "Rome", "temperature": 3.0}
    )
    with pytest.raises(ValueError, match="city"):
        tool.complete({"temperature": 3})
    assert box.tools["weather.tomorrow"].complete("x") == Complete("x", None)


@pytest.mark.parametrize("name", ["", "a\nb", "\x00"])
def test_a_toolbox_needs_a_name(name):
    with refused("name", 'Toolbox("weather")'):
        Toolbox(name)


def test_a_toolbox_shows_its_name():
    assert repr(box) == "Toolbox('weather')"
    assert (box.name, box.title, box.version, box.instructions) == ("weather", "Weather", "1.2", "Ask for a city.")


@pytest.mark.parametrize("options", [{"name": 3}, {"max_rounds": 0}, {"max_rounds": -1}])
def test_an_option_that_cannot_work_is_refused(options):
    def work() -> str: ...

    with refused(next(iter(options))):
        Toolbox("options").tool(**options)(work)
