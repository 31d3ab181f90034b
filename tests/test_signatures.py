"""What may be a step: which functions, which parameters, which defaults."""

import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from mrtr_tools import Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.signatures import read_signature
from mrtr_tools.testing import Player


@pytest.fixture
def box():
    return Toolbox("signatures")


def test_sync_and_async_functions_are_told_apart():
    def sync(name: str) -> str: ...

    async def asynchronous(name: str) -> str: ...

    wrapped = functools.wraps(asynchronous)(lambda *args, **kwargs: asynchronous("x"))

    assert not read_signature(sync).is_async
    assert read_signature(asynchronous).is_async
    assert read_signature(functools.partial(asynchronous, name="x")).is_async
    assert read_signature(wrapped).is_async


def test_a_wrapped_function_shows_the_parameters_and_marks_of_the_one_inside(box):
    def shouting(function: Callable[..., str]):
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> str:
            return function(*args, **kwargs).upper()

        return wrapper

    @box.tool
    @shouting
    @needs_input(login="Who are you?")
    def work(name: str, login: str) -> str:
        """Work."""
        return f"{name} for {login}"

    assert box.tools["work"].input_schema == {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    }
    assert box.tools["work"].description == "Work."
    assert Player(box).play("work", {"name": "tea"}, login="ann").text == "TEA FOR ANN"


class Shop:
    def __init__(self, city: str):
        self.city = city

    async def start(self, amount: int) -> str:
        return then(self.pay, amount=amount)

    @needs_input(ok=confirm("Pay {amount}?"))
    def pay(self, amount: int) -> str:
        """Pay here."""
        return f"{amount} in {self.city}"

    @classmethod
    def named(cls, name: str) -> str:
        return f"{cls.__name__} {name}"

    @staticmethod
    def close(name: str) -> str:
        return f"closed {name}"


def test_bound_methods_are_steps_and_each_keeps_its_object(box):
    rome, oslo = Shop("Rome"), Shop("Oslo")
    box.step(rome.pay, name="pay_in_rome")
    box.step(oslo.pay, name="pay_in_oslo")
    box.tool(rome.start, name="rome")
    box.tool(oslo.start, name="oslo")

    played = Player(box).play("oslo", {"amount": 3}, ok=True)

    assert played.text == "3 in Oslo"
    assert played.ran == ["oslo", "pay_in_oslo"]
    assert Player(box).play("rome", {"amount": 3}, ok=True).text == "3 in Rome"


def test_class_methods_and_static_methods_are_steps(box):
    box.tool(Shop.named)
    box.tool(Shop.close)

    assert Player(box).play("named", {"name": "x"}).text == "Shop x"
    assert Player(box).play("close", {"name": "x"}).text == "closed x"


def test_a_static_method_is_marked_in_either_order(box):
    class Till:
        @staticmethod
        @box.tool
        def outside(name: str) -> str:
            return name

        @box.tool
        @staticmethod
        def inside(name: str) -> str:
            return name

    assert Till.outside("x") == Till.inside("x") == "x"
    assert Player(box).play("outside", {"name": "o"}).text == "o"
    assert Player(box).play("inside", {"name": "i"}).text == "i"


@needs_input(ok=confirm("Pay {amount}?"))
async def pay(amount: int, region: str, *, note: str = "none") -> str:
    """Pay in a region."""
    return f"{amount} {region} {note}"


def test_a_partial_hides_its_bound_argument_and_uses_it(box):
    """Reported as PrefectHQ/fastmcp#3870; an argument of that name is never read."""
    for region in ("eu", "us"):
        box.tool(functools.partial(pay, region=region), name=f"pay_{region}")

    assert box.tools["pay_eu"].input_schema == {
        "type": "object",
        "properties": {"amount": {"type": "integer"}, "note": {"type": "string", "default": "none"}},
        "required": ["amount"],
    }
    assert box.tools["pay_eu"].description == "Pay in a region."
    assert Player(box).play("pay_eu", {"amount": 3, "region": "cn"}, ok=True).text == "3 eu none"
    assert Player(box).play("pay_us", {"amount": 3, "note": "n"}, ok=True).text == "3 us n"


