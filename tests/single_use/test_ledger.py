"""The ledger: once, whoever asks, whenever, and whatever becomes of whoever does it."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic_core import from_json, to_json

from mrtr_tools.errors import AlreadyDone, Busy
from mrtr_tools.keys import generate_key, read_key
from mrtr_tools.once import Claim
from mrtr_tools.outcomes import Outcome
from mrtr_tools.single_use import Ledger, MemoryClaims
from mrtr_tools.state import LEEWAY, StateSigner

pytestmark = pytest.mark.anyio

CLAIM = Claim(("step", "call", "pay", "1"), "inputs", 1_000_000)
DONE: Outcome = {"done": "paid hunter2"}
NOW = 1_000_100
OLD, NEW = generate_key(), generate_key()


class Shelf(MemoryClaims):
    """A store that can be looked into, and how long what is in it is kept."""

    def __init__(self) -> None:
        super().__init__(lambda: 0)
        self.seconds: list[float] = []

    @property
    def rows(self) -> dict[str, bytes]:
        return {name: value for name, (_, value) in self._kept.items()}

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        self.seconds.append(keep)
        return await super().add(name, value, keep)


@dataclass
class Desk:
    """A ledger with a clock, and what was done with it."""

    store: MemoryClaims = field(default_factory=Shelf)
    now: float = NOW
    keys: tuple[str, ...] = (OLD,)
    audience: str = "till"
    acted: int = 0

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.store, StateSigner(self.keys, self.audience, clock=lambda: self.now))

    async def once(self, claim: Claim = CLAIM, outcome: Outcome | None = DONE) -> Outcome | None:
        async def act() -> Outcome | None:
            self.acted += 1
            return outcome

        return await self.ledger.once(claim, act)


async def refused(desk: Desk, claim: Claim = CLAIM) -> tuple[int, Any]:
    """What a second comer is told."""
    before = desk.acted
    with pytest.raises((AlreadyDone, Busy)) as caught:
        await desk.once(claim)
    assert desk.acted == before
    return caught.value.code, caught.value.data


async def test_the_first_acts_and_the_second_gets_what_was_left():
    """Security 4."""
    desk = Desk()
    assert await desk.once() is None
    assert await desk.once(outcome={"done": "other"}) == DONE
    assert desk.acted == 1


async def test_a_repeat_with_other_inputs_is_refused():
    """Security 4: no request is the same as no request."""
    desk = Desk()
    await desk.once()
    assert await refused(desk, replace(CLAIM, inputs="others")) == (-32602, {"reason": "used"})


async def test_the_same_request_is_a_repeat_whatever_its_functions_gave_the_second_time():
    """Security 4: what came of it belongs to whoever sent this."""
    desk = Desk()
    await desk.once(replace(CLAIM, request="sent"))
    assert await desk.once(replace(CLAIM, inputs="others", request="sent")) == DONE
    assert await desk.once(replace(CLAIM, request="other")) == DONE
    for request in ("other", ""):
        again = replace(CLAIM, inputs="others", request=request)
        assert await refused(desk, again) == (-32602, {"reason": "used"})
    assert desk.acted == 1


async def test_who_comes_meanwhile_is_told_to_come_again():
    """Security 4: also when its answers are the same; with others it is told so at once."""
    desk = Desk()
    inside, go_on = anyio.Event(), anyio.Event()

    async def act() -> Outcome:
        inside.set()
        await go_on.wait()
        return DONE

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.ledger.once, CLAIM, act)
        await inside.wait()
        assert await refused(desk) == (-31001, {"reason": "in_progress"})
        assert await refused(desk, replace(CLAIM, inputs="others")) == (-32602, {"reason": "used"})
        go_on.set()
    assert await desk.once() == DONE
    assert desk.acted == 0


async def test_another_place_call_or_server_is_another_claim():
    desk = Desk()
    await desk.once()
    await desk.once(replace(CLAIM, place=("step", "call", "pay", "2")))
    await desk.once(replace(CLAIM, place=("step", "other", "pay", "1")))
    await desk.once(replace(CLAIM, place=("round", "call", "pay", "1")))
    await Desk(desk.store, audience="other").once()
    assert len(desk.store.rows) == 5  # type: ignore[attr-defined]


async def test_what_did_nothing_may_be_done_again():
    desk = Desk()
    assert await desk.once(outcome=None) is None
    assert await desk.once(replace(CLAIM, inputs="others")) is None
    assert desk.acted == 2


# Machines


async def test_machines_in_the_middle_of_a_rotation_make_one_claim_and_read_each_other():
    """Security 4: the claim has no key in it."""
    store = Shelf()
    await Desk(store, keys=(OLD, NEW)).once()
    assert await Desk(store, keys=(NEW, OLD)).once() == DONE
    assert len(store.rows) == 1


async def test_what_a_key_sealed_that_is_gone_is_not_done_again():
    store = Shelf()
    await Desk(store, keys=(OLD,)).once()
    assert await refused(Desk(store, keys=(NEW,))) == (-32602, {"reason": "unfinished"})


async def test_what_a_retired_key_sealed_is_not_taken():
    store = Shelf()
    await Desk(store, keys=(OLD,)).once()
    signer = StateSigner((read_key(NEW), read_key(OLD, accept_until=NOW - 1)), "till", clock=lambda: NOW)
    with pytest.raises(AlreadyDone):
        await Ledger(store, signer).once(CLAIM, _never)


async def test_what_is_kept_cannot_be_read_or_moved_by_who_holds_the_store():
    """Security 4 and 19: it is sealed, for its place and its inputs."""
    desk, other = Desk(), Desk()
    await desk.once()
    (name,), (row,) = desk.store.rows, desk.store.rows.values()  # type: ignore[attr-defined]
    assert b"hunter2" not in row
    assert b"hunter2" not in base64.b64decode(from_json(row)[4])
    moved = replace(CLAIM, place=("step", "victim", "pay", "1"))
    await other.once(moved)
    (victim,) = other.store.rows  # type: ignore[attr-defined]
    await other.store.replace(victim, other.store.rows[victim], row, 1)  # type: ignore[attr-defined]
    assert await refused(other, moved) == (-32602, {"reason": "unfinished"})
    inputs, *rest = from_json(row)
    assert inputs == "inputs"
    await desk.store.replace(name, row, to_json(["others", *rest]), 1)
    assert await refused(desk, replace(CLAIM, inputs="others")) == (-32602, {"reason": "unfinished"})


# Crashes


async def left_inside(desk: Desk, claim: Claim = CLAIM) -> None:
    """Somebody claims it, and is never heard of again."""
    row = to_json([claim.inputs, "", "gone", desk.now + 30, None])
    await desk.store.add(desk.ledger._name(claim), row, 1)


async def test_a_crash_inside_stays_claimed():
    """Security 4: nobody knows whether it acted, so nobody does it again."""
    desk = Desk()
    await left_inside(desk)
    assert await refused(desk) == (-31001, {"reason": "in_progress"})
    desk.now += 30 + LEEWAY
    assert await refused(desk) == (-31001, {"reason": "in_progress"})
    desk.now += 0.001
    assert await refused(desk) == (-32602, {"reason": "unfinished"})
    desk.now += 3600
    assert await refused(desk) == (-32602, {"reason": "unfinished"})


async def test_a_crash_inside_is_done_again_where_the_author_says_so():
    """Security 4."""
    desk, claim = Desk(), replace(CLAIM, on_crash="rerun")
    await left_inside(desk, claim)
    assert await refused(desk, claim) == (-31001, {"reason": "in_progress"})
    desk.now += 30 + LEEWAY + 0.001
    assert await refused(desk, replace(claim, inputs="others")) == (-32602, {"reason": "used"})
    assert await desk.once(claim) is None
    assert await desk.once(claim) == DONE
    assert desk.acted == 1


async def test_of_many_who_find_a_crash_one_does_it_again():
    desk, claim = Desk(), replace(CLAIM, on_crash="rerun")
    await left_inside(desk, claim)
    desk.now += 30 + LEEWAY + 1
    found: list[object] = []

    async def come() -> None:
        try:
            found.append(await desk.once(claim))
        except Busy as busy:
            found.append(busy.data)

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(come)
    assert desk.acted == 1
    assert found.count(None) == 1


async def test_what_was_begun_comes_to_its_end_though_its_request_is_cancelled():
    """Security 4: whoever sends it again gets what came of it, though the first answer reached nobody."""
    desk = Desk()
    inside, go_on = anyio.Event(), anyio.Event()

    async def act() -> Outcome:
        inside.set()
        await go_on.wait()
        return DONE

    async def request() -> None:
        await desk.ledger.once(CLAIM, act)
        await anyio.lowlevel.checkpoint()
        raise AssertionError("it was cancelled")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(request)
        await inside.wait()
        tasks.cancel_scope.cancel()
        go_on.set()
    assert await desk.once() == DONE
    assert desk.acted == 0


async def test_a_server_that_cancels_the_task_of_a_request_does_not_cancel_what_was_begun(anyio_backend_name: str):
    """Security 4: that is how one over HTTP drops a client that hung up."""
    if anyio_backend_name != "asyncio":
        pytest.skip("trio cancels no task from outside")
    desk = Desk()
    inside, go_on = anyio.Event(), anyio.Event()

    async def act() -> Outcome:
        inside.set()
        await go_on.wait()
        return DONE

    request = asyncio.ensure_future(desk.ledger.once(CLAIM, act))
    await inside.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert await refused(desk) == (-31001, {"reason": "in_progress"})
    go_on.set()
    while desk.store.rows and b"null" in next(iter(desk.store.rows.values())):  # type: ignore[attr-defined]
        await anyio.lowlevel.checkpoint()
    assert await desk.once() == DONE


def test_a_process_that_ends_leaves_its_claim_behind():
    desk = Desk()

    async def main() -> None:
        inside = asyncio.Event()

        async def act() -> Outcome:
            inside.set()
            await anyio.sleep_forever()
            return DONE

        asyncio.ensure_future(desk.ledger.once(CLAIM, act))  # noqa: RUF006  it ends with the loop
        await inside.wait()

    asyncio.run(main())
    assert asyncio.run(refused(desk)) == (-32602, {"reason": "unfinished"})


async def test_a_request_that_was_cancelled_before_is_not_begun():
    desk = Desk()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await desk.once()
    assert scope.cancelled_caught
    assert (desk.acted, desk.store.rows) == (0, {})  # type: ignore[attr-defined]


class Stop(BaseException):
    """What ends more than a call."""


async def test_what_is_no_exception_comes_out_as_it_is_too():
    desk = Desk()

    async def act() -> Outcome:
        raise Stop

    with pytest.raises(Stop):
        await desk.ledger.once(CLAIM, act)
    assert await refused(desk) == (-32602, {"reason": "unfinished"})


async def test_an_error_inside_leaves_its_claim_behind_and_comes_out_as_it_is():
    desk = Desk()

    async def act() -> Outcome:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await desk.ledger.once(CLAIM, act)
    assert await refused(desk) == (-32602, {"reason": "unfinished"})


# How long


async def test_a_claim_is_kept_until_no_state_of_its_call_can_be_taken():
    """Security 4: an entry that is forgotten while the leeway still takes the state lets it happen twice."""
    shelf = Shelf()
    desk = Desk(shelf)
    await desk.once()
    day = 24 * 3600
    last_taken = CLAIM.born + day + LEEWAY
    assert shelf.seconds[0] + NOW >= last_taken + LEEWAY + 60
    late = Desk(Shelf(), now=last_taken + 5)
    await late.once()
    assert late.store.seconds[0] >= LEEWAY + 60  # type: ignore[attr-defined]


async def test_a_call_whose_first_state_is_minted_only_now_is_kept_as_long():
    shelf = Shelf()
    await Desk(shelf).once(replace(CLAIM, born=0))
    assert shelf.seconds[0] >= 24 * 3600


# A store that fails


class Broken(MemoryClaims):
    """A store that is down, from the given number of calls on, for so many calls."""

    def __init__(self, after: int, calls: int = 1000) -> None:
        super().__init__()
        self.down = range(after, after + calls)
        self.calls = 0

    def _look(self) -> None:
        self.calls += 1
        if self.calls - 1 in self.down:
            raise ConnectionError("redis://:secret@host is down")

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        self._look()
        return await super().add(name, value, keep)

    async def replace(self, name: str, old: bytes, new: bytes, keep: float) -> bool:
        self._look()
        return await super().replace(name, old, new, keep)

    async def remove(self, name: str, old: bytes) -> bool:
        self._look()
        return await super().remove(name, old)


async def test_a_store_that_is_down_refuses_before_anything_is_done(caplog: pytest.LogCaptureFixture):
    """Security 4: it fails closed, and says so where the operator looks and not to the client."""
    desk = Desk(Broken(0))
    with pytest.raises(Busy) as caught:
        await desk.once()
    assert (caught.value.data, desk.acted) == ({"reason": "unavailable"}, 0)
    assert "secret" not in caught.value.message
    assert caught.value.__cause__ is None
    assert "claims cannot be read" in caplog.text


async def test_a_store_that_goes_down_inside_does_not_take_the_result_away(caplog: pytest.LogCaptureFixture):
    desk = Desk(Broken(1))
    assert await desk.once() is None
    assert desk.acted == 1
    assert "a repeat of the call may be refused" in caplog.text


@pytest.mark.parametrize("outcome", [DONE, None], ids=["done", "nothing done"])
async def test_one_failure_loses_nothing_of_what_came_of_it(outcome: Outcome | None):
    desk = Desk(Broken(1, calls=1))
    assert await desk.once(outcome=outcome) is None
    assert await desk.once(outcome=outcome) == outcome


class Unsure(Shelf):
    """A store that does what it is told, and then fails to say so, in these calls of it, counted from 0."""

    def __init__(self, *calls: int) -> None:
        super().__init__()
        self.left = iter(range(1000))
        self.unsure = calls
        self.failed = anyio.Event()

    def _fail(self) -> None:
        if next(self.left) in self.unsure:
            self.failed.set()
            raise TimeoutError

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        there = await super().add(name, value, keep)
        self._fail()
        return there

    async def replace(self, name: str, old: bytes, new: bytes, keep: float) -> bool:
        changed = await super().replace(name, old, new, keep)
        self._fail()
        return changed


async def test_a_claim_of_which_nobody_knows_whether_it_was_made_is_taken_back():
    """Or the call would wait for somebody who is not at work, and then be lost."""
    desk = Desk(Unsure(0))
    assert await refused(desk) == (-31001, {"reason": "unavailable"})
    assert await desk.once() is None
    assert await desk.once() == DONE
    assert desk.acted == 1


async def test_a_store_that_tries_again_by_itself_finds_our_own_claim():
    class Patient(Shelf):
        async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
            await super().add(name, value, keep)
            return await super().add(name, value, keep)

    desk = Desk(Patient())
    assert await desk.once() is None
    assert await desk.once() == DONE
    assert desk.acted == 1


@pytest.mark.parametrize("outcome", [DONE, None], ids=["done", "nothing done"])
async def test_a_word_that_seemed_to_be_lost_takes_no_outcome_with_it(
    outcome: Outcome | None, monkeypatch: pytest.MonkeyPatch
):
    """Security 4: the row is ours, though it is not what we last knew it to be."""
    monkeypatch.setattr("mrtr_tools.single_use.ledger.ALIVE", 0.003)
    store = Unsure(1)
    desk = Desk(store)

    async def act() -> Outcome | None:
        desk.now += 1
        await store.failed.wait()
        return outcome

    assert await desk.ledger.once(CLAIM, act) is None
    assert await desk.once() == outcome


async def test_a_claim_that_another_process_took_over_stays_with_it(caplog: pytest.LogCaptureFixture):
    """A process that stood still wakes up beside the one that does it again."""
    desk, claim = Desk(), replace(CLAIM, on_crash="rerun")
    inside, go_on = anyio.Event(), anyio.Event()

    async def act() -> Outcome:
        inside.set()
        await go_on.wait()
        return {"done": "too late"}

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.ledger.once, claim, act)
        await inside.wait()
        desk.now += 1000
        assert await desk.once(claim) is None
        go_on.set()
    assert await desk.once(claim) == DONE
    assert "another process took it over" in caplog.text


async def test_who_is_at_work_says_so_for_as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch):
    """Security 4: what takes long is not what was left behind."""
    monkeypatch.setattr("mrtr_tools.single_use.ledger.ALIVE", 0.003)
    desk = Desk()
    inside, go_on = anyio.Event(), anyio.Event()

    async def act() -> Outcome:
        inside.set()
        await go_on.wait()
        return DONE

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.ledger.once, CLAIM, act)
        await inside.wait()
        desk.now += 1000
        (before,) = desk.store.rows.values()  # type: ignore[attr-defined]
        with anyio.fail_after(5):
            while [before] == list(desk.store.rows.values()):  # type: ignore[attr-defined]
                await anyio.lowlevel.checkpoint()
        assert await refused(desk) == (-31001, {"reason": "in_progress"})
        go_on.set()
    assert await desk.once() == DONE


async def test_a_row_that_is_none_of_ours_refuses():
    desk = Desk()
    await desk.store.add(desk.ledger._name(CLAIM), b"\xffnonsense", 1)
    assert await refused(desk) == (-31001, {"reason": "unavailable"})


async def _never() -> Outcome:
    raise AssertionError("it must not be done again")


_: Callable[[], Awaitable[Outcome | None]] = _never
