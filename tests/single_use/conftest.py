"""The stores of claims: one fixture for all, and one for a Redis of our own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.single_use.stores import redis_server


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis that ends with the tests."""
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=["sqlite", "redis"])
def shared_claims(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place that several processes share, as ``claims=`` takes it."""
    return str(tmp_path / "claims.sqlite3") if request.param == "sqlite" else request.getfixturevalue("redis_url")
