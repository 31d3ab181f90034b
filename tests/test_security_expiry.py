"""Time, through whole requests: how long a person may take, when a state has expired, and what becomes of it then.

Every clock in here stands still until it is moved.
"""

from typing import Any

import anyio
import pytest
import trio.testing

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Call, Client
from mrtr_tools.lifetimes import DAY, LEEWAY
from mrtr_tools.server.legacy import handle_legacy_call
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import EVERYTHING, TESTING_KEYS, Player
from tests.attacker import NOON, Clock, Server
from tests.wire_by_hand import accept

YES = accept(ok=True)
ROME = {"city": "Rome"}


def travel(ttl: float | None = None) -> Toolbox:
    """`fly` asks before anything has run, `search` after; a state of either lives as long as is said."""
    toolbox = Toolbox("travel")

    @toolbox.tool(ttl=ttl)
    @needs_input(ok=confirm("Fly to {city}?"))
    def fly(city: str) -> str:
        return f"flown to {city}"

    @toolbox.tool(ttl=ttl)
    def search(city: str) -> str:
        return then(buy, city=city)

    @toolbox.step
    @needs_input(ok=confirm("Fly to {city}?"))
    def buy(city: str) -> str:
        return f"flown to {city}"

    return toolbox


def served(clock: Clock | None = None, tool: float | None = None, **options: Any) -> Server:
    return Server(travel(tool), clock=clock, **options)


# How long: the tool's time, else the server's, within the age of the call


LIVES = [
    ({"ttl": 600}, 600),
    ({"ttl": 600, "tool": 60}, 60),
    ({"ttl": 600, "tool": 7200}, 7200),
    ({"ttl": 600, "tool": 7 * DAY}, 7 * DAY),
    ({"ttl": 7 * DAY}, 7 * DAY),
    ({"ttl": 600, "tool": 7 * DAY, "max_age": 900}, 900),
    ({"ttl": 7 * DAY, "max_age": 900}, 900),
    ({"tool": 0.5}, 0),  # states are dated in whole seconds, and a new one is taken whatever its time
]


@pytest.mark.parametrize(("options", "seconds"), LIVES, ids=str)
def test_a_person_may_take_just_as_long_as_a_state_lives_and_a_minute(options: dict[str, Any], seconds: float):
    """Security 7: to the second; the time of a tool goes before that of the server, the age of the call before both."""
    server = served(**options)
    asked = server.ask("search", ROME)

    server.clock.now = NOON + seconds + LEEWAY
    assert server.end("search", ROME, state=asked.state, ok=YES).value == "flown to Rome"
    server.clock.now += 1
    assert server.refuse("search", ROME, state=asked.state, ok=YES).data == {"reason": "expired"}
    assert server.ran == ["search", "buy"]


@pytest.mark.parametrize(("options", "seconds"), LIVES, ids=str)
def test_before_anything_has_run_the_same_second_asks_for_the_yes_again(options: dict[str, Any], seconds: float):
    """Security 8: consent has a time to live, and the call begins anew with the same request."""
    server = served(**options)
    asked = server.ask("fly", ROME)

    server.clock.now = NOON + seconds + LEEWAY + 1
    again = server.ask("fly", ROME, state=asked.state, ok=YES)

    assert (list(again.requests), server.ran) == (["ok-2"], [])
    assert list(server.ask("fly", ROME, state=again.state, ok=YES).requests) == ["ok-2"]  # the late yes, sent once more
    assert server.end("fly", ROME, state=again.state, **{"ok-2": YES}).value == "flown to Rome"


def test_each_round_has_the_whole_time_but_all_of_them_no_more_than_the_age_of_the_call():
    """Security 7: whoever keeps asking without an answer gains nothing beyond it."""
    server = served(tool=600, max_age=1500)
    asked = server.ask("search", ROME)
    for _ in range(3):
        server.clock.now += 500
        asked = server.ask("search", ROME, state=asked.state)

    server.clock.now = NOON + 1500 + LEEWAY
    last = server.ask("search", ROME, state=asked.state)
    server.clock.now += 1
    for state in (asked.state, last.state):
        assert server.refuse("search", ROME, state=state, ok=YES).data == {"reason": "expired"}
    assert server.ran == ["search"]


def test_a_call_that_began_anew_has_its_whole_age_before_it_and_no_old_answer():
    """Security 8: as if neither its state nor its answers had come."""
    server = served(ttl=600, max_age=900)
    asked = server.ask("fly", ROME)
    server.clock.now += 900 + LEEWAY + 1
    again = server.ask("fly", ROME, state=asked.state, ok=YES)
    server.clock.now += 600 + LEEWAY

    assert server.end("fly", ROME, state=again.state, **{"ok-2": YES}).value == "flown to Rome"


