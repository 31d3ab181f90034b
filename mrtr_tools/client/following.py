"""Following a task to its end: looking at it as often as its server likes, and answering what it asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import anyio
from mcp import ClientSession, MCPError, types

from mrtr_tools.client.patience import patiently
from mrtr_tools.client.shapes import DetailedTask, TaskParams, TaskRequest, UpdateTask, UpdateTaskParams

__all__ = ["LAST_WORD", "Answer", "Told", "cancel_task", "follow", "get_task", "give_up", "update_task"]

Answer = Callable[[types.InputRequests], Awaitable[Mapping[str, Any]]]
"""Answers questions of a task, by key, with results of the SDK or with JSON."""

Told = Callable[[DetailedTask], Awaitable[object]]
"""Told how a task is."""

LAST_WORD: Final = 5
"""Seconds that a client which is about to end gives a server to cancel its task."""


async def get_task(session: ClientSession, task: str) -> DetailedTask:
    """How a task is (``tasks/get``).

    Raises:
        MCPError: there is no such task for whoever asks, its time is over, or the server cannot say.
        pydantic.ValidationError: the server does not keep to the protocol.
    """
    request = TaskRequest(method="tasks/get", params=TaskParams(task_id=task))
    return await patiently(partial(session.send_request, request, DetailedTask))


async def update_task(session: ClientSession, task: str, responses: Mapping[str, Any]) -> None:
    """Answer questions of a task (``tasks/update``). What nothing asks for any more is ignored.

    Args:
        session: with the server.
        task: its id.
        responses: by the key of the question.

    Raises:
        MCPError: there is no such task for whoever asks, or the server cannot take them.
    """
    params = UpdateTaskParams(task_id=task, input_responses=dict(responses))
    await patiently(partial(session.send_request, UpdateTask(method="tasks/update", params=params), types.EmptyResult))


async def cancel_task(session: ClientSession, task: str) -> None:
    """Ask for the end of a task (``tasks/cancel``); it may still come to another one, which `get_task` shows.

    Raises:
        MCPError: there is no such task for whoever asks, or the server cannot cancel it.
    """
    request = TaskRequest(method="tasks/cancel", params=TaskParams(task_id=task))
    await patiently(partial(session.send_request, request, types.EmptyResult))


async def follow(
    session: ClientSession, task: str, *, answer: Answer | None = None, told: Told | None = None
) -> DetailedTask:
    """Look at a task until it has ended, as often as its server wants to be asked.

    Args:
        session: with the server; its client declares the extension.
        task: its id.
        answer: is given questions once each, those that are new together; a key that it leaves out is not asked again.
            None leaves all answers to somebody else.
        told: is told of the task each time.

    Returns:
        The task, which has ended.

    Raises:
        MCPError: there is no such task for whoever asks, its time is over, or the server cannot say.
        pydantic.ValidationError: the server does not keep to the protocol.
    """
    asked = set[str]()
    while True:
        due = anyio.current_time()
        found = await get_task(session, task)
        if told is not None:
            await told(found)
        if found.has_ended:
            return found
        new = {key: request for key, request in (found.input_requests or {}).items() if key not in asked}
        if new and answer is not None:
            asked |= new.keys()
            await update_task(session, task, await answer(new))
        await anyio.sleep_until(due + found.interval)


async def give_up(session: ClientSession, task: str) -> None:
    """Cancel a task although this is being cancelled itself, as far as that can be done in a few seconds."""
    with anyio.move_on_after(LAST_WORD, shield=True), suppress(MCPError):
        await cancel_task(session, task)
