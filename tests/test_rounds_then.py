"""Where `then` may go, and that it must be returned. Promise 10."""

from collections.abc import Callable
from typing import Any

import pytest

from mrtr_tools import AskAgain, Elicit, Refused, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.events import NeedInput, RunStep
from mrtr_tools.marks import watched
from tests.rounds_by_hand import again, asked, begin, crash, message, result, run
from tests.wire_by_hand import YES, accept

# Promise 10: where a then may go


def two_boxes() -> tuple[Toolbox, Toolbox]:
    mine, other = Toolbox("mine"), Toolbox("other")

    def plain() -> str:
        return "plain"

    @mine.step
    def step() -> str:
        return "step"

    @other.step
    def foreign() -> str:
        return "foreign"

    @mine.tool
    def tool() -> str:
        return "tool"

    targets: dict[str, Any] = {
        "plain": plain,
        "foreign": foreign,
        "tool": tool,
        "step": step,
        "lambda": lambda: "x",
        "name": "step",
        "class": Toolbox,
    }

    @mine.tool
    def start(to: str) -> str:
        return then(targets[to])

    return mine, other


@pytest.mark.parametrize("to", ["plain", "foreign", "tool", "lambda", "name", "class"])
def test_promise_10_a_then_to_what_is_no_step_of_this_toolbox_is_a_type_error_at_its_line(to: str):
    mine, _ = two_boxes()
    error = crash(begin(mine, "start", {"to": to}))
    assert isinstance(error, TypeError)
    assert "@toolbox.step" in str(error)


def test_promise_10_a_then_to_a_step_of_this_toolbox_goes_there():
    mine, _ = two_boxes()
    assert result(begin(mine, "start", {"to": "step"})) == "step"


def test_promise_10_a_then_that_was_made_elsewhere_is_checked_when_it_is_returned():
    toolbox, other = Toolbox("t"), Toolbox("other")

    @other.step
    def foreign() -> str:
        return "foreign"

    made = then(foreign)

    @toolbox.tool
    def start() -> str:
        return made

    assert isinstance(crash(begin(toolbox, "start")), TypeError)


def test_a_function_that_is_a_step_of_two_toolboxes_goes_on_in_the_one_that_runs():
    boxes = [Toolbox("one"), Toolbox("two")]

    def end(x: int) -> str:
        return f"end {x}"

    for box in boxes:
        box.step(end)

        @box.tool
        def start() -> str:
            return then(end, x=1)

    for box in boxes:
        assert result(begin(box, "start")) == "end 1"


def test_a_bound_method_is_a_step():
    class Shop:
        def __init__(self, name: str) -> None:
            self.name = name

        def pay(self, amount: int) -> str:
            return f"{self.name} {amount}"

    toolbox, shop = Toolbox("t"), Shop("corner")
    toolbox.step(shop.pay)

    @toolbox.tool
    def buy() -> str:
        return then(shop.pay, amount=3)

    assert result(begin(toolbox, "buy")) == "corner 3"


def test_a_then_outside_a_round_compares_by_value():
    mine, _ = two_boxes()
    start = mine.tools["start"].step.signature.function
    step = mine.steps.named("step")
    assert step is not None
    assert start("step") == then(step.signature.function)
    context, made = watched(mine.steps.of)
    going = context.run(start, "step")
    assert made == [going]


def test_a_step_that_hands_on_what_its_template_shows_acts_on_what_was_shown():
    toolbox, price = Toolbox("t"), [100]

    @toolbox.tool
    def start() -> str:
        return then(pay, price=price[0])

    @toolbox.step
    @needs_input(ok=confirm("Pay {price}?"))
    def pay(price: int) -> str:
        return f"paid {price}"

    machine = begin(toolbox, "start")
    assert message(machine, "ok") == "Pay 100?"
    price[0] = 900
    assert result(again(machine, {"ok": YES})) == "paid 100"


