"""Whole calls with things of single use: through the runner, for older clients, and where no claims are kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from pydantic import JsonValue

from mrtr_tools import AskAgain, Context, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Call, Client, Complete, InputRequired, Reply
from mrtr_tools.errors import AlreadyDone, Busy, MissingCapability
from mrtr_tools.keys import generate_key
from mrtr_tools.runner import handle_call
from mrtr_tools.server.legacy import handle_legacy_call
from mrtr_tools.single_use import Ledger, MemoryClaims
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import TESTING_KEYS, Player
from tests.rounds_by_hand import FORMS, MUTE
from tests.wire_by_hand import NO, YES, accept

pytestmark = pytest.mark.anyio


@dataclass
class Server:
    """One of the machines that serve a toolbox; all have the same claims."""

    toolbox: Toolbox
    signer: StateSigner = field(default_factory=lambda: StateSigner([generate_key()], "t"))
    claims: MemoryClaims = field(default_factory=MemoryClaims)

    async def send(
        self, tool: str, responses: Mapping[str, JsonValue] | None = None, state: str | None = None, **more: Any
    ) -> Reply:
        request = Call(tool, {}, responses or {}, state, **{"client": FORMS, **more})
        return await handle_call(self.toolbox, request, self.signer, ledger=Ledger(self.claims, self.signer))

    async def ask(self, tool: str, responses: Any = None, state: str | None = None, **more: Any) -> str:
        reply = await self.send(tool, responses, state, **more)
        assert isinstance(reply, InputRequired), reply
        assert reply.state is not None
        return reply.state


def booking(ran: list[str]) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(name="Who?")
    @needs_input(day="When?")
    def book(name: str, day: str) -> str:
        ran.append(f"book {name} {day}")
        return then(thank, name=name)

    @toolbox.step
    @needs_input(stars="How was it, {name}?")
    def thank(name: str, stars: int) -> str:
        ran.append("thank")
        return f"{name} {stars}"

    return toolbox


async def test_a_tool_of_single_use_has_no_forks_in_any_round():
    """Security 4."""
    ran: list[str] = []
    server = Server(booking(ran))
    first = await server.ask("book")
    second = await server.ask("book", {"name": accept(name="Ann")}, first)
    with pytest.raises(AlreadyDone, match="other answers"):
        await server.send("book", {"name": accept(name="Bob")}, first)
    repeated = await server.ask("book", {"name": accept(name="Ann")}, first)
    third = await server.ask("book", {"day": accept(day="Monday")}, repeated)
    with pytest.raises(AlreadyDone):
        await server.send("book", {"day": accept(day="Friday")}, second)
    ended = await server.send("book", {"stars": accept(stars=4)}, third)
    assert ended == Complete("Ann 4", {"result": "Ann 4"})
    assert await server.send("book", {"stars": accept(stars=4)}, third) == ended
    with pytest.raises(AlreadyDone):
        await server.send("book", {"stars": accept(stars=1)}, third)
    assert ran == ["book Ann Monday", "thank"]


async def test_an_answer_that_is_no_cannot_become_a_yes_by_sending_it_again():
    """Security 4."""
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Delete?"))
    def delete() -> str:
        return "deleted"

    server = Server(toolbox)
    state = await server.ask("delete")
    no = await server.send("delete", {"ok": NO}, state)
    assert isinstance(no, Complete)
    assert no.is_error
    with pytest.raises(AlreadyDone):
        await server.send("delete", {"ok": YES}, state)
    assert await server.send("delete", {"ok": NO}, state) == no


async def test_a_round_in_which_a_step_asks_again_has_no_forks_either():
    """Security 4: or a client could try one answer after the other from the same state."""
    tried: list[str] = []
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(code="Which code?")
    def unlock(code: str) -> str:
        tried.append(code)
        if code != "1234":
            raise AskAgain(code="That is not it")
        return "open"

    server = Server(toolbox)
    state = await server.ask("unlock")
    again = await server.ask("unlock", {"code": accept(code="0000")}, state)
    with pytest.raises(AlreadyDone):
        await server.send("unlock", {"code": accept(code="1234")}, state)
    await server.ask("unlock", {"code": accept(code="0000")}, state)
    assert tried == ["0000"]
    ended = await server.send("unlock", {"code-2": accept(code="1234")}, again)
    assert ended == Complete("open", {"result": "open"})


async def test_a_round_that_a_client_could_not_be_asked_in_is_free_again_when_nothing_ran():
    server = Server(booking([]))
    state = await server.ask("book")
    with pytest.raises(MissingCapability):
        await server.send("book", {"name": accept(name="Ann")}, state, client=MUTE)
    await server.ask("book", {"name": accept(name="Bob")}, state)


async def test_a_round_that_a_client_could_not_be_asked_in_is_used_when_something_ran():
    """Security 4: or what ran would run again, with other answers. A repeat goes on behind it."""
    ran: list[str] = []
    server = Server(booking(ran))
    state = await server.ask("book", {"name": accept(name="Ann")}, await server.ask("book"))
    monday = {"day": accept(day="Monday")}
    with pytest.raises(MissingCapability):
        await server.send("book", monday, state, client=MUTE)
    with pytest.raises(AlreadyDone):
        await server.send("book", {"day": accept(day="Friday")}, state)
    with pytest.raises(MissingCapability):
        await server.send("book", monday, state, client=MUTE)
    last = await server.ask("book", monday, state)
    assert await server.ask("book", monday, state)
    assert await server.send("book", {"stars": accept(stars=4)}, last) == Complete("Ann 4", {"result": "Ann 4"})
    assert ran == ["book Ann Monday", "thank"]


async def test_a_place_for_claims_that_goes_away_within_a_round_loses_no_call():
    """Security 4: nothing runs without a claim; and a call that was told to try again later can."""
    ran: list[str] = []
    claims = Leaving()
    toolbox = Toolbox("t")

    def token() -> str:
        ran.append("token")
        claims.is_there = False
        return "t0"

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Pay?"))
    @needs_input(token=token)
    def pay(token: str) -> str:
        ran.append("pay")
        return f"paid with {token}"

    server = Server(toolbox, claims=claims)
    state = await server.ask("pay")
    with pytest.raises(Busy) as caught:
        await server.send("pay", {"ok": YES}, state)
    assert caught.value.data == {"reason": "unavailable"}
    assert ran == ["token"]
    claims.is_there = True
    for _ in range(2):
        done = await server.send("pay", {"ok": YES}, state)
        assert done == Complete("paid with t0", {"result": "paid with t0"})
    assert ran == ["token", "pay"]


class Leaving(MemoryClaims):
    """A store that takes no claims while it is away."""

    is_there = True

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        if not self.is_there:
            raise ConnectionError
        return await super().add(name, value, keep)


async def test_what_is_left_of_a_round_that_was_cut_short_is_played_once_as_well():
    """Security 4."""
    ran: list[str] = []
    claims = Leaving()
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Order?"))
    def order() -> str:
        ran.append("order")
        claims.is_there = False
        return then(ship)

    @toolbox.step(single_use=True)
    def ship() -> str:
        ran.append("ship")
        return then(tell)

    @toolbox.step
    def tell() -> str:
        ran.append("tell")
        return " ".join(ran)

    server = Server(toolbox, claims=claims)
    state = await server.ask("order")
    with pytest.raises(Busy):
        await server.send("order", {"ok": YES}, state)
    claims.is_there = True
    replies = [await server.send("order", {"ok": YES}, state) for _ in range(2)]
    assert replies == [Complete("order ship tell", {"result": "order ship tell"})] * 2
    assert ran == ["order", "ship", "tell"]


async def test_the_same_request_gets_the_same_reply_though_a_function_gives_something_else():
    """Security 4: a price of the moment, say. Whoever sends another request is refused, with the same answers too."""
    paid: list[int] = []
    prices = iter((100, 900, 901))
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Go?"))
    def go() -> str:
        return then(pay, price=next(prices))

    @toolbox.step(single_use=True)
    def pay(price: int) -> str:
        paid.append(price)
        return f"paid {price}"

    server = Server(toolbox)
    state = await server.ask("go")
    first = await server.send("go", {"ok": YES}, state)
    assert await server.send("go", {"ok": YES}, state) == first == Complete("paid 100", {"result": "paid 100"})
    with pytest.raises(AlreadyDone):
        await server.send("go", {"ok": YES, "unasked": YES}, state)
    assert paid == [100]


async def test_an_error_is_repeated_and_logged_once(caplog: pytest.LogCaptureFixture):
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Pay?"))
    def pay() -> str:
        raise OSError("disk")

    server = Server(toolbox)
    state = await server.ask("pay")
    first = await server.send("pay", {"ok": YES}, state)
    assert await server.send("pay", {"ok": YES}, state) == first
    assert first == Complete("The tool failed unexpectedly.", is_error=True)
    assert len(caplog.records) == 1


async def test_a_result_that_cannot_be_kept_reaches_the_first_and_is_told_to_the_operator(
    caplog: pytest.LogCaptureFixture,
):
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Pay?"))
    def pay() -> list[int]:
        return (1, 2)  # type: ignore[return-value]

    server = Server(toolbox)
    state = await server.ask("pay")
    assert await server.send("pay", {"ok": YES}, state) == Complete((1, 2), {"result": [1, 2]})
    assert "pay ran, but a repeat will not get its result" in caplog.text
    repeat = await server.send("pay", {"ok": YES}, state)
    assert repeat == Complete("This was done before, and what came of it cannot be told again.", is_error=True)


async def test_the_idempotency_key_of_an_effect_is_the_same_for_every_machine_and_repeat():
    seen: list[str] = []
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Pay?"))
    def pay(ctx: Context) -> str:
        seen.append(ctx.idempotency_key)
        return "paid"

    one = Server(toolbox)
    two = Server(toolbox, one.signer)
    state = await one.ask("pay")
    for server in (one, two, one):
        await server.send("pay", {"ok": YES}, state)
    assert len(seen) == 3
    assert len(set(seen)) == 1


async def test_without_a_place_for_claims_nothing_of_single_use_runs(caplog: pytest.LogCaptureFixture):
    """Security 4: it fails closed."""
    ran: list[str] = []
    toolbox, signer = booking(ran), StateSigner([generate_key()], "t")
    first = await handle_call(toolbox, Call("book", client=FORMS), signer)
    assert isinstance(first, InputRequired)
    with pytest.raises(Busy) as caught:
        await handle_call(toolbox, Call("book", {}, {"name": accept(name="Ann")}, first.state, client=FORMS), signer)
    assert caught.value.data == {"reason": "unavailable"}
    assert "ledger" in caplog.text
    assert ran == []


async def test_an_older_client_whose_call_cannot_come_twice_needs_no_claim_and_no_hand_back():
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    def fire(ctx: Context) -> str:
        return f"fired {ctx.round}"

    async def push(request: Mapping[str, JsonValue]) -> JsonValue:
        raise AssertionError(request)

    assert await handle_legacy_call(toolbox, Call("fire", client=Client()), push) == Complete(
        "fired 1", {"result": "fired 1"}
    )


async def test_what_an_older_client_began_comes_to_its_end_when_it_goes_away():
    ran: list[str] = []
    inside, go_on = anyio.Event(), anyio.Event()
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    async def fire() -> str:
        inside.set()
        await go_on.wait()
        ran.append("fire")
        return "fired"

    async def push(request: Mapping[str, JsonValue]) -> JsonValue:
        raise AssertionError(request)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(handle_legacy_call, toolbox, Call("fire", client=Client()), push)
        await inside.wait()
        tasks.cancel_scope.cancel()
        go_on.set()
    assert ran == ["fire"]


def test_authors_play_such_tools_as_any_other():
    ran: list[str] = []
    played = Player(booking(ran)).play("book", name="Ann", day="Monday", stars=5)
    assert (played.text, played.rounds) == ("Ann 5", 4)
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    def fire() -> str:
        return "fired"

    assert Player(toolbox).play("fire").rounds == 2


async def test_a_state_that_expired_and_began_anew_keeps_what_its_call_has_claimed():
    """Security 8: a step that was killed inside stays claimed when its call begins anew."""
    now = [1000.0]
    toolbox = Toolbox("t")
    ran: list[str] = []

    @toolbox.tool
    @needs_input(ok=confirm("Pay?"))
    def shop() -> str:
        return then(pay)

    @toolbox.step(single_use=True)
    def pay() -> str:
        ran.append("pay")
        return "paid"

    server = Server(toolbox, StateSigner(TESTING_KEYS, "t", ttl=60, clock=lambda: now[0]))
    state = await server.ask("shop")
    await server.send("shop", {"ok": YES}, state)
    now[0] += 200
    anew = await server.send("shop", {"ok": YES}, state)
    assert isinstance(anew, InputRequired)
    assert list(anew.requests) == ["ok-2"]
    again = await server.send("shop", {"ok-2": YES}, anew.state)
    assert again == Complete("paid", {"result": "paid"})
    assert ran == ["pay"]


async def test_a_state_that_expired_brings_no_old_yes_back():
    """Security 8: also where a round was played in time, and what came of it is kept."""
    now = [1000.0]
    toolbox = Toolbox("t")
    ran: list[str] = []

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Buy it for 100 EUR?"))
    @needs_input(name="For whom?")
    def buy(name: str) -> str:
        ran.append(name)
        return name

    server = Server(toolbox, StateSigner(TESTING_KEYS, "t", ttl=60, clock=lambda: now[0]))
    first = await server.ask("buy")
    second = await server.ask("buy", {"ok": YES}, first)
    now[0] += 200
    anew = await server.send("buy", {"ok": YES}, first)
    assert isinstance(anew, InputRequired)
    assert list(anew.requests) == ["ok-2"]
    late = await server.send("buy", {"name": accept(name="Ann")}, second)
    assert isinstance(late, InputRequired)
    assert list(late.requests) == ["ok-2"]
    last = await server.ask("buy", {"ok-2": YES}, anew.state)
    with pytest.raises(AlreadyDone):  # it went on from the first state, and is one call
        await server.send("buy", {"ok-2": NO}, anew.state)
    assert await server.send("buy", {"name": accept(name="Bob")}, last) == Complete("Bob", {"result": "Bob"})
    assert ran == ["Bob"]


async def test_the_last_second_of_a_state_is_still_inside_the_life_of_its_claim():
    """Security 4: t = exp + 30, when only the leeway still takes the state."""
    now = [1000.0]
    ran: list[str] = []
    toolbox = Toolbox("t")

    @toolbox.tool(single_use=True)
    def fire() -> str:
        ran.append("fire")
        return "fired"

    signer = StateSigner(TESTING_KEYS, "t", ttl=60, max_age=60, clock=lambda: now[0])
    server = Server(toolbox, signer, MemoryClaims(lambda: now[0]))
    state = await server.ask("fire")
    for later in (1000.0, 1090.0, 1120.0):
        now[0] = later
        assert await server.send("fire", state=state) == Complete("fired", {"result": "fired"})
    assert ran == ["fire"]
    now[0] = 2000  # the claim is forgotten; the state is as if none had come, and nothing runs in such a request
    anew = await server.send("fire", state=state)
    assert isinstance(anew, InputRequired)
    assert anew.requests == {}
    assert ran == ["fire"]


@pytest.mark.parametrize(("version", "runs"), [(0, 2), (1, 1)])
async def test_a_ttl_that_is_raised_needs_a_raised_version(version: int, runs: int):
    """Security 4: a state that had expired, and outlived its claim, would be taken once more."""
    now = [1000.0]
    ran: list[str] = []

    def build(**options: Any) -> Server:
        toolbox = Toolbox("t")

        @toolbox.tool(single_use=True, **options)
        @needs_input(ok=confirm("Go?"))
        def fire() -> str:
            ran.append("fire")
            return "fired"

        return Server(toolbox, StateSigner(TESTING_KEYS, "t", clock=lambda: now[0]), claims)

    claims = MemoryClaims(lambda: now[0])
    state = await build().ask("fire")
    await build().send("fire", {"ok": YES}, state)
    now[0] += 3 * 24 * 3600
    await build(ttl=7 * 24 * 3600, version=version).send("fire", {"ok": YES}, state)
    assert len(ran) == runs


@pytest.mark.parametrize("version", [0, 1])
async def test_single_use_that_is_switched_on_does_not_know_what_ran_before(version: int):
    """The old build claimed nothing; with a raised version no call of its goes on."""
    ran: list[str] = []

    def build(**options: Any) -> Server:
        toolbox = Toolbox("t")

        @toolbox.tool(**options)
        @needs_input(ok=confirm("Go?"))
        def fire() -> str:
            ran.append("fire")
            return "fired"

        return Server(toolbox, StateSigner(TESTING_KEYS, "t"), claims)

    claims = MemoryClaims()
    state = await build().ask("fire")
    await build().send("fire", {"ok": YES}, state)
    new = build(single_use=True, version=version)
    for _ in range(3):
        await new.send("fire", {"ok": YES}, state)
    assert len(ran) == (1 if version else 2)
