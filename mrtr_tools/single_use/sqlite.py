"""Claims in a file, for all processes of one machine."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

from mrtr_tools.single_use.threads import PATIENCE, in_thread

__all__ = ["SqliteClaims"]

SWEPT: Final = 100  # of what may be forgotten, at each new claim

T = TypeVar("T")

_LAYOUT: Final = """
PRAGMA journal_mode=WAL;
CREATE TABLE IF NOT EXISTS claims (name TEXT PRIMARY KEY, value BLOB NOT NULL, ends REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS claims_ends ON claims (ends);
"""


class SqliteClaims:
    """A `ClaimStore` in an SQLite file, for all processes of one machine; made when it is not there, readable by its
    owner alone. Not for a network drive, where locks do not hold.

    Args:
        path: the file; its directory must be there.
        clock: seconds since 1970, the same for all processes.

    Raises:
        OSError: the file cannot be made.
        sqlite3.Error: it is no such file.
    """

    def __init__(self, path: str | os.PathLike[str], clock: Callable[[], float] = time.time) -> None:
        self._path = Path(path)
        self._clock = clock
        self._mutex = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(self._connected()) as connection:
            connection.executescript(_LAYOUT)

    def __repr__(self) -> str:
        return f"SqliteClaims({str(self._path)!r})"

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        """See `ClaimStore`."""

        def work(connection: sqlite3.Connection) -> bytes | None:
            now = self._clock()
            connection.execute(
                "DELETE FROM claims WHERE name IN (SELECT name FROM claims WHERE ends < ? LIMIT ?)", (now, SWEPT)
            )
            added = connection.execute("INSERT OR IGNORE INTO claims VALUES (?, ?, ?)", (name, value, now + keep))
            if added.rowcount:
                return None
            there: tuple[bytes] = connection.execute("SELECT value FROM claims WHERE name = ?", (name,)).fetchone()
            return there[0]

        return await self._run(work)

    async def replace(self, name: str, old: bytes, new: bytes, keep: float) -> bool:
        """See `ClaimStore`."""

        def work(connection: sqlite3.Connection) -> bool:
            change = "UPDATE claims SET value = ?, ends = ? WHERE name = ? AND value = ?"
            return connection.execute(change, (new, self._clock() + keep, name, old)).rowcount == 1

        return await self._run(work)

    async def remove(self, name: str, old: bytes) -> bool:
        """See `ClaimStore`."""

        def work(connection: sqlite3.Connection) -> bool:
            return connection.execute("DELETE FROM claims WHERE name = ? AND value = ?", (name, old)).rowcount == 1

        return await self._run(work)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await in_thread(lambda: self._in_transaction(work))

    def _in_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if not self._mutex.acquire(timeout=PATIENCE):
            raise TimeoutError(f"{self._path} is busy")
        try:
            if self._connection is None:
                self._connection = self._connected()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                done = work(self._connection)
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:  # SQLite has rolled back by itself when the disk is full
                    self._connection.execute("ROLLBACK")
            return done
        finally:
            self._mutex.release()

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=False
        )
        connection.execute("PRAGMA synchronous=FULL")  # a claim must outlive the machine's power, or it claims nothing
        return connection