def test_cold_answers_are_only_for_the_tools_own_questions_not_for_those_of_a_later_step():
    """Security 9."""
    toolbox = Toolbox("t")

    @toolbox.tool(cold_answers=True)
    @needs_input(name="Who?", only_if=lambda known: not known)
    def start(known: bool, name: str = "x") -> str:
        return then(end)

    @toolbox.step
    @needs_input(name="Who pays?", mail="Which mail?")
    def end(name: str, mail: str) -> str:
        return name

    responses = {"name": accept(name="Eve"), "mail": accept(mail="e")}
    assert asked(begin(toolbox, "start", {"known": True}, responses=responses)) == ["name", "mail"]


def test_a_tool_is_never_the_target_even_of_its_own_body():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(start)

    assert isinstance(crash(begin(toolbox, "start")), TypeError)


def test_events_of_a_chain_of_five_steps_in_one_round():
    toolbox = Toolbox("t")

    @toolbox.tool
    def one() -> int:
        return then(two, x=1)

    @toolbox.step
    def two(x: int) -> int:
        return then(three, x=x + 1)

    @toolbox.step
    def three(x: int) -> int:
        return then(four, x=x + 1)

    @toolbox.step
    @needs_input(y="Y?")
    def four(x: int, y: int) -> int:
        return then(five, x=x + y)

    @toolbox.step
    def five(x: int) -> int:
        return x

    machine, seen = begin(toolbox, "one"), []
    while isinstance(event := machine.next_event(), RunStep):
        seen.append((event.step.name, dict(event.arguments)))
        run(machine)
    assert isinstance(event, NeedInput)
    assert seen == [("one", {}), ("two", {"x": 1}), ("three", {"x": 2})]
    assert result(again(machine, {"y": accept(y=10)})) == 13


# Promise 10


def test_promise_10_a_then_that_is_not_returned_is_an_error():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        then(end, x=1)
        return "done"

    @toolbox.step
    def end(x: int) -> str:
        return str(x)

    assert "did not return" in str(crash(begin(toolbox, "start")))


@pytest.mark.parametrize(
    "wrap",
    [lambda going: [going], lambda going: {"next": going}, lambda going: (1, going), lambda going: f"{going}"],
    ids=["in a list", "in a dict", "in a tuple", "as text"],
)
def test_promise_10_a_then_inside_a_result_is_an_error(wrap: Callable[[object], object]):
    toolbox = Toolbox("t")

    @toolbox.tool
    def start():
        return wrap(then(end, x=1))

    @toolbox.step
    def end(x: int):
        return x

    assert isinstance(crash(begin(toolbox, "start")), TypeError)


def test_promise_10_of_two_thens_the_one_that_is_not_returned_is_an_error():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        then(end, x=1)
        return then(end, x=2)

    @toolbox.step
    def end(x: int) -> str:
        return str(x)

    assert isinstance(crash(begin(toolbox, "start")), TypeError)


def made_by(made: Callable[[Callable[..., str]], str]) -> Toolbox:
    """A tool whose input a function makes that knows of a step."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(name=lambda: made(end))
    def start(name: str) -> str:
        return name

    @toolbox.step
    def end(x: int) -> str:
        return str(x)

    return toolbox


def test_promise_10_a_then_that_an_input_function_returns_is_an_error():
    toolbox = made_by(lambda end: then(end, x=1))
    assert "'name' cannot" in str(crash(begin(toolbox, "start")))


def test_promise_10_a_then_that_an_input_function_drops_is_an_error():
    toolbox = made_by(lambda end: then(end, x=1) and "a")
    assert "did not return" in str(crash(begin(toolbox, "start")))


@pytest.mark.parametrize(
    ("returned", "advice"),
    [(Elicit("Who?"), "@needs_input"), (confirm("Sure?"), "@needs_input"), (Refused("decline"), "raise ToolError")],
    ids=lambda value: type(value).__name__,
)
def test_a_step_that_returns_what_is_no_result_is_told_what_to_do(returned: object, advice: str):
    toolbox = Toolbox("t")

    @toolbox.tool
    def start():
        return returned

    assert advice in str(crash(begin(toolbox, "start")))


def test_promise_10_ask_again_and_tool_error_are_exceptions_that_a_step_may_catch():
    assert issubclass(AskAgain, Exception)
    assert issubclass(ToolError, Exception)
