"""Attacks with large, deep and expensive input. Security 21; nothing here measures time."""

from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mrtr_tools import DefinitionError, Elicit, Toolbox, confirm, needs_input, then
from mrtr_tools.errors import InvalidParams
from mrtr_tools.state import MAX_TOKEN
from tests.attacker import Server, message
from tests.wire_by_hand import accept

Letter = Literal["a", "b", "c"]
Mail = Annotated[str, Field(json_schema_extra={"format": "email"})]


def asking(annotation: Any) -> Server:
    """A server whose one tool asks for a value of this type, and says how it arrived."""
    toolbox = Toolbox("t")

    def tell(value: Any) -> str:
        return repr(value)[:50]

    tell.__annotations__ = {"value": annotation, "return": str}
    toolbox.tool(needs_input(value="Which value?")(tell))
    return Server(toolbox)


def answered(server: Server, value: object) -> list[str]:
    """The questions after an answer; none when it was taken."""
    asked = server.ask("tell")
    reply = server.send("tell", state=asked.state, value=accept(value=value))
    return list(getattr(reply, "requests", []))


def numbered(count: int) -> Any:
    return {f"k{number}": 1 for number in range(count)}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "number",
    [
        "1e3000000",
        "1e41",
        "1e-41",
        "9" * 41,
        "0." + "1" * 41,
        "1e999999999999",
        "NaN",
        "Infinity",
        "-sNaN1",
        "1_0",
        "٣",
        "1e",
    ],
)
def test_a_decimal_of_a_few_characters_cannot_take_minutes(number: str) -> None:
    """Security 21: 40 digits, and an exponent of at most 40; `1e3000000` took 217 seconds."""
    assert answered(asking(Decimal), number) == ["value"]


@pytest.mark.parametrize("number", ["1e40", "9" * 40, "-1.50", "1e-40", " 2 ", 3, 1.5])
def test_an_ordinary_decimal_is_taken(number: object) -> None:
    """Security 21."""
    assert answered(asking(Decimal), number) == ([] if isinstance(number, str) else ["value"])


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "9" * 5000),
        (int, "-" + "9" * 301),
        (int, 10**400),
        (int, 1e308 * 10),
        (float, "9" * 400),
        (float, "1e309"),
        (float, 10**400),
        (float, "0x1p3"),
        (str, "x" * (16 * 1024 + 1)),
        (list[Letter], ["a"] * 101),
        (list[Letter], [["a"]]),
        (Mail, "a@" * 8000),
        (Mail, "@" * 100_000),
        (str, {"a": "b"}),
        (str, "\ud800"),
        (Letter, "\udfff"),
    ],
)
def test_an_answer_that_is_too_much_is_asked_again(annotation: object, value: object) -> None:
    """Security 21: each answer has a bound, and is not worked on beyond it."""
    assert answered(asking(annotation), value) == ["value"]


@pytest.mark.parametrize("value", [nested(90), ["a"] * 20_001], ids=["too deep", "too many"])
def test_answers_with_more_values_than_any_form_has_are_refused_unread(value: object) -> None:
    """Security 21: what reads them would copy them first."""
    with pytest.raises(InvalidParams, match="inputResponses"):
        answered(asking(str), value)


def test_a_text_just_within_the_bound_is_taken() -> None:
    """Security 21: 16 KiB, unless the field says how long it may be."""
    assert answered(asking(str), "x" * 16 * 1024) == []
    assert answered(asking(Annotated[str, Field(max_length=20_000)]), "x" * 20_000) == []
    assert answered(asking(Annotated[str, Field(max_length=5)]), "x" * 6) == ["value"]


class Slow(BaseModel):
    """Its pattern takes ages for some texts, in Python's own engine."""

    model_config = ConfigDict(regex_engine="python-re")
    value: str = Field(pattern=r"^(\w+\s?)*$")


def test_a_pattern_that_can_stall_is_refused_when_defined() -> None:
    """Security 21: in a form, in an argument, and in what is handed on."""
    for toolbox in (Toolbox("form"), Toolbox("argument")):

        def ask(value: Slow) -> str:
            return value.value

        with pytest.raises(DefinitionError, match="engine"):
            toolbox.tool(needs_input(value="?")(ask) if toolbox.name == "form" else ask)

    with pytest.raises(DefinitionError, match="engine"):
        Toolbox("step").step(ask)


def test_the_same_pattern_in_the_default_engine_does_no_harm() -> None:
    """Security 21: linear in the length of the text."""
    assert answered(asking(Annotated[str, Field(pattern=r"^(\w+\s?)*$")]), "a" * 16_000 + "!") == ["value"]


def test_too_many_answers_are_refused_unread() -> None:
    """Security 21: 256 answers, 300,000 took a while."""
    server = asking(str)
    asked = server.ask("tell")

    with pytest.raises(InvalidParams, match="256"):
        server.send("tell", state=asked.state, **numbered(300_000))
    with pytest.raises(InvalidParams, match="256"):
        server.send("tell", state=asked.state, **numbered(257))
    assert server.end("tell", state=asked.state, value=accept(value="x"), **numbered(255)).value == "'x'"