def test_a_partial_of_a_method_is_a_step(box):
    box.tool(functools.partial(Shop("Rome").start, 3), name="pay_three")
    box.tool(functools.partial(Shop.named, name="x"), name="named")

    assert box.tools["pay_three"].input_schema == {"type": "object", "properties": {}}
    assert Player(box).play("named").text == "Shop x"


def test_a_partial_is_a_target_of_then(box):
    pay_eu = functools.partial(pay, region="eu")
    box.step(pay_eu, name="pay_eu")

    @box.tool
    def start() -> str:
        return then(pay_eu, amount=7)

    assert Player(box).play("start", ok=True).text == "7 eu none"
    assert "0x" not in repr(then(pay_eu, amount=7))


def test_mutable_defaults_are_not_shared(box):
    """Reported as cuga-project/cuga-agent#590."""

    @box.tool
    @needs_input(kinds="Which?", only_if=lambda: False)
    def work(names: list[str] = [], kinds: list[Literal["a"]] = []) -> str:  # noqa: B006
        names.append("x")
        kinds.append("a")
        return then(go_on)

    @box.step
    def go_on(names: list[str] = [], *, more: dict[str, int] = {}) -> str:  # noqa: B006
        names.append("x")
        more["n"] = len(more)
        return f"{names} {more}"

    for _ in range(2):
        assert Player(box).play("work").text == "['x'] {'n': 0}"
    assert work.__defaults__ == ([], [])
    assert go_on.__defaults__ == ([],)
    assert go_on.__kwdefaults__ == {"more": {}}


def test_a_default_factory_is_called_for_each_call(box):
    @box.tool
    def work(
        names: Annotated[list[str], Field(default_factory=lambda: ["a"])],
        sizes: list[int] = Field(default_factory=list),  # noqa: B008
    ) -> str:
        names.append("b")
        return f"{names} {sizes}"

    assert [Player(box).play("work").text for _ in range(2)] == ["['a', 'b'] []"] * 2
    assert "required" not in box.tools["work"].input_schema


def test_keyword_only_parameters_and_defaults_are_arguments_and_inputs(box):
    @box.tool
    @needs_input(login="Who?")
    def work(first: str, second: int = 2, *, third: bool, login: str, fourth: None = None) -> str:
        return f"{first} {second} {third} {login} {fourth}"

    assert Player(box).play("work", {"first": "1", "third": True}, login="ann").text == "1 2 True ann None"


def test_a_refusal_is_admitted_beside_any_type_and_takes_no_part_in_the_form(box):
    @box.tool
    @needs_input(one="One?", two="Two?", three="Three?")
    def work(
        one: str | Refused,
        two: Annotated[int | Refused, Field(title="Two")],
        three: Annotated[str, Field(description="d")] | Refused | None = None,
    ) -> str:
        return repr((one, two, three))

    inputs = box.tools["work"].step.inputs

    assert [item.admits_refused for item in inputs.values()] == [True] * 3
    assert [item.form.schema["properties"] for item in inputs.values()] == [
        {"one": {"type": "string"}},
        {"two": {"type": "integer", "title": "Two"}},
        {"three": {"type": "string", "description": "d"}},
    ]
    refused_all = dict.fromkeys(inputs, Refused("decline"))
    assert Player(box).play("work", **refused_all).text == repr((Refused("decline"),) * 3)


@pytest.mark.parametrize(
    "name", ["model_config", "schema", "copy", "json", "self_", "_hidden", "__mangled", "p0", "field"]
)
def test_any_parameter_name_is_an_argument(box, name):
    scope: dict[str, Any] = {}
    exec(f"def work({name}: str) -> str:\n    return {name}", scope)
    box.tool(scope["work"])

    assert list(box.tools["work"].input_schema["properties"]) == [name]
    assert Player(box).play("work", {name: "value"}).text == "value"
