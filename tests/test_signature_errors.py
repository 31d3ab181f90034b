"""What cannot be a step: each is refused with the function, the parameter and the way out."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, SecretStr

from mrtr_tools import Context, DefinitionError, Refused, Toolbox, needs_input
from mrtr_tools.calls import Call, Complete
from mrtr_tools.runner import handle_call
from mrtr_tools.testing import Player
from tests.calls_by_hand import SIGNER
from tests.refusing import refused


@pytest.fixture
def box():
    return Toolbox("signatures")


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ("*names: str", ["*names", "name each parameter"]),
        ("**names: str", ["**names", "name each parameter"]),
        ("name: str, /", ["'name'", "positional only", "take the / away"]),
        ("name", ["'name'", "no annotation", "name: str"]),
        ("name=3", ["'name'", "no annotation"]),
        ("name: Nowhere", ["'Nowhere'", "module level"]),
        ("name: 'list[Nowhere]'", ["'Nowhere'", "module level"]),
        ("name: 'two words'", ["annotations"]),
        ("name: SecretStr", ["'name'", "secret", "read it in the step that uses it"]),
        ("name: list[SecretStr | None]", ["'name'", "secret"]),
        ("name: Callable[[], str]", ["'name'", "is a function"]),
        ("name: dict[tuple[int, int], str]", ["'name'", "keys", "list of pairs"]),
        ("name: object()", ["'name'", "cannot travel as JSON"]),
        ("name: Plain", ["'name'", "Plain"]),
        ("name: Iterator[int]", ["'name'", "Iterator[int] cannot travel as JSON"]),
        ("name: Refused", ["'name'", "str | Refused"]),
    ],
)
@pytest.mark.parametrize("mark", ["tool", "step"])
def test_a_parameter_that_cannot_be_given_by_name_as_json_is_refused(box, mark, signature, words):
    """Reported as cuga-project/cuga-agent#590; promise 9."""

    class Plain: ...

    known = {"Callable": Callable, "Iterator": Iterator, "Refused": Refused, "SecretStr": SecretStr}
    scope: dict[str, Any] = {"Plain": Plain} | known
    exec(compile(f"from __future__ import annotations\ndef work({signature}) -> str: ...", "authored", "exec"), scope)

    with refused("work", *words):
        getattr(box, mark)(scope["work"])


@pytest.mark.parametrize("mark", ["tool", "step"])
@pytest.mark.parametrize(
    ("annotation", "default"),
    [(int, None), (Annotated[int, Field(ge=5)], 1), (Literal["a", "b"], "c"), (list[int], ["x"])],
)
def test_a_default_that_does_not_fit_is_refused(box, mark, annotation, default):
    def work(size=default) -> str: ...

    work.__annotations__["size"] = annotation
    with refused("work", "'size'", "default"):
        getattr(box, mark)(work)


@pytest.mark.parametrize("only_if", [None, lambda: True])
def test_a_default_of_an_input_that_does_not_fit_is_refused(box, only_if):
    with refused("work", "'size'", "default"):

        @box.tool
        @needs_input(size="How many?", only_if=only_if)
        def work(size: int = None) -> str: ...  # noqa: RUF013  # pyright: ignore[reportArgumentType]


def test_a_second_context_is_refused(box):
    with refused("work", "Context"):

        @box.tool
        def work(first: Context, second: Context) -> str: ...


@pytest.mark.parametrize("annotation", [Context | None, Annotated[Context, "the call"]])
def test_nothing_of_the_context_is_ever_an_argument(box, annotation):
    """A client must not be able to send a call id or a principal."""

    def work(ctx=None) -> str: ...

    work.__annotations__["ctx"] = annotation
    try:
        box.tool(work)
    except DefinitionError as error:
        assert "ctx" in str(error)  # noqa: PT017
    else:
        assert box.tools["work"].input_schema == {"type": "object", "properties": {}}


def test_a_generator_is_refused(box):
    def work(name: str) -> Iterator[str]:
        yield name

    async def work_async(name: str) -> AsyncIterator[str]:
        yield name

    for function in (work, work_async):
        with refused(function.__name__, "generator", "return one value"):
            box.tool(function)


@pytest.mark.parametrize("thing", [3, "work", print, object(), int, BaseModel])
def test_what_is_no_function_is_refused(box, thing):
    with refused("not a function"):
        box.tool(thing, name="work")


def test_a_method_of_no_object_is_refused_with_the_advice_to_register_it_bound(box):
    class Shop:
        def pay(self, amount: int) -> str: ...

        def refund(self: "Any", amount: int) -> str: ...

        @classmethod
        def close(cls) -> str: ...

    with refused("Shop.pay", "register it bound: toolbox.step(shop.pay)"):
        box.step(Shop.pay)
    with refused("close", "bound"):
        box.step(Shop.__dict__["close"])


def test_a_method_registered_in_the_body_of_its_class_is_refused(box):
    with refused("Shop.pay", "register it bound: toolbox.step(shop.pay)"):

        class Shop:
            @box.step
            def pay(self, amount: int) -> str: ...

    with refused("Till.open", "bound"):

        class Till:
            @classmethod
            @box.step
            def open(cls, amount: int) -> str: ...


def test_a_wrapper_that_hides_what_it_wraps_is_refused_with_advice(box):
    """Reported as xing5/mcp-google-sheets#65: never a schema with args and kwargs."""

    def logged(function: Callable[..., str]) -> Callable[..., str]:
        def wrapper(*args: Any, **kwargs: Any) -> str:
            return function(*args, **kwargs)

        return wrapper

    with refused("wrapper", "*args", "functools.wraps"):

        @box.tool
        @logged
        def work(name: str) -> str: ...


def test_a_bound_method_cannot_be_marked(box):
    class Shop:
        def pay(self, amount: int) -> str: ...

    with refused("Shop.pay", "mark the function"):
        needs_input(amount="How much?")(Shop().pay)


def test_a_partial_that_binds_an_input_says_so(box):
    @needs_input(login="Who are you?")
    def work(login: str) -> str:
        return login

    bound = functools.partial(work, login="ann")
    try:
        box.tool(bound, name="work")
    except DefinitionError as error:
        assert "partial" in str(error).replace("functools.partial(", "")  # noqa: PT017
    else:
        assert Player(box).play("work").text == "ann"


@pytest.mark.anyio
async def test_a_default_factory_whose_value_does_not_fit_ends_in_a_tool_error_at_the_latest(box):
    def work(size, name) -> str: ...

    work.__annotations__ |= {"size": Annotated[int, Field(default_factory=lambda: "x")], "name": str}
    try:
        box.tool(needs_input(name="Who?")(work))
    except DefinitionError as error:
        assert "'size'" in str(error)  # noqa: PT017
    else:
        reply = await handle_call(box, Call("work"), SIGNER)
        assert isinstance(reply, Complete)
        assert reply.is_error


def test_a_partial_needs_a_name(box):
    def pay(region: str) -> str: ...

    with refused("pay", "name=..."):
        box.tool(functools.partial(pay, region="eu"))
