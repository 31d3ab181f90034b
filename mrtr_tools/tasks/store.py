"""What is done with the rows of tasks, each in one transaction, together with the waking of the queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, Final, Protocol

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from mrtr_tools.errors import Busy
from mrtr_tools.tasks.database import Database
from mrtr_tools.tasks.engine import TOO_MANY, Row
from mrtr_tools.tasks.tables import row_of
from mrtr_tools.tasks.workflows import new_workflow, task_of

__all__ = ["Orphan", "Store", "Waking"]

DELETED: Final = 500  # at a time, so that nobody waits long for the lock
LOOKED_AT: Final = 200

Orphan = tuple[str, str, str | None]
"""The id, the owner and the workflow of a task that is ``working``."""


class Waking(Protocol):
    """The queue, as the store needs it."""

    def prepare(self, engine: sa.Engine) -> None:
        """Make its tables where they are not there yet."""
        ...

    def enqueue(self, connection: sa.Connection, workflow: str, task: str, owner: str) -> None:
        """Have a workflow of that id run the legs of a task, once this transaction is committed."""
        ...


class Store:
    """Rows in a database. All of it blocks; and whatever cannot reach the database raises `Busy`.

    Args:
        database: where.
        queue: what is woken.
        clock: seconds since 1970.
    """

    def __init__(self, database: Database, queue: Waking, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._queue = queue
        self._clock = clock
        self._all = database.tables
        self._tasks = database.tables.tasks
        self._insert = sqlite.insert if database.is_sqlite else postgresql.insert

    def create(self, row: Row, at_most: int) -> bool:
        """See `Engine.create`."""
        tasks = self._tasks
        workflow = new_workflow(row.id) if row.status == "working" else None
        with self._transaction() as connection:
            if not self._database.is_sqlite:  # SQLite has one that writes at a time
                lock = sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(row.owner, 0))
                connection.execute(sa.select(lock))
            connection.execute(sa.delete(tasks).where(tasks.c.id == row.id, tasks.c.expires <= self._clock()))
            new = self._insert(tasks).values(**asdict(row), workflow=workflow).on_conflict_do_nothing()
            if connection.execute(new.returning(tasks.c.id)).scalar_one_or_none() is None:
                return False
            is_counted = sa.and_(tasks.c.owner == row.owner, self._all.is_open(), self._all.is_there(self._clock()))
            count = sa.select(sa.func.count()).select_from(tasks).where(is_counted)
            if connection.execute(count).scalar_one() > at_most:
                raise Busy("overloaded", TOO_MANY)
            self._wake(connection, row, workflow)
        return True

    def get(self, task: str, owner: str) -> Row | None:
        """See `Engine.get`."""
        found = sa.select(*self._all.columns).where(self._all.is_task(task, owner), self._all.is_there(self._clock()))
        with self._transaction() as connection:
            row = connection.execute(found).mappings().one_or_none()
        return None if row is None else row_of(row)

    def update(self, row: Row, *, runner: str | None = None) -> bool:
        """See `Engine.update`.

        Args:
            row: what it is to be.
            runner: the process, when one of its legs does this: the workflow that runs it goes on with what comes next,
                and nothing changes when the task was given to another process meanwhile.
        """
        tasks = self._tasks
        values: dict[str, Any] = {**asdict(row), "tries": 0}
        if row.message is None:
            del values["message"]
        where = [
            self._all.is_task(row.id, row.owner),
            tasks.c.version == row.version - 1,
            self._all.is_open(),
            self._all.is_there(self._clock()),
        ]
        workflow = new_workflow(row.id) if row.status == "working" and runner is None else None
        if runner is not None:
            where.append(tasks.c.runner == runner)
        else:
            values["workflow"] = workflow
        with self._transaction() as connection:
            if not connection.execute(sa.update(tasks).where(*where).values(**values)).rowcount:
                return False
            self._wake(connection, row, workflow)
        return True

    def tell(self, task: str, owner: str, message: bytes, updated: float) -> None:
        """See `Engine.tell`."""
        where = (self._all.is_task(task, owner), self._all.is_open(), self._all.is_there(self._clock()))
        with self._transaction() as connection:
            connection.execute(sa.update(self._tasks).where(*where).values(message=message, updated=updated))

    def begin(self, workflow: str, task: str, owner: str, runner: str, *, is_counted: bool) -> int | None:
        """Begin a leg.

        Args:
            workflow: what wants to run it.
            task: its id.
            owner: its owner.
            runner: the process.
            is_counted: whether this counts as a try.

        Returns:
            How often a leg of this version was begun, with this one; None when there is none for this workflow.
        """
        tasks = self._tasks
        begun = (
            sa.update(tasks)
            .where(self._all.is_task(task, owner), self._all.is_there(self._clock()))
            .where(tasks.c.status == "working", tasks.c.workflow == workflow)
            .values(runner=runner, tries=tasks.c.tries + int(is_counted))
            .returning(tasks.c.tries)
        )
        with self._transaction() as connection:
            return connection.execute(begun).scalar_one_or_none()

    def forgive(self, workflows: Sequence[str], runner: str) -> None:
        """Count no try of legs that this process ends because it stops."""
        if not workflows:
            return
        tasks = self._tasks
        where = (*self._is_of(workflows), tasks.c.runner == runner, tasks.c.tries > 0)
        with self._transaction() as connection:
            connection.execute(sa.update(tasks).where(*where).values(tries=tasks.c.tries - 1))

    def still_run(self, workflows: Sequence[str], runner: str) -> set[str]:
        """Those of these workflows whose task is still ``working``, and run by this process."""
        tasks = self._tasks
        found = sa.select(tasks.c.workflow).where(
            *self._is_of(workflows),
            tasks.c.runner == runner,
            tasks.c.status == "working",
            self._all.is_there(self._clock()),
        )
        with self._transaction() as connection:
            return set(connection.execute(found).scalars())

    def working(self, before: float, after: str) -> list[Orphan]:
        """Some tasks that are ``working`` and have not changed since `before`, in the order of their ids."""
        tasks = self._tasks
        found = (
            sa.select(tasks.c.id, tasks.c.owner, tasks.c.workflow)
            .where(tasks.c.status == "working", tasks.c.updated < before, tasks.c.id > after)
            .order_by(tasks.c.id)
            .limit(LOOKED_AT)
        )
        with self._transaction() as connection:
            return [(row.id, row.owner, row.workflow) for row in connection.execute(found)]

    def wake_again(self, orphan: Orphan) -> bool:
        """Enqueue a task anew whose workflow is gone; False when it went on meanwhile."""
        task, owner, lost = orphan
        tasks = self._tasks
        workflow = new_workflow(task)
        mine = (
            self._all.is_task(task, owner),
            tasks.c.status == "working",
            tasks.c.workflow.is_not_distinct_from(lost),
        )
        with self._transaction() as connection:
            if not connection.execute(sa.update(tasks).where(*mine).values(workflow=workflow)).rowcount:
                return False
            self._queue.enqueue(connection, workflow, task, owner)
        return True

    def delete_expired(self) -> int:
        """Delete some tasks that have expired; gives how many."""
        tasks = self._tasks
        expired = sa.select(tasks.c.id).where(tasks.c.expires <= self._clock()).limit(DELETED)
        with self._transaction() as connection:
            return connection.execute(sa.delete(tasks).where(tasks.c.id.in_(expired))).rowcount

    def key_ids(self) -> Mapping[str, int]:
        """See `Engine.key_ids`."""
        key_id = self._tasks.c.key_id
        is_there = self._all.is_there(self._clock())
        with self._transaction() as connection:
            counted = sa.select(key_id, sa.func.count().label("rows")).where(is_there).group_by(key_id)
            return {row.key_id: row.rows for row in connection.execute(counted)}

    def rows(self, key_id: str, limit: int) -> Sequence[Row]:
        """See `Engine.rows`."""
        found = (
            sa.select(*self._all.columns)
            .where(self._tasks.c.key_id == key_id, self._all.is_there(self._clock()))
            .limit(limit)
        )
        with self._transaction() as connection:
            return [row_of(row) for row in connection.execute(found).mappings()]

    def rewrap(self, row: Row, key: bytes, key_id: str) -> bool:
        """See `Engine.rewrap`."""
        same = (
            self._all.is_task(row.id, row.owner),
            self._tasks.c.key == row.key,
            self._all.is_there(self._clock()),
        )
        with self._transaction() as connection:
            change = sa.update(self._tasks).where(*same).values(key=key, key_id=key_id)
            return connection.execute(change).rowcount == 1

    def beat(self, process: str) -> None:
        """Give a sign of life."""
        table = self._all.processes
        new = self._insert(table).values(id=process, beat=1)
        more = new.on_conflict_do_update(index_elements=[table.c.id], set_={"beat": table.c.beat + 1})
        with self._transaction() as connection:
            connection.execute(more)

    def beats(self) -> dict[str, int]:
        """How often each process has given one."""
        table = self._all.processes
        with self._transaction() as connection:
            return {row.id: row.beat for row in connection.execute(sa.select(table.c.id, table.c.beat))}

    def strike_off(self, process: str, beat: int | None = None) -> None:
        """Forget a process, unless it has beaten again."""
        table = self._all.processes
        where = [table.c.id == process]
        if beat is not None:
            where.append(table.c.beat == beat)
        with self._transaction() as connection:
            connection.execute(sa.delete(table).where(*where))

    def _is_of(self, workflows: Sequence[str]) -> tuple[sa.ColumnElement[bool], ...]:
        tasks = self._tasks
        return tasks.c.id.in_([task_of(workflow) for workflow in workflows]), tasks.c.workflow.in_(workflows)

    def _wake(self, connection: sa.Connection, row: Row, workflow: str | None) -> None:
        if workflow is not None:
            self._queue.enqueue(connection, workflow, row.id, row.owner)

    def _transaction(self) -> AbstractContextManager[sa.Connection]:
        return self._database.transaction(self._queue.prepare)
