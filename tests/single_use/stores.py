"""Each kind of store, for tests that hold for all of them."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

SECONDS = 10


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """A Redis of our own that keeps what it was told; gives its URL."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "", "--appendonly", "yes"]
    process = subprocess.Popen([program, *options], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert any("Ready to accept connections" in line for line in process.stdout)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)