@pytest.mark.parametrize("depth", [64, 500])
def test_arguments_that_are_too_deep_are_refused(depth: int) -> None:
    """Security 21: 64 levels, the arguments' own object among them."""
    server = asking(str)

    with pytest.raises(InvalidParams, match="64"):
        server.send("tell", {"x": nested(depth)})


def test_arguments_just_deep_enough_are_taken() -> None:
    """Security 21."""
    assert list(asking(str).ask("tell", {"x": nested(63)}).requests) == ["value"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_none_are_refused(number: float) -> None:
    """Security 18, 21: wherever they stand in the arguments."""
    server = asking(str)

    with pytest.raises(InvalidParams):
        server.send("tell", {"x": [{"y": number}]})


@pytest.mark.parametrize("text", ["\ud800", "\udc00\ud800", {"\ud800": 1}, ["\udfff"]])
@pytest.mark.parametrize("tool", ["plain", "any", "unknown"])
def test_text_that_is_no_unicode_is_never_a_crash(tool: str, text: object) -> None:
    """Security 21: lone surrogates pass some JSON readers; the caller is told, or nothing reads them."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Use {value}?"))
    def plain(value: str) -> str:
        return value

    @toolbox.tool(name="any")
    @needs_input(ok=confirm("Use {value}?"))
    def anything(value: Any) -> str:
        return str(value)

    @toolbox.tool
    def unknown() -> str:
        return "fine"

    try:
        reply = Server(toolbox).send(tool, {"value": text})
    except InvalidParams:
        return
    assert getattr(reply, "is_error", False) or tool == "unknown"


def test_a_group_asks_for_at_most_32_inputs() -> None:
    """Security 21."""

    def ask() -> str:
        return ""

    gates: Any = {f"gate{number}": confirm("Sure?") for number in range(33)}
    with pytest.raises(DefinitionError, match="at most 32"):
        Toolbox("t").tool(needs_input(**gates)(ask))


def test_a_round_runs_at_most_a_thousand_functions() -> None:
    """Security 21, promise 7: a loop without a question ends, and names its step."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(spin, count=0)

    @toolbox.step
    def spin(count: int) -> str:
        return then(spin, count=count + 1)

    server = Server(toolbox)
    done = server.end("start")

    assert done.is_error
    assert "'spin'" in str(done.value)
    assert len(server.ran) == 1000


@pytest.mark.parametrize(
    "token", ["", "x" * (MAX_TOKEN + 1), "x" * 1_200_000, "." * 90_000, "\ud800", "é" * 100, "A" * 80_000 + "."]
)
def test_a_state_that_is_no_state_is_refused_at_once(token: str) -> None:
    """Security 21: its length is looked at first. Reported as ChronoAIProject/NyxID#1461."""
    assert asking(str).refuse("tell", state=token).data is None


def test_what_a_call_collects_stays_within_the_budget_and_is_told_by_name() -> None:
    """Security 21, 23: six answers of 16 KiB do not fit a state; the error names inputs, and shows no answer."""
    toolbox = Toolbox("t")
    names = [f"part{number}" for number in range(6)]

    def collect(*, part0: str, part1: str, part2: str, part3: str, part4: str, part5: str, last: str) -> str:
        return "all"

    texts: Any = dict.fromkeys(names, "?")
    marked = needs_input(**texts)(needs_input(last="Anything else?")(collect))
    toolbox.tool(marked)
    server = Server(toolbox)
    asked = server.ask("collect")

    done = server.end("collect", state=asked.state, **{name: accept(**{name: "s3cret" * 2700}) for name in names})

    assert done.is_error
    assert "answer part5 (" in str(done.value)
    assert "s3cret" not in str(done.value)


def test_a_question_with_too_many_choices_to_keep_ends_the_call_with_a_reason() -> None:
    """Security 21: choices are kept in the state, which has a budget."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(pick=lambda: Elicit("Which?", choices=[f"choice number {number}" for number in range(10_000)]))
    def choose(pick: str) -> str:
        return pick

    done = Server(toolbox).end("choose")

    assert done.is_error
    assert "pick" in str(done.value)


def test_a_slow_validator_is_not_reached_by_an_answer_that_is_too_long() -> None:
    """Security 21: the bound comes first."""
    reached: list[int] = []
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(value="?")
    def tell(value: Annotated[str, AfterValidator(lambda text: reached.append(len(text)) or text)]) -> str:
        return value

    server = Server(toolbox)
    asked = server.ask("tell")
    again = server.ask("tell", state=asked.state, value=accept(value="x" * 100_000))

    assert reached == []
    assert message(again, "value").startswith("value is too long")
