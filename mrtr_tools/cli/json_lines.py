"""``--json``: a call for programs. Nobody is asked, and stdout has one JSON object a line, in ASCII, and nothing else.

``{"event": "input_required", "round": 1, "inputRequests": {KEY: {"method": ..., "params": ...}}}``
    A round asks; when there are no requests, it only goes on.
``{"event": "answer", "round": 1, "key": KEY, "response": {"action": ..., "content": ...}}``
    What is answered.
``{"event": "task", "taskId": ..., "status": ..., "statusMessage": ..., "createdAt": ..., "ttlMs": ..., ...}``
    The call goes on as a task, or something of it has changed; all that the server says of it but how it ended.
``{"event": "detached", "taskId": ...}``
    The end of a call that goes on as a task by itself (``--detach``).
``{"event": "result", "isError": false, "content": [...], "structuredContent": ...}``
    The end. A failed tool has ``"isError": true``.
``{"event": "error", "message": ..., "code": ..., "data": ..., "missing": [KEY]}``
    The end without a result. `code` and `data` are those of a JSON-RPC error, if it is one; `missing` has the keys of
    questions without an answer, if that is what is wrong; `taskId` and `status` are those of the task, if there is one.
"""

from __future__ import annotations

import json
from typing import Final

from pydantic import JsonValue

from mrtr_tools.cli.events import Answered, Asked, Detached, Ended, Event, Failed, TaskSeen

__all__ = ["show"]

NOT_OF_IT: Final = ("_meta", "resultType", "inputRequests", "result", "error")


def show(event: Event) -> None:
    """Print an event as a line, unless it is for people only."""
    match event:
        case Asked():
            _write("input_required", round=event.round, inputRequests=dict(event.requests))
        case Answered():
            _write("answer", round=event.round, key=event.question.key, response=event.response.wire())
        case TaskSeen(task):
            _write("task", **{key: value for key, value in task.items() if key not in NOT_OF_IT})
        case Detached():
            _write("detached", taskId=event.task)
        case Ended(result):
            kept = ("isError", "content", "structuredContent")
            _write("result", **{key: result[key] for key in kept if key in result})
        case Failed(stop):
            _write("error", message=str(stop), **stop.details)
        case _:
            pass


def _write(event: str, /, **members: JsonValue) -> None:
    print(json.dumps({"event": event, **members}), flush=True)
