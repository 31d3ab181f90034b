"""What can be done with a task from elsewhere than the call that became it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from mcp import Client, MCPError, types
from pydantic import JsonValue

from mrtr_tools.cli.connection import Connection
from mrtr_tools.cli.events import Noted, Show
from mrtr_tools.cli.exits import FAILED, INTERRUPTED, Stop
from mrtr_tools.cli.given import Given
from mrtr_tools.cli.replies import Replies
from mrtr_tools.cli.targets import Target
from mrtr_tools.cli.watching import Watching, outcome_of, wire_of
from mrtr_tools.client import DetailedTask, cancel_task, get_task, update_task

if TYPE_CHECKING:
    from mrtr_tools.cli.asking import Person

__all__ = ["Handling"]

T = TypeVar("T")
Json = dict[str, JsonValue]


class Handling:
    """A task whose id somebody has.

    Args:
        target: where it is.
        task: its id.
        given: answers that need nobody.
        person: who is asked for others; None when nobody can be.
        show: is told what happens.
    """

    def __init__(self, target: Target, task: str, given: Given, person: Person | None, show: Show) -> None:
        self.target = target
        self._task = task
        self._given = given
        self._show = show
        self._replies = Replies(given, person, show, control_c="leave the task alone")
        self._watching = Watching(task, target, self._replies, show)
        self._connection = Connection(target, show=show)

    async def get(self) -> Json | None:
        """Show how the task is.

        Returns:
            The result of its call; None while there is none.

        Raises:
            Stop: it has ended without one.
        """
        return await self._use(self._get)

    async def follow(self) -> Json:
        """Follow the task to its end.

        Returns:
            The result of its call.

        Raises:
            Stop: it has ended without one, an answer is missing, or Ctrl-C.
        """

        async def work(client: Client) -> Json:
            ended = await self._watching.follow(client.session, self._connection.heard, cancels=False)
            return wire_of(ended)

        result = await self._use(work)
        self._note_unused()
        return result

    async def answer(self) -> None:
        """Answer what the task asks.

        Raises:
            Stop: it asks nothing, there is no answer to any of it, or Ctrl-C.
        """
        await self._use(self._answer)
        self._note_unused()

    async def cancel(self) -> None:
        """Cancel the task, and show how it is then."""

        async def work(client: Client) -> None:
            await cancel_task(client.session, self._task)
            self._watching.tell(await get_task(client.session, self._task))

        await self._use(work)

    async def _use(self, work: Callable[[Client], Awaitable[T]]) -> T:
        async def named(client: Client) -> T:
            if client.server_info is not None:
                self._replies.server = client.server_info.title or client.server_info.name
            try:
                return await work(client)
            except MCPError as error:
                if error.code != types.METHOD_NOT_FOUND:
                    raise
                raise Stop(f"{self.target.name} has no tasks", FAILED, {"code": error.code}) from None

        return await self._connection.use(named)

    async def _get(self, client: Client) -> Json | None:
        task = await get_task(client.session, self._task)
        self._watching.tell(task)
        if task.has_ended:
            return wire_of(outcome_of(task))
        if requests := _requests(task):
            self._replies.show(requests)
            self._show(Noted(f"To answer: {self._watching.command('answer')}"))
        return None

    async def _answer(self, client: Client) -> None:
        task = await get_task(client.session, self._task)
        self._watching.tell(task)
        requests = _requests(task)
        if not requests:
            raise Stop("The task asks nothing at the moment", FAILED, {"taskId": self._task, "status": task.status})
        ready = self._replies.beforehand(requests)
        chosen = requests if self._replies.is_attended or not ready else {key: requests[key] for key in ready}
        try:
            answers = await self._replies.to(chosen)
        except Stop as stop:
            if stop.code != INTERRUPTED:
                raise
            raise Stop("Nothing was answered, and the task waits.", INTERRUPTED) from None
        await update_task(client.session, self._task, {key: each.wire() for key, each in answers.items()})
        self._watching.tell(await get_task(client.session, self._task))

    def _note_unused(self) -> None:
        for key in self._given.unused:
            self._show(Noted(f"Note: nothing has asked for --answer {key}"))


def _requests(task: DetailedTask) -> dict[str, Json]:
    return {key: wire_of(request) for key, request in (task.input_requests or {}).items()}
