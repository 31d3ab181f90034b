"""What a process that runs tasks does beside: it gives signs of life, takes over from those that gave none, and tidies.

Each in a thread of its own, because a sign of life must not wait for anything else.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from mrtr_tools.errors import Busy
from mrtr_tools.tasks.legs import Legs
from mrtr_tools.tasks.liveness import Watch
from mrtr_tools.tasks.workflows import task_of

if TYPE_CHECKING:
    from mrtr_tools.tasks.queue import Queue
    from mrtr_tools.tasks.store import Store

__all__ = ["Keeping"]

BEATS: Final = 5
"""How many signs of life in a lapse."""
TIDYING: Final = 5.0
"""Seconds between two tidyings."""
ORPHANED: Final = 30.0
"""Seconds after which a task that works is looked for in the queue."""

_log = logging.getLogger("mrtr_tools")


class Keeping:
    """The queue of this process, and threads beside it.

    Args:
        store: of the tasks.
        queue: of their legs.
        legs: that this process runs.
        process: its name.
        lapse: see `Watch`.
        clock: seconds since 1970.
    """

    def __init__(
        self, store: Store, queue: Queue, legs: Legs, *, process: str, lapse: float, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._queue = queue
        self._legs = legs
        self._process = process
        self._beat = lapse / BEATS
        self._clock = clock
        self._watch = Watch(lapse)
        self._dropped: set[str] = set()
        self._ended = threading.Event()
        self._mutex = threading.Lock()
        self._has_begun = False
        self._threads = [
            threading.Thread(
                target=self._repeat, args=(self._give_sign, self._beat), name="mrtr_tools tasks: alive", daemon=True
            ),
            threading.Thread(
                target=self._repeat, args=(self._take_over, self._beat), name="mrtr_tools tasks: others", daemon=True
            ),
            threading.Thread(
                target=self._repeat, args=(self._tidy, TIDYING), name="mrtr_tools tasks: tidying", daemon=True
            ),
        ]

    def begin(self) -> None:
        """Give the first sign, and begin; nothing when it was to end before.

        Raises:
            Busy: the database cannot be reached.
            RuntimeError: DBOS runs in this process already.
        """
        with self._mutex:
            if self._ended.is_set():
                return
            self._store.beat(self._process)
            self._has_begun = True
            self._take_over()
            for thread in self._threads:
                if not thread.is_alive():
                    thread.start()
            self._queue.launch(self._process, self._legs.run)  # last: whatever it takes, it is known to be alive

    def end(self, left: Sequence[str]) -> None:
        """End, and leave to others what this process has not ended, such as these workflows."""
        self._ended.set()
        with self._mutex:  # which whoever begins holds to the end, though nobody waits for it any more
            if not self._has_begun:
                return
            self._queue.land()
            for thread in self._threads:
                if thread.is_alive():
                    thread.join()
            try:
                self._store.forgive(left, self._process)
                self._store.strike_off(self._process)
            except Busy:
                _log.warning("tasks: what runs here is taken over later, for the database cannot be reached")

    def _repeat(self, work: Callable[[], None], seconds: float) -> None:
        while not self._ended.wait(seconds * random.uniform(0.9, 1.1)):  # noqa: S311  so that processes do not meet
            try:
                work()
            except Busy:
                self._watch.forget()
            except Exception:  # noqa: BLE001  the log has it, and it is tried again
                _log.exception("tasks: %s", work.__name__)

    def _give_sign(self) -> None:
        self._store.beat(self._process)
        watched = self._legs.to_watch()
        if watched:
            still = self._store.still_run(watched, self._process)
            self._legs.cancel([each for each in watched if each not in still])

    def _take_over(self) -> None:
        running = self._queue.running()  # first: who runs something by now has given a sign before
        beats = self._store.beats()
        gone = self._watch.silent({name: beat for name, beat in beats.items() if name != self._process})
        for process in gone | (running - beats.keys() - {self._process}):
            taken = self._queue.take_over(process)
            if process in beats:
                self._store.strike_off(process, beats[process])
            if taken:
                _log.warning("tasks: took over %d legs that another process has left", taken)

    def _tidy(self) -> None:
        while self._queue.delete_ended() and not self._ended.is_set():
            pass
        while self._store.delete_expired() and not self._ended.is_set():
            pass
        self._take_again()
        self._wake_orphans()

    def _take_again(self) -> None:
        """What was dropped at two looks, for at one it may have been about to begin."""
        dropped = self._queue.dropped(self._process)
        for workflow in dropped & self._dropped:
            if self._queue.give_back(workflow, self._process):
                _log.warning("task %s: it was taken and not begun, and is enqueued again", task_of(workflow))
        self._dropped = dropped

    def _wake_orphans(self) -> None:
        after = ""
        while found := self._store.working(self._clock() - ORPHANED, after):
            live = self._queue.live([workflow for _, _, workflow in found if workflow is not None])
            for orphan in found:
                if orphan[2] not in live and self._store.wake_again(orphan):
                    _log.warning("task %s: it was no longer in the queue, and is again", orphan[0])
            after = found[-1][0]
