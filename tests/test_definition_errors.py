"""Wrong inputs: every one is refused while it is defined, by a text that names function, parameter and the way out."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from mrtr_tools import Context, Elicit, Refused, Toolbox, confirm, needs_input
from tests.refusing import refused


class Address(BaseModel):
    city: str


class Flight(BaseModel):
    price: int
    home: Address


class Fare(typing_extensions.TypedDict):
    price: int


@pytest.fixture
def box():
    return Toolbox("wrong")


# Inputs and their parameters


def test_an_input_without_its_parameter_is_refused(box):
    with refused("rename", "'login'", "is no parameter", "login: str", "confirm("):

        @box.tool
        @needs_input(login="Who are you?")
        def rename(new: str) -> str: ...


def test_an_input_with_two_decorators_is_refused(box):
    with refused("rename", "'login'", "twice"):

        @box.tool
        @needs_input(login="Who are you?")
        @needs_input(login="Who, again?")
        def rename(login: str) -> str: ...


def test_the_context_is_no_input(box):
    with refused("rename", "'ctx'", "Context"):

        @box.tool
        @needs_input(ctx="Which context?")
        def rename(ctx: Context) -> str: ...


def test_a_group_of_more_than_32_inputs_is_refused(box):
    """Security 21."""
    names = [f"q{number}" for number in range(33)]
    scope: dict[str, Any] = {}
    exec(f"def interrogate({', '.join(f'{name}: str' for name in names)}) -> str: ...", scope)

    with refused("interrogate", "32", "stack"):
        questions: Any = dict.fromkeys(names, "Well?")
        box.tool(needs_input(**questions)(scope["interrogate"]))


def test_needs_input_without_an_input_is_refused():
    with refused("at least one input", '@needs_input(name="What is your name?")'):
        needs_input()


@pytest.mark.parametrize("source", [3, None, ["Who?"], {"message": "Who?"}])
def test_an_input_that_is_no_question_is_refused(source):
    with refused("'login'", type(source).__name__, "a text, Elicit(...), confirm(...) or a function"):
        needs_input(login=source)


def test_a_condition_that_is_no_function_is_refused():
    with refused("only_if=", "lambda"):
        needs_input(login="Who?", only_if=True)  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.mark.parametrize("name", ["a.b", "ok-2", "", "two words"])
def test_a_gate_is_named_like_a_parameter(name):
    """Its name is the key on the wire, where ``.`` and ``-2`` have a meaning."""
    with refused(repr(name)):
        needs_input(**{name: confirm("Sure?")})  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.mark.parametrize("source", ["", "  \n", confirm(""), Elicit(" ")])
def test_a_question_without_a_text_is_refused(box, source):
    with refused("rename", "'login'", "empty text"):

        @box.tool
        @needs_input(login=source)
        def rename(login: bool | Refused) -> str: ...


@pytest.mark.parametrize("mark", ["tool", "step"])
def test_needs_input_above_the_toolbox_is_refused(box, mark):
    def rename(login: str) -> str: ...

    registered = getattr(box, mark)(rename)
    with refused("rename", "put @needs_input below @toolbox.tool and @toolbox.step"):
        needs_input(login="Who?")(registered)


# Confirm


@pytest.mark.parametrize("annotation", [bool, bool | None, str])
def test_a_parameter_of_a_confirm_must_admit_a_no(box, annotation):
    """Promise 5: a refusal must not look like anything else."""

    def rename(ok) -> str: ...

    rename.__annotations__["ok"] = annotation
    with refused("rename", "'ok'", "bool | Refused", "or leave"):
        box.tool(needs_input(ok=confirm("Sure?"))(rename))


@pytest.mark.parametrize("annotation", [str | Refused, Literal[False] | Refused, Address | Refused])
def test_a_parameter_of_a_confirm_must_take_a_yes(box, annotation):
    def rename(ok) -> str: ...

    rename.__annotations__["ok"] = annotation
    with refused("rename", "'ok'", "bool | Refused"):
        box.tool(needs_input(ok=confirm("Sure?"))(rename))


# Forms


class Nested(BaseModel):
    name: str
    addr: Address


class Rows(BaseModel):
    rows: list[dict[str, str]]


class Empty(BaseModel):
    pass


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (Nested, ["'addr'", "flat", "Address", "input of its own"]),
        (Rows, ["'rows'", "list[Literal[...]]"]),
        (Empty, ["without fields", "confirm"]),
        (dict[str, str], ["flat", "dict[str, str]"]),
        (list[str], ["choices"]),
        (int | str, ["several types", "str"]),
        (bytes, ["bytes", "str"]),
        (SecretStr, ["secret"]),
        (Literal["a", 1, "1"], ["choices"]),
        (Callable[[], str], ["function"]),
        (Any, ["str, int"]),
    ],
)
def test_an_input_that_no_flat_form_shows_is_refused(box, annotation, words):
    """Reported as PrefectHQ/fastmcp#3910, spring-projects/spring-ai#4993, leehack/mcp_dart#165."""

    def rename(it) -> str: ...

    rename.__annotations__["it"] = annotation
    with refused("rename", "'it'", *words):
        box.tool(needs_input(it="What?")(rename))


@pytest.mark.parametrize(
    ("annotation", "choices", "words"),
    [
        (str, [], ["empty"]),
        (int, ["one"], ["one of the choices", "does not fit"]),
        (str, ["a", "a"], ["alike"]),
        (str, "abc", ["list"]),
        (str, {"a": ""}, ["label"]),
        (Flight, ["a"], ["one value or a list"]),
    ],
)
def test_choices_that_do_not_go_with_the_parameter_are_refused(box, annotation, choices, words):
    def rename(it) -> str: ...

    rename.__annotations__["it"] = annotation
    with refused("rename", "'it'", *words):
        box.tool(needs_input(it=Elicit("Which?", choices=choices))(rename))


# Patterns


class Stalling(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    word: Annotated[str, Field(pattern=r"^(\w+\s?)*$")]


@pytest.mark.parametrize("annotation", [Stalling, list[Stalling], Annotated[str, Field(pattern=re.compile("a"))]])
@pytest.mark.parametrize("asked", [True, False])
def test_a_pattern_that_some_texts_stall_is_refused(box, annotation, asked):
    """Security 21: Python's own engine took 16 s for 29 characters."""

    def rename(it) -> str: ...

    rename.__annotations__["it"] = annotation
    with refused("rename", "'it'"):
        box.tool(needs_input(it="What?")(rename) if asked else rename)
