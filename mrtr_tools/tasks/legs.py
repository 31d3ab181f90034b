"""The legs that this process runs, in the event loop of the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from typing import Final

import anyio

from mrtr_tools.errors import Busy
from mrtr_tools.tasks.engine import GaveUp, Leg

__all__ = ["TRIES", "Begin", "Legs", "Running", "running_leg"]

TRIES: Final = 5
"""How often a leg is begun before it is given up."""
LONGEST: Final = 5.0
"""Seconds between two tries, at most."""
STOPPING: Final = 10.0
"""Seconds that legs have for ending, once they were cancelled."""

Begin = Callable[[str, str, str, bool], Awaitable[int | None]]
"""`Store.begin` for this process, given a workflow, a task, its owner, and whether this counts as a try."""

STOPS: Final = Busy("stopping").data

_log = logging.getLogger("mrtr_tools")
_running: ContextVar[Running | None] = ContextVar("mrtr_tools_leg", default=None)


@dataclass(slots=True)
class Running:
    """A leg that is being run.

    Attributes:
        workflow: what runs it.
        task: of which it is one.
        process: the name of this one.
        outcome: whether there is another to run at once; cancelled when it was left to another process.
        scope: what cancels it.
        has_begun: whether the store knows that this process runs it.
        has_stored: whether it stored, or may have, that there is no more to run at once; what it does then is not
            cancelled.
        is_left: whether it is left to another process.
    """

    workflow: str
    task: str
    process: str
    outcome: asyncio.Future[bool]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    has_begun: bool = False
    has_stored: bool = False
    is_left: bool = False


def running_leg(task: str) -> Running | None:
    """The leg of this task that asks, if a leg does, and not something that it left running."""
    found = _running.get()
    return found if found is not None and found.task == task and not found.outcome.done() else None


class Legs:
    """Runs legs.

    Args:
        leg: see `Leg`.
        gave_up: see `GaveUp`.
        begin: see `Begin`.
        give_back: leaves a workflow to other processes, and takes no more.
        process: the name of this one.
    """

    def __init__(
        self, leg: Leg, gave_up: GaveUp, begin: Begin, give_back: Callable[[str], Awaitable[None]], *, process: str
    ) -> None:
        self._leg = leg
        self._gave_up = gave_up
        self._begin = begin
        self._give_back = give_back
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._legs: dict[str, Running] = {}
        self._is_stopping = False
        self._all_ended = asyncio.Event()

    async def run(self, workflow: str, task: str, owner: str) -> bool:
        """`play` in the loop of the server, whichever loop this is called in."""
        if self._loop.is_closed():
            raise asyncio.CancelledError
        playing = self.play(workflow, task, owner)
        # In no context: an author's function is none of DBOS's affair.
        return await asyncio.wrap_future(Context().run(asyncio.run_coroutine_threadsafe, playing, self._loop))

    async def play(self, workflow: str, task: str, owner: str) -> bool:
        """Run a leg, again when it could not be run.

        Returns:
            Whether there is another to run at once.

        Raises:
            CancelledError: this process stops, and another is to run it.
        """
        if self._is_stopping:
            raise asyncio.CancelledError
        if workflow in self._legs:  # another took this process for ended, and it took the leg again that it still runs
            return await asyncio.shield(self._legs[workflow].outcome)
        running = Running(workflow, task, self._process, self._loop.create_future())
        self._legs[workflow] = running
        _running.set(running)
        again = False
        try:
            with running.scope:
                again = await self._until_it_ran(running, owner)
        finally:
            del self._legs[workflow]
            if not self._legs:
                self._all_ended.set()
            if running.is_left or (running.scope.cancelled_caught and self._is_stopping):
                running.outcome.cancel()
            else:
                running.outcome.set_result(again)
        return await running.outcome

    def to_watch(self) -> list[str]:
        """The workflows whose tasks may be taken from under them; from any thread."""
        return [each.workflow for each in list(self._legs.values()) if each.has_begun and not each.has_stored]

    def cancel(self, workflows: Sequence[str]) -> None:
        """Cancel legs; from any thread."""
        self._loop.call_soon_threadsafe(self._cancel, workflows)

    def cancel_task(self, task: str) -> None:
        """Cancel the legs of a task; in the loop of the server."""
        self._cancel([each.workflow for each in self._legs.values() if each.task == task])

    async def stop(self) -> list[str]:
        """Begin no leg any more, and end those that run; gives what was running."""
        self._is_stopping = True
        workflows = list(self._legs)
        self._all_ended.clear()
        self._cancel(workflows)
        if self._legs:
            with anyio.move_on_after(STOPPING, shield=True):
                await self._all_ended.wait()
        if self._legs:
            _log.warning("tasks: %d legs did not end within %g seconds of being told to", len(self._legs), STOPPING)
        return workflows

    def _cancel(self, workflows: Sequence[str]) -> None:
        for workflow in workflows:
            running = self._legs.get(workflow)
            if running is not None and not running.has_stored:
                running.scope.cancel()

    async def _until_it_ran(self, running: Running, owner: str) -> bool:
        task, is_counted, wait = running.task, True, 0.5
        while True:
            try:
                tries = await self._begin(running.workflow, task, owner, is_counted)
                if tries is None:
                    return False
                running.has_begun = True
                if tries > TRIES:
                    _log.error("task %s: its leg could not be run, %d times", task, TRIES)
                    await self._gave_up(task, owner)
                    return False
                return await self._leg(task, owner)
            except Busy as busy:
                if busy.data == STOPS:
                    running.is_left = True
                    with suppress(Busy):  # then it is taken over when this process has ended
                        await self._give_back(running.workflow)
                    return False
                is_counted = False
            except Exception:  # noqa: BLE001  the log has it, and it is tried again
                _log.exception("task %s: its leg could not be run", task)
                is_counted = True
            wait = min(wait * 2, LONGEST)
            await anyio.sleep(wait)
