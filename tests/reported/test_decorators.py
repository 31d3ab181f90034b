"""What others reported of this kind of software: decorators, on functions as people write them."""

import functools
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import anyio
import pytest

from mrtr_tools import Context, DefinitionError, Toolbox, confirm, needs_input, then
from mrtr_tools.testing import Player
from tests.attacker import Server
from tests.wire_by_hand import accept

POSTPONED = """
from __future__ import annotations
from decimal import Decimal as Money
from typing import Literal
from mrtr_tools import Context, Toolbox, needs_input, then

toolbox = Toolbox("t")

@toolbox.tool
@needs_input(size="Which size?")
def order(kind: Literal["tea", "bun"], size: Literal["S", "L"]) -> str:
    return then(pay, kind=kind, size=size, price=Money("1.50"))

@toolbox.step
@needs_input(tip="How much on top of {price}?")
async def pay(kind: Literal["tea", "bun"], size: Literal["S", "L"], price: Money, tip: Money, ctx: Context) -> str:
    return f"{kind} {size} {price + tip} {ctx.round}"
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of a user's, with postponed annotations and names that only it has imported."""
    made = ModuleType("users_module")
    monkeypatch.setitem(sys.modules, "users_module", made)
    exec(POSTPONED, made.__dict__)
    return made


def test_postponed_annotations_work(module: ModuleType) -> None:
    """Reported as PrefectHQ/fastmcp#905: `Literal` and the like, on arguments, inputs and what is handed on."""
    played = Player(module.toolbox).play("order", {"kind": "tea"}, size="L", tip="0.50")

    assert played.text == "tea L 2.00 2"


def test_names_resolve_in_the_users_module_also_under_a_wrapper_from_elsewhere(module: ModuleType) -> None:
    """Reported as PrefectHQ/fastmcp#3243: a type imported only there, and a parameter that is not asked for."""

    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **kwargs)

        return wrapper

    toolbox = Toolbox("other")
    pay = toolbox.step(logged(module.pay))

    @toolbox.tool
    def start() -> str:
        return then(pay, kind="bun", size="S", price=module.Money(1))

    assert Player(toolbox).play("start", {}, tip=module.Money(1)).text == "bun S 2 1"


def test_one_annotation_that_cannot_be_resolved_is_one_clear_error_and_the_other_tools_stand() -> None:
    """Reported as eugeniughelbur/obsidian-second-brain#229: among five tools."""
    toolbox = Toolbox("t")
    functions: dict[str, Any] = {}
    source = "from __future__ import annotations\ndef {name}(a: {kind}) -> str:\n    return a\n"
    for name in ("one", "two", "three", "four", "five"):
        exec(source.format(name=name, kind="Missing" if name == "three" else "str"), functions)

    errors: list[str] = []
    for name in ("one", "two", "three", "four", "five"):
        try:
            toolbox.tool(functions[name])
        except DefinitionError as error:
            errors.append(str(error))

    assert len(errors) == 1
    assert "three" in errors[0]
    assert "Missing" in errors[0]
    assert list(toolbox.tools) == ["one", "two", "four", "five"]
    assert Player(toolbox).play("five", {"a": "x"}).text == "x"


def test_a_wrapper_that_hides_what_it_wraps_is_refused_with_advice() -> None:
    """Reported as xing5/mcp-google-sheets#65: never a schema with args and kwargs."""

    def wrapper(*args: Any, **kwargs: Any) -> str:
        return ""

    with pytest.raises(DefinitionError, match=r"functools\.wraps"):
        Toolbox("t").tool(wrapper)


def test_a_partial_hides_and_uses_what_it_binds_and_has_a_name_that_other_processes_know() -> None:
    """Reported as PrefectHQ/fastmcp#3870."""

    def build() -> Toolbox:
        toolbox = Toolbox("t")

        @needs_input(size="Which size in {region}?")
        def deliver(region: str, size: int) -> str:
            return f"{region} {size}"

        def report(region: str, unit: str) -> str:
            return f"{region} {unit}"

        step = toolbox.step(functools.partial(deliver), name="deliver_eu")
        toolbox.tool(functools.partial(report, region="eu"), name="report_eu")

        @toolbox.tool
        def start() -> str:
            return then(step, region="eu")

        return toolbox

    asked = Server(build()).ask("start")

    assert Server(build()).end("start", state=asked.state, size=accept(size=3)).value == "eu 3"
    assert list(build().tools["report_eu"].input_schema["properties"]) == ["unit"]  # pyright: ignore[reportArgumentType]
    assert Server(build()).end("report_eu", {"unit": "kg", "region": "us"}).value == "eu kg"
    with pytest.raises(DefinitionError, match="name="):
        Toolbox("t").step(functools.partial(max))


