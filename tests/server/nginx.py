"""nginx as the recipe `cookbook/many_instances` has it, in front of instances at the ports above its own."""

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.server.processes import ROOT, SECONDS

FOLDER = ROOT / "cookbook" / "many_instances"
INSTANCES = 3
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])  # where Debian has it
NGINX = shutil.which("nginx", path=PATH)


def free_ports(number: int = INSTANCES + 1) -> int:
    """The first of several ports in a row that nobody listens at."""
    for first in range(20000 + os.getpid() % 10000, 60000, number):
        try:
            with ExitStack() as taken:
                for port in range(first, first + number):
                    taken.enter_context(socket.create_server(("127.0.0.1", port)))
        except OSError:
            continue
        return first
    raise AssertionError("there are no free ports")


@contextmanager
def nginx(folder: Path, port: int) -> Iterator[str]:
    """Run nginx; gives the URL of the endpoint behind it."""
    assert NGINX
    written = re.sub(r"127\.0\.0\.1:800(\d)\b", lambda found: f"127.0.0.1:{port + int(found[1])}", conf())
    (folder / "nginx.conf").write_text(written)
    command = [NGINX, "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"]
    with (folder / "nginx.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        end = time.monotonic() + SECONDS
        while not is_taken(port):
            assert process.poll() is None, (folder / "nginx.log").read_text()
            assert time.monotonic() < end
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(SECONDS)


def conf() -> str:
    """What the recipe has nginx do."""
    return (FOLDER / "nginx.conf").read_text()


def is_taken(port: int) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS).close()
    except OSError:
        return False
    return True
