"""For clients that use the official SDK: tasks (``io.modelcontextprotocol/tasks``), followed to their end.

With `Tasks` among its extensions a client calls a tool that goes on as a task like any other:

    async with Client(url, elicitation_callback=ask, extensions=[Tasks()]) as client:
        result = await client.call_tool("nightly_report")

A task outlives the client: `follow` goes on with one whose id was kept. Importing this module imports the SDK.
"""

from __future__ import annotations

from mrtr_tools.client.extension import Tasks
from mrtr_tools.client.following import cancel_task, follow, get_task, update_task
from mrtr_tools.client.shapes import CreateTaskResult, DetailedTask, TaskCancelled

__all__ = [
    "CreateTaskResult",
    "DetailedTask",
    "TaskCancelled",
    "Tasks",
    "cancel_task",
    "follow",
    "get_task",
    "update_task",
]
