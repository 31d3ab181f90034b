"""A server that runs tasks, in a process of its own that may be killed at any point of a task.

The task of these tests has three steps: ``one``, then a question, then ``two`` and ``three`` at once after another.
What a step does is a line in a log: ``begin TASK STEP KEY`` and ``end TASK STEP KEY``, and whether that was stored.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path

from mrtr_tools.tasks.dbos import DbosEngine
from mrtr_tools.tasks.engine import Row, Status
from tests.tasks.places import Place

LAPSE = 1.0
STEPS = ("one", "two", "three")
NEXT: dict[str, tuple[Status, bytes]] = {
    "one": ("input_required", b"two"),
    "two": ("working", b"three"),
    "three": ("completed", b""),
}

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["mrtr_tools.tasks.dbos", "tests.tasks.worker"])


@dataclass(frozen=True)
class Death:
    """When a process is to end, as by ``kill -9``.

    Attributes:
        task: in whose leg.
        step: in which of them.
        when: ``before`` it begins, ``inside`` it, when it ended ``before it is stored``, and when that ``is stored``.
        how: the signal that it gets, or a pipe with a name: it lives, and waits until somebody writes there.
    """

    task: str
    step: str
    when: str
    how: int | Path = signal.SIGKILL


def new_task(task: str, owner: str = "owner") -> Row:
    """The task, before its first step."""
    return Row(task, owner, "working", 1, 0.0, 0.0, None, "key", b"wrapped", b"one")


class Server:
    """What a server does with the task, as a `Leg` and a `GaveUp`."""

    def __init__(self, engine: DbosEngine, log: Path, death: Death | None = None) -> None:
        self._engine = engine
        self._log = log
        self._death = death

    async def leg(self, task: str, owner: str) -> bool:
        row = await self._engine.get(task, owner)
        if row is None or row.status != "working":
            return False
        step = row.data.decode()
        self._die(task, step, "before")
        self._write(f"begin {task} {step} {row.version}")
        self._die(task, step, "inside")
        self._write(f"end {task} {step} {row.version}")
        self._die(task, step, "before it is stored")
        status, data = NEXT[step]
        stored = replace(row, version=row.version + 1, status=status, data=data)
        is_stored = await self._engine.update(stored)
        self._die(task, step, "is stored")
        self._write(f"{'stored' if is_stored else 'late'} {task} {step} {row.version}")
        return is_stored and status == "working"

    async def gave_up(self, task: str, owner: str) -> None:
        row = await self._engine.get(task, owner)
        if row is not None:
            await self._engine.update(replace(row, version=row.version + 1, status="failed"))

    def _write(self, line: str) -> None:
        with self._log.open("a") as log:
            log.write(line + "\n")

    def _die(self, task: str, step: str, when: str) -> None:
        if self._death is not None and self._death == Death(task, step, when, self._death.how):
            if isinstance(self._death.how, Path):
                with self._death.how.open("rb", buffering=0) as gate:
                    gate.read(1)
            else:
                os.kill(os.getpid(), self._death.how)


def serve(place: Place, log: Path, death: Death | None) -> None:
    """Run tasks until killed."""

    async def run() -> None:
        engine = place.engine(lapse=LAPSE)
        server = Server(engine, log, death)
        await engine.run(server.leg, server.gave_up)

    asyncio.run(run())


@contextmanager
def worker(place: Place, log: Path, death: Death | None = None) -> Iterator[BaseProcess]:
    """A process that runs tasks, killed at the end when it still lives."""
    process = _context.Process(target=serve, args=(place, log, death), daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def is_dead(process: BaseProcess) -> bool:
    """Whether it was killed."""
    return process.exitcode == -signal.SIGKILL


async def until(holds: Callable[[], Awaitable[bool]], *, seconds: float = 60) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110  it is another process that makes it so
            await asyncio.sleep(0.02)
