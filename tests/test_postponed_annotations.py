"""Steps in a module whose annotations are postponed, with types that only this module imports."""

from __future__ import annotations

import types
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from mrtr_tools import Context, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.testing import Player
from tests.refusing import refused

if TYPE_CHECKING:
    from fractions import Fraction


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


class Order(BaseModel):
    total: Decimal
    size: Size


box = Toolbox("postponed")


@box.tool
@needs_input(kind="Which kind of {item}?", size="Which size?")
async def order(
    item: str, kind: Literal["a", "b"], size: Size | None = None, *, many: Annotated[int, Field(ge=1)] = 1
) -> Order:
    """Order something."""
    return then(pay, order=Order(total=Decimal("1.10") * many, size=size or Size.SMALL))


@box.step
@needs_input(ok=confirm("Pay {order.total} for {order.size.value}?"))
def pay(order: Order, ctx: Context, ok: Literal[True] | Refused) -> Order:
    return order


def test_postponed_annotations_work():
    """Reported as PrefectHQ/fastmcp#905."""
    played = Player(box).play("order", {"item": "tea", "many": 2}, kind="a", size="l", ok=True)

    assert played.result == Order(total=Decimal("2.20"), size=Size.LARGE)
    assert played.messages["ok"] == "Pay 2.20 for l?"
    assert box.tools["order"].input_schema == {
        "type": "object",
        "properties": {"item": {"type": "string"}, "many": {"type": "integer", "minimum": 1, "default": 1}},
        "required": ["item"],
    }
    assert box.tools["order"].step.inputs["size"].form.schema == {  # pyright: ignore[reportOptionalMemberAccess]
        "type": "object",
        "properties": {"size": {"type": "string", "enum": ["s", "l"]}},
    }


def test_a_type_that_only_the_type_checker_imports_is_refused_by_name():
    """Reported as eugeniughelbur/obsidian-second-brain#229."""

    def half(x: Fraction) -> str: ...

    with refused("half", "'Fraction'", "TYPE_CHECKING"):
        box.tool(half)


def test_a_type_local_to_the_function_that_defines_the_tool_works_or_is_refused_at_once():
    """Reported as pydantic/pydantic#2678: never at round 2."""

    class Seat(BaseModel):
        row: int

    def sit(seat: Seat) -> str: ...

    with refused("sit", "'Seat'", "module level"):
        Toolbox("local").tool(needs_input(seat="Which seat?")(sit))


def test_one_step_with_an_unknown_annotation_leaves_the_others_in_place():
    """Reported as eugeniughelbur/obsidian-second-brain#229."""
    tools = Toolbox("five")

    def good(x: int) -> str:
        return f"{x}"

    def bad(x: Nowhere) -> str: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    for number in range(2):
        tools.tool(name=f"good_{number}")(good)
    with refused("bad", "'Nowhere'"):
        tools.tool(bad)
    for number in range(2, 4):
        tools.tool(name=f"good_{number}")(good)

    assert [Player(tools).play(name, {"x": 1}).text for name in tools.tools] == ["1"] * 4


WRAPPERS = """
import functools

def injecting(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    {module}
    return wrapper
"""


@pytest.mark.parametrize("module", ["", "wrapper.__module__ = __name__"])
def test_a_wrapper_from_elsewhere_reads_annotations_where_the_function_was_written(module):
    """Reported as PrefectHQ/fastmcp#3243."""
    elsewhere: Any = types.ModuleType("elsewhere")
    exec(WRAPPERS.format(module=module), elsewhere.__dict__)
    tools = Toolbox("wrapped")

    @tools.tool
    @elsewhere.injecting
    @needs_input(size="Which size?")
    def order_one(item: str, size: Size, ctx: Context) -> str:
        return f"{item} {size.name} {ctx.round}"

    assert tools.tools["order_one"].input_schema["properties"] == {"item": {"type": "string"}}
    assert Player(tools).play("order_one", {"item": "tea"}, size="l").text == "tea LARGE 1"


class Shop:
    name: str = "shop"

    @needs_input(size="Which size?")
    def sell(self: Shop, size: Size) -> str:
        return f"{self.name} sells {size.name}"


def test_a_bound_method_may_annotate_self():
    tools = Toolbox("methods")
    tools.tool(Shop().sell)

    assert Player(tools).play("sell", size="s").text == "shop sells SMALL"
