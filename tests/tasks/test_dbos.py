"""What `DbosEngine` does beside: processes that end, rows that somebody wrote, and DBOS itself."""

import asyncio
import base64
import logging
import pickle
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import dbos
import pytest
import sqlalchemy as sa

from mrtr_tools.errors import Busy
from mrtr_tools.tasks import Row, dbos as dbos_module, keeping, legs as legs_module
from mrtr_tools.tasks.dbos import DbosEngine
from tests.tasks.places import Place, sqlite
from tests.tasks.test_running import change, ending, is_at, running, until_cancelled, within
from tests.tasks.worker import Death, is_dead, new_task, until, worker

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.anyio


BOTH = pytest.mark.parametrize("place", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A file, but for what could go otherwise elsewhere."""
    kind = getattr(request, "param", "sqlite")
    return sqlite(tmp_path) if kind == "sqlite" else request.getfixturevalue("cluster").place()


@pytest.fixture
async def engine(place: Place) -> AsyncIterator[DbosEngine]:
    made = place.engine(lapse=1)
    yield made
    await made.close()


@contextmanager
def written(engine: DbosEngine):
    """The database, as whoever can write there has it."""
    made = engine._opened().database.engine()
    prefix = "" if engine._opened().database.schema is None else f"{engine._opened().database.schema}."
    try:
        with made.begin() as connection:
            yield lambda sql, **values: connection.execute(sa.text(sql.replace("$", prefix)), values)
    finally:
        made.dispose()


def count(engine: DbosEngine, table: str) -> int:
    with written(engine) as execute:
        return execute(f"SELECT count(*) FROM ${table}").scalar_one()


@BOTH
async def test_what_was_changed_elsewhere_cancels_the_leg_here(engine: DbosEngine, place: Place):
    """Any process takes a request to cancel, whichever runs the task."""
    elsewhere = place.engine()
    begun, cancelled = asyncio.Event(), asyncio.Event()
    async with running(engine, until_cancelled(begun, cancelled)):
        await elsewhere.create(new_task("task"), at_most=1)
        await within(begun)
        assert await elsewhere.cancel(replace(new_task("task"), version=2, status="cancelled"))
        await within(cancelled)
    await elsewhere.close()


async def test_a_leg_whose_task_expires_is_cancelled_and_the_task_is_deleted(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(keeping, "TIDYING", 0.1)
    now = [1000.0]
    engine = place.engine(lapse=1, clock=lambda: now[0])
    begun, cancelled = asyncio.Event(), asyncio.Event()
    async with running(engine, until_cancelled(begun, cancelled)):
        await engine.create(replace(new_task("task"), expires=2000.0), at_most=1)
        await within(begun)
        now[0] = 2000.0
        await within(cancelled)
        await until(lambda: holds(lambda: count(engine, "mrtr_tasks") == 0))
    await engine.close()


@BOTH
async def test_nothing_of_a_task_stays_in_the_queue(engine: DbosEngine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keeping, "TIDYING", 0.1)
    async with running(engine, ending(engine, [])):
        for number in range(3):
            await engine.create(new_task(f"task-{number}"), at_most=3)
        for table in ("workflow_status", "workflow_input", "workflow_output", "operation_outputs"):
            await until(lambda table=table: holds(lambda: count(engine, table) == 0))
        assert await is_at(engine, "task-2", "completed")


async def test_a_task_waits_without_a_place_in_the_queue(engine: DbosEngine):
    await engine.create(replace(new_task("task"), status="input_required"), at_most=1)

    assert count(engine, "workflow_status") == 0


async def test_a_task_that_fell_out_of_the_queue_is_put_there_again(
    engine: DbosEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(keeping, "TIDYING", 0.1)
    await engine.create(new_task("task"), at_most=1)
    with written(engine) as execute:
        execute("DELETE FROM $workflow_status")
    async with running(engine, ending(engine, ran := [])):
        await until(lambda: is_at(engine, "task", "completed"))

    assert ran == ["task"]
    assert "task task: it was no longer in the queue, and is again" in caplog.text


@BOTH
async def test_what_was_taken_and_not_begun_is_enqueued_again(engine: DbosEngine, monkeypatch: pytest.MonkeyPatch):
    """As when the database goes away just after it stored that this process has taken something."""
    monkeypatch.setattr(keeping, "TIDYING", 0.1)
    async with running(engine, ending(engine, ran := [])):
        await engine.create(new_task("first"), at_most=2)
        await until(lambda: is_at(engine, "first", "completed"))
        await until(lambda: holds(lambda: count(engine, "workflow_status") == 0))
        engine._opened().queue.take_no_more()
        await engine.create(new_task("task"), at_most=2)
        with written(engine) as execute:
            execute("UPDATE $workflow_status SET status = 'PENDING', executor_id = (SELECT id FROM $mrtr_processes)")
        engine._opened().queue._waiting._worker_concurrency = 1
        await until(lambda: is_at(engine, "task", "completed"))

    assert ran == ["first", "task"]


class Bomb:
    def __reduce__(self):
        return print, ("boom",)


BOMB = base64.b64encode(pickle.dumps(Bomb())).decode()
WRITTEN = {
    "a pickle": ("py_pickle", BOMB),
    "a pickle that says it is ours": ("mrtr_tools_sealed", BOMB),
    "a pickle that says nothing": (None, BOMB),
    "json": ("portable_json", '{"positionalArgs":["task","owner"],"namedArgs":{}}'),
}


@BOTH
@pytest.mark.parametrize("what", WRITTEN)
async def test_what_somebody_wrote_into_the_queue_is_never_loaded(
    engine: DbosEngine, what: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    """Security 10: and the task is run all the same."""
    loaded: list[object] = []
    monkeypatch.setattr(pickle, "loads", loaded.append)
    monkeypatch.setattr(keeping, "TIDYING", 0.1)
    serialization, text = WRITTEN[what]
    await engine.create(new_task("task"), at_most=1)
    with written(engine) as execute:
        execute("UPDATE $workflow_status SET serialization = :how", how=serialization)
        execute("UPDATE $workflow_input SET inputs = :text", text=text)
    async with running(engine, ending(engine, ran := [])):
        await until(lambda: is_at(engine, "task", "completed"))

    assert (ran, loaded) == (["task"], [])
    assert "boom" not in capfd.readouterr().out


async def test_one_tasks_place_in_the_queue_runs_no_other_task(engine: DbosEngine, monkeypatch: pytest.MonkeyPatch):
    """Security 19: what is sealed is tied to its row."""
    monkeypatch.setattr(keeping, "TIDYING", 0.1)
    await engine.create(replace(new_task("asks"), status="working"), at_most=2)
    with written(engine) as execute:
        sealed = execute("SELECT inputs FROM $workflow_input").scalar_one()
        execute("UPDATE $mrtr_tasks SET status = 'input_required'")
        execute("DELETE FROM $workflow_status")
    await engine.create(new_task("task"), at_most=2)
    with written(engine) as execute:
        execute("UPDATE $workflow_input SET inputs = :sealed", sealed=sealed)
    async with running(engine, ending(engine, ran := [])):
        await until(lambda: is_at(engine, "task", "completed"))

    assert ran == ["task"]
    assert await is_at(engine, "asks", "input_required")


async def test_nothing_in_the_queue_can_be_read(engine: DbosEngine):
    """Security 19"""
    await engine.create(new_task("task", owner="the-owner"), at_most=1)
    with written(engine) as execute:
        rows = [*execute("SELECT * FROM $workflow_input"), *execute("SELECT * FROM $workflow_status")]

    assert "the-owner" not in repr(rows)


@BOTH
async def test_a_leg_that_was_given_to_another_process_stores_nothing(engine: DbosEngine):
    """A process that only seemed to have ended goes on, and finds that it is late."""
    await engine.create(new_task("task"), at_most=1)
    with written(engine) as execute:
        workflow = execute("SELECT workflow FROM $mrtr_tasks").scalar_one()
    store = engine._opened().store
    after = replace(new_task("task"), version=2, status="input_required")

    assert store.begin(workflow, "task", "owner", "late", is_counted=True) == 1
    assert store.still_run([workflow], "late") == {workflow}
    assert store.begin(workflow, "task", "owner", "new", is_counted=True) == 2
    assert store.still_run([workflow], "late") == set()
    assert not store.update(after, runner="late")
    assert store.update(after, runner="new")
    assert store.begin(workflow, "task", "owner", "new", is_counted=True) is None


async def test_a_process_taken_for_ended_leaves_its_legs_to_others(engine: DbosEngine, place: Place):
    begun, cancelled = asyncio.Event(), asyncio.Event()
    async with running(engine, until_cancelled(begun, cancelled)):
        await engine.create(new_task("task"), at_most=1)
        await within(begun)
        with written(engine) as execute:
            execute("UPDATE $mrtr_tasks SET runner = 'another'")
        await within(cancelled)
    assert await is_at(engine, "task", "working")


@BOTH
async def test_a_process_that_takes_its_own_leg_again_does_not_run_it_twice(engine: DbosEngine):
    begun, go_on = asyncio.Event(), asyncio.Event()
    ran: list[str] = []

    async def leg(task: str, owner: str) -> bool:
        ran.append(task)
        begun.set()
        await go_on.wait()
        await change(engine, task, "completed")
        return False

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await within(begun)
        queue = engine._opened().queue
        (process,) = queue.running()
        assert await asyncio.to_thread(queue.take_over, process) == 1
        await until(lambda: holds(lambda: queue.running() == {process}))
        go_on.set()
        await until(lambda: is_at(engine, "task", "completed"))

    assert ran == ["task"]


async def test_a_leg_that_ends_its_process_time_and_again_is_given_up(engine: DbosEngine, place: Place, tmp_path: Path):
    await engine.create(new_task("task"), at_most=1)
    log, fatal = tmp_path / "log", Death("task", "one", "inside")
    for tries in (1, 5):
        with worker(place, log, fatal) as process:
            await asyncio.to_thread(process.join, 30)
            assert is_dead(process)
        with written(engine) as execute:
            assert execute("SELECT tries FROM $mrtr_tasks").scalar_one() == tries
            execute("UPDATE $mrtr_tasks SET tries = :tries", tries=max(4, tries))  # as if it had done so more often
    with worker(place, log, fatal):
        await until(lambda: is_at(engine, "task", "failed"))

    assert await asyncio.to_thread(log.read_text) == "begin task one 1\n" * 2


async def test_a_process_that_stops_counts_for_no_try(engine: DbosEngine):
    await engine.create(new_task("task"), at_most=1)
    for _ in range(2):
        begun = asyncio.Event()
        async with running(engine, until_cancelled(begun, asyncio.Event())):
            await within(begun)

    with written(engine) as execute:
        assert execute("SELECT tries, status FROM $mrtr_tasks").one() == (0, "working")
    assert count(engine, "mrtr_processes") == 0


async def test_a_process_that_says_it_stops_leaves_legs_to_others_at_once_and_takes_no_more(engine: DbosEngine):
    asked = 0

    async def leg(task: str, owner: str) -> bool:
        nonlocal asked
        asked += 1
        raise Busy("stopping")

    def is_left() -> bool:
        with written(engine) as execute:
            left = execute("SELECT status FROM $workflow_status").scalars().all()
            return left == ["ENQUEUED"] and execute("SELECT tries FROM $mrtr_tasks").scalar_one() == 0

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=2)
        await until(lambda: holds(lambda: asked == 1 and is_left()))
        await engine.create(new_task("next"), at_most=2)
        assert engine._opened().queue._waiting._worker_concurrency == 0
    async with running(engine, ending(engine, ran := [])):
        await until(lambda: is_at(engine, "next", "completed"))

    assert (asked, sorted(ran)) == (1, ["next", "task"])


async def test_what_a_leg_left_running_wakes_its_task_like_anybody_else(engine: DbosEngine):
    ran: list[int] = []
    may_answer, left = asyncio.Event(), set[asyncio.Task[object]]()

    async def answer(task: str) -> None:
        await may_answer.wait()
        await change(engine, task, "working")

    async def leg(task: str, owner: str) -> bool:
        row = await engine.get(task, owner)
        assert row is not None
        ran.append(row.version)
        if row.version == 1:
            left.add(asyncio.create_task(answer(task)))
        await change(engine, task, "input_required" if row.version == 1 else "completed")
        return False

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await until(lambda: is_at(engine, "task", "input_required"))
        legs = engine._legs
        assert legs is not None
        await until(lambda: holds(lambda: not legs._legs))
        may_answer.set()
        await until(lambda: is_at(engine, "task", "completed"))

    assert ran == [1, 3]


async def test_an_authors_function_is_not_in_a_workflow_of_dbos(engine: DbosEngine):
    seen: list[object] = []

    async def leg(task: str, owner: str) -> bool:
        seen.append(dbos.DBOS.workflow_id)
        await change(engine, task, "completed")
        return False

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await until(lambda: is_at(engine, "task", "completed"))

    assert seen == [None]


async def test_what_was_stored_though_nobody_heard_of_it_is_known_to_be(
    engine: DbosEngine, monkeypatch: pytest.MonkeyPatch
):
    """As when the database goes away between a commit and what it says of it."""
    stored, answers, watched = engine._opened().store.update, list[bool](), list[str]()

    def update(row: Row, *, runner: str | None = None) -> bool:
        answers.append(stored(row, runner=runner))
        if len(answers) == 1:
            raise Busy("unavailable")
        assert engine._legs is not None
        watched.extend(engine._legs.to_watch())
        return answers[-1]

    monkeypatch.setattr(engine._opened().store, "update", update)
    monkeypatch.setattr(dbos_module, "AGAIN", 0.01)
    said: list[bool] = []

    async def leg(task: str, owner: str) -> bool:
        await engine.tell(task, owner, b"half", 1.0)
        said.append(await engine.update(replace(new_task(task), version=2, status="completed", data=b"done")))
        return False

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await until(lambda: holds(lambda: len(said) == 1))

    assert (answers, said) == ([True, False], [True])
    assert watched == []  # or it might be cancelled there, for the task is no longer seen to be run here


async def test_a_leg_that_does_not_end_is_left_after_a_while(
    engine: DbosEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(legs_module, "STOPPING", 0.1)
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def leg(task: str, owner: str) -> bool:
        begun.set()
        with anyio.CancelScope(shield=True):
            await may_end.wait()
        return False

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await within(begun)
    may_end.set()

    assert "tasks: 1 legs did not end within 0.1 seconds of being told to" in caplog.text
    assert await is_at(engine, "task", "working")


async def test_so_many_legs_run_at_a_time_and_no_more(place: Place):
    engine = place.engine(lapse=1, at_once=2)
    most, now = 0, 0
    both = asyncio.Event()

    async def leg(task: str, owner: str) -> bool:
        nonlocal most, now
        now += 1
        most = max(most, now)
        if now == 2:
            both.set()
        await within(both)
        now -= 1
        await change(engine, task, "completed")
        return False

    async with running(engine, leg):
        for number in range(6):
            await engine.create(new_task(f"task-{number}"), at_most=6)
        for number in range(6):
            await until(lambda number=number: is_at(engine, f"task-{number}", "completed"))
    await engine.close()

    assert most == 2


async def test_two_engines_do_not_run_in_one_process_but_keep_tasks(engine: DbosEngine, tmp_path: Path):
    other = Place(str(tmp_path / "other.sqlite3")).engine()
    async with running(engine, ending(engine, ran := [])):
        await engine.create(new_task("task"), at_most=1)
        await until(lambda: is_at(engine, "task", "completed"))
        with pytest.raises(RuntimeError, match="DBOS runs in this process already, and there can be one"):
            await other.run(ending(other, []), never)
        await other.create(new_task("task"), at_most=1)
        assert await is_at(other, "task", "working")
    await other.close()

    assert ran == ["task"]


async def test_an_engine_does_not_disturb_a_dbos_of_the_authors(engine: DbosEngine, tmp_path: Path):
    dbos.DBOS(config={"name": "theirs", "system_database_url": f"sqlite:///{tmp_path / 'theirs.sqlite3'}"})
    try:
        with pytest.raises(RuntimeError, match="what else uses DBOS in another"):
            await engine.run(ending(engine, []), never)
        await engine.create(new_task("task"), at_most=1)
        await asyncio.to_thread(dbos.DBOS.launch)
        assert count(engine, "mrtr_processes") == 0
    finally:
        await asyncio.to_thread(dbos.DBOS.destroy)


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 50])
async def test_an_engine_may_be_told_to_end_while_it_begins(engine: DbosEngine, turns: int):
    await engine.create(new_task("task"), at_most=1)
    run = asyncio.create_task(engine.run(ending(engine, []), never))
    for _ in range(turns):
        await asyncio.sleep(0)
    run.cancel()
    await asyncio.wait([run])

    assert run.cancelled()
    assert [thread.name for thread in threading.enumerate() if "mrtr_tools" in thread.name] == []
    assert count(engine, "mrtr_processes") == 0
    async with running(engine, ending(engine, [])):
        await until(lambda: is_at(engine, "task", "completed"))


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_tasks_are_run_on_asyncio(tmp_path: Path, anyio_backend: str):
    engine = sqlite(tmp_path).engine()

    with pytest.raises(RuntimeError, match="durable tasks are run on asyncio"):
        await engine.run(ending(engine, []), never)


@BOTH
async def test_nothing_is_left_running_and_nothing_is_said(
    engine: DbosEngine, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    before = {thread.name for thread in threading.enumerate()}
    with caplog.at_level(logging.DEBUG):
        async with running(engine, ending(engine, [])):
            await engine.create(new_task("task"), at_most=1)
            await until(lambda: is_at(engine, "task", "completed"))

    left = {thread.name for thread in threading.enumerate()} - before
    assert {name for name in left if not name.startswith("AnyIO worker")} == set()
    said = [record for record in caplog.records if record.name.startswith(("dbos", "mrtr_tools", "sqlalchemy"))]
    assert [record.getMessage() for record in said if record.levelno > logging.INFO] == []
    assert capfd.readouterr() == ("", "")


REACHES_OUT = """
import asyncio, sys
reached, outside = [], ("socket.connect", "socket.getaddrinfo")
sys.addaudithook(lambda event, what: reached.append(what) if event in outside else None)
from tests.tasks.places import Place
from tests.tasks.test_running import ending, is_at, running
from tests.tasks.worker import new_task, until

async def run():
    engine = Place(sys.argv[1]).engine(lapse=1)
    async with running(engine, ending(engine, [])):
        await engine.create(new_task("task"), at_most=1)
        await until(lambda: is_at(engine, "task", "completed"))

asyncio.run(run())
print(reached)
"""


def test_nothing_is_reached_but_the_database(tmp_path: Path):
    command = [sys.executable, "-c", REACHES_OUT, str(tmp_path / "tasks.sqlite3")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)

    assert (done.stdout, done.stderr) == ("[]\n", "")


async def never(task: str, owner: str) -> None:
    raise AssertionError


async def holds(condition: Callable[[], bool]) -> bool:
    return await asyncio.to_thread(condition)
