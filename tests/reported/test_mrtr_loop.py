"""What others reported of this kind of software: questions, answers and rounds that never end, or forget."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, JsonValue

from mrtr_tools import Context, Refused, Toolbox, needs_input, then
from mrtr_tools.calls import Call, Client
from mrtr_tools.errors import InvalidParams
from tests.attacker import Server, form, message
from tests.wire_by_hand import CANCEL, DECLINE, accept


class Name(BaseModel):
    name: str


def greeter() -> Toolbox:
    toolbox = Toolbox("greeter")

    @toolbox.tool
    @needs_input(who="Who are you?")
    def greet(who: Name) -> str:
        return f"Hello {who.name}"

    @toolbox.tool
    @needs_input(who="Who are you?")
    def greet_anybody(who: Name | Refused) -> str:
        return f"Hello {who.name}" if who else f"Hello whoever ({who.action})"

    return toolbox


def chain() -> Toolbox:
    """Three questions, each of which depends on the answers before it."""
    toolbox = Toolbox("chain")

    @toolbox.tool
    @needs_input(a="a?")
    def start(a: str) -> str:
        return then(middle, a=a)

    @toolbox.step
    @needs_input(b="{a}, b?")
    def middle(a: str, b: str) -> str:
        return then(end, a=a, b=b)

    @toolbox.step
    @needs_input(c="{a} {b}, c?")
    def end(a: str, b: str, c: str) -> str:
        return f"{a} {b} {c}"

    @toolbox.tool
    @needs_input(a="a?")
    @needs_input(b="{a}, b?")
    @needs_input(c="{a} {b}, c?")
    def stacked(a: str, b: str, c: str) -> str:
        return f"{a} {b} {c}"

    return toolbox


@pytest.mark.parametrize("tool", ["start", "stacked"])
def test_three_dependent_questions_are_each_sent_once_though_a_retry_carries_only_the_newest_answer(tool: str) -> None:
    """Reported as modelcontextprotocol/python-sdk#2986: earlier answers travel in the state."""
    server = Server(chain())

    first = server.ask(tool)
    second = server.ask(tool, state=first.state, a=accept(a="1"))
    third = server.ask(tool, state=second.state, b=accept(b="2"))
    fourth = server.end(tool, state=third.state, c=accept(c="3"))

    assert [*first.requests, *second.requests, *third.requests] == ["a", "b", "c"]
    assert message(third, "c") == "1 2, c?"
    assert fourth.value == "1 2 3"


@pytest.mark.parametrize("no", [DECLINE, CANCEL])
def test_a_refusal_is_an_answer_on_that_very_round(no: dict[str, str]) -> None:
    """Never the same question again; by default the end, or what the author makes of it.

    Reported as mcp-use/mcp-use#2159.
    """
    server = Server(greeter())

    ended = server.end("greet", state=server.ask("greet").state, who=no)
    branched = server.end("greet_anybody", state=server.ask("greet_anybody").state, who=no)

    assert ended.is_error
    assert "'who'" in str(ended.value)
    assert (branched.is_error, branched.value) == (False, f"Hello whoever ({no['action']})")


def test_the_form_is_the_content_of_the_envelope() -> None:
    """Reported as airlift/airlift#2079: not the envelope itself."""
    server = Server(greeter())

    assert server.end("greet", state=server.ask("greet").state, who=accept(name="Ada")).value == "Hello Ada"


@pytest.mark.parametrize("envelope", [{"action": "accept"}, {"action": "accept", "content": None}, {"name": "Ada"}])
def test_an_accept_without_content_is_an_answer_that_does_not_fit(envelope: dict[str, Any]) -> None:
    """Reported as airlift/airlift#2079: no crash, and no default in place of what is required."""
    server = Server(greeter())

    asked = server.ask("greet", state=server.ask("greet").state, who=envelope)

    assert list(asked.requests) == ["who"]


@pytest.mark.parametrize("key", ["undefined", "null", "", "a.b", "c", "__proto__", "0"])
def test_an_answer_under_an_unknown_key_is_ignored_and_work_goes_on_from_the_state(key: str) -> None:
    """A harness answers with a key named "undefined"; beside a real answer, and alone.

    Reported as modelcontextprotocol/conformance#440.
    """
    server = Server(chain())
    first = server.ask("start")
    stray: Any = {key: accept(ok=True)}

    same = server.ask("start", state=first.state, **stray)
    second = server.ask("start", state=same.state, a=accept(a="1"), **stray)

    assert (list(same.requests), list(second.requests)) == (["a"], ["b"])
    assert server.ran == ["start"]


def test_a_form_that_always_comes_back_empty_ends_the_call_with_a_readable_error() -> None:
    """Reported as openai/codex#41797: the client cannot show an integer field and sends an empty form, for ever."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(level="Which level?")
    def set_level(level: Annotated[int, Field(ge=1, le=3)]) -> str:
        return str(level)

    server = Server(toolbox)
    asked = server.ask("set_level")
    for _ in range(3):
        asked = server.ask("set_level", state=asked.state, level=accept())
        assert message(asked, "level") == "level is missing.\nWhich level?"
    done = server.end("set_level", state=asked.state, level=accept())

    assert done.is_error
    assert done.value == "No usable answer for 'level' after 4 tries. level is missing."


def test_after_a_wrong_key_the_same_question_comes_back_and_earlier_ones_do_not() -> None:
    """Reported as tachyonmcp/tachyon#33."""
    server = Server(chain())
    first = server.ask("stacked")
    second = server.ask("stacked", state=first.state, a=accept(a="1"))

    again = server.ask("stacked", state=second.state, nope=accept(b="2"))

    assert again.requests == second.requests
    assert form(again, "b") == form(second, "b")


@pytest.mark.parametrize("responses", ["yes", ["who"], 1, True])
def test_responses_that_are_no_object_are_refused(responses: JsonValue) -> None:
    """Reported as GDKsoftware/Delphi-MCP-Server#35: -32602."""
    with pytest.raises(InvalidParams) as caught:
        Call.read({"name": "greet", "inputResponses": responses}, client=Client())

    assert caught.value.code == -32602


@pytest.mark.parametrize(
    "answer", ["yes", None, [], 1, accept(name=[1]), {"action": "accept", "content": [1]}, {"action": {}}, {}]
)
def test_one_malformed_answer_is_asked_again(answer: object) -> None:
    """That question only, without a traceback, and its good neighbour is kept.

    Reported as GDKsoftware/Delphi-MCP-Server#35.
    """
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(who="Who?", day="When?")
    def meet(who: Name, day: str) -> str:
        return f"{who.name} {day}"

    server = Server(toolbox)
    asked = server.ask("meet", state=server.ask("meet").state, who=answer, day=accept(day="mon"))

    assert list(asked.requests) == ["who"]
    assert "Traceback" not in message(asked, "who")
    assert server.end("meet", state=asked.state, who=accept(name="Ada")).value == "Ada mon"


def test_the_round_is_counted_for_the_step() -> None:
    """Reported as pathosDev/actor-ts#612: the number of the round is there to guard effects with."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(a="a?")
    @needs_input(b="b?")
    def count(a: str, b: str, ctx: Context) -> int:
        return ctx.round

    server = Server(toolbox)
    asked = server.ask("count", state=server.ask("count").state, a=accept(a="1"))

    assert server.end("count", state=asked.state, b=accept(b="2")).value == 2
