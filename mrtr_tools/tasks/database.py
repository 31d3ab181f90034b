"""The database of tasks: a file of SQLite for the processes of one machine, or PostgreSQL for several."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import event, exc

from mrtr_tools.errors import Busy
from mrtr_tools.tasks.places import CONNECTIONS, PATIENCE, Place
from mrtr_tools.tasks.tables import Tables

__all__ = ["OF_A_QUEUE", "Database"]

OF_A_QUEUE: Final = 8
"""Of a process that runs them, beside these."""
IN_TRANSACTION: Final = 60
"""Seconds after which PostgreSQL ends a session that holds a transaction open and says nothing."""

_log = logging.getLogger("mrtr_tools")


class Database:
    """Where tasks are kept. Nothing is opened before it is needed.

    Args:
        place: a file is made when it is not there, readable by its owner alone.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._url = _url(place)
        self.is_sqlite = place.path is not None
        self.schema = place.schema
        self.tables = Tables(self.schema)
        self._mutex = threading.Lock()
        self._engine: sa.Engine | None = None
        self._is_ready = False
        self._is_reachable = True

    def engine(self, connections: int = CONNECTIONS, patience: int = PATIENCE, for_locks: int = PATIENCE) -> sa.Engine:
        """So many connections, for whoever closes them; seconds until one has to be free, and until a lock of
        PostgreSQL, where 0 waits for ever."""
        options: dict[str, Any] = {} if self.is_sqlite else _postgresql_options(self._url, for_locks)
        engine = sa.create_engine(
            self._url, pool_size=connections, max_overflow=0, pool_timeout=patience, hide_parameters=True, **options
        )
        if self.is_sqlite:
            event.listen(engine, "connect", _set_up_sqlite)
        return engine

    @staticmethod
    def end(engine: sa.Engine) -> None:
        """Close the connections of an engine; those that a thread still uses, when it is done with them."""
        event.listen(engine, "checkin", _close_late)
        engine.dispose()

    @contextmanager
    def transaction(self, prepare: Callable[[sa.Engine], None]) -> Generator[sa.Connection]:
        """A transaction, once the tables are there.

        Args:
            prepare: makes what the queue needs, where it is not there yet.

        Raises:
            Busy: the database cannot be reached.
            OSError: the file cannot be made, or the schema.
            ValueError: it is something else, or of another server.
        """
        with self.reached(), self._prepared(prepare).begin() as connection:
            yield connection

    @contextmanager
    def reached(self) -> Generator[None]:
        """Tell, in one way, that the database cannot be reached.

        Raises:
            Busy: it cannot.
            PermissionError: its user may not make what is needed there.
            ValueError: it is something else.
        """
        try:
            yield
        except (exc.OperationalError, exc.InterfaceError, exc.InternalError, exc.TimeoutError) as error:
            self._tell(error)
            raise Busy("unavailable") from None
        except exc.DatabaseError as error:
            if self.is_sqlite and "file is not a database" in str(error.orig):
                raise ValueError(f"{self._place} is no SQLite file: give tasks a file of their own") from None
            if type(error.orig).__name__ == "InsufficientPrivilege":
                raise PermissionError(
                    f"tasks cannot be kept in {self._place} ({error.orig}): let its user make schemas, or make it "
                    f"one (CREATE SCHEMA {self.schema} AUTHORIZATION ...)"
                ) from None
            raise
        if not self._is_reachable:
            self._is_reachable = True
            _log.info("tasks in %s can be reached again", self._place)

    def close(self) -> None:
        """Close all connections."""
        with self._mutex:
            if self._engine is not None:
                self.end(self._engine)
            self._engine, self._is_ready = None, False

    def _prepared(self, prepare: Callable[[sa.Engine], None]) -> sa.Engine:
        if not self._mutex.acquire(timeout=PATIENCE):
            raise exc.TimeoutError("another thread still tries to reach it")
        try:
            if self._engine is None:
                if self._place.path is not None:
                    _make(self._place.path)
                self._engine = self.engine()
            if not self._is_ready:
                prepare(self._engine)
                self._make_tables(self._engine)
                self._is_ready = True
            return self._engine
        finally:
            self._mutex.release()

    def _make_tables(self, engine: sa.Engine) -> None:
        with engine.begin() as connection:
            if self.is_sqlite:
                connection.execute(sa.text("BEGIN IMMEDIATE"))
            else:  # of two that look, both would find nothing
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('mrtr_tools'))"))
            self.tables.metadata.create_all(connection)
            if self.is_sqlite:
                self._take(connection)

    def _take(self, connection: sa.Connection) -> None:
        """Make the file this server's, unless it is another's."""
        servers = self.tables.servers
        taken = connection.execute(sa.select(servers.c.schema)).scalar()
        if taken is None:
            connection.execute(sa.insert(servers).values(schema=self._place.server))
        elif taken != self._place.server:
            raise ValueError(f"{self._place} holds the tasks of another server, {taken}: give each a file of its own")

    def _tell(self, error: exc.SQLAlchemyError) -> None:
        reason = getattr(error, "orig", None) or error
        if self._is_reachable:
            self._is_reachable = False
            _log.error("tasks in %s cannot be reached: %s", self._place, str(reason).strip())


def _url(place: Place) -> sa.URL:
    if place.url is None:
        return sa.URL.create("sqlite", database=str(place.path))
    return sa.make_url(place.url).set(drivername="postgresql+psycopg")


def _postgresql_options(url: sa.URL, for_locks: int) -> dict[str, Any]:
    limits = {
        "connect_timeout": PATIENCE,
        "tcp_user_timeout": PATIENCE * 1000,
        "keepalives_idle": PATIENCE,
        "keepalives_interval": PATIENCE,
        "keepalives_count": 2,
        "application_name": "mrtr_tools",
        "options": f"-c idle_in_transaction_session_timeout={IN_TRANSACTION * 1000} -c lock_timeout={for_locks * 1000}",
    }
    given: dict[str, Any] = {name: value for name, value in limits.items() if name not in url.query}
    # Statements prepared on the server do not go through a pooler that changes sessions between them.
    return {"pool_pre_ping": True, "connect_args": {**given, "prepare_threshold": None}}


def _make(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise OSError(error.errno, f"tasks cannot be kept there ({error.strerror})", str(path)) from None


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # With these, a transaction that writes takes the lock at once, and waits for it.
    connection.isolation_level = "IMMEDIATE"
    connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")  # what was created must outlive the machine's power
    connection.execute("PRAGMA foreign_keys=ON")


def _close_late(_connection: Any, record: Any) -> None:
    record.invalidate()
