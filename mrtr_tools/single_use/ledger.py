"""`Ledger`: does what is claimed once, and keeps what came of it.

A claim is a row in a `ClaimStore`, added before anything is done:

    name      SHA-256 of server, call and place, without a key, so that machines in mid-rotation make the same claim
    row       [inputs, request, owner, alive until, sealed outcome or null] as JSON

Whoever adds the row does the work, keeps the row alive meanwhile, and puts the outcome into it. Whoever finds it there
gets the outcome, when it is for the same inputs or the same request; else an error. A row that nobody keeps alive was
left by a process that ended inside the work.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import anyio
import anyio.lowlevel
from pydantic_core import from_json, to_json

from mrtr_tools.errors import AlreadyDone, Busy
from mrtr_tools.lifetimes import LEEWAY
from mrtr_tools.once import Claim
from mrtr_tools.outcomes import Outcome
from mrtr_tools.sealing import Sealer
from mrtr_tools.single_use.store import ClaimStore
from mrtr_tools.state import StateSigner

__all__ = ["Ledger"]

ALIVE: Final = 30
"""Seconds that a row lives without a word from whoever does the work; a word comes three times as often."""
MARGIN: Final = 60 + LEEWAY
"""Seconds that an outcome is kept beyond the last moment at which a state of its call could be taken."""
TRIES: Final = 2
"""How often what came of it is written: what nobody could write is lost to a repeat."""

_log = logging.getLogger("mrtr_tools")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Row:
    inputs: str
    request: str
    owner: str
    alive: float
    sealed: str | None = None

    def to_bytes(self) -> bytes:
        return to_json([self.inputs, self.request, self.owner, self.alive, self.sealed])

    @classmethod
    def read(cls, raw: bytes) -> _Row:
        return cls(*from_json(raw, cache_strings="keys"))

    def is_for(self, claim: Claim) -> bool:
        return self.inputs == claim.inputs or (self.request != "" and self.request == claim.request)

    def context(self, name: str) -> bytes:
        """What its outcome is sealed for."""
        return json.dumps([name, self.inputs, self.request]).encode()


class Ledger:
    """Does what is claimed once, for all servers that share a store, an audience and keys.

    Args:
        store: where the claims are.
        signer: its audience names the server, its keys seal the outcomes, and its `max_age` says how long they are
            kept.
    """

    def __init__(self, store: ClaimStore, signer: StateSigner) -> None:
        self._store = store
        self._signer = signer
        self._sealer = signer.sealer("ledger/reply")
        self._acting: set[asyncio.Task[Any]] = set()

    async def once(self, claim: Claim, act: Callable[[], Awaitable[Outcome | None]]) -> Outcome | None:
        """Do what is claimed, unless it was done.

        Args:
            claim: what to claim first.
            act: does it, and gives what came of it; None when it did nothing and may be done again.

        Returns:
            What came of it before; None when it was done just now.

        Raises:
            AlreadyDone: it was done with other inputs, or whoever did it ended inside.
            Busy: it is being done, or the store cannot be reached.
        """
        await anyio.lowlevel.checkpoint_if_cancelled()
        return await self._to_its_end(self._once(claim, act))

    async def _once(self, claim: Claim, act: Callable[[], Awaitable[Outcome | None]]) -> Outcome | None:
        held = _Held(self._store, self._name(claim), self._signer, claim)
        outcome = await self._found(claim, held)
        if outcome is None:
            await self._act(held, act)
        return outcome

    async def finish(self) -> None:
        """Wait until all that was begun has come to its end, also where its client is gone. For asyncio."""
        if self._acting:
            _log.info("waiting for %d steps of single use to end", len(self._acting))
        while self._acting:
            await asyncio.wait(self._acting)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._acting.discard(task)
        if not task.cancelled():
            task.exception()  # it has gone to whoever waited, if anybody did

    async def _to_its_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Do what was begun to its end, though its client goes away: the next request finds what came of it."""
        done: list[T] = []
        with anyio.CancelScope(shield=True):
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:  # trio
                done.append(await work)
            else:  # where whoever serves the request may cancel the task itself
                task = loop.create_task(work)
                self._acting.add(task)
                task.add_done_callback(self._ended)
                done.append(await asyncio.shield(task))
        return done[0]

    def _name(self, claim: Claim) -> str:
        return hashlib.sha256(json.dumps(["claim", self._signer.audience, *claim.place]).encode()).hexdigest()

    async def _found(self, claim: Claim, held: _Held) -> Outcome | None:
        """The outcome that is there, or None when the claim is ours now."""
        try:
            while (there := await held.take()) is not None:
                if (outcome := self._left(_Row.read(there), claim, held.name)) is not None:
                    return outcome
                if await held.take_over(there):
                    break
        except (AlreadyDone, Busy):
            raise
        except Exception:  # noqa: BLE001  whatever a store raises, nothing is done without a claim
            _log.exception("claims cannot be read or written; the call was refused")
            raise Busy("unavailable") from None
        return None

    def _left(self, row: _Row, claim: Claim, name: str) -> Outcome | None:
        """What is in a row, or None when it may be taken over."""
        if not row.is_for(claim):
            raise AlreadyDone("used")
        if row.sealed is not None:
            return self._opened(row.sealed, row.context(name))
        if self._signer.clock() <= row.alive + LEEWAY:
            raise Busy("in_progress")
        if claim.on_crash == "refuse":
            raise AlreadyDone("unfinished")
        return None

    async def _act(self, held: _Held, act: Callable[[], Awaitable[Outcome | None]]) -> None:
        outcome: Outcome | None = None
        failure: BaseException | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(held.keep_alive)
                try:
                    outcome = await act()
                except BaseException as error:  # noqa: BLE001  raised again below, and not as part of a group
                    failure = error
                tasks.cancel_scope.cancel()
        finally:
            if failure is not None:
                await held.abandon()
            elif outcome is None:
                await held.release()
            else:
                await held.settle(outcome, self._sealer)
        if failure is not None:
            raise failure

    def _opened(self, sealed: str, context: bytes) -> Outcome:
        try:
            outcome: Outcome = from_json(self._sealer.open(b64decode(sealed), context), cache_strings="keys")
        except ValueError as error:
            _log.error("what a call left cannot be read: %s", error)
            raise AlreadyDone("unfinished") from None
        return outcome


