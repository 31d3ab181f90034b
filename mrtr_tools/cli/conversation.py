"""One tool call with the official client, to its end.

A server of 2026-07-28 is asked round by round, and may let the call go on as a task. An older one sends its questions
mid-call and without keys: they then go by the name of their first field, with a number from the second time on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

import anyio
from mcp import Client, types
from pydantic import JsonValue

from mrtr_tools.cli.connection import Connection
from mrtr_tools.cli.events import Detached, Noted, Show
from mrtr_tools.cli.exits import FAILED, Stop
from mrtr_tools.cli.pairs import arguments_of
from mrtr_tools.cli.replies import Replies
from mrtr_tools.cli.targets import Target
from mrtr_tools.cli.terminal import label
from mrtr_tools.cli.watching import Watching, wire_of
from mrtr_tools.client import CreateTaskResult

__all__ = ["Conversation"]

MAX_ROUNDS: Final = 20
MAX_PAGES: Final = 100
PAUSE: Final = 0.05  # seconds before a round that was asked nothing, so that no server is hammered


class Conversation:
    """One tool call.

    Args:
        target: where.
        tool: the tool's name.
        era: what the client speaks: ``auto``, ``legacy`` or a revision.
        replies: answers what is asked.
        show: is told what happens.
        detach: whether a task is left alone once there is one.
        retry: see `Connection`.

    Attributes:
        watching: the task that the call goes on as, or None.
    """

    def __init__(
        self,
        target: Target,
        tool: str,
        *,
        era: str,
        replies: Replies,
        show: Show,
        detach: bool = False,
        retry: bool = False,
    ) -> None:
        self.watching: Watching | None = None
        self._target = target
        self._tool = tool
        self._replies = replies
        self._show = show
        self._detach = detach
        self._connection = Connection(target, era=era, show=show, pushed=self._pushed, retry=retry)
        self._asked = Counter[str]()  # old clients: how often each name was asked
        self._stopped: Stop | None = None
        self._round = 1
        self._responses: dict[str, Any] | None = None
        self._state: str | None = None
        self._pending: types.InputRequiredResult | None = None  # came back, and is not answered yet

    async def play(self, texts: Mapping[str, str]) -> dict[str, JsonValue] | None:
        """Call the tool.

        Args:
            texts: its arguments as they were typed.

        Returns:
            The result as it came over the wire; None when the call goes on as a task by itself.

        Raises:
            Stop: wrong usage, an answer that is missing, too many rounds, or a task that ended without a result.
        """
        if self._replies.is_attended and self._target.url is None:
            self._show(Noted(f"Starting {self._target.name} ..."))
        self._turn = anyio.Lock()
        return await self._connection.use(partial(self._talk, texts))

    async def _talk(self, texts: Mapping[str, str], client: Client) -> dict[str, JsonValue] | None:
        """The call from where it is."""
        if client.server_info is not None:
            self._replies.server = client.server_info.title or client.server_info.name
        if self.watching is None:
            result = await self._called(client, arguments_of(texts, await self._schema(client)))
            if not isinstance(result, CreateTaskResult):
                return wire_of(result)
            self.watching = Watching(result.task_id, self._target, self._replies, self._show)
            if self._replies.is_attended and not self._detach:
                self._show(Noted("The call goes on as a task (to cancel it: Ctrl-C)"))
            self.watching.tell(result)
        if self._detach:
            self._show(Detached(self.watching.task, self.watching.left()))
            return None
        ended = await self.watching.follow(client.session, self._connection.heard, cancels=True)
        if not ended.is_error:
            await client.session.validate_tool_result(self._tool, ended)
        return wire_of(ended)

    async def _schema(self, client: Client) -> Mapping[str, Any]:
        cursor, names = None, list[str]()
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            _check_kind(page.result_type)
            for tool in page.tools:
                if tool.name == self._tool:
                    return tool.input_schema
                names.append(tool.name)
            if (cursor := page.next_cursor) is None:
                break
        listed = ", ".join(label(name) for name in names) or "none"
        raise Stop(f"There is no tool {self._tool!r} on {self._target.name}; it has: {listed}")

    async def _called(self, client: Client, arguments: dict[str, JsonValue]) -> types.CallToolResult | CreateTaskResult:
        self._scope = anyio.CancelScope()
        with self._scope:
            return await self._rounds(client, arguments)
        raise self._stopped or Stop("The call was ended.", FAILED)

    async def _rounds(self, client: Client, arguments: dict[str, JsonValue]) -> types.CallToolResult | CreateTaskResult:
        async def send() -> types.CallToolResult | types.InputRequiredResult | types.Result:
            return await client.session.call_tool(
                self._tool,
                arguments,
                input_responses=self._responses,
                request_state=self._state,
                allow_input_required=True,
                allow_claimed=True,
            )

        while self._round <= MAX_ROUNDS:
            if self._pending is None:
                result = await self._connection.act(send)
                if isinstance(result, CreateTaskResult):
                    return result
                if not isinstance(result, types.InputRequiredResult):
                    result = cast("types.CallToolResult", result)
                    _check_kind(result.result_type)
                    return result
                self._pending = result
            if self._round < MAX_ROUNDS:  # what cannot be sent any more is not asked
                self._responses = await self._answers(self._pending.input_requests or {})
            self._state, self._pending = self._pending.request_state, None
            self._round += 1
        raise Stop(f"The call has not come to an end in {MAX_ROUNDS} rounds", FAILED)

    async def _answers(self, requests: types.InputRequests) -> dict[str, Any] | None:
        answers = await self._replies.to({key: wire_of(request) for key, request in requests.items()})
        if not requests:
            await anyio.sleep(PAUSE)
            return None
        return {key: types.ElicitResult.model_validate(response.wire()) for key, response in answers.items()}

    async def _pushed(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:  # noqa: ARG002
        """Answer a question that an older server sends mid-call."""
        async with self._turn:
            raw = wire_of(params)
            schema = cast("dict[str, Any]", raw.get("requestedSchema") or {})
            name = str(next(iter(schema.get("properties") or ("url",))))
            self._asked[name] += 1
            key = name if self._asked[name] == 1 else f"{name}-{self._asked[name]}"
            try:
                answers = await self._replies.to({key: {"method": "elicitation/create", "params": raw}})
            except Stop as stop:
                self._stopped = stop
                self._scope.cancel()
                await anyio.sleep_forever()  # nothing goes back; closing the connection ends this
                raise
            return types.ElicitResult.model_validate(answers[key].wire())


def _check_kind(kind: str) -> None:
    """See that a result is of a kind that this client knows; the SDK lets any other pass for complete."""
    if kind != "complete":
        raise Stop(f"The server does not keep to the protocol: resultType is {label(kind)!r}", FAILED)
