"""What others reported of this kind of software: signed state, in conversations; `test_state.py` has the tokens.

Nothing of it is left out. Three outcomes that were asked for are others here, and on purpose: that a key is unknown is
told by the log and not by the error, for no error tells a forger more than another; that a state expired is told to
nobody but the call it belongs to; and how far clocks may be apart is no option, but a minute.
"""

import logging
import socket

import pytest

from mrtr_tools import Context, Toolbox, needs_input, then
from mrtr_tools.calls import InputRequired
from mrtr_tools.keys import InvalidKey, generate_key
from mrtr_tools.server import http_app, run_http
from mrtr_tools.state import LEEWAY
from tests.attacker import Clock, Server
from tests.wire_by_hand import accept

OLD, NEW = generate_key(), generate_key()


def shop() -> Toolbox:
    toolbox = Toolbox("shop")

    @toolbox.tool
    def remove(item: int) -> str:
        return then(ask, item=item)

    @toolbox.step
    @needs_input(plan="Which plan?")
    def ask(item: int, plan: str, ctx: Context) -> str:
        return f"{item} {plan} {ctx.call_id} {ctx.idempotency_key}"

    @toolbox.tool
    def restore(item: int) -> str:
        return then(ask, item=item)

    @toolbox.tool
    @needs_input(plan="Which plan?")
    def subscribe(plan: str) -> str:
        return plan

    return toolbox


ITEM, PLAN = {"item": 7}, accept(plan="basic")


def test_no_process_serves_over_http_with_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reported as overture-stack/arranger#1099: each replica had made a key up, and refused what the others signed."""
    monkeypatch.delenv("MRTR_TOOLS_KEYS", raising=False)

    with pytest.raises(InvalidKey, match="a key that all of its processes share"):
        http_app(shop())
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,  # so that it would end at once
        pytest.raises(InvalidKey, match="a key that all of its processes share"),
    ):
        run_http(shop(), port=taken.getsockname()[1])


def test_two_processes_with_keys_of_their_own_refuse_each_other_and_say_so_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One frozen message on the wire; the log says that the key is not known, not "tampered".

    Reported as overture-stack/arranger#1099, modelcontextprotocol/csharp-sdk#1876.
    """
    here, there = Server(shop(), OLD), Server(shop(), NEW)
    state = here.ask("remove", ITEM).state

    refused = there.refuse("remove", ITEM, state=state, plan=PLAN)

    assert (refused.reason, refused.data, there.ran) == ("unknown_key", None, [])
    assert "requestState refused: unknown_key" in caplog.text
    assert f"key={here.signer.key_id}" in caplog.text
    assert not here.end("remove", ITEM, state=state, plan=PLAN).is_error


def test_a_state_for_one_set_of_arguments_is_refused_with_another() -> None:
    """Reported as vikshana/vikshana-graft-app#32."""
    server = Server(shop())
    asked = server.ask("remove", ITEM)

    assert server.refuse("remove", {"item": 8}, state=asked.state, plan=PLAN).reason == "arguments"
    assert server.ran == ["remove"], "only what the first request ran"


def test_a_state_of_one_tool_is_refused_by_another_that_goes_on_with_the_same_step() -> None:
    """Reported as cds-snc/notification-api#1782: method and name are bound."""
    server = Server(shop())
    asked = server.ask("remove", ITEM)

    assert server.refuse("restore", ITEM, state=asked.state, plan=PLAN).reason == "target"


def test_a_state_of_a_tool_is_refused_by_a_prompt_of_the_same_name_and_the_other_way_round() -> None:
    """Reported as cds-snc/notification-api#1782: the method is bound."""
    toolbox = Toolbox("shop")

    @toolbox.step
    @needs_input(plan="Which plan?")
    def ask(plan: str) -> str:
        return plan

    @toolbox.prompt
    def remove() -> str:
        return then(ask)

    tools, prompts = Server(shop()), Server(toolbox)
    of_tool = tools.ask("subscribe").state
    of_prompt = prompts.ask("remove", method="prompts/get").state

    assert prompts.refuse("remove", method="prompts/get", state=of_tool, plan=PLAN).reason == "method"
    assert tools.refuse("remove", ITEM, state=of_prompt, plan=PLAN).reason == "method"


def test_states_of_two_toolboxes_with_the_same_key_and_the_same_words_do_not_cross() -> None:
    """Reported as cds-snc/notification-api#1782: the audience is bound."""
    asked = Server(shop(), OLD, audience="staging").ask("remove", ITEM)

    assert Server(shop(), OLD, audience="production").refuse("remove", ITEM, state=asked.state).reason == "unknown_key"


@pytest.mark.parametrize("ahead", [1, 2, LEEWAY])
def test_a_clock_that_is_a_little_ahead_elsewhere_does_no_harm(ahead: int) -> None:
    """Reported as pallets/itsdangerous#400: a second or two; here a minute, for whoever reads and whoever mints."""
    fast, here = Clock(), Server(shop())
    fast.now += ahead
    asked = Server(shop(), clock=fast).ask("remove", ITEM)

    assert not here.end("remove", ITEM, state=asked.state, plan=PLAN).is_error


