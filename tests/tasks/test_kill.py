"""`kill -9` at every point of a task: it finishes, what was stored is not done again, what was not is done again."""

import os
from dataclasses import replace
from itertools import cycle, islice, pairwise
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
            note(log, "kill")
    with worker(place, log):
        for number, (when, step) in enumerate(islice(cycle(POINTS), RUNS)):
            task = f"task-{number}"
            ended = await finished(engine, task)
            assert (ended.status, ended.version) == ("completed", 5)
            assert_ran(log, task, step if when in ("inside", "before it is stored") else "")
    await engine.close()


def note(log: Path, line: str) -> None:
    with log.open("a") as file:
        file.write(line + "\n")


def assert_ran(log: Path, task: str, killed_inside: str) -> None:
    """Each step was begun in its turn, under one key, and again only where a process was killed in between."""
    lines = [line.split() for line in log.read_text().splitlines()]
    begun = [(number, each[2], each[3]) for number, each in enumerate(lines) if each[:2] == ["begin", task]]
    keys = [key for _, _, key in begun]
    assert keys == sorted(keys)
    assert {(step, key) for _, step, key in begun} == {("one", "1"), ("two", "3"), ("three", "4")}
    for (number, step, _), (later, again, _) in pairwise(begun):
        assert step != again or ["kill"] in lines[number:later], f"{task} {step} ran again though nobody was killed"
    assert not killed_inside or [step for _, step, _ in begun].count(killed_inside) > 1


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
