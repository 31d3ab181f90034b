"""The queue of legs, which is DBOS: durable, shared by all processes, and taken up by others when one ends.

One workflow of a few lines runs whatever there is to run. What it is about stands in the row of its task, so that it
never changes, and any build of a server goes on with what another began.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, Final, cast

import dbos
import sqlalchemy as sa

from mrtr_tools.sealing import Sealer
from mrtr_tools.tasks.database import OF_A_QUEUE, Database
from mrtr_tools.tasks.sealed_json import SealedJson, refuse_others

__all__ = ["Queue"]

NAME: Final = "mrtr_tools"
WORKFLOW: Final = "mrtr_tools.task"
VERSION: Final = "mrtr_tools-1"
"""Of the workflow below, not of the code around it: all builds that say so share their tasks."""
POLLING: Final = 0.15
"""Seconds between two looks for legs to run."""
THREADS: Final = 16
PATIENCE: Final = 30
"""Seconds that they wait for a connection."""
DELETED: Final = 500
ENDED: Final = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
SELDOM: Final = 60.0
LIVE: Final = ["ENQUEUED", "PENDING", "DELAYED"]

Run = Callable[[str, str, str], Awaitable[bool]]
"""Runs a leg, given a workflow, a task and its owner; True when there is another to run at once."""

_singleton: Any = import_module("dbos._dbos")  # what nothing public tells, each where it is used

_log = logging.getLogger("mrtr_tools")
_run: Run | None = None
_played: set[str] = set()  # the workflows that go on in this process


async def _trampoline(task: str, owner: str) -> None:
    workflow = str(dbos.DBOS.workflow_id)
    _played.add(workflow)
    try:
        while await dbos.DBOS.run_step_async({"name": "leg"}, _leg, workflow, task, owner):
            pass
    finally:
        _played.discard(workflow)


async def _leg(workflow: str, task: str, owner: str) -> bool:
    if _run is None:
        raise asyncio.CancelledError
    try:
        return await _run(workflow, task, owner)
    except Exception:  # noqa: BLE001  the log has it
        _log.exception("task %s: its leg was lost, and is found again", task)
        return False


class Seldom(logging.Filter):
    """What DBOS tells, but from each line of it once a minute: it looks several times a second into a database that
    cannot be reached. And not that a process stops."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is told."""
        place = record.pathname, record.lineno
        if record.created - self._told.get(place, -SELDOM) < SELDOM:
            return False
        if record.getMessage().startswith("Asyncio task cancelled"):
            return False
        self._told[place] = record.created
        return True


