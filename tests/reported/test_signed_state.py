"""What others reported of this kind of software: signed state, in conversations; `test_state.py` has the tokens."""

import logging

import pytest

from mrtr_tools import Context, Toolbox, needs_input, then
from mrtr_tools.keys import generate_key
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

    return toolbox


ITEM, PLAN = {"item": 7}, accept(plan="basic")


def test_two_processes_with_keys_of_their_own_refuse_each_other_and_say_so_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One frozen message on the wire; the log says that the key is not known, not "tampered".

    Reported as overture-stack/arranger#1099, modelcontextprotocol/csharp-sdk#1876.
    """
    here, there = Server(shop(), OLD), Server(shop(), NEW)

    refused = there.refuse("remove", ITEM, state=here.ask("remove", ITEM).state, plan=PLAN)

    assert (refused.reason, refused.data) == ("unknown_key", None)
    assert "unknown_key" in caplog.text


def test_a_state_for_one_set_of_arguments_is_refused_with_another() -> None:
    """Reported as vikshana/vikshana-graft-app#32."""
    server = Server(shop())
    asked = server.ask("remove", ITEM)

    assert server.refuse("remove", {"item": 8}, state=asked.state, plan=PLAN).reason == "arguments"


def test_a_state_of_one_tool_is_refused_by_another_that_goes_on_with_the_same_step() -> None:
    """Reported as cds-snc/notification-api#1782: method and name are bound."""
    server = Server(shop())
    asked = server.ask("remove", ITEM)

    assert server.refuse("restore", ITEM, state=asked.state, plan=PLAN).reason == "target"


def test_states_of_two_toolboxes_with_the_same_key_and_the_same_words_do_not_cross() -> None:
    """Reported as cds-snc/notification-api#1782: the audience is bound."""
    asked = Server(shop(), OLD, audience="staging").ask("remove", ITEM)

    assert Server(shop(), OLD, audience="production").refuse("remove", ITEM, state=asked.state).reason == "unknown_key"


@pytest.mark.parametrize("ahead", [2, 59])
def test_a_clock_that_is_a_little_ahead_elsewhere_does_no_harm(ahead: int) -> None:
    """Reported as pallets/itsdangerous#400."""
    fast, here = Clock(), Server(shop())
    fast.now += ahead
    asked = Server(shop(), clock=fast).ask("remove", ITEM)

    assert not here.end("remove", ITEM, state=asked.state, plan=PLAN).is_error


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


def test_going_back_to_an_older_state_is_allowed_and_has_one_call_id() -> None:
    """Documented in README; effects are guarded by the call id and the idempotency key.

    Reported as pathosDev/actor-ts#612.
    """
    server = Server(shop())
    asked = server.ask("remove", ITEM)

    basic = str(server.end("remove", ITEM, state=asked.state, plan=PLAN).value).split()
    premium = str(server.end("remove", ITEM, state=asked.state, plan=accept(plan="premium")).value).split()

    assert (basic[1], premium[1]) == ("basic", "premium")
    assert basic[2:] == premium[2:]


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