def test_a_partial_of_a_step_with_an_input_still_asks() -> None:
    """Reported as PrefectHQ/fastmcp#3870: `partial(step, region="eu")`."""
    toolbox = Toolbox("t")

    @needs_input(size="Which size?")
    def deliver(region: str, size: int) -> str:
        return f"{region} {size}"

    toolbox.tool(functools.partial(deliver, region="eu"), name="deliver_eu")

    assert Player(toolbox).play("deliver_eu", {}, size=3).text == "eu 3"


def test_a_decorated_function_is_still_a_plain_function() -> None:
    """Reported as PrefectHQ/fastmcp#1116."""
    toolbox = Toolbox("t")

    def plain(name: str) -> str:
        return f"Hello {name}"

    async def later(name: str) -> str:
        return f"Later {name}"

    assert toolbox.tool(needs_input(name="Who?")(plain)) is plain
    assert toolbox.step(needs_input(ok=confirm("Sure?"))(later)) is later
    assert plain("Ada") == "Hello Ada"
    assert anyio.run(later, "Ada") == "Later Ada"


@pytest.mark.anyio
async def test_sync_tools_run_beside_each_other_and_beside_async_ones() -> None:
    """Reported as modelcontextprotocol/python-sdk#1646: three calls that can end only together."""
    toolbox = Toolbox("t")
    meeting, loop_goes_on = threading.Barrier(2), threading.Event()

    @toolbox.tool
    def meet() -> str:
        meeting.wait(timeout=30)
        assert loop_goes_on.wait(timeout=30)
        return "met"

    @toolbox.tool
    async def signal() -> str:
        loop_goes_on.set()
        return "went on"

    player, texts = Player(toolbox), list[str]()

    async def play(tool: str) -> None:
        texts.append((await player.play_async(tool)).text)

    async with anyio.create_task_group() as group:
        group.start_soon(play, "meet")
        group.start_soon(play, "meet")
        group.start_soon(play, "signal")

    assert sorted(texts) == ["met", "met", "went on"]


def test_keyword_only_parameters_and_defaults_work_and_no_default_is_shared() -> None:
    """Reported as cuga-project/cuga-agent#590."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def collect(item: str, *, seen: list[str] = [], times: int = 1) -> list[str]:  # noqa: B006
        seen.append(item * times)
        return seen

    player = Player(toolbox)

    assert player.play("collect", {"item": "a"}).result == ["a"]
    assert player.play("collect", {"item": "b", "times": 2}).result == ["bb"]


def test_parameters_that_take_anything_are_refused_with_a_reason() -> None:
    """`*args`, `**kwargs`, and positional-only, for tools, steps and input functions.

    Reported as cuga-project/cuga-agent#590.
    """

    def many(*args: str) -> str:
        return ""

    def named(**kwargs: str) -> str:
        return ""

    def positional(a: str, /) -> str:
        return a

    def uses(a: str) -> str:
        return a

    for function in (many, named, positional):
        for define in (Toolbox("t").tool, Toolbox("t").step):
            with pytest.raises(DefinitionError, match=function.__name__):
                define(function)
    with pytest.raises(DefinitionError, match="many"):
        Toolbox("t").tool(needs_input(a=many)(uses))


def test_a_context_is_given_and_not_asked_for() -> None:
    """Reported as PrefectHQ/fastmcp#3243: found by its annotation, under any name."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def tell(about: str, here: Context) -> str:
        return f"{about} {len(here.call_id)}"

    assert "here" not in str(toolbox.tools["tell"].input_schema)
    assert Player(toolbox).play("tell", {"about": "x", "here": {"call_id": "forged"}}).text == "x 22"
