"""The messages of the extension ``io.modelcontextprotocol/tasks``, in the SDK's terms.

See https://modelcontextprotocol.io/extensions/tasks (SEP-2663).
"""

from __future__ import annotations

from typing import Any, Final, Literal, cast

from mcp import MCPError, types
from pydantic import model_validator

__all__ = [
    "CreateTaskResult",
    "DetailedTask",
    "TaskCancelled",
    "TaskParams",
    "TaskRequest",
    "UpdateTask",
    "UpdateTaskParams",
]

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]

POLL: Final = 1.0
"""Seconds between two looks at a task whose server does not say."""
SOONEST: Final = 0.05
LATEST: Final = 3600.0


class TaskCancelled(Exception):
    """A task was cancelled before it came to a result.

    Attributes:
        task: its id.
    """

    def __init__(self, task: str, message: str | None = None) -> None:
        super().__init__(f"The task was cancelled: {message}" if message else "The task was cancelled")
        self.task = task


class _Task(types.Result):
    task_id: str
    status: Status
    status_message: str | None = None
    created_at: str | None = None
    last_updated_at: str | None = None
    ttl_ms: int | float | None = None
    poll_interval_ms: int | float | None = None


class CreateTaskResult(_Task):
    """What a call is answered with that goes on as a task."""

    result_type: Literal["task"] = "task"


class DetailedTask(_Task):
    """A task as ``tasks/get`` shows it.

    Raises:
        ValueError: it has ended, and does not say with what.
    """

    result_type: Literal["complete", "task"] = "complete"  # examples of the specification have both
    input_requests: types.InputRequests | None = None
    result: dict[str, Any] | None = None
    error: types.ErrorData | None = None

    @model_validator(mode="after")
    def _has_its_end(self) -> DetailedTask:
        if self.status == "completed" and self.result is None:
            raise ValueError("a task that is completed has a result")
        if self.status == "failed" and self.error is None:
            raise ValueError("a task that has failed has an error")
        return self

    @property
    def has_ended(self) -> bool:
        """Whether it can change no more."""
        return self.status in ("completed", "failed", "cancelled")

    @property
    def interval(self) -> float:
        """Seconds that its server wants between two looks at it; between a twentieth and an hour."""
        told = POLL if self.poll_interval_ms is None else self.poll_interval_ms / 1000
        return min(max(told, SOONEST), LATEST)

    def outcome(self) -> types.CallToolResult:
        """The result of the call that became the task, which has ended.

        Raises:
            MCPError: it failed.
            TaskCancelled: it was cancelled.
            pydantic.ValidationError: its result is none of a tool.
        """
        if self.status == "cancelled":
            raise TaskCancelled(self.task_id, self.status_message)
        if self.status == "failed":
            raise MCPError.from_error_data(cast("types.ErrorData", self.error))
        return types.CallToolResult.model_validate(self.result, by_name=False)


class TaskParams(types.RequestParams):
    """The parameters of a request for a task."""

    task_id: str


class UpdateTaskParams(TaskParams):
    """The parameters of ``tasks/update``."""

    input_responses: dict[str, Any]


class TaskRequest(types.Request[TaskParams, Literal["tasks/get", "tasks/cancel"]]):
    """``tasks/get`` or ``tasks/cancel``."""

    name_param = "taskId"


class UpdateTask(types.Request[UpdateTaskParams, Literal["tasks/update"]]):
    """``tasks/update``."""

    name_param = "taskId"
