"""Attacks on whole conversations: consent that expired or was for another build, restarts, and states of others."""

from typing import Any

import pytest

from mrtr_tools import AskAgain, Context, Toolbox, confirm, needs_input, then
from mrtr_tools.errors import InvalidState
from tests.attacker import Clock, Server
from tests.wire_by_hand import accept

YES = accept(ok=True)

# Security 8: expired consent, and restarts


def flights(clock: Clock | None = None, **options) -> tuple[Server, list[str]]:
    bought: list[str] = []
    toolbox = Toolbox("flights")

    @toolbox.tool
    @needs_input(ok=confirm("Fly to {city}?"))
    def fly(city: str, ctx: Context) -> str:
        bought.append(ctx.idempotency_key)
        return f"flown to {city}"

    @toolbox.tool
    def search(city: str) -> str:
        return then(buy, city=city)

    @toolbox.step
    @needs_input(ok=confirm("Fly to {city}?"))
    def buy(city: str) -> str:
        bought.append(city)
        return f"flown to {city}"

    return Server(toolbox, clock=clock or Clock(), **options), bought


ROME = {"city": "Rome"}


def test_a_yes_that_comes_too_late_is_asked_for_again() -> None:
    """Security 8: else a time to live would mean nothing for consent."""
    server, bought = flights(ttl=600)
    asked = server.ask("fly", ROME)
    server.clock.now += 700

    again = server.ask("fly", ROME, state=asked.state, ok=YES)

    assert (list(again.requests), bought) == (["ok-2"], [])
    assert list(server.ask("fly", ROME, state=again.state, ok=YES).requests) == ["ok-2"]  # sent again, it is still late
    assert server.end("fly", ROME, state=again.state, **{"ok-2": YES}).value == "flown to Rome"


def test_a_restart_keeps_the_call_id_so_that_a_killed_step_keeps_its_key() -> None:
    """Security 8: the effect was done, the process died, the state expired: the next run has the same key."""
    server, bought = flights(ttl=600)
    asked = server.ask("fly", ROME)
    server.end("fly", ROME, state=asked.state, ok=YES)
    server.clock.now += 700

    again = server.ask("fly", ROME, state=asked.state, ok=YES)
    server.end("fly", ROME, state=again.state, **{"ok-2": YES})

    assert len(bought) == 2
    assert len(set(bought)) == 1


def test_after_a_function_has_run_a_late_yes_ends_the_call() -> None:
    """Security 8: what ran cannot be as if it had not."""
    server, bought = flights(ttl=600)
    asked = server.ask("search", ROME)
    server.clock.now += 700

    refused = server.refuse("search", ROME, state=asked.state, ok=YES)

    assert (refused.data, bought) == ({"reason": "expired"}, [])


def test_an_input_function_that_ran_counts_as_well() -> None:
    """Security 8: "no step finished" counts the functions of inputs."""
    toolbox = Toolbox("shop")

    @toolbox.tool
    @needs_input(price=lambda: 5)
    @needs_input(ok=confirm("Buy for {price}?"))
    def buy(price: int) -> str:
        return f"bought for {price}"

    server = Server(toolbox, ttl=600)
    asked = server.ask("buy")
    server.clock.now += 700

    assert server.refuse("buy", state=asked.state, ok=YES).data == {"reason": "expired"}


@pytest.mark.parametrize(
    "wrong", [{"principal": "mallory"}, {"principal": None}, {"arguments": {"city": "Oslo"}}, {"tool": "fly"}]
)
def test_a_stolen_state_that_expired_looks_like_a_forged_one(wrong: dict[str, object]) -> None:
    """Security 8: only who passes every binding learns that it expired."""
    server, _ = flights(ttl=600)
    asked = server.ask("search", ROME, principal="alice")
    server.clock.now += 700
    sent = {"tool": "search", "arguments": ROME, "principal": "alice", "state": asked.state, "ok": YES}

    refused = server.refuse(**{**sent, **wrong})
    forged = server.refuse(**{**sent, "state": str(asked.state)[:-2] + "AA"})

    assert (
        (refused.code, str(refused), refused.data)
        == (forged.code, str(forged), forged.data)
        == (-32602, InvalidState.MESSAGE, None)
    )


