"""`Ledger`: does what is claimed once, and keeps what came of it.

A claim is a row in a `ClaimStore`, added before anything is done:

    name      SHA-256 of server, call and place, without a key, so that machines in mid-rotation make the same claim
    row       [inputs, owner, alive until, sealed outcome or null] as JSON

Whoever adds the row does the work, keeps the row alive meanwhile, and puts the outcome into it. Whoever finds it there
gets the outcome, when it is for the same inputs; else an error. A row that nobody keeps alive was left by a process
that ended inside the work.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

import anyio
from pydantic_core import from_json, to_json

from mrtr_tools.errors import AlreadyDone, Busy
from mrtr_tools.lifetimes import LEEWAY
from mrtr_tools.once import Claim
from mrtr_tools.outcomes import Outcome
from mrtr_tools.single_use.store import ClaimStore
from mrtr_tools.state import StateSigner

__all__ = ["Ledger"]

ALIVE: Final = 30
"""Seconds that a row lives without a word from whoever does the work; a word comes three times as often."""
MARGIN: Final = 60 + LEEWAY
"""Seconds that an outcome is kept beyond the last moment at which a state of its call could be taken."""

_log = logging.getLogger("mrtr_tools")


@dataclass(frozen=True, slots=True)
class _Row:
    inputs: str
    owner: str
    alive: float
    sealed: str | None = None

    def to_bytes(self) -> bytes:
        return to_json([self.inputs, self.owner, self.alive, self.sealed])

    @classmethod
    def read(cls, raw: bytes) -> _Row:
        return cls(*from_json(raw))


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
        self._acting: set[asyncio.Task[None]] = set()

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
        name = self._name(claim)
        held = _Held(self._store, name, self._signer, claim)
        try:
            outcome = await self._found(claim, held)
        except (AlreadyDone, Busy):
            raise
        except Exception:  # noqa: BLE001  whatever a store raises, nothing is done without a claim
            _log.exception("claims cannot be read or written; the call was refused")
            raise Busy("unavailable") from None
        if outcome is None:
            await self._act(held, act)
        return outcome

    async def finish(self) -> None:
        """Wait until all that was begun has come to its end, also where its client is gone. For asyncio."""
        if self._acting:
            _log.info("waiting for %d steps of single use to end", len(self._acting))
        while self._acting:
            await asyncio.wait(self._acting)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._acting.discard(task)
        if not task.cancelled():
            task.exception()  # it has gone to whoever waited, if anybody did

    def _name(self, claim: Claim) -> str:
        return hashlib.sha256(json.dumps(["claim", self._signer.audience, *claim.place]).encode()).hexdigest()

    async def _found(self, claim: Claim, held: _Held) -> Outcome | None:
        """The outcome that is there, or None when the claim is ours now."""
        while (there := await held.take()) is not None:
            row = _Row.read(there)
            if row.inputs != claim.inputs:
                raise AlreadyDone("used")
            if row.sealed is not None:
                return self._opened(row.sealed, held)
            if self._signer.clock() <= row.alive + LEEWAY:
                raise Busy("in_progress")
            if claim.on_crash == "refuse":
                raise AlreadyDone("unfinished")
            if await held.take_over(there):
                break
        return None

    async def _act(self, held: _Held, act: Callable[[], Awaitable[Outcome | None]]) -> None:
        """Bring what was begun to its end, though its client goes away: the next request finds what came of it."""
        with anyio.CancelScope(shield=True):
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:  # trio
                await self._acted(held, act)
            else:  # where whoever serves the request may cancel the task itself
                task = loop.create_task(self._acted(held, act))
                self._acting.add(task)
                task.add_done_callback(self._ended)
                await asyncio.shield(task)

    async def _acted(self, held: _Held, act: Callable[[], Awaitable[Outcome | None]]) -> None:
        outcome: Outcome | None = None
        is_done = False
        failure: Exception | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(held.keep_alive)
                try:
                    outcome = await act()
                    is_done = True
                except Exception as error:  # noqa: BLE001  raised again below, and not as part of a group
                    failure = error
                tasks.cancel_scope.cancel()
        finally:
            if not is_done:
                await held.abandon()
            elif outcome is None:
                await held.release()
            else:
                await held.settle(self._sealed(outcome, held))
        if failure is not None:
            raise failure

    def _sealed(self, outcome: Outcome, held: _Held) -> str:
        return b64encode(self._sealer.seal(to_json(outcome), held.context)).decode()

    def _opened(self, sealed: str, held: _Held) -> Outcome:
        try:
            outcome: Outcome = from_json(self._sealer.open(b64decode(sealed), held.context))
        except ValueError as error:
            _log.error("what a call left cannot be read: %s", error)
            raise AlreadyDone("unfinished") from None
        return outcome


class _Held:
    """One claim, while one process works on it."""

    def __init__(self, store: ClaimStore, name: str, signer: StateSigner, claim: Claim) -> None:
        self._store = store
        self._name = name
        self._clock = signer.clock
        self._ends = (claim.born or self._clock()) + signer.greatest_age(claim.ttl) + LEEWAY + MARGIN
        self._row = _Row(claim.inputs, secrets.token_hex(8), self._clock() + ALIVE)
        self.context = json.dumps([name, claim.inputs]).encode()

    @property
    def _keep(self) -> float:
        return max(MARGIN, self._ends - self._clock())

    async def take(self) -> bytes | None:
        """Make the claim; gives what is there instead."""
        return await self._store.add(self._name, self._row.to_bytes(), self._keep)

    async def take_over(self, there: bytes) -> bool:
        """Make the claim in the place of one whose process has ended."""
        return await self._store.replace(self._name, there, self._row.to_bytes(), self._keep)

    async def keep_alive(self) -> None:
        """Say for as long as the work takes that somebody is at it."""
        while True:
            await anyio.sleep(ALIVE / 3)
            with anyio.CancelScope(shield=True):
                await self._change(replace(self._row, alive=self._clock() + ALIVE))

    async def settle(self, sealed: str) -> None:
        """Keep what came of it."""
        await self._change(replace(self._row, sealed=sealed))

    async def abandon(self) -> None:
        """Say that nobody is at it any more, and that it did not come to its end."""
        await self._change(replace(self._row, alive=-LEEWAY))

    async def release(self) -> None:
        """Take the claim back."""
        await self._noted(self._store.remove(self._name, self._row.to_bytes()))

    async def _change(self, row: _Row) -> None:
        if await self._noted(self._store.replace(self._name, self._row.to_bytes(), row.to_bytes(), self._keep)):
            self._row = row

    async def _noted(self, change: Awaitable[bool]) -> bool:
        """Whether a change came about. The work is done or under way, so nothing can be refused any more."""
        try:
            if await change:
                return True
            _log.error("a claim is not what it was: another process took it over")
        except Exception:  # noqa: BLE001  whatever a store raises
            _log.exception("a claim cannot be written; a repeat of the call will be refused")
        return False
