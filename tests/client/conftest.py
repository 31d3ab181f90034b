"""The works, in a process of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import scripted
from tests.server.processes import serving

__all__ = ["scripted"]

WORKS = str(Path(__file__).with_name("works.py"))


@pytest.fixture(scope="session")
def works() -> Iterator[str]:
    """The address of the works."""
    with serving([WORKS]) as served:
        yield served.url
