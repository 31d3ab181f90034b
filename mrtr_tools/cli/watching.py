"""A task, seen from the command line: followed, answered, cancelled, and what is said of it."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, cast

import anyio
from mcp import ClientSession, types
from pydantic import BaseModel, JsonValue

from mrtr_tools.cli.events import Show, TaskSeen
from mrtr_tools.cli.exits import FAILED, INTERRUPTED, Stop
from mrtr_tools.cli.replies import Replies
from mrtr_tools.cli.targets import Target
from mrtr_tools.cli.terminal import paragraph
from mrtr_tools.client import CreateTaskResult, DetailedTask, cancel_task, follow, get_task
from mrtr_tools.client.following import LAST_WORD
from mrtr_tools.templates import shown

__all__ = ["Watching", "outcome_of", "wire_of"]

MAX_ASKED: Final = 20
"""How often a task is answered from the command line alone, which may be the same wrong answer each time."""
MAX_ESCAPED: Final = 10  # characters of one that cannot be shown


class Watching:
    """A task of a server.

    Args:
        task: its id, untrusted when a server made it.
        target: where it is.
        replies: answers what it asks.
        show: is told what happens.
    """

    def __init__(self, task: str, target: Target, replies: Replies, show: Show) -> None:
        self.task = task
        self._target = target
        self._replies = replies
        self._show = show
        self._last: tuple[str, str | None] | None = None
        self._answers: dict[str, Mapping[str, JsonValue]] = {}
        self._is_interrupted = False

    def command(self, verb: str, *options: str) -> str:
        """What to type to go on with the task."""
        task = shown(self.task, MAX_ESCAPED * len(self.task))
        return shlex.join(["mrtr-tools", "task", verb, *options, *self._target.options, self._target.name, task])

    def left(self) -> str:
        """What becomes of the task when nobody here follows it."""
        if self._target.url is not None:
            return f"The task goes on by itself. To see how it is: {self.command('get')}"
        return (  # the server that was started for this command ends with it
            f"The task goes on while a server of {self._target.name} runs. To run one until the task has ended: "
            f"{self.command('get', '--follow')}"
        )

    async def follow(self, session: ClientSession, heard: Callable[[], None], *, cancels: bool) -> types.CallToolResult:
        """Follow the task to its end, and answer what it asks.

        Args:
            session: with the server.
            heard: is called with each answer of the server.
            cancels: whether Ctrl-C cancels the task.

        Returns:
            The result of its call.

        Raises:
            Stop: Ctrl-C, an answer is missing, or the task ended without a result.
        """

        async def told(task: DetailedTask) -> None:
            if self._answers.keys().isdisjoint(
                task.input_requests or ()
            ):  # else answers may be what does not get through
                heard()
            self.tell(task)

        if not self._is_interrupted:
            with _interruptible():
                try:
                    return outcome_of(await follow(session, self.task, answer=self._answer, told=told))
                except Stop as stop:
                    if stop.code != INTERRUPTED:
                        raise
        self._is_interrupted = True  # if the line breaks now, the next one is for that alone
        if cancels:
            raise await self._cancelled(session)
        raise self._goes_on()

    def with_task(self, stop: Stop) -> Stop:
        """The end of a call whose task may still be there."""
        if "taskId" in stop.details:
            return stop
        if stop.code == INTERRUPTED:
            return self._goes_on()
        told = str(stop)
        if "missing" in stop.details:
            told += f"\nThe task waits for it. To go on: {self.command('answer')}"
        elif stop.details.get("code") != types.INVALID_PARAMS:  # there is none of that id any more
            told += f"\nThe task may be going on. To see how it is: {self.command('get')}"
        return Stop(told, stop.code, {**stop.details, "taskId": self.task})

    def _goes_on(self) -> Stop:
        return Stop(self.left(), INTERRUPTED, {"taskId": self.task})

    async def _answer(self, requests: types.InputRequests) -> Mapping[str, Any]:
        if self._replies.rounds >= MAX_ASKED and not self._replies.is_attended:
            raise Stop(f"The task has asked {MAX_ASKED} times, and goes on asking", FAILED)
        new = {key: wire_of(request) for key, request in requests.items() if key not in self._answers}
        if new:
            answers = await self._replies.to(new)
            self._answers.update({key: response.wire() for key, response in answers.items()})
        return {key: self._answers[key] for key in requests}  # one may be sent twice, when the line broke after it

    def tell(self, task: CreateTaskResult | DetailedTask) -> None:
        """Show how the task is, if that has changed."""
        if (news := (task.status, task.status_message)) != self._last:
            self._last = news
            self._show(TaskSeen(wire_of(task)))

    async def _cancelled(self, session: ClientSession) -> Stop:
        details: dict[str, JsonValue] = {"taskId": self.task}
        told = f"whether its task was cancelled is not known: {self.command('get')}"
        with anyio.move_on_after(LAST_WORD):
            await cancel_task(session, self.task)
            details["status"] = status = (await get_task(session, self.task)).status
            told = "its task was cancelled." if status == "cancelled" else f"its task is {status} by now."
        return Stop(f"The call was ended, and {told}", INTERRUPTED, details)


def wire_of(message: BaseModel) -> dict[str, JsonValue]:
    """A message of the SDK as it came over the wire."""
    return message.model_dump(by_alias=True, mode="json", exclude_none=True)


def outcome_of(task: DetailedTask) -> types.CallToolResult:
    """The result of a task that has ended.

    Raises:
        Stop: it has none.
    """
    details: dict[str, JsonValue] = {"taskId": task.task_id, "status": task.status}
    if task.status == "cancelled":
        why = f": {paragraph(task.status_message)}" if task.status_message else ""
        raise Stop(f"The task was cancelled{why}", FAILED, details)
    if task.error is not None:
        details["code"] = task.error.code
        if task.error.data is not None:
            details["data"] = cast("JsonValue", task.error.data)
        raise Stop(paragraph(task.error.message), FAILED, details)
    return task.outcome()


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C end what is inside, and nothing else with it: there is something to be said to the server yet."""
    loop, scope = asyncio.get_running_loop(), anyio.CancelScope()

    def interrupt(_: int, __: FrameType | None) -> None:
        loop.call_soon_threadsafe(scope.cancel)

    with scope:
        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
