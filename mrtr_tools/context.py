"""`Context`: what a step may know about the call it serves."""

from __future__ import annotations

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