def test_a_clock_that_is_a_little_behind_elsewhere_does_no_harm() -> None:
    """Reported as pallets/itsdangerous#400: a state that was minted late by its own clock is not refused as too old."""
    slow = Clock()
    slow.now -= LEEWAY
    asked = Server(shop(), clock=slow, ttl=1).ask("remove", ITEM)

    assert not Server(shop(), ttl=1).end("remove", ITEM, state=asked.state, plan=PLAN).is_error


def test_a_state_of_tomorrow_is_refused() -> None:
    """Reported as pallets/itsdangerous#126."""
    fast, here = Clock(), Server(shop())
    fast.now += 24 * 3600
    asked = Server(shop(), clock=fast).ask("remove", ITEM)

    assert here.refuse("remove", ITEM, state=asked.state, plan=PLAN).reason == "future"


def test_a_new_key_is_taken_in_by_all_before_anyone_signs_with_it() -> None:
    """The three phases of a rotation; out of turn the log says that the key is not known.

    Reported as pallets/werkzeug#31.
    """
    before, knowing, signing, after = (Server(shop(), *ring) for ring in ([OLD], [OLD, NEW], [NEW, OLD], [NEW]))
    phases = [(before, knowing), (knowing, signing), (signing, after)]

    for one, other in phases[:2]:
        for mint, read in ((one, other), (other, one)):
            assert not read.end("remove", ITEM, state=mint.ask("remove", ITEM).state, plan=PLAN).is_error
    assert not after.end("remove", ITEM, state=signing.ask("remove", ITEM).state, plan=PLAN).is_error
    assert before.refuse("remove", ITEM, state=signing.ask("remove", ITEM).state, plan=PLAN).reason == "unknown_key"


def test_expired_and_forged_have_one_message_and_two_reasons_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """No oracle. Only the honest client of an expired call is told that it came too late.

    Reported as pallets/itsdangerous#11.
    """
    server = Server(shop(), ttl=600)
    state = str(server.ask("remove", ITEM).state)
    forged = state[:20] + ("A" if state[20] != "A" else "B") + state[21:]

    tampered = server.refuse("remove", ITEM, state=forged, plan=PLAN)
    server.clock.now += 661
    late = server.refuse("remove", ITEM, state=state, plan=PLAN)
    both = server.refuse("remove", ITEM, state=forged, plan=PLAN)

    assert (late.reason, late.data) == ("expired", {"reason": "expired"})
    assert (tampered.reason, tampered.data) == (both.reason, both.data) == ("signature", None)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 3
    assert state not in caplog.text


def test_an_expired_flow_in_which_nothing_has_run_begins_anew() -> None:
    """It asks once more, and the answer that came too late counts for nothing.

    Reported as pallets/itsdangerous#11.
    """
    server = Server(shop(), ttl=600)
    state = server.ask("subscribe").state
    server.clock.now += 600 + LEEWAY

    assert not server.end("subscribe", state=state, plan=PLAN).is_error
    server.clock.now += 1
    again = server.send("subscribe", state=state, plan=PLAN)

    assert isinstance(again, InputRequired)
    assert list(again.requests) == ["plan-2"]
    assert server.end("subscribe", state=again.state, **{"plan-2": PLAN}).value == "basic"


def test_going_back_to_an_older_state_is_allowed_and_has_one_call_id() -> None:
    """Documented in README; effects are guarded by the call id and the idempotency key.

    Reported as pathosDev/actor-ts#612.
    """
    server = Server(shop())
    asked = server.ask("remove", ITEM)
    other = server.ask("remove", ITEM)

    basic = str(server.end("remove", ITEM, state=asked.state, plan=PLAN).value).split()
    premium = str(server.end("remove", ITEM, state=asked.state, plan=accept(plan="premium")).value).split()

    apart = str(server.end("remove", ITEM, state=other.state, plan=PLAN).value).split()

    assert (basic[1], premium[1]) == ("basic", "premium")
    assert basic[2:] == premium[2:]
    assert not set(apart[2:]) & set(basic[2:]), "another call"


def test_two_calls_at_once_do_not_cross() -> None:
    """Each retry is self-contained, and a state goes with its own arguments only.

    Reported as PrefectHQ/fastmcp#2647.
    """
    server = Server(shop())
    seven, eight = server.ask("remove", {"item": 7}), server.ask("remove", {"item": 8})

    assert str(server.end("remove", {"item": 8}, state=eight.state, plan=PLAN).value).startswith("8 basic")
    assert str(server.end("remove", {"item": 7}, state=seven.state, plan=PLAN).value).startswith("7 basic")
    assert server.refuse("remove", {"item": 7}, state=eight.state, plan=PLAN).reason == "arguments"


def test_a_life_of_a_week_is_a_week() -> None:
    """Reported as open-gsd/gsd-pi#1150: one place sets it; nothing shorter hides elsewhere."""
    server = Server(shop(), ttl=7 * 24 * 3600)
    asked = server.ask("remove", ITEM)
    server.clock.now += 3 * 24 * 3600

    assert not server.end("remove", ITEM, state=asked.state, plan=PLAN).is_error