def test_prompts_and_resources_have_a_time_of_their_own_as_tools_have():
    """Security 7."""
    toolbox, clock = Toolbox("texts"), Clock()

    @toolbox.prompt(ttl=60)
    @needs_input(tone="Which tone?")
    def letter(tone: str) -> str:
        return f"A {tone} letter"

    @toolbox.resource("notes://today", ttl=60)
    @needs_input(tone="Which tone?")
    def note(tone: str) -> str:
        return f"A {tone} note"

    player = Player(toolbox, signer=StateSigner(TESTING_KEYS, "t", clock=clock))

    async def play(target: str, wait: float) -> list[str]:
        conversation = await player.start(target)
        clock.now += wait
        await conversation.answer(tone="kind")
        return conversation.questions

    for target in ("letter", "notes://today"):
        assert anyio.run(play, target, 60 + LEEWAY) == ["tone"]
        assert anyio.run(play, target, 60 + LEEWAY + 1) == ["tone", "tone-2"]


# A shorter time works at once


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"ttl": 3600}, {"ttl": 60}),
        ({"tool": 3600}, {"tool": 60}),
        ({"ttl": 3600}, {"ttl": 3600, "tool": 60}),
        ({"ttl": 60, "tool": 3600}, {"ttl": 60}),
        ({}, {"max_age": 60}),
    ],
    ids=["server", "tool", "tool gets one", "tool loses its own", "age"],
)
def test_a_time_that_is_lowered_counts_for_states_that_are_out(before: dict[str, Any], after: dict[str, Any]):
    """Security 7: a deployment that lowers it need not wait for what the one before has promised."""
    clock = Clock()
    old, new = served(clock, **before), served(clock, **after)
    searched, asked = old.ask("search", ROME), old.ask("fly", ROME)

    clock.now += 60 + LEEWAY
    assert new.end("search", ROME, state=searched.state, ok=YES).value == "flown to Rome"
    clock.now += 1
    assert new.refuse("search", ROME, state=searched.state, ok=YES).data == {"reason": "expired"}
    assert list(new.ask("fly", ROME, state=asked.state, ok=YES).requests) == ["ok-2"]
    assert old.end("search", ROME, state=searched.state, ok=YES).value == "flown to Rome"


# Clocks that differ


@pytest.mark.parametrize("ahead", [LEEWAY, -LEEWAY])
def test_two_machines_whose_clocks_differ_by_a_minute_serve_one_call(ahead: int):
    """Security 8."""
    one, two = served(Clock(), ttl=600), served(Clock(NOON + ahead), ttl=600)
    for minting, opening in ((one, two), (two, one)):
        asked = minting.ask("search", ROME)
        assert opening.end("search", ROME, state=asked.state, ok=YES).value == "flown to Rome"


def test_a_state_from_further_ahead_is_refused_like_a_forged_one_and_begins_nothing_anew():
    """Security 8: the exact words, and nothing of why."""
    here, ahead = served(Clock()), served(Clock(NOON + LEEWAY + 1))

    for tool in ("fly", "search"):
        assert here.refuse(tool, ROME, state=ahead.ask(tool, ROME).state, ok=YES).data is None
    assert here.ran == []


# A person's time is nobody's run time


@pytest.mark.anyio
async def test_between_rounds_a_person_may_take_a_week_and_the_step_still_has_all_its_time():
    """Nothing is running meanwhile that could run out."""
    clock = Clock()
    player = Player(travel(ttl=7 * DAY), signer=StateSigner(TESTING_KEYS, "t", clock=clock))

    conversation = await player.start("search", ROME)
    clock.now += 7 * DAY
    await conversation.answer(ok=True)

    assert (conversation.result, conversation.ran) == ("flown to Rome", ["search", "buy"])


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", [("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})])
async def test_a_person_at_an_older_client_may_take_a_week_with_the_call_open():
    """All timers in here would run on this clock, which jumps to the next one as soon as everybody waits."""

    async def push(request: object) -> Any:
        await anyio.sleep(7 * DAY)
        return YES

    begun = anyio.current_time()
    done = await handle_legacy_call(travel(ttl=60), Call("search", ROME, client=Client(EVERYTHING)), push)

    assert done.value == "flown to Rome"
    assert anyio.current_time() - begun == 7 * DAY
