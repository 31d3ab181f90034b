"""What a place for claims must be able to do."""

from __future__ import annotations

from typing import Protocol

__all__ = ["ClaimStore"]


class ClaimStore(Protocol):
    """Keeps small texts under names, for all processes that serve the same calls.

    Each method is one atomic step for all of them, and what it did is durable when it returns: a store that forgets
    lets an effect happen twice. A method that cannot do its work, or cannot tell whether it did, raises within seconds.
    """

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        """Keep `value` under `name` unless there is something.

        Args:
            name: 64 hex digits.
            value: sealed by its caller where it matters.
            keep: seconds after which it may be forgotten, and not before.

        Returns:
            What is there already, or None when `value` is there now.
        """
        ...

    async def replace(self, name: str, old: bytes, new: bytes, keep: float) -> bool:
        """Put `new` in the place of `old`; False, and nothing done, where `old` is not what is there."""
        ...

    async def remove(self, name: str, old: bytes) -> bool:
        """Take `old` away; False, and nothing done, where `old` is not what is there."""
        ...