def test_after_a_restart_no_earlier_answer_survives() -> None:
    """Security 8: as if neither the state nor the answers had come, also with cold answers on."""
    toolbox = Toolbox("pair")

    @toolbox.tool(cold_answers=True)
    @needs_input(first="First?", second="Second?")
    def pair(first: str, second: str) -> str:
        return f"{first} {second}"

    server = Server(toolbox, ttl=600)
    asked = server.ask("pair")
    half = server.ask("pair", state=asked.state, first=accept(first="a"))
    assert list(half.requests) == ["second"]
    server.clock.now += 700

    again = server.ask("pair", state=half.state, second=accept(second="b"))

    assert list(again.requests) == ["first-2", "second-2"]


def test_answers_that_come_with_an_old_state_are_no_cold_answers() -> None:
    """Security 8, 9: the state was of another version; what came with it is not taken to questions that are new."""

    def build(version: int) -> Toolbox:
        toolbox = Toolbox("pair")

        def pair(first: str, second: str = "") -> str:
            return f"{first} {second}"

        texts: Any = {"first": "First?"} | ({"second": "Second?"} if version else {})
        toolbox.tool(cold_answers=True, version=version)(needs_input(**texts)(pair))
        return toolbox

    old, new = Server(build(0)), Server(build(1))
    asked = old.ask("pair", first="unreadable")
    answers = {"first": accept(first="a"), "second": accept(second="b")}

    again = new.ask("pair", state=asked.state, **answers)

    assert list(again.requests) == ["first-2", "second"]
    assert new.end("pair", **answers).value == "a b"


def test_a_call_that_grew_too_old_begins_anew_and_can_be_finished() -> None:
    """Security 7, 8: where nothing has run, its age counts from the new beginning."""
    server, _ = flights(ttl=600, max_age=1000)
    asked = server.ask("fly", ROME)
    for _ in range(2):
        server.clock.now += 500
        asked = server.ask("fly", ROME, state=asked.state)
    server.clock.now += 100

    again = server.ask("fly", ROME, state=asked.state, ok=YES)

    assert list(again.requests) == ["ok-2"]
    assert server.end("fly", ROME, state=again.state, **{"ok-2": YES}).value == "flown to Rome"


def test_a_call_cannot_be_kept_alive_by_never_answering() -> None:
    """Security 7: each unanswered round gets a fresh state, and none outlives the age of the call."""
    server, bought = flights(ttl=600, max_age=1000)
    asked = server.ask("search", ROME)
    for _ in range(2):
        server.clock.now += 500
        asked = server.ask("search", ROME, state=asked.state)
    server.clock.now += 100

    assert server.refuse("search", ROME, state=asked.state, ok=YES).data == {"reason": "expired"}
    assert bought == []


# Security 5, 7: old states, and states of others


def payments(*, gate: bool = False, version: int = 0, alias: bool = False) -> Toolbox:
    """One build of a tool; the next may have a new gate, a new version or a renamed step."""
    toolbox = Toolbox("payments")

    @toolbox.tool(version=version)
    def pay(amount: int) -> str:
        return then(settle, amount=amount)

    def settle(amount: int) -> str:
        return f"paid {amount}"

    if gate:
        settle = needs_input(checked=confirm("No fraud in {amount}?"))(settle)
    settle = needs_input(ok=confirm("Pay {amount}?"))(settle)
    toolbox.step(settle, name="settle_payment" if alias else "settle", aliases=("settle",) if alias else ())
    return toolbox


TEN = {"amount": 10}


def test_an_old_state_does_not_jump_over_a_gate_that_is_new() -> None:
    """Security 7: the yes that was asked for counts, the one that is new is asked for."""
    asked = Server(payments()).ask("pay", TEN)
    new = Server(payments(gate=True))

    gate = new.ask("pay", TEN, state=asked.state, ok=YES, checked=accept(checked=True))

    assert list(gate.requests) == ["checked"]
    assert new.ran == []
    assert new.end("pay", TEN, state=gate.state, checked=accept(checked=True)).value == "paid 10"


