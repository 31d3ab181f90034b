"""A PostgreSQL of our own, and a place of each kind."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.tasks.places import Cluster, Place, postgresql, sqlite


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with postgresql() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A database of this test's own, of each kind."""
    return sqlite(tmp_path) if request.param == "sqlite" else request.getfixturevalue("cluster").place()


@pytest.fixture
def free_port() -> int:
    """A port of this machine on which nobody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return free.getsockname()[1]


@pytest.fixture
def anyio_backend() -> str:
    """Durable tasks are run on asyncio alone."""
    return "asyncio"
