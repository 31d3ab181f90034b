"""Marks under other decorators: none gets lost, for a gate that was lost would let everybody through."""

import functools

import pytest

from mrtr_tools import DefinitionError, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.testing import Player


@pytest.fixture
def box():
    return Toolbox("kept")


@pytest.mark.parametrize("kind", [staticmethod, classmethod])
def test_a_mark_above_a_static_or_class_method_is_refused_or_kept(box, kind):
    def close(amount: int) -> str:
        return f"{amount}"

    def close_all(cls: type, amount: int) -> str:
        return f"{amount}"

    function = kind(close if kind is staticmethod else close_all)
    try:
        marked = needs_input(ok=confirm("Pay {amount}?"))(function)
    except DefinitionError as error:
        assert "needs_input" in str(error)  # noqa: PT017
    else:
        box.tool(vars(type("Shop", (), {"pay": marked}))["pay"].__get__(None, int), name="pay")
        assert Player(box).play("pay", {"amount": 3}, ok=Refused("decline")).is_error


def test_a_mark_below_a_static_or_class_method_is_kept(box):
    class Shop:
        @staticmethod
        @needs_input(ok=confirm("Close {name}?"))
        def close(name: str) -> str:
            return f"closed {name}"

        @classmethod
        @needs_input(ok=confirm("Open {name}?"))
        def open(cls, name: str) -> str:
            return f"opened {name}"

    for function in (Shop.close, Shop.open):
        box.tool(function)
        assert Player(box).play(function.__name__, {"name": "x"}, ok=Refused("decline")).is_error
        assert Player(box).play(function.__name__, {"name": "x"}, ok=True).text.endswith("ed x")


@pytest.mark.parametrize("wrap", [functools.cache, functools.partial, functools.lru_cache(4)])
def test_a_mark_shows_through_what_the_standard_library_wraps(box, wrap):
    @needs_input(ok=confirm("Sure?"))
    def work(name: str) -> str:
        return name

    box.tool(wrap(work), name="work")

    assert Player(box).play("work", {"name": "x"}, ok=Refused("decline")).is_error
    assert Player(box).play("work", {"name": "x"}, ok=True).text == "x"


def test_a_wrapper_around_a_step_is_no_step_itself(box):
    @box.step
    def work() -> str: ...

    wrapper = functools.wraps(work)(lambda: work())  # noqa: PLW0108

    with pytest.raises(TypeError, match=r"@toolbox\.step"):
        then(wrapper)
