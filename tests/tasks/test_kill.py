"""`kill -9` at every point of a task: it finishes, what was stored is not done again, what was not is done again."""

import os
from collections import Counter
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import pytest

from mrtr_tools.tasks.dbos import DbosEngine
from mrtr_tools.tasks.engine import Row
from tests.tasks.places import Place
from tests.tasks.worker import STEPS, Death, is_dead, new_task, until, worker

pytestmark = pytest.mark.anyio

WHENS = ("before", "inside", "before it is stored", "is stored")
RUNS = int(os.environ.get("MRTR_TOOLS_KILLS", "14"))
"""How many runs; 14 has each point once, and `200` is what is asked of a release."""

POINTS = [("a question", ""), ("an answer", ""), *((when, step) for when in WHENS for step in STEPS)]


async def test_a_task_outlives_the_process_wherever_it_is_killed(place: Place, tmp_path: Path):
    log = tmp_path / "log"
    log.touch()
    engine = place.engine()
    for number, (when, step) in enumerate(islice(cycle(POINTS), RUNS)):
        task = f"task-{number}"
        with worker(place, log, Death(task, step, when)) as process:
            await engine.create(new_task(task), at_most=RUNS)
            if not (step == "one" and when != "is stored"):
                await asked(engine, task)
            if when == "an answer":
                await answer(engine, task)
            if not step:
                process.kill()
            elif step != "one":
                await answer(engine, task)
            process.join(30)
            assert is_dead(process)
    with worker(place, log):
        for number, (when, step) in enumerate(islice(cycle(POINTS), RUNS)):
            task = f"task-{number}"
            ended = await finished(engine, task)
            assert (ended.status, ended.version) == ("completed", 5)
            twice = {"inside": ["begin"], "before it is stored": ["begin", "end"]}.get(when, [])
            assert ran(log, task) == Counter(
                {
                    f"{what} {each} {version}": 2 if each == step and what in twice else 1
                    for what in ("begin", "end")
                    for each, version in zip(STEPS, (1, 3, 4), strict=True)
                }
            ), (when, step)
    await engine.close()


def ran(log: Path, task: str) -> Counter[str]:
    """What was done of a task, and how often."""
    lines = [line.split() for line in log.read_text().splitlines()]
    return Counter(f"{what} {step} {key}" for what, each, step, key in lines if each == task)


async def asked(engine: DbosEngine, task: str) -> None:
    async def is_asked() -> bool:
        row = await engine.get(task, "owner")
        return row is not None and row.status == "input_required"

    await until(is_asked)


async def answer(engine: DbosEngine, task: str) -> None:
    row = await engine.get(task, "owner")
    assert row is not None
    assert await engine.update(replace(row, status="working", version=row.version + 1))


async def finished(engine: DbosEngine, task: str) -> Row:
    """The task at its end, its question answered."""
    found: list[Row] = []

    async def has_ended() -> bool:
        row = await engine.get(task, "owner")
        assert row is not None
        if row.status == "input_required":
            await answer(engine, task)
        found[:] = [row]
        return row.has_ended

    await until(has_ended)
    return found[0]