def test_a_raised_version_takes_no_older_state() -> None:
    """Security 7: "a new check before an effect is a new version"; and no newer one, during a rolling deploy."""
    old, new = Server(payments()), Server(payments(version=1))

    assert new.refuse("pay", TEN, state=old.ask("pay", TEN).state, ok=YES).data == {"reason": "no_longer_fits"}
    assert old.refuse("pay", TEN, state=new.ask("pay", TEN).state, ok=YES).data == {"reason": "no_longer_fits"}
    assert old.ran == new.ran == ["pay"]


@pytest.mark.parametrize(("method", "target"), [("prompts/get", "greeting"), ("resources/read", "letters://1")])
def test_a_raised_version_of_a_prompt_or_resource_takes_no_older_state(method: str, target: str) -> None:
    """Security 7."""

    def build(version: int) -> Toolbox:
        toolbox = Toolbox("letters")

        @toolbox.prompt(version=version)
        def greeting() -> str:
            return then(greet)

        @toolbox.resource("letters://1", version=version)
        def letter() -> str:
            return then(greet)

        @toolbox.step
        @needs_input(who="Whom do we greet?")
        def greet(who: str) -> str:
            return f"Dear {who}"

        return toolbox

    old, new = Server(build(0)), Server(build(1))
    state = old.ask(target, method=method).state

    assert new.refuse(target, method=method, state=state).data == {"reason": "no_longer_fits"}
    assert old.end(target, method=method, state=state, who=accept(who="Ada")).value == "Dear Ada"


def test_a_renamed_step_is_found_by_its_alias_and_its_question_still_stands() -> None:
    """Security 7: without the alias the state no longer fits, and never leads to a wrong step.

    Reported as airbytehq/airbyte#13973.
    """
    asked = Server(payments()).ask("pay", TEN)

    assert Server(payments(alias=True)).end("pay", TEN, state=asked.state, ok=YES).value == "paid 10"


@pytest.mark.parametrize("principal", ["mallory", None, "alice ", "ALICE", ""])
def test_nobody_can_say_yes_to_the_question_of_somebody_else(principal: str | None) -> None:
    """Security 8, 12: the state is bound to who began the call."""
    server, bought = flights()
    asked = server.ask("fly", ROME, principal="alice")

    assert server.refuse("fly", ROME, state=asked.state, principal=principal, ok=YES).data is None
    assert bought == []
    assert server.end("fly", ROME, state=asked.state, principal="alice", ok=YES).value == "flown to Rome"


def test_a_fork_has_the_same_call_id_and_the_same_idempotency_key() -> None:
    """Security 5: a client can send a state twice; what must happen once has a key to tell by."""
    server, bought = flights()
    asked = server.ask("fly", ROME)

    for _ in range(3):
        server.end("fly", ROME, state=asked.state, ok=YES)

    assert len(bought) == 3
    assert len(set(bought)) == 1


def test_the_idempotency_key_is_the_same_only_after_equally_many_steps_and_questions_again() -> None:
    """Security 5: what a fork does on another way to the same step has another key, although it is the same call."""
    bought: list[str] = []
    toolbox = Toolbox("shop")

    @toolbox.tool
    @needs_input(size="Which size?")
    def choose(size: str) -> str:
        if size == "XL":
            raise AskAgain(size="There is no XL.")
        return then(look, size=size) if size == "L" else then(buy, size=size)

    @toolbox.step
    def look(size: str) -> str:
        return then(buy, size=size)

    @toolbox.step
    def buy(size: str, ctx: Context) -> str:
        bought.append(ctx.idempotency_key)
        return size

    server = Server(toolbox)
    asked = server.ask("choose")
    for size in ("S", "M", "L"):
        server.end("choose", state=asked.state, size=accept(size=size))
    again = server.ask("choose", state=asked.state, size=accept(size="XL"))
    server.end("choose", state=again.state, **{"size-2": accept(size="S")})

    call = bought[0].partition(":")[0]
    assert bought == [f"{call}:1:buy", f"{call}:1:buy", f"{call}:2:buy", f"{call}:2:buy"]
