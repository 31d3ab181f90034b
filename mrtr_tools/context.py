"""`Context`: what a step may know about the call it serves."""

from __future__ import annotations

import hashlib
from dataclasses import field
from typing import Any, Literal

from pydantic import JsonValue

from mrtr_tools import base64url
from mrtr_tools.calls import Channel, Client
from mrtr_tools.records import frozen

__all__ = ["Context", "LogLevel"]

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


@frozen
class Context:
    """Ask for it by annotation: ``async def purchase(flight: Flight, ctx: Context) -> str``.

    Attributes:
        call_id: names the whole tool call, through all its rounds; 22 random characters, not a secret to log but not
            one to publish either.
        idempotency_key: names this run of this step for services that must act once. It stays the same when the same
            round is sent twice and when a process dies inside the step.
        round: how often this call has asked before, from 0.
        principal: who makes the call, or None without authentication.
        client: what the client of this request declared.
        lifespan: what the server's lifespan gave, or None.
    """

    call_id: str
    idempotency_key: str
    round: int = 0
    principal: str | None = None
    client: Client = field(default_factory=Client)
    lifespan: Any = field(default=None, repr=False)
    channel: Channel | None = field(default=None, repr=False, compare=False)

    @property
    def handle(self) -> str:
        """Names the call to a page that an `ElicitUrl` opens: random, the same in all rounds, not the call id."""
        digest = hashlib.sha256(f"handle\0{self.call_id}".encode()).digest()
        return base64url.encode(digest[:16]).decode()

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell a client that wants to know how far this request is; elsewhere it does nothing.

        Args:
            progress: more than the last time, in units of your own.
            total: where it ends, in the same units, when that is known.
            message: what is going on.
        """
        if self.channel is not None:
            await self.channel.progress(progress, total, message)

    async def log(self, level: LogLevel, data: JsonValue, logger: str | None = None) -> None:
        """Send a log message to a client that asked for this level with this request; elsewhere it does nothing.

        Clients of older protocols get it from the level that they set, and every message until they set one.

        Deprecated by the protocol since 2026-07-28. It goes to the client: no place for secrets or internals.
        """
        if self.channel is not None:
            await self.channel.log(level, data, logger)
