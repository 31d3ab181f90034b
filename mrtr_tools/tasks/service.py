"""`TaskService`: the tasks of one toolbox, as any process of a server makes, shows, answers, cancels and runs them.

A task is a call between two rounds, kept by an `Engine` in place of a client. What a request does to one is a round:
an answer is read against the questions that are open, and what comes next is written down; a leg runs the one function
that comes next, and writes down what comes after. Each writes in the place of the version that it read, so that of two
answers the first counts, and what ended stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, cast

from pydantic import JsonValue

from mrtr_tools.calls import Call, Complete, Created
from mrtr_tools.carriers import Carrier
from mrtr_tools.errors import AlreadyDone, Busy, DefinitionError, InvalidParams, InvalidState, RequestError
from mrtr_tools.events import Event, Finished, NeedInput, RunStep
from mrtr_tools.keys import InvalidKey
from mrtr_tools.rounds import Round
from mrtr_tools.runner import Observer, log_end, run_one
from mrtr_tools.single_use.ledger import Ledger
from mrtr_tools.task_marks import TaskMark
from mrtr_tools.tasks.channel import TaskChannel
from mrtr_tools.tasks.engine import Engine, Row, Status
from mrtr_tools.tasks.leg_runner import LegRunner
from mrtr_tools.tasks.record import Record, Task, is_task_id, owner_of, task_id
from mrtr_tools.tasks.sealing import TaskSealer
from mrtr_tools.tools import Toolbox

__all__ = ["MAX_OPEN", "MAX_OPEN_OF_NOBODY", "TaskService", "Written"]

Json = dict[str, JsonValue]
Written = Callable[[Call, Carrier, Complete], Json]
"""Writes a result as it goes over the wire."""

MAX_OPEN: Final = 100
"""Tasks of one owner that have not ended."""
MAX_OPEN_OF_NOBODY: Final = 10_000
"""The same where callers are not authenticated: of all of them together."""
TRIES: Final = 5
"""How often an answer is read again because the task changed meanwhile."""

_log = logging.getLogger("mrtr_tools")


class TaskService:
    """The tasks of a toolbox.

    Args:
        toolbox: whose tools they are.
        engine: keeps them and runs them.
        sealer: seals what they hold.
        audience: names the server, the same on all of its machines.
        written: writes a result.
        ledger: keeps what is used once.
        observer: told of each function before it runs, and of each end.
        clock: seconds since 1970.
        max_open: how many tasks one owner may have that have not ended; None for `MAX_OPEN` or `MAX_OPEN_OF_NOBODY`.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        engine: Engine,
        sealer: TaskSealer,
        *,
        audience: str,
        written: Written,
        clock: Callable[[], float],
        ledger: Ledger | None = None,
        observer: Observer | None = None,
        max_open: int | None = None,
    ) -> None:
        self.toolbox = toolbox
        self.engine = engine
        self._sealer = sealer
        self._audience = audience
        self._written = written
        self._clock = clock
        self._ledger = ledger
        self._observer = observer
        self._max_open = max_open
        self._lifespan: Any = None
        self._legs = LegRunner(engine, toolbox.name)

    def apart(self, name: str) -> TaskService:
        """Tasks in the same place, run together with these, which nobody can reach from here, nor these from there.

        Args:
            name: keeps them apart.
        """
        return TaskService(
            self.toolbox,
            self.engine,
            self._sealer,
            audience=f"{self._audience}\0{name}",
            written=self._written,
            clock=self._clock,
            ledger=self._ledger,
            observer=self._observer,
            max_open=self._max_open,
        )

    async def start(self, machine: Round, ttl: float | None = None) -> Created:
        """Make a call a task from where its round stands; a call that is one already gets that.

        Args:
            machine: the round.
            ttl: seconds that its client wants the task to be kept; no more than the step says.

        Raises:
            AlreadyDone: another fork of the call has become that task.
            Busy: its owner has too many, or the store cannot be reached.
        """
        call, progress, step = machine.call, machine.progress, machine.step
        name, mark, now = step.oldest_name, cast("TaskMark", step.task), self._clock()
        owner = owner_of(self._audience, call.principal)
        record = Record.of(call, progress)
        task = task_id(self._audience, call.principal, progress, name)
        progress.is_task, progress.born = True, progress.born or int(now)
        kept_for = mark.ttl if ttl is None else min(ttl, mark.ttl)
        row = self._sealer.wrapped(Row(task, owner, "working", 1, now, now, now + kept_for, "", b"", b""))
        if await self.engine.create(
            self._sealer.with_data(row, record.to_json()), at_most=self._most_open(call.principal)
        ):
            _log.info("%s goes on as a task at %s", call.target, step.name)
            return _created(row, None)
        kept = await self.engine.get(task, owner)
        if kept is None:
            raise AlreadyDone("unfinished")
        if not record.is_repeat_of(self._read(kept)):
            raise AlreadyDone("used")
        return _created(kept, self._message(kept))

    def _most_open(self, principal: str | None) -> int:
        if self._max_open is not None:
            return self._max_open
        return MAX_OPEN_OF_NOBODY if principal is None else MAX_OPEN

    async def get(self, task: str, principal: str | None) -> Task:
        """How a task is.

        Raises:
            InvalidParams: there is none of that id for that principal.
            Busy: the store cannot be reached.
        """
        row = await self._row(task, principal)
        record = self._read(row)
        return Task(
            row.id,
            row.status,
            self._message(row),
            row.created,
            row.updated,
            None if row.expires is None else row.expires - row.created,
            record.requests,
            record.result,
            record.error,
        )

    async def update(self, task: str, principal: str | None, answers: Mapping[str, JsonValue]) -> None:
        """Answer open questions of a task; what answers none that is open is ignored.

        Raises:
            InvalidParams: there is no such task for that principal, or too much was sent.
            Busy: the store cannot be reached, or another build of the server has to read these answers.
        """
        for _ in range(TRIES):
            row = await self._row(task, principal)
            record = self._read(row)
            known = {key: answers[key] for key in record.requests if key in answers}
            if row.status != "input_required" or not known:
                return
            try:
                machine = self._machine(record, record.call_with(known, None, self._lifespan))
                changed = self._after(row, record, machine, machine.next_event())
            except InvalidState:
                raise Busy("unavailable") from None
            except RequestError as error:
                changed = self._failed(row, record, error)
            if await self.engine.update(changed):
                return
        raise Busy("in_progress")

    async def cancel(self, task: str, principal: str | None) -> None:
        """End a task, unless it has ended. A function of it that runs is cancelled soon.

        Raises:
            InvalidParams: there is no such task for that principal.
            Busy: the store cannot be reached.
        """
        while not (row := await self._row(task, principal)).has_ended:
            if await self.engine.cancel(self._ended(row, self._read(row), "cancelled")):
                _log.info("task %s was cancelled", task)
                return

    async def leg(self, task: str, owner: str) -> bool:
        """Run the function that comes next and write down what comes after; a `Leg`."""
        row = await self.engine.get(task, owner)
        if row is None or row.status != "working":
            return False
        with self._legs.leg():
            try:
                changed = await self._played(row, self._read(row))
            except (InvalidState, Busy) as error:
                _log.warning("task %s cannot go on here and now, and is tried again: %s", task, error)
                raise
        return await self.engine.update(changed) and changed.status == "working"

    async def _played(self, row: Row, record: Record) -> Row:
        channel = TaskChannel(self.engine, self._sealer, row, self._clock)
        try:
            machine = self._machine(record, record.call_with({}, channel, self._lifespan))
            event = machine.next_event()
            if isinstance(event, RunStep):
                await run_one(machine, event, self._observer, self._ledger)
                event = machine.next_event()
            return self._after(row, record, machine, event)
        except (InvalidState, Busy):
            raise
        except RequestError as error:
            return self._failed(row, record, error)

    async def give_up(self, task: str, owner: str) -> None:
        """End a task that cannot be run; a `GaveUp`. One that cannot be read stays as it is until its time is over."""
        row = await self.engine.get(task, owner)
        if row is not None and not row.has_ended:
            _log.error("task %s could not be run and is given up", task)
            with suppress(Busy):
                record = self._read(row)
                await self.engine.update(self._failed(row, record, GivenUp("The task could not be finished")))

    # Running

    async def check(self) -> None:
        """Refuse to serve where no tasks can be kept, or tasks that nobody here can open.

        Raises:
            DefinitionError: the place cannot be used.
            InvalidKey: the store holds tasks whose key is not in the ring.
        """
        try:
            unknown = set(await self.engine.key_ids()) - self._sealer.ring.key_ids
        except Busy:
            _log.warning("%s: the store of its tasks cannot be reached yet", self.toolbox.name)
            return
        except (OSError, ValueError) as error:
            raise DefinitionError(f"{self.toolbox.name}: {error}") from error
        if unknown:
            raise InvalidKey(
                f"{self.toolbox.name}: tasks are sealed with the key {min(unknown)}, which is not among the task keys: "
                "add it behind the current one, and run `mrtr-tools keys rewrap` before it is taken out; or another "
                "server keeps its tasks there, and this one needs a place of its own"
            )

    def begin(self, lifespan: Any = None) -> None:
        """Run legs in this event loop of asyncio, until `end`.

        Args:
            lifespan: what the server's lifespan gave, for steps to find as `Context.lifespan`.
        """
        self._lifespan = lifespan
        self._legs.begin(self.leg, self.give_up)

    def stop(self, grace: float = 0) -> None:
        """Begin no more legs in this process; see `LegRunner.stop`."""
        self._legs.stop(grace)

    async def end(self, grace: float = 0) -> None:
        """Run no more legs, and let go of the store; see `LegRunner.end`."""
        await self._legs.end(grace)

    # Rounds

    async def _row(self, task: str, principal: str | None) -> Row:
        owner = owner_of(self._audience, principal)
        row = await self.engine.get(task, owner) if is_task_id(task) else None
        if row is None:
            raise InvalidParams("There is no such task")
        return row

    def _read(self, row: Row) -> Record:
        try:
            return Record.from_json(self._sealer.data(row))
        except ValueError as error:
            _log.error("task %s cannot be read: %s", row.id, error)
            raise Busy("unavailable") from None

    def _message(self, row: Row) -> str | None:
        try:
            return self._sealer.message(row)
        except ValueError as error:
            _log.error("the message of task %s cannot be read: %s", row.id, error)
            raise Busy("unavailable") from None

    def _machine(self, record: Record, call: Call) -> Round:
        return Round(self.toolbox, call, record.progress)

    def _after(self, row: Row, record: Record, machine: Round, event: Event) -> Row:
        """The row with what a round left."""
        record.progress, record.requests = machine.progress, {}
        if isinstance(event, RunStep):
            return self._changed(row, record, "working")
        if isinstance(event, NeedInput):
            record.requests = event.requests
            return self._changed(row, record, "input_required")
        done = cast("Finished", event)
        log_end(machine, done)
        if self._observer is not None:
            self._observer(done)
        if done.failure is not None:
            return self._failed(row, record, done.failure)
        record.result = self._written(machine.call, machine.carrier, done.reply)
        return self._ended(row, record, "completed")

    def _failed(self, row: Row, record: Record, error: RequestError) -> Row:
        _log.info("task %s failed: %s", row.id, error.message)
        told: Json = {"code": error.code, "message": error.message}
        record.error = told if error.data is None else {**told, "data": error.data}
        return self._ended(row, record, "failed", error.message)

    def _ended(self, row: Row, record: Record, status: Status, message: str = "") -> Row:
        """The row of a task that has ended, which holds nothing of the way there."""
        record.requests, record.call = {}, {}
        record.progress = replace(record.progress, carried={}, slots={}, open={}, defaults={}, why={})
        return self._changed(row, record, status, message)

    def _changed(self, row: Row, record: Record, status: Status, message: str = "") -> Row:
        changed = replace(row, status=status, version=row.version + 1, updated=self._clock(), message=None)
        if status != "working":  # as long as it works, what a step told stands
            changed = replace(changed, message=self._sealer.sealed_message(row, message))
        return self._sealer.with_data(changed, record.to_json())


class GivenUp(RequestError):
    """A task whose process ended inside it, time and again (-32603)."""

    code = -32603


def _created(row: Row, message: str | None) -> Created:
    ttl = None if row.expires is None else row.expires - row.created
    return Created(row.id, row.status, message, row.created, row.updated, ttl)
