"""Names of tools, steps and aliases; toolboxes that share functions."""

import pytest

from mrtr_tools import Toolbox, needs_input, then
from mrtr_tools.testing import Player
from tests.refusing import refused


@pytest.fixture
def box():
    return Toolbox("names")


def test_names_of_tools_steps_and_aliases_are_unique(box):
    """Security 7: an alias that another step has would lead its calls to the wrong one."""

    @box.tool
    def work() -> str: ...

    @box.step(aliases=("labour",))
    def toil() -> str: ...

    for register in (box.tool, box.step):
        for taken, owner in (("work", "work"), ("toil", "toil"), ("labour", "toil")):
            with refused("drudge", f"name {taken!r} is taken", owner, "name=..."):

                @register(name=taken)
                def drudge() -> str: ...

    for taken in ("work", "toil", "labour"):
        with refused("alias of 'chore'", f"name {taken!r} is taken", "name=..."):

            @box.step(aliases=(taken,))
            def chore() -> str: ...

    assert list(box.tools) == ["work"]
    assert box.steps.named("chore") is None


def test_a_definition_that_was_refused_leaves_nothing_behind(box):
    """Reported as eugeniughelbur/obsidian-second-brain#229: the other tools stay, and the name is free again."""

    @box.tool
    def good() -> str:
        return "good"

    def bad(x: "Missing") -> str: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    for register in (box.tool, box.step):
        with refused("bad", "'Missing'", "define or import it at module level"):
            register(bad)

    @box.tool(name="bad")
    def mended(x: int) -> str: ...

    assert list(box.tools) == ["good", "bad"]


@pytest.mark.parametrize("aliases", ["old", ("work",), ("a", "a"), ("a b",), ("",), (3,)])
def test_aliases_that_are_no_names_are_refused(box, aliases):
    """Security 7."""
    with refused("alias"):

        @box.step(aliases=aliases)
        def work() -> str: ...


@pytest.mark.parametrize("name", ["two words", "", "größe", "a/b", "x" * 129, "tab\t"])
@pytest.mark.parametrize("mark", ["tool", "step"])
def test_a_name_that_the_protocol_does_not_allow_is_refused(box, mark, name):
    with refused("name", "letters, digits", "name=..."):

        @getattr(box, mark)(name=name)
        def work() -> str: ...


def test_a_lambda_needs_a_name(box):
    with refused("<lambda>", "name=..."):
        box.tool(lambda: "x")

    box.tool(lambda: "x", name="named")
    assert Player(box).play("named").text == "x"


# Toolboxes


def test_a_factory_makes_toolboxes_that_share_nothing():
    def make(tenant: str) -> Toolbox:
        box = Toolbox(tenant)

        @box.tool
        @needs_input(login=f"Who are you at {tenant}?")
        def work(login: str) -> str:
            return then(finish, login=login)

        @box.step
        def finish(login: str) -> str:
            return f"{login} at {tenant}"

        return box

    one, two = make("one"), make("two")

    assert Player(one).play("work", login="ann").text == "ann at one"
    assert Player(two).play("work", login="bob").text == "bob at two"


def test_a_function_is_registered_in_two_toolboxes_under_two_names():
    one, two = Toolbox("one"), Toolbox("two")

    @two.step(name="finish_two")
    @one.step(name="finish_one")
    def finish() -> str:
        return "done"

    @one.tool
    @two.tool
    def work() -> str:
        return then(finish)

    assert Player(one).play("work").ran == ["work", "finish_one"]
    assert Player(two).play("work").ran == ["work", "finish_two"]
