"""`Engine`: where tasks are kept, and what runs them.

A task is a row. What can be searched for is readable; all else is sealed, and an engine never opens it. Any process of
a server may create, read and change any task, and none owns one: a row changes by compare and swap on its version, so
that of two who change it at the same time one has to look again.

A row that is ``working`` waits for a leg, one function of the author, run by whichever process comes first. A row that
waits for answers costs nothing: nobody holds a thread, a coroutine or a connection for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

__all__ = ["ENDED", "TOO_MANY", "Engine", "GaveUp", "Leg", "Row", "Status", "is_engine"]

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]

ENDED: Final = frozenset[Status](("completed", "failed", "cancelled"))
"""What a task never leaves again."""
TOO_MANY: Final = "There are too many tasks that have not ended; let some of them end, or cancel them"
"""What is said to an owner who has as many as there may be."""


@dataclass(frozen=True, slots=True)
class Row:
    """A task as it is stored.

    Attributes:
        id: of the task, 24 characters that nobody can guess.
        owner: a digest of who called, and of the server's audience.
        status: for searching; the truth is sealed in `data`.
        version: counts the changes, from 1.
        created: when, in seconds since 1970.
        updated: when it last changed.
        expires: when it is deleted; None for never.
        key_id: of the key that wraps `key`, in hex.
        key: the key of this task, wrapped.
        data: all else, sealed with it.
        message: what a step told of its progress, sealed likewise; None before.
    """

    id: str
    owner: str
    status: Status
    version: int
    created: float
    updated: float
    expires: float | None
    key_id: str
    key: bytes = field(repr=False)
    data: bytes = field(repr=False)
    message: bytes | None = field(default=None, repr=False)

    @property
    def has_ended(self) -> bool:
        """Whether it can change no more."""
        return self.status in ENDED


Leg = Callable[[str, str], Awaitable[bool]]
"""Runs one function of a task, given its id and its owner, and stores what came of it. True: there is another to run at
once, which is so when it stored its task as ``working``. Whatever it raises was not the author's doing, and it is tried
again later: five times, but without end when it raises `Busy`. A `Busy` that says ``stopping`` leaves it, and whatever
else there is to run, to other processes. It may be cancelled, and then it stores nothing."""

GaveUp = Callable[[str, str], Awaitable[None]]
"""Told of a task, by id and owner, whose leg ended the process, or could not be run, time and again."""


class Engine(Protocol):
    """Keeps tasks and runs them. What it raises when its store cannot be reached is a `Busy`."""

    async def create(self, row: Row, *, at_most: int) -> bool:
        """Store a new task, and have it run when it is ``working``; both are durable when this returns.

        Args:
            row: with version 1.
            at_most: how many tasks that have not ended its owner may have, with this one.

        Returns:
            False when there is one of that id, whoever its owner: nothing changes then, but that it will be run, should
            whoever stored it have ended before that was certain.

        Raises:
            Busy: its owner has as many already (``overloaded``), or the store cannot be reached (``unavailable``).
        """
        ...

    async def get(self, task: str, owner: str) -> Row | None:
        """The task of that owner; None when there is none or it has expired."""
        ...

    async def update(self, row: Row) -> bool:
        """Put `row` in the place of version ``row.version - 1``, and have it run when it is ``working`` then.

        What `tell` wrote meanwhile stays, unless the row has a message of its own. A leg that does this with its own
        task says by what it returns whether it goes on, and waits here while the store cannot be reached: what it did
        is not done again.

        Returns:
            False when that version is no longer there, or had ended: nothing changes then.
        """
        ...

    async def cancel(self, row: Row) -> bool:
        """`update`, and cancel the leg that may be running, wherever that is, within a few seconds."""
        ...

    async def tell(self, task: str, owner: str, message: bytes, updated: float) -> None:
        """Store what a step tells of its progress, unless the task has ended. It changes no version."""
        ...

    async def run(self, leg: Leg, gave_up: GaveUp) -> None:
        """Run legs as they come, and delete what has expired, until this is cancelled; then end legs that run.

        A leg whose process ended is run again by another, or by this one when it is started again.
        """
        ...

    async def key_ids(self) -> Mapping[str, int]:
        """How many rows each key wraps."""
        ...

    async def rows(self, key_id: str, limit: int = 100) -> Sequence[Row]:
        """Some rows that this key wraps, of any owner."""
        ...

    async def rewrap(self, row: Row, key: bytes, key_id: str) -> bool:
        """Wrap the key of a row anew; nothing else of it changes, its version included.

        Returns:
            False when somebody else has done so meanwhile.
        """
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


def is_engine(value: object) -> bool:
    """Whether a value has the methods of an `Engine`."""
    wanted = (name for name in vars(Engine) if not name.startswith("_"))
    return all(callable(getattr(value, name, None)) for name in wanted)
