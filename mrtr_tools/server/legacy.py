"""Clients of protocol revisions before 2026-07-28: the same rounds, with the questions pushed in mid-call.

Such a client waits for its result with the connection open, and is asked over that connection. There is no state:
what the call has so far stays in this coroutine, and is gone with it. How each revision is asked is in `revisions`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import anyio
from pydantic import JsonValue

from mrtr_tools.calls import Call, Complete
from mrtr_tools.events import Finished, NeedInput
from mrtr_tools.progress import Progress
from mrtr_tools.rounds import Round
from mrtr_tools.runner import play
from mrtr_tools.tools import Toolbox

__all__ = ["Push", "Unanswered", "handle_legacy_call"]

Push = Callable[[Mapping[str, JsonValue]], Awaitable[JsonValue]]
"""Sends one question, ``{"method": ..., "params": ...}``, waits as long as it takes, and gives the response unread."""


class Unanswered(Exception):
    """A client answered a question with an error, or cannot be reached any more.

    Attributes:
        code: the JSON-RPC error code.
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"error {code}")
        self.code = code


async def handle_legacy_call(toolbox: Toolbox, call: Call, push: Push) -> Complete:
    """Play all rounds of a call. The tool's own limit ends one that never stops asking.

    Args:
        toolbox: where the tool is.
        call: the request; `Call.client` says what may be asked.
        push: sends one question; those of a group are sent at the same time.

    Returns:
        The result. A question that the client answers with an error ends the call with a tool error: it is no answer,
        and no yes.

    Raises:
        RequestError: the request cannot be served, such as `MissingCapability` when the client cannot be asked.
    """
    progress: Progress | None = None
    while True:
        current = Round(toolbox, call, progress)
        event = await play(current)
        if isinstance(event, Finished):
            return event.reply
        responses = await _ask(event.requests if isinstance(event, NeedInput) else {}, push)
        if isinstance(responses, Complete):
            return responses
        call, progress = replace(call, responses=responses), current.progress
        progress.born = progress.born or 1  # it is kept here, and nobody can send it again


async def _ask(requests: Mapping[str, Mapping[str, JsonValue]], push: Push) -> dict[str, JsonValue] | Complete:
    """The responses by key, or a tool error; the other questions of the group are then taken back."""
    responses: dict[str, JsonValue] = {}
    unanswered: list[Complete] = []

    async def ask(key: str, request: Mapping[str, JsonValue]) -> None:
        try:
            responses[key] = await push(request)
        except Unanswered as error:
            text = f"The client could not answer the request for {key!r} (error {error.code})."
            unanswered.append(Complete(text, is_error=True))
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for key, request in requests.items():
            tasks.start_soon(ask, key, request)
    return unanswered[0] if unanswered else responses
