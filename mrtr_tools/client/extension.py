"""Tasks as an extension of the SDK's client, which then calls tools without knowing of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
from mcp import MCPError, types
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientRequestContext, ClientSession

from mrtr_tools.client.following import Told, follow, give_up
from mrtr_tools.client.shapes import CreateTaskResult
from mrtr_tools.task_marks import EXTENSION

__all__ = ["Tasks"]


class Tasks(ClientExtension):
    """Follows calls that go on as tasks, with the client's own callbacks for what they ask.

    A call that is cancelled, or whose callback fails or refuses, cancels its task. When the connection is lost the task
    goes on: keep its id, and `follow` it.

    Args:
        told: is told of each task, each time it is looked at, and so of its id and its progress.
    """

    identifier = EXTENSION

    def __init__(self, told: Told | None = None) -> None:
        self._told = told

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """See `ClientExtension.claims`."""
        return [ResultClaim(result_type="task", model=CreateTaskResult, resolve=self._resolve)]

    async def _resolve(self, created: CreateTaskResult, context: ClaimContext) -> types.CallToolResult:
        is_asking = False

        async def answer(requests: types.InputRequests) -> types.InputResponses:
            nonlocal is_asking
            is_asking = True
            responses = await _answered(context.session, created.task_id, requests)
            is_asking = False
            return responses

        try:
            ended = await follow(context.session, created.task_id, answer=answer, told=self._told)
        except BaseException as error:
            if is_asking or isinstance(error, anyio.get_cancelled_exc_class()):
                await give_up(context.session, created.task_id)
            raise
        return ended.outcome()


async def _answered(session: ClientSession, task: str, requests: types.InputRequests) -> types.InputResponses:
    """What the session's callbacks answer, which are called at the same time as they are for a call's own questions."""
    responses: types.InputResponses = {}
    refused: list[types.ErrorData] = []

    async def ask(key: str, request: types.InputRequest) -> None:
        context = ClientRequestContext(session=session, request_id=f"{task}/{key}")
        response = await session.dispatch_input_request(context, request)
        if isinstance(response, types.ErrorData):
            refused.append(response)
            asking.cancel_scope.cancel()
        else:
            responses[key] = response

    async with anyio.create_task_group() as asking:
        for key, request in requests.items():
            asking.start_soon(ask, key, request)
    if refused:
        raise MCPError.from_error_data(refused[0])
    return responses
