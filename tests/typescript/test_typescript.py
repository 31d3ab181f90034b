"""The TypeScript SDK's client drives everything that `server.py` asks, at each revision that it speaks.

What must come of it stands in `script.py`; test_python_client.py wants the same of the Python SDK's client.
"""

import pytest

from tests.server import processes
from tests.typescript import node
from tests.typescript.script import MODERN, OLDER, OLDEST, SESSIONS, check

SERVER = "tests.typescript.server"


@pytest.fixture(scope="module")
def command() -> str:
    try:
        return node.install()
    except node.CannotRun as why:
        pytest.skip(str(why))


def job(server: object, version: str, mode: str | None = None) -> dict[str, object]:
    sessions = [
        {"capabilities": session.capabilities, "calls": [call.as_json() for call in session.calls]}
        for session in (each.at(version) for each in SESSIONS)
    ]
    return {"server": server, "version": mode or version, "sessions": sessions}


@pytest.mark.parametrize("version", [MODERN, OLDER, OLDEST])
def test_the_typescript_client_is_asked_everything_over_http(command, url, version):
    check(node.play(command, job({"url": url}, version)), version)


@pytest.mark.parametrize("version", [MODERN, OLDER, OLDEST])
def test_the_typescript_client_is_asked_everything_over_stdio(command, version):
    started = processes.stdio(SERVER, PYTHONWARNINGS="error")
    server = {"command": started.command, "args": started.args, "env": started.env}

    check(node.play(command, job(server, version)), version)


def test_a_typescript_client_that_speaks_both_takes_the_newer_revision(command, url):
    check(node.play(command, job({"url": url}, MODERN, "auto")), MODERN)
