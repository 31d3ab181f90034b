"""The line to a server: the official client, connected anew when the line breaks, as far as that is safe."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Literal, TypeVar

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client

from mrtr_tools.cli.events import Noted, Show
from mrtr_tools.cli.exits import FAILED, Stop
from mrtr_tools.cli.reasons import NoAnswer
from mrtr_tools.cli.targets import Target
from mrtr_tools.client import Tasks, patience

__all__ = ["Connection"]

T = TypeVar("T")

BETWEEN: Final = frozenset({502, 503, 504})
"""With these a proxy answers when it has no answer of the server's."""
PATIENCE: Final = httpx2.Timeout(30.0, read=300.0)

Fault = Literal["unsent", "lost"]
"""A request has not reached the server; or nobody knows whether it has."""


class Connection:
    """A connection with one server.

    Args:
        target: where.
        era: what the client speaks: ``auto``, ``legacy`` or a revision.
        show: is told what happens.
        pushed: answers what an older server asks mid-call; None, and nobody can be asked so.
        retry: whether a call is sent again of which nobody knows whether the server has it already.
    """

    def __init__(
        self,
        target: Target,
        *,
        era: str = "auto",
        show: Show,
        pushed: ElicitationFnT | None = None,
        retry: bool = False,
    ) -> None:
        self._target = target
        self._era = era
        self._show = show
        self._pushed = pushed
        self._retry = retry
        self._tried = 0
        self._was_there = False
        self._is_acting = False

    async def use(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """Do some work with a client; from its beginning when the line broke, which has to go on where it was.

        Raises:
            Stop: the line broke where something may have been done.
        """
        while True:
            self._is_acting, done = False, list[T]()
            try:
                async with self._client() as client:
                    self._was_there = True
                    done.append(await work(client))
            except Exception as error:
                if not done and not self._can_go_on(error):
                    raise
            if done:  # and stays so, whatever was wrong with the line when it was closed
                return done[0]
            self._show(Noted("The line to the server broke; trying again ..."))
            await patience.pause(self._tried)
            self._tried += 1

    async def act(self, send: Callable[[], Awaitable[T]]) -> T:
        """Send a request that may do something, and again while the server says that it was not begun."""

        async def sent() -> T:
            self._is_acting = True
            result = await send()
            self._is_acting = False
            self.heard()
            return result

        return await patience.patiently(sent, self._busy)

    def heard(self) -> None:
        """The server has answered: the next time that the line breaks is a first one."""
        self._tried = 0

    def _busy(self, _: MCPError) -> None:
        self._is_acting = False
        self._show(Noted("The server cannot do this at the moment; trying again ..."))

    def _can_go_on(self, error: Exception) -> bool:
        fault = _fault_of(error) if self._target.url else None
        if fault is None or not self._was_there:
            return False
        if fault == "lost" and self._is_acting and not self._retry:
            raise Stop(
                "The answer did not come, and nobody here can know whether the tool has acted. Where it may act twice, "
                "or acts once in any case (single use), call it with --retry: what got no answer is sent again",
                FAILED,
            ) from error
        return self._tried < len(patience.DELAYS)

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[Client]:
        logging.getLogger("mcp").addHandler(logging.NullHandler())  # what goes wrong is told by `reason_of`
        if self._target.url is None:
            command, *args = self._target.command
            line = StdioServerParameters(command=command, args=args, env=dict(os.environ))
            async with Client(line, mode=self._era, elicitation_callback=self._pushed, extensions=[Tasks()]) as client:
                yield client
            return
        async with httpx2.AsyncClient(timeout=PATIENCE, event_hooks={"response": [_check_origin]}) as http:
            line = streamable_http_client(self._target.url, http_client=http)
            async with Client(line, mode=self._era, elicitation_callback=self._pushed, extensions=[Tasks()]) as client:
                yield client


async def _check_origin(response: httpx2.Response) -> None:
    """See that it is the server who answers: the SDK would take a page of a proxy for an error of the server's."""
    is_json = response.headers.get("Content-Type", "").lower().startswith("application/json")
    if response.status_code in BETWEEN and not is_json:
        raise NoAnswer(response.status_code)


def _fault_of(error: BaseException) -> Fault | None:
    """What is wrong with the line; None when it is something else."""
    match error:
        case BaseExceptionGroup():
            faults = {_fault_of(each) for each in error.exceptions}
            return None if None in faults else "lost" if "lost" in faults else "unsent"
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.PoolTimeout():
            return "unsent"
        case NoAnswer() | httpx2.TransportError() | anyio.ClosedResourceError() | anyio.BrokenResourceError():
            return "lost"
        case MCPError(code=types.CONNECTION_CLOSED):
            return "lost"
        case _:
            return None
