"""Prompts, resources and the URIs they go by: what is matched, what is found, what is refused when it is defined."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from mrtr_tools import Context, Toolbox, confirm, needs_input
from mrtr_tools.carriers import Prompt, Resource, Tool, UriTemplate
from mrtr_tools.errors import DefinitionError, InvalidParams
from tests.refusing import refused

# URI templates


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("notes://today", "notes://today", {}),
        ("notes:today", "notes:today", {}),
        ("notes://{name}", "notes://today", {"name": "today"}),
        ("notes://{name}", "notes://a%20b", {"name": "a b"}),
        ("notes://{name}", "notes://Gr%C3%B6%C3%9Fe", {"name": "Größe"}),
        ("notes://{name}", "notes://Größe", {"name": "Größe"}),
        ("notes://{name}", "notes://a%252Fb", {"name": "a%2Fb"}),
        ("notes://{name}", "notes://a+b", {"name": "a+b"}),
        ("notes://{name}", "notes://50%", {"name": "50%"}),
        ("notes://{name}.txt", "notes://a.txt.txt", {"name": "a.txt"}),
        ("notes://{year}/{name}", "notes://2026/a", {"year": "2026", "name": "a"}),
        ("notes://x?name={name}", "notes://x?name=a", {"name": "a"}),
        ("a.b+c-d://({name})*", "a.b+c-d://(x)*", {"name": "x"}),
    ],
)
def test_a_uri_gives_the_values_of_its_variables_decoded(template: str, uri: str, values: dict[str, str]):
    assert UriTemplate(template).match(uri) == values
    assert UriTemplate(template).variables == tuple(values)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "notes://",
        "notes:///x",
        "notes://a",
        "notes://a/x/",
        "notes://a/b/x",
        "notes://a/x?more",
        "notes://a/x#more",
        "notes://a b/x",
        "notes://a\x00b/x",
        "notes://a\x7fb/x",
        "notes://%FF/x",
        "notes://a?b/x",
        "notes://a#b/x",
        "notes://a/x\n",
        "\nnotes://a/x",
        "other://notes://a/x",
        "notesX//a/x",
    ],
)
def test_a_variable_stands_for_one_segment_and_nothing_around_it(uri: str):
    assert UriTemplate("notes://{name}/x").match(uri) is None


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("notes://..%2F..%2Fetc/x", "../../etc"),
        ("notes://%2e%2e/x", ".."),
        ("notes://a%00b/x", "a\0b"),
        ("notes://a%0Ab/x", "a\nb"),
        ("notes://%zz%/x", "%zz%"),
        ("notes://{name}/x", "{name}"),
    ],
)
def test_what_a_hostile_uri_names_is_text_and_reaches_the_function_as_such(uri: str, name: str):
    """Whoever opens files by it checks it, as with any other argument."""
    assert UriTemplate("notes://{name}/x").match(uri) == {"name": name}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "today",
        "/today",
        "{scheme}://today",
        "no tes://x",
        "notes://{a",
        "notes://a}",
        "notes://{{a}}",
        "notes://x\n",
    ],
)
def test_what_is_no_uri_is_refused(text: str):
    with refused(repr(text), "no URI", "notes://{name}"):
        UriTemplate(text)


@pytest.mark.parametrize("text", ["n://{}", "n://{a b}", "n://{1}", "n://{+a}", "n://{a*}", "n://{a}/{a}", "n://{?a}"])
def test_a_variable_is_a_name_and_stands_there_once(text: str):
    with refused(repr(text), "parameter's name", "once"):
        UriTemplate(text)


@pytest.mark.parametrize("text", ["n://{a}{b}", "n://{a}-{b}", "n://x/{a}.{b}", "n://{a}-{b}-{c}-{d}", "n://x?{a}&{b}"])
def test_two_variables_in_one_segment_are_refused(text: str):
    """Security 21: where they part is a guess, and three of them guessed for a second over 800 characters."""
    with refused(repr(text), "put a / between two names"):
        UriTemplate(text)


def test_a_long_uri_costs_no_more_than_reading_it():
    """Security 21."""
    template = UriTemplate("n://{a}/{b}-x/{c}?d={d}")

    assert template.match("n://" + "-" * 1_000_000 + "/-x/" + "-" * 1_000_000) is None


def test_a_uri_has_at_most_2048_characters():
    """Security 21: a name in it has no bound of its own."""
    template = UriTemplate("n://{a}")

    assert template.match("n://" + "x" * 2044) == {"a": "x" * 2044}
    assert template.match("n://" + "x" * 2045) is None


# Finding


def library() -> Toolbox:
    toolbox = Toolbox("library")

    @toolbox.tool
    def tool(name: str) -> str:
        return name

    @toolbox.prompt()
    def prompt(name: str) -> str:
        return name

    @toolbox.resource("n://{name}")
    def resource(name: str) -> str:
        return name

    @toolbox.resource("n://fixed/{name}/{page}")
    def pages(name: str, page: int = 1) -> str:
        return f"{name} {page}"

    return toolbox


ARGUMENTS: dict[str, Any] = {"name": "a"}


def test_a_request_finds_what_it_calls_and_the_arguments_it_calls_it_with():
    box = library()

    assert box.find("tools/call", "tool", ARGUMENTS) == (box.tools["tool"], ARGUMENTS)
    assert box.find("prompts/get", "prompt", ARGUMENTS) == (box.prompts["prompt"], ARGUMENTS)
    assert box.find("resources/read", "n://b", {}) == (box.resources["n://{name}"], {"name": "b"})
    assert box.find("resources/read", "n://fixed/b/2", {}) == (
        box.resources["n://fixed/{name}/{page}"],
        {"name": "b", "page": "2"},
    )


def test_a_resource_takes_its_arguments_from_its_uri_alone():
    assert library().find("resources/read", "n://b", {"name": "evil"})[1] == {"name": "b"}


@pytest.mark.parametrize(
    ("method", "target", "text"),
    [
        ("tools/call", "prompt", "Unknown tool"),
        ("tools/call", "n://b", "Unknown tool"),
        ("prompts/get", "tool", "Unknown prompt"),
        ("prompts/get", "n://b", "Unknown prompt"),
        ("resources/read", "tool", "Unknown resource"),
        ("resources/read", "n://{name}/", "Unknown resource"),
        ("resources/read", "N://b", "Unknown resource"),
    ],
)
def test_what_is_not_there_is_not_found_under_another_method(method: str, target: str, text: str):
    with pytest.raises(InvalidParams, match=text) as caught:
        library().find(method, target, {})
    assert caught.value.data == ({"uri": target} if method == "resources/read" else None)


def test_a_uri_that_is_written_out_comes_before_a_template_that_matches_it():
    toolbox = Toolbox("notes")

    @toolbox.resource("n://{name}")
    def any_of_them(name: str) -> str:
        return name

    @toolbox.resource("n://index")
    def index() -> str:
        return "all"

    assert toolbox.find("resources/read", "n://index", {})[0].name == "index"
    assert toolbox.find("resources/read", "n://other", {})[0].name == "any_of_them"


def test_tools_prompts_and_resources_show_what_they_were_given():
    toolbox = Toolbox("t")

    @toolbox.prompt(name="greet", title="Greeting", description="Says hello.", max_rounds=3, version=2)
    def hello(name: str) -> str:
        """Not this."""
        return name

    @toolbox.resource("n://{name}", title="Notes", mime_type="text/markdown")
    def note(name: str) -> str:
        """A note."""
        return name

    greet, notes = toolbox.prompts["greet"], toolbox.resources["n://{name}"]

    assert (type(greet), greet.name, greet.title, greet.description) == (Prompt, "greet", "Greeting", "Says hello.")
    assert (greet.max_rounds, greet.version, greet.cold_answers) == (3, 2, False)
    assert (type(notes), notes.name, notes.title, notes.description) == (Resource, "note", "Notes", "A note.")
    assert (notes.uri.text, notes.mime_type, notes.arguments.names) == ("n://{name}", "text/markdown", {"name"})
    assert (list(toolbox.tools), list(toolbox.prompts), list(toolbox.resources)) == ([], ["greet"], ["n://{name}"])
    assert [type(each) for each in library().tools.values()] == [Tool]
    assert hello("a") == note("a") == "a", "the functions stay as they are"


# Definitions


def plain() -> str:
    return ""


def of_name(name: str) -> str:
    return name


def of_list(tags: list[str]) -> str:
    return tags[0]


def asked() -> Callable[..., str]:
    @needs_input(name="Which?")
    def of_input(name: str) -> str:
        return name

    return of_input


@pytest.mark.parametrize(
    ("uri", "function", "words"),
    [
        ("n://{other}", of_name, ["of_name", "'n://{other}' names other", "takes name"]),
        ("n://x", of_name, ["of_name", "names nothing", "takes name"]),
        ("n://{name}", plain, ["plain", "names name", "takes nothing"]),
        ("n://{name}", asked(), ["of_input", "names name", "takes nothing"]),
        ("n://{name}/{more}", of_name, ["of_name", "names name, more", "takes name"]),
    ],
)
def test_a_uri_names_the_parameters_of_its_function(uri: str, function: Callable[..., str], words: list[str]):
    toolbox = Toolbox("t")

    with refused(*words):
        toolbox.resource(uri)(function)
    assert (dict(toolbox.resources), list(toolbox.steps)) == ({}, [])


def test_an_input_and_a_parameter_with_a_default_need_no_place_in_the_uri():
    toolbox = Toolbox("t")

    @toolbox.resource("n://{name}")
    @needs_input(ok=confirm("Read {name}?"), tone="Which tone?")
    def note(name: str, tone: str, ctx: Context, size: int = 3) -> str:
        return name

    assert toolbox.resources["n://{name}"].arguments.names == {"name", "size"}


def test_a_uri_is_taken_once():
    toolbox = Toolbox("t")
    toolbox.resource("n://{name}")(of_name)

    with refused("plain", "'n://{name}'", "taken by of_name"):
        toolbox.resource("n://{name}")(plain)


def test_two_templates_that_match_the_same_are_refused():
    toolbox = Toolbox("t")
    toolbox.resource("n://{name}")(of_name)

    def other(key: str) -> str:
        return key

    with refused("other", "n://{key}", "of_name"):
        toolbox.resource("n://{key}")(other)


def test_a_name_is_taken_once_among_tools_prompts_resources_and_steps():
    def box() -> Toolbox:
        return Toolbox("t")

    ways: list[Callable[[Toolbox], Callable[..., Any]]] = [
        lambda box: box.tool(name="x"),
        lambda box: box.prompt(name="x"),
        lambda box: box.resource("n://x", name="x"),
        lambda box: box.step(name="x"),
    ]
    for first in ways:
        for second in ways:
            toolbox = box()
            first(toolbox)(plain)
            with pytest.raises(DefinitionError, match="taken"):
                second(toolbox)(lambda: "")


@pytest.mark.parametrize(
    "options", [{"max_rounds": 0}, {"max_rounds": "a"}, {"version": -1}, {"version": True}], ids=str
)
def test_the_options_of_prompts_and_resources_are_checked_like_those_of_tools(options: dict[str, Any]):
    toolbox = Toolbox("t")
    for decorate in (toolbox.tool, toolbox.prompt, lambda **more: toolbox.resource("n://x", **more)):
        with refused("plain", "max_rounds= is a number from 1", "version= a number from 0"):
            decorate(**options)(plain)
    with refused("plain", "cold_answers= is True or False"):
        toolbox.tool(cold_answers=cast("Any", "no"))(plain)


@pytest.mark.parametrize(
    "decorate", [lambda box: box.prompt(), lambda box: box.resource("n://{tags}")], ids=["prompt", "resource"]
)
def test_an_argument_that_no_text_can_be_is_refused_for_prompts_and_resources(decorate: Callable[[Toolbox], Any]):
    with refused("of_list", "tags"):
        decorate(Toolbox("t"))(of_list)


@pytest.mark.parametrize("annotation", [str, int, float, bool, str | None])
def test_an_argument_that_a_text_can_be_is_taken_for_prompts_and_resources(annotation: Any):
    def function(name):
        return name

    function.__annotations__ = {"name": annotation, "return": str}
    toolbox = Toolbox("t")
    toolbox.prompt(name="prompt")(function)
    toolbox.resource("n://{name}", name="resource")(function)

    assert [toolbox.prompts["prompt"].arguments.names, toolbox.resources["n://{name}"].arguments.names] == [
        {"name"},
        {"name"},
    ]