class _Held:
    """One claim, while one process works on it."""

    def __init__(self, store: ClaimStore, name: str, signer: StateSigner, claim: Claim) -> None:
        self._store = store
        self.name = name
        self._clock = signer.clock
        self._ends = (claim.born or self._clock()) + signer.greatest_age(claim.ttl) + LEEWAY + MARGIN
        self._row = _Row(claim.inputs, claim.request, secrets.token_hex(8), self._clock() + ALIVE)

    @property
    def _keep(self) -> float:
        return max(MARGIN, self._ends - self._clock())

    async def take(self) -> bytes | None:
        """Make the claim; gives what is there instead."""
        ours = self._row.to_bytes()
        try:
            there = await self._store.add(self.name, ours, self._keep)
        except BaseException:
            # It may be there all the same, and nobody would be at work.
            with suppress(Exception):
                await self._store.remove(self.name, ours)
            raise
        return None if there == ours else there

    async def take_over(self, there: bytes) -> bool:
        """Make the claim in the place of one whose process has ended."""
        return await self._store.replace(self.name, there, self._row.to_bytes(), self._keep)

    async def keep_alive(self) -> None:
        """Say for as long as the work takes that somebody is at it."""
        while True:
            await anyio.sleep(ALIVE / 3)
            with anyio.CancelScope(shield=True):
                await self._note(replace(self._row, alive=self._clock() + ALIVE))

    async def settle(self, outcome: Outcome, sealer: Sealer) -> None:
        """Keep what came of it."""
        sealed = sealer.seal(to_json(outcome), self._row.context(self.name))
        await self._note(replace(self._row, sealed=b64encode(sealed).decode()))

    async def abandon(self) -> None:
        """Say that nobody is at it any more, and that it did not come to its end."""
        await self._note(replace(self._row, alive=-LEEWAY))

    async def release(self) -> None:
        """Take the claim back."""
        await self._note(None)

    async def _note(self, row: _Row | None) -> None:
        """Put a row in the place of ours, or nothing. The work is done or under way: it cannot be refused any more."""
        for tries_left in reversed(range(TRIES)):
            try:
                if not (await self._put(row) or (await self._found_again() and await self._put(row))):
                    _log.error("a claim is not what it was: another process took it over")
                return
            except Exception:  # noqa: BLE001  whatever a store raises
                if not tries_left:
                    _log.exception("a claim cannot be written; a repeat of the call may be refused")

    async def _put(self, row: _Row | None) -> bool:
        ours = self._row.to_bytes()
        if row is None:
            return await self._store.remove(self.name, ours)
        changed = await self._store.replace(self.name, ours, row.to_bytes(), self._keep)
        self._row = row if changed else self._row
        return changed

    async def _found_again(self) -> bool:
        """Whether the claim is still ours: a change that seemed to fail may have come about all the same."""
        there = await self._store.add(self.name, self._row.to_bytes(), self._keep)
        row = self._row if there is None else _Row.read(there)
        if row.owner == self._row.owner:
            self._row = row
            return True
        return False
