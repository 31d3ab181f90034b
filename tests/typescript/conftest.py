"""The server that all clients of this folder call."""

from collections.abc import Iterator

import pytest

from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.raw_http import serving
from tests.typescript.server import toolbox


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """One server over HTTP, for clients of all revisions."""
    with serving(http_app(toolbox, keys=[generate_key()], anonymous_ok=True)) as address:
        yield address
