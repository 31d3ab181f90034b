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
from mrtr_tools.tasks.tables import Tables

__all__ = ["CONNECTIONS", "OF_A_QUEUE", "Database"]

PATIENCE: Final = 5
"""Seconds that an operation waits for a connection, for an answer, or for another process that writes."""
CONNECTIONS: Final = 5
"""Of a process that creates, reads and changes tasks."""
OF_A_QUEUE: Final = 8
"""Of a process that runs them, beside these."""
IN_TRANSACTION: Final = 60
"""Seconds after which PostgreSQL ends a session that holds a transaction open and says nothing."""

_log = logging.getLogger("mrtr_tools")


class Database:
    """Where tasks are kept. Nothing is opened before it is needed.

    Args:
        place: a file, made when it is not there, readable by its owner alone; or ``postgresql://...``.
        schema: of PostgreSQL, made when it is not there; one for each server. A file is of the first that uses it.

    Raises:
        ValueError: it is neither.
    """

    def __init__(self, place: str | os.PathLike[str], schema: str) -> None:
        self._path: Path | None = None
        if isinstance(place, str) and "://" in place:
            self._url = _postgresql(place)
        else:
            self._path, self._url = _file(place)
        self.is_sqlite = self._path is not None
        self._server = schema
        self.schema = None if self.is_sqlite else schema
        self.tables = Tables(self.schema)
        self._mutex = threading.Lock()
        self._engine: sa.Engine | None = None
        self._is_ready = False
        self._is_reachable = True

    def __str__(self) -> str:
        return str(self._path) if self.is_sqlite else self._url.render_as_string(hide_password=True)

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

    @contextmanager
    def transaction(self, prepare: Callable[[sa.Engine], None]) -> Generator[sa.Connection]:
        """A transaction, once the tables are there.

        Args:
            prepare: makes what the queue needs, where it is not there yet.

        Raises:
            Busy: the database cannot be reached.
            OSError: the file cannot be made.
            ValueError: it is something else, or of another server.
        """
        with self.reached(), self._prepared(prepare).begin() as connection:
            yield connection

    @contextmanager
    def reached(self) -> Generator[None]:
        """Tell, in one way, that the database cannot be reached.

        Raises:
            Busy: it cannot.
            ValueError: it is something else.
        """
        try:
            yield
        except (exc.OperationalError, exc.InterfaceError, exc.InternalError, exc.TimeoutError) as error:
            self._tell(error)
            raise Busy("unavailable") from None
        except exc.DatabaseError as error:
            if self.is_sqlite and "file is not a database" in str(error.orig):
                raise ValueError(f"{self._path} is no SQLite file: give tasks a file of their own") from None
            raise
        if not self._is_reachable:
            self._is_reachable = True
            _log.info("tasks in %s can be reached again", self)

    def close(self) -> None:
        """Close all connections."""
        with self._mutex:
            if self._engine is not None:
                self._engine.dispose()
            self._engine, self._is_ready = None, False

    def _prepared(self, prepare: Callable[[sa.Engine], None]) -> sa.Engine:
        if not self._mutex.acquire(timeout=PATIENCE):
            raise exc.TimeoutError("another thread still tries to reach it")
        try:
            if self._engine is None:
                if self._path is not None:
                    _make(self._path)
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
            connection.execute(sa.insert(servers).values(schema=self._server))
        elif taken != self._server:
            raise ValueError(f"{self._path} holds the tasks of another server, {taken}: give each a file of its own")

    def _tell(self, error: exc.SQLAlchemyError) -> None:
        reason = getattr(error, "orig", None) or error
        if self._is_reachable:
            self._is_reachable = False
            _log.error("tasks in %s cannot be reached: %s", self, str(reason).strip())


def _postgresql(place: str) -> sa.URL:
    scheme = place.partition("://")[0]
    if scheme not in ("postgresql", "postgres"):
        raise ValueError(f"tasks={scheme}://... is no place for tasks: give a file, or postgresql://host/database")
    try:
        url = sa.make_url(place)
    except (exc.ArgumentError, ValueError):  # whose texts show the URL
        raise ValueError("tasks=postgresql://... cannot be read: give postgresql://user@host:5432/database") from None
    if not url.database:
        raise ValueError("tasks=postgresql://... names no database: give postgresql://user@host:5432/database")
    return url.set(drivername="postgresql+psycopg")


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


def _file(place: str | os.PathLike[str]) -> tuple[Path, sa.URL]:
    if not os.fspath(place):
        raise ValueError("tasks= is empty: give a file, or postgresql://host/database")
    path = Path(place).absolute()
    return path, sa.URL.create("sqlite", database=str(path))


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
