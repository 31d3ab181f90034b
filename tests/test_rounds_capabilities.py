"""What the client of a request cannot show is not asked. Promise 6."""

import pytest

from mrtr_tools import Elicit, Refused, Toolbox, ToolError, confirm, needs_input
from mrtr_tools.calls import Client
from mrtr_tools.errors import MissingCapability
from tests.rounds_by_hand import MUTE, again, asked, begin, play, result
from tests.wire_by_hand import YES, accept

# Promise 6


def gated(ran: list[str]) -> Toolbox:  # noqa: C901  one tool for each way to ask
    toolbox = Toolbox("t")

    def quote() -> int:
        ran.append("quote")
        return 1

    def note() -> Elicit:
        ran.append("note")
        return Elicit("Which note?")

    @needs_input(name="Who?")
    def login(name: str) -> str:
        ran.append("login")
        return name

    @toolbox.tool
    @needs_input(price=quote, ok=confirm("Sure?"))
    def fixed(price: int) -> str:
        return str(price)

    @toolbox.tool
    @needs_input(price=quote, login=login)
    def nested(price: int, login: str) -> str:
        return login

    @toolbox.tool
    @needs_input(price=quote)
    def silent(price: int) -> str:
        return str(price)

    @toolbox.tool
    @needs_input(note=note)
    def made(note: str) -> str:
        return note

    @toolbox.tool
    @needs_input(price=quote, ok=confirm("Sure?"), name="Who?", note=note)
    def lenient(price: int, ok: bool | Refused, name: str | Refused, note: str | Refused) -> list[str]:
        return [repr(ok), repr(name), repr(note)]

    @toolbox.tool
    @needs_input(name="Who?", ok=confirm("Sure?"))
    def both(name: str | Refused) -> str:
        return repr(name)

    return toolbox


BARE, URL_ONLY = Client({"elicitation": {}}), Client({"elicitation": {"url": {}}})


@pytest.mark.parametrize("client", [MUTE, URL_ONLY, Client({"sampling": {}})], ids=["nothing", "url only", "sampling"])
@pytest.mark.parametrize("tool", ["fixed", "nested", "both"])
def test_promise_6_a_question_that_the_client_cannot_show_is_refused_before_any_function_runs(
    tool: str, client: Client
):
    ran: list[str] = []
    machine = begin(gated(ran), tool, client=client)
    with pytest.raises(MissingCapability) as caught:
        play(machine)
    assert (caught.value.code, caught.value.data) == (-32021, {"requiredCapabilities": {"elicitation": {"form": {}}}})
    assert ran == []
    with pytest.raises(MissingCapability):
        machine.next_event()


def test_promise_6_a_bare_elicitation_means_forms():
    assert asked(begin(gated([]), "fixed", client=BARE)) == ["ok"]


def test_promise_6_a_tool_that_asks_nothing_serves_every_client():
    assert result(begin(gated([]), "silent", client=MUTE)) == "1"


def test_promise_6_a_question_that_a_function_makes_is_gated_too():
    ran: list[str] = []
    machine = begin(gated(ran), "made", client=MUTE)
    with pytest.raises(MissingCapability):
        play(machine)
    assert ran == ["note"]


def test_promise_6_where_it_is_admitted_the_refusal_is_unsupported():
    unsupported = "Refused(action='unsupported')"
    assert result(begin(gated([]), "lenient", client=MUTE)) == [unsupported] * 3


def test_promise_6_a_skipped_question_needs_no_capability():
    toolbox = conditional_gate()
    assert result(begin(toolbox, "spend", {"amount": 1}, client=MUTE)) == 1
    with pytest.raises(MissingCapability):
        play(begin(toolbox, "spend", {"amount": 100}, client=MUTE))


def conditional_gate() -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Spend {amount}?"), only_if=lambda amount: amount > 10)
    def spend(amount: int) -> int:
        return amount

    return toolbox


def test_promise_6_a_settled_answer_stays_valid_whatever_a_later_request_declares():
    machine = begin(gated([]), "both")
    play(machine)
    play(machine := again(machine, {"name": accept(name="Ann")}))
    last = again(machine, {"ok": YES}, client=MUTE)
    assert result(last) == "'Ann'"


def test_promise_6_what_is_still_open_is_gated_by_the_request_that_is_served():
    machine = begin(gated([]), "both")
    play(machine)
    with pytest.raises(MissingCapability):
        play(again(machine, {"name": accept(name="Ann")}, client=MUTE))
    assert asked(again(machine, {"name": accept(name="Ann")})) == ["ok"]


def test_promise_6_a_refusal_for_lack_of_support_is_settled():
    machine = begin(gated([]), "fixed")
    play(machine)
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(name="Who?")
    @needs_input(mail=lambda name: "m" if name else "none")
    def both(name: str | Refused, mail: str) -> str:
        if mail == "never":
            raise ToolError("never")
        return f"{name!r} {mail}"

    assert result(begin(toolbox, "both", client=MUTE)) == "Refused(action='unsupported') none"
