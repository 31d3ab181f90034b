"""What others reported of this kind of software: several processes, new builds, clients that come back otherwise."""

import logging
from typing import Any

import pytest

from mrtr_tools import ElicitUrl, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.errors import InvalidState, MissingCapability
from mrtr_tools.keys import generate_key
from tests.attacker import FORMS, Server, message
from tests.wire_by_hand import YES, accept

NAME = accept(name="Ann")
ORDER = {"item": "tea"}


def shop(step: str = "confirm_v1", *aliases: str) -> Toolbox:
    """One build of a tool that goes on with a step of this name."""
    toolbox = Toolbox("shop")

    @toolbox.tool
    @needs_input(name="Who?")
    def order(item: str, name: str) -> str:
        return then(confirmed, item=item, name=name)

    @toolbox.step(name=step, aliases=aliases)
    @needs_input(ok=confirm("Send {item} to {name}?"))
    def confirmed(item: str, name: str) -> str:
        return f"{item} for {name}"

    @toolbox.step
    def refund(item: str, name: str) -> str:
        return f"{name} has the money for {item} back"

    return toolbox


def begun(server: Server) -> str:
    """The state of a call that waits for the yes."""
    first = server.ask("order", ORDER)
    return str(server.ask("order", ORDER, state=first.state, name=NAME).state)


def test_a_tool_that_asks_keeps_nobody_waiting() -> None:
    """Reported as PrefectHQ/fastmcp#1585: without a session, a question hung for ever.

    Each request is answered and over, with questions or a result; nothing of the process is needed for the next one.
    For clients of before 2026-07-28 that cannot be reached, `tests/server/test_legacy_clients.py` has the error.
    """
    state = None
    replies: list[list[str]] = []
    answers: list[dict[str, Any]] = [{}, {"name": NAME}]
    for given in answers:
        reply = Server(shop()).ask("order", ORDER, state=state, **given)
        state = reply.state
        replies.append(list(reply.requests))

    assert replies == [["name"], ["ok"]]
    assert Server(shop()).end("order", ORDER, state=state, ok=YES).value == "tea for Ann"


def test_the_log_tells_the_likely_cause_and_the_way_out_of_a_key_that_is_not_known(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Reported as modelcontextprotocol/csharp-sdk#1876: the error did not say why.

    The wire says what it always says; nothing of the state stands in either.
    """
    state = begun(Server(shop(), generate_key()))

    refused = Server(shop(), generate_key()).refuse("order", ORDER, state=state, ok=YES)

    (record,) = caplog.records
    assert (str(refused), refused.data) == (InvalidState.MESSAGE, None)
    assert record.levelno == logging.WARNING
    assert "unknown_key: no key here has its id: another process made its own key" in record.getMessage()
    assert state not in caplog.text
    assert state.partition(".")[0][8:] not in caplog.text


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"sampling": {}}])
def test_a_client_that_comes_back_with_other_capabilities_is_heard_and_not_asked(capabilities: dict[str, Any]) -> None:
    """Reported as agentfront/frontmcp#279: its answer counts; a new question is refused with what it would need."""
    server = Server(shop())
    first = server.ask("order", ORDER)

    with pytest.raises(MissingCapability) as caught:
        server.send("order", ORDER, state=first.state, name=NAME, capabilities=capabilities)
    assert (caught.value.code, caught.value.data) == (-32021, {"requiredCapabilities": FORMS})
    assert server.ran == ["order"]

    second = server.ask("order", ORDER, state=first.state, name=NAME)
    assert server.end("order", ORDER, state=second.state, ok=YES, capabilities=capabilities).value == "tea for Ann"


def test_a_new_question_goes_down_the_way_that_was_made_for_clients_that_cannot_be_asked() -> None:
    """Reported as agentfront/frontmcp#279: the tool says so itself, and does not fall to it half-way."""
    toolbox = Toolbox("shop")

    @toolbox.tool
    @needs_input(name="Who?")
    @needs_input(note="A note?")
    def order(name: str, note: str | Refused) -> str:
        return f"{name}: {note.action if isinstance(note, Refused) else note}"

    server = Server(toolbox)
    first = server.ask("order")

    assert server.end("order", state=first.state, name=NAME, capabilities={}).value == "Ann: unsupported"


def test_a_state_at_a_step_that_was_renamed_finds_it_by_its_alias() -> None:
    """Reported as airbytehq/airbyte#13973."""
    state = begun(Server(shop()))

    assert Server(shop("confirm_v2", "confirm_v1")).end("order", ORDER, state=state, ok=YES).value == "tea for Ann"


def test_a_state_at_a_step_that_is_gone_ends_with_an_error_that_says_so_and_comes_to_no_other_step(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Reported as airbytehq/airbyte#13973: in-flight work blocked after a deploy."""
    state, server = begun(Server(shop())), Server(shop("confirm_v2"))

    refused = server.refuse("order", ORDER, state=state, ok=YES)

    assert (refused.data, server.ran) == ({"reason": "no_longer_fits"}, [])
    assert "there is no step 'confirm_v1'; a step that was renamed needs it in aliases=" in caplog.text


def test_a_state_that_no_longer_fits_before_any_work_begins_the_call_anew_and_says_so() -> None:
    """Reported as airbytehq/airbyte#13973: a clean restart, with a message."""

    def build(version: int) -> Toolbox:
        toolbox = Toolbox("shop")

        @toolbox.tool(version=version)
        @needs_input(name="Who?")
        def order(item: str, name: str) -> str:
            return f"{item} for {name}"

        return toolbox

    old, new = Server(build(1)), Server(build(2))

    again = new.ask("order", ORDER, state=old.ask("order", ORDER).state, name=NAME)

    assert message(again, "name-2") == "This has changed in the meantime; please answer again.\nWho?"
    assert new.end("order", ORDER, state=again.state, **{"name-2": NAME}).value == "tea for Ann"


@pytest.mark.parametrize("declared", [{}, {"form": {}}])
def test_a_client_that_shows_forms_alone_is_sent_no_page_and_told_what_it_would_need(declared: dict[str, Any]) -> None:
    """Reported as IBM/mcp-context-forge#6642: a bare ``elicitation: {}`` means forms."""
    toolbox = Toolbox("bank")

    @toolbox.tool
    @needs_input(amount="How much?")
    @needs_input(page=ElicitUrl("Sign in", "https://bank.example/in"))
    def pay(amount: int) -> str:
        return f"paid {amount}"

    server = Server(toolbox)
    can = {"capabilities": {"elicitation": declared}, "principal": "ann"}
    first = server.ask("pay", **can)

    with pytest.raises(MissingCapability) as caught:
        server.send("pay", state=first.state, amount=accept(amount=5), **can)
    assert (caught.value.code, caught.value.data) == (-32021, {"requiredCapabilities": {"elicitation": {"url": {}}}})
