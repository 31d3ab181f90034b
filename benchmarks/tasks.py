"""Durable tasks in a file: what a request for one costs when many wait, what they hold, and how soon a leg begins."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path

import sqlalchemy as sa

from benchmarks.measuring import main, medians
from benchmarks.tables import Result, Row
from mrtr_tools.keys import generate_key, read_keys
from mrtr_tools.sealing import Sealer
from mrtr_tools.tasks import Leg, Row as Task
from mrtr_tools.tasks.dbos import DbosEngine

FEW, MANY = 10, 10_000
FLAT, HELD = 1.25, 1.1
SOON, IDLE = 0.3, 0.05


def task(name: str, **other: object) -> Task:
    return replace(Task(name, "owner", "working", 1, 0, time.time(), None, "key", b"", bytes(2_000)), **other)


def engine(folder: Path, waiting: int) -> DbosEngine:
    made = DbosEngine(
        folder / f"{waiting}.sqlite3", sealer=Sealer(read_keys([generate_key()]), "benchmark", "task/queue")
    )
    rows = [asdict(task(f"{number}", owner=f"owner {number}", status="input_required")) for number in range(waiting)]
    with made._opened().store._transaction() as connection:
        connection.execute(sa.insert(made._opened().database.tables.tasks), rows)
    return made


@asynccontextmanager
async def running(made: DbosEngine, leg: Leg) -> AsyncIterator[None]:
    async def gave_up(name: str, owner: str) -> None:
        raise SystemExit(f"{name} was given up")

    run = asyncio.create_task(made.run(leg, gave_up))
    yield
    run.cancel()
    await asyncio.wait([run])


async def began(made: DbosEngine, times: int) -> tuple[float, float]:
    """Seconds from the creation of a task to its leg (the median), and the share of a core when there is none."""
    begun = asyncio.Event()

    async def leg(name: str, owner: str) -> bool:
        begun.set()
        row = await made.get(name, owner)
        assert row is not None
        await made.update(replace(row, version=2, status="completed"))
        return False

    took: list[float] = []
    async with running(made, leg):
        for number in range(times + 1):
            begun.clear()
            created = time.perf_counter()
            await made.create(task(f"run {number}"), at_most=times)
            await begun.wait()
            took.append(time.perf_counter() - created)
        await asyncio.sleep(2)
        wall, used = time.perf_counter(), time.process_time()
        await asyncio.sleep(5)
        idle = (time.process_time() - used) / (time.perf_counter() - wall)
    return statistics.median(took[1:]), idle  # the first one waited until the engine ran


def resident() -> float:
    """MiB of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def measured(quick: bool = False) -> list[Result]:
    return asyncio.run(compared(batches=10 if quick else 40, times=10 if quick else 40))


async def compared(*, batches: int, times: int) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        few, many = engine(Path(folder), FEW), engine(Path(folder), MANY)
        jobs = {
            str(waiting): lambda made=made, last=waiting - 1: made.get(f"{last}", f"owner {last}")
            for waiting, made in ((FEW, few), (MANY, many))
        }
        get = await medians(jobs, batches=batches, calls=50)
        soon, idle = await began(few, times)
        held = resident()
        soon_of_many, idle_of_many = await began(many, times)
        grown = resident()
        await few.close()
        await many.close()
    of = f"{MANY:,} waiting : {FEW}"
    return [
        Row(f"tasks/get, {of}", get[str(MANY)], get[str(FEW)], at_most=FLAT),
        Row(f"resident after some tasks ran, {of}", grown, held, "MiB", at_most=HELD),
        Row(f"share of a core with nothing to do, {of}", idle_of_many * 100, idle * 100, "%"),
        Row("share of a core with nothing to do : what is allowed", idle_of_many, IDLE, "", at_most=1),
        Row("from create to the leg : what is allowed", soon_of_many, SOON, "s", at_most=1),
        Row(f"from create to the leg, {of}", soon_of_many, soon, "s"),
    ]


if __name__ == "__main__":
    raise SystemExit(main(tasks=measured))
