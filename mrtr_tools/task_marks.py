"""That a step goes on as a durable task: what an author says of it, and what a client must have said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, cast, get_args

from pydantic import JsonValue

from mrtr_tools.errors import DefinitionError
from mrtr_tools.lifetimes import is_lifetime
from mrtr_tools.records import record

__all__ = ["EXTENSION", "REQUIRED", "TaskMark", "TaskUse", "read_task_mark"]

TaskUse = Literal["optional", "required"]
"""What becomes of a call whose client knows no tasks: it goes on as it is, or it is refused."""

EXTENSION: Final = "io.modelcontextprotocol/tasks"
REQUIRED: Final[Mapping[str, JsonValue]] = {"extensions": {EXTENSION: {}}}
"""The `ClientCapabilities` of a client that knows tasks."""

TTL: Final = 86_400.0


@record
class TaskMark:
    """That a call goes on as a task when it comes to a step.

    Attributes:
        use: whether it can go on without.
        ttl: seconds from its beginning on that the task is kept, whether it has ended or not.
    """

    use: TaskUse
    ttl: float = TTL

    @property
    def is_required(self) -> bool:
        """Whether a client that knows no tasks is refused."""
        return self.use == "required"


def read_task_mark(where: str, task: object, task_ttl: object) -> TaskMark | None:
    """What ``task=`` and ``task_ttl=`` say.

    Raises:
        DefinitionError: they say nothing that there is.
    """
    if task is None and task_ttl is None:
        return None
    if task not in get_args(TaskUse):
        raise DefinitionError(f'{where}: task= is "optional" or "required", and task_ttl= goes with it')
    if task_ttl is not None and not is_lifetime(task_ttl):
        raise DefinitionError(f"{where}: task_ttl= is a positive number of seconds: task_ttl=3600 for an hour")
    return TaskMark(cast("TaskUse", task), TTL if task_ttl is None else task_ttl)