class Queue:
    """The queue in a database.

    Args:
        database: where.
        sealer: seals what is kept of workflows.
        at_once: how many legs a process runs at a time.
    """

    def __init__(self, database: Database, sealer: Sealer, at_once: int) -> None:
        self._database = database
        self._serializer = SealedJson(sealer)
        self._at_once = at_once
        self._client: dbos.DBOSClient | None = None
        self._waiting: Any = None
        self._engine: sa.Engine | None = None

    def prepare(self, engine: sa.Engine) -> None:
        """See `Waking.prepare`."""
        _under_our_logger()
        client = dbos.DBOSClient(
            system_database_engine=engine,
            dbos_system_schema=self._database.schema,
            serializer=self._serializer,
            application_name=NAME,
            lazy=True,
            retry_connection_errors=False,
        )
        self._client = client
        self._system().run_migrations()  # the public way makes databases, and takes no engine

    def enqueue(self, connection: sa.Connection, workflow: str, task: str, owner: str) -> None:
        """See `Waking.enqueue`."""
        self._prepared().enqueue_in_transaction(
            connection,
            {"workflow_name": WORKFLOW, "queue_name": NAME, "workflow_id": workflow, "app_version": VERSION},
            task,
            owner,
        )

    def launch(self, process: str, run: Run) -> None:
        """Begin to run what is enqueued.

        Raises:
            RuntimeError: DBOS runs in this process already.
        """
        global _run  # noqa: PLW0603  DBOS itself is one for a process, and calls functions of modules
        if _singleton._dbos_global_instance is not None:  # noqa: SLF001
            raise RuntimeError(
                "DBOS runs in this process already, and there can be one: run the tasks of one server in a process, "
                "and what else uses DBOS in another. Without run() an engine creates and reads tasks in any process."
            )
        refuse_others(self._serializer)
        _run = run
        self._engine = self._database.engine(OF_A_QUEUE, PATIENCE, for_locks=0)  # DBOS does not try again then
        try:
            with self._database.reached():
                self._launch(process, self._engine)
        except BaseException:
            self.land()
            raise

    def land(self) -> None:
        """End that; nothing where it has not begun."""
        global _run  # noqa: PLW0603  as above
        if self._engine is not None:
            dbos.DBOS.destroy()
            _run = None
            self._database.end(self._engine)
            self._engine = None

    def running(self) -> set[str]:
        """The processes that have taken a workflow and not ended it."""
        with self._database.reached():
            found = self._prepared().list_workflows(
                status="PENDING", name=WORKFLOW, load_input=False, load_output=False
            )
        return {each.executor_id for each in found if each.executor_id is not None}

    def take_over(self, process: str) -> int:
        """Enqueue anew what that process has taken and not ended; gives how much."""
        database = self._system()  # the public way takes it from whoever has it by now
        with self._database.reached():
            left = database.get_pending_workflows(process, VERSION)
            return sum(database.reenqueue_for_recovery(each.workflow_id, [process], NAME) for each in left)

    def take_no_more(self) -> None:
        """Let this process end what it has taken."""
        self._waiting._worker_concurrency = 0  # noqa: SLF001  a queue in memory is configured by its maker alone

    def give_back(self, workflow: str, process: str) -> bool:
        """Enqueue anew what this process has taken; False when it has not, or no longer."""
        with self._database.reached():
            return bool(self._system().reenqueue_for_recovery(workflow, [process], NAME))

    def dropped(self, process: str) -> set[str]:
        """What this process has taken, it seems, and does not run: when the database went away just then."""
        with self._database.reached():
            taken = self._system().get_pending_workflows(process, VERSION)
        return {each.workflow_id for each in taken} - _played

    def live(self, workflows: list[str]) -> set[str]:
        """Those of these workflows that are to be run yet, or are."""
        with self._database.reached():
            found = self._prepared().list_workflows(
                workflow_ids=workflows, status=list(LIVE), load_input=False, load_output=False
            )
        return {each.workflow_id for each in found}

    def delete_ended(self) -> int:
        """Delete some of the workflows that have ended; gives how many."""
        client = self._prepared()
        with self._database.reached():
            found = client.list_workflows(
                status=list(ENDED), name=WORKFLOW, limit=DELETED, load_input=False, load_output=False
            )
            if found:
                client.delete_workflows([each.workflow_id for each in found])
        return len(found)

    def _launch(self, process: str, engine: sa.Engine) -> None:
        dbos.DBOS(
            config={
                "name": NAME,
                "system_database_engine": engine,
                "dbos_system_schema": self._database.schema or "dbos",
                "serializer": self._serializer,
                "application_version": VERSION,
                "executor_id": process,
                "use_listen_notify": False,
                "run_migrations": False,
                "notification_listener_polling_interval_sec": 0.2,  # which is how long it takes to end
                "enable_otlp": False,
                "max_executor_threads": THREADS,
                "log_level": "WARNING",
            }
        )
        registry = _singleton._get_or_create_dbos_registry()  # noqa: SLF001  it would warn of registering twice
        if WORKFLOW not in registry.workflow_info_map:
            dbos.DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(_trampoline)
        # A queue that is registered in public has one limit for all processes, and is read again at each look.
        registry.internal_queue_map.pop(NAME, None)
        self._waiting = registry._register_internal_queue(  # noqa: SLF001
            NAME, worker_concurrency=self._at_once, polling_interval_sec=POLLING
        )
        dbos.DBOS.listen_queues([])
        dbos.DBOS.launch()

    def _prepared(self) -> dbos.DBOSClient:
        assert self._client is not None, "the database is prepared first"  # noqa: S101
        return self._client

    def _system(self) -> Any:
        return cast("Any", self._prepared())._sys_db  # noqa: SLF001


def _under_our_logger() -> None:
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())  # or DBOS writes to stderr by itself
    if not any(isinstance(each, Seldom) for each in logger.filters):
        logger.addFilter(Seldom())
    logger.parent = _log
    logger.setLevel(logging.WARNING)
