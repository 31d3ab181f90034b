"""Where the engines of the tests keep their tasks."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from mrtr_tools.sealing import Sealer
from mrtr_tools.tasks.dbos import DbosEngine
from mrtr_tools.testing import TESTING_KEYS

SECONDS = 60
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
USER = "postgres"  # PostgreSQL refuses to be run by root


@dataclass(frozen=True)
class Place:
    """A database of its own for one test; a process makes its engines there."""

    url: str
    schema: str = "mrtr_tools"

    @property
    def is_file(self) -> bool:
        """Of SQLite."""
        return "://" not in self.url

    def engine(self, **options: Any) -> DbosEngine:
        """An engine there, as each process of a server makes one."""
        return DbosEngine(self.url, sealer=SEALER, schema=self.schema, **options)


SEALER = Sealer(TESTING_KEYS, "test", "task/queue")


def sqlite(folder: Path) -> Place:
    """A file that is not there yet."""
    return Place(str(folder / "tasks.sqlite3"))


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL of our own."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Of its database."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    def new_place(self) -> Place:
        """A schema that is not there yet."""
        return Place(self.url, f"tasks_{secrets.token_hex(4)}")

    def place(self) -> Place:
        """A schema that may be there, and has nothing in it."""
        connected = sa.create_engine(self.url.replace("://", "+psycopg://"))
        with connected.begin() as connection:
            found = connection.execute(sa.text("SELECT tablename FROM pg_tables WHERE schemaname = 'tasks'")).scalars()
            tables = ", ".join(f"tasks.{name}" for name in found if name != "dbos_migrations")
            if tables:
                connection.execute(sa.text(f"TRUNCATE {tables}"))
        connected.dispose()
        return Place(self.url, "tasks")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        self._do("start", "-w", "-t", str(SECONDS), "-o", options, "-l", str(self.folder / "log"))

    def stop(self) -> None:
        """End it as a machine that loses its power would; also when it does not run."""
        self._do("stop", "-m", "immediate", check=False)

    def _do(self, *command: str, check: bool = True) -> None:
        run([program("pg_ctl"), "-D", str(self.folder / "data"), *command], check=check)


def program(name: str) -> str:
    """One of PostgreSQL's, of the newest that is installed."""
    return str(INSTALLED[-1].with_name(name))


def run(command: list[str], *, check: bool = True) -> None:
    """Run a program of PostgreSQL, as somebody who is not root."""
    if os.geteuid() == 0:
        command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--", *command]
    subprocess.run(command, check=check, stdout=subprocess.DEVNULL, timeout=SECONDS, cwd="/")


@contextmanager
def postgresql() -> Iterator[Cluster]:
    """A PostgreSQL that ends with the tests."""
    if not INSTALLED:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is missing: apt install postgresql")
        pytest.skip("PostgreSQL is not installed")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="mrtr_tools_postgresql"))  # pytest's own are closed to other users
    if os.geteuid() == 0:
        shutil.chown(folder, USER, USER)
    cluster = Cluster(folder, port)
    try:
        run([program("initdb"), "-D", str(folder / "data"), "-U", USER, "--auth=trust", "--no-sync"])
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder)
