"""The extension ``io.modelcontextprotocol/tasks``: its methods, and tasks as it writes them.

See https://modelcontextprotocol.io/extensions/tasks (SEP-2663). The server alone decides what becomes a task, so a
`task` parameter is not heard. A `requestState` on one of these methods is never opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from pydantic import JsonValue

from mrtr_tools.calls import Call, Created
from mrtr_tools.errors import MissingCapability
from mrtr_tools.task_marks import EXTENSION, REQUIRED

if TYPE_CHECKING:
    from mrtr_tools.calls import Client
    from mrtr_tools.tasks.record import Task
    from mrtr_tools.tasks.service import TaskService

__all__ = ["answer", "created_object", "read_answers", "task_object", "with_extension"]

Json = dict[str, JsonValue]

POLL_MS: Final = 1000
"""Milliseconds that a client should wait before it asks again."""


async def answer(
    tasks: TaskService, method: str, params: Mapping[str, JsonValue], client: Client, principal: str | None
) -> Json:
    """The result of a request for a task, whose parameters `fits`.

    Raises:
        MissingCapability: its client did not declare the extension.
        InvalidParams: there is no such task for that principal, or there are too many answers.
        Busy: the store cannot be reached.
    """
    if not client.supports(REQUIRED):
        raise MissingCapability(REQUIRED)
    task = cast("str", params["taskId"])
    if method == "tasks/get":
        return task_object(await tasks.get(task, principal))
    if method == "tasks/update":
        await tasks.update(task, principal, read_answers(params, client))
    else:
        await tasks.cancel(task, principal)
    return {"resultType": "complete"}


def read_answers(params: Mapping[str, JsonValue], client: Client) -> Mapping[str, JsonValue]:
    """The answers to open questions of a task.

    Raises:
        InvalidParams: there are too many, or they hold too much.
    """
    return Call.read({"name": "", "inputResponses": params["inputResponses"]}, client=client).responses


def created_object(created: Created) -> Json:
    """A reply as a `CreateTaskResult`."""
    return {"resultType": "task", **_shown(created.task, created)}


def task_object(task: Task) -> Json:
    """A task as `tasks/get` shows it: a `DetailedTask`."""
    result: Json = {"resultType": "complete", **_shown(task.id, task)}
    if task.status == "input_required":
        result["inputRequests"] = {key: dict(request) for key, request in task.requests.items()}
    if task.result is not None:
        result["result"] = {name: value for name, value in task.result.items() if name != "resultType"}
    if task.error is not None:
        result["error"] = dict(task.error)
    return result


def with_extension(told: Json) -> Json:
    """What a server tells of itself, with the extension among its capabilities."""
    capabilities = cast("Json", told.get("capabilities") or {})
    extensions = cast("Json", capabilities.get("extensions") or {})
    return {**told, "capabilities": {**capabilities, "extensions": {**extensions, EXTENSION: {}}}}


def _shown(name: str, task: Created | Task) -> Json:
    message: Json = {} if task.message is None else {"statusMessage": task.message}
    return {
        "taskId": name,
        "status": task.status,
        **message,
        "createdAt": _time(task.created),
        "lastUpdatedAt": _time(task.updated),
        "ttlMs": None if task.ttl is None else round(task.ttl * 1000),
        "pollIntervalMs": POLL_MS,
    }


def _time(seconds: float) -> str:
    """A time in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
