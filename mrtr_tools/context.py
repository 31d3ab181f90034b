"""`Context`: what a step may know about the call it serves."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field

from mrtr_tools.calls import Client

__all__ = ["Context"]


@dataclass(frozen=True, slots=True)
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
    """

    call_id: str
    idempotency_key: str
    round: int = 0
    principal: str | None = None
    client: Client = field(default_factory=Client)

    @property
    def handle(self) -> str:
        """Names the call to a page that an `ElicitUrl` opens: random, the same in all rounds, not the call id."""
        digest = hashlib.sha256(f"handle\0{self.call_id}".encode()).digest()
        return base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()
