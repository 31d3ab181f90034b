"""Real processes that are told to stop, or killed, while they serve; and what one serves at a time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import anyio
import pytest

from mrtr_tools import Toolbox
from mrtr_tools.calls import Call, Complete
from mrtr_tools.errors import Busy
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from mrtr_tools.server.load import Load
from mrtr_tools.server.service import Service
from mrtr_tools.server.signing import starting_signer
from tests.server import processes, raw_http
from tests.server.processes import Served
from tests.server.raw_http import Answer, accept, call, written

WORKSITE = str(Path(__file__).with_name("worksite.py"))
SECONDS = 20
KEY = generate_key()
YES = {"ok": accept(ok=True)}


class Site:
    """Servers of the worksite that share their keys, their claims and their doors."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._notes = folder / "ran"
        self._notes.touch()

    @contextmanager
    def server(self, *options: str) -> Iterator[Served]:
        given = {"RAN": str(self._notes), "DOORS": str(self.folder), "MRTR_TOOLS_KEYS": KEY}
        claims = ["--claims", str(self.folder / "claims"), "--anonymous-ok"]
        program = ["-m", "mrtr_tools.cli", "run", WORKSITE, "--http", "--port", "0", *claims, *options]
        with processes.serving(program, **given) as served:
            yield served

    def open(self, *doors: str) -> None:
        for door in doors:
            (self.folder / door).touch()

    @property
    def ran(self) -> list[tuple[str, int]]:
        """The steps that ran and the processes that ran them, in order."""
        return [(line.split()[0], int(line.split()[1])) for line in self._notes.read_text().splitlines()]

    def wait_for(self, step: str) -> None:
        until(lambda: step in [name for name, _ in self.ran])


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def until(holds: Callable[[], bool]) -> None:
    """Wait for another process."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def text(answer: Answer) -> str:
    return answer.result["content"][0]["text"]


def stop(served: Served) -> list[Answer]:
    """Tell a server to stop, and wait until it takes no more connections; gives what it answered until then."""
    served.process.terminate()
    answers: list[Answer] = []

    def is_closed() -> bool:
        try:
            answers.append(call(served.url, "who"))
        except OSError:
            return True
        return False

    until(is_closed)
    return [answer for answer in answers if "error" in answer.body]  # the signal may take its time


# Told to stop


def test_what_runs_ends_and_is_answered_nothing_new_begins_and_the_process_ends_well(site: Site, pool):
    with site.server() as served:
        answer = pool.submit(call, served.url, "build")
        site.wait_for("dig")

        refused = stop(served)
        assert not answer.done()
        site.open("dig", "wall", "roof")

        assert text(answer.result(SECONDS)) == "dug walled roofed"
        assert served.process.wait(SECONDS) == 0
    assert {(one.error["code"], one.error["data"]["reason"]) for one in refused} <= {(-31001, "stopping")}
    assert {one.headers["connection"] for one in refused} <= {"close"}
    assert site.ran == [(step, served.process.pid) for step in ("dig", "wall", "roof")]


def test_with_shed_a_call_goes_on_elsewhere_after_its_step_and_no_step_runs_twice(site: Site, pool):
    """Spec P18."""
    with site.server("--shed") as one, site.server("--shed") as two:
        answer = pool.submit(call, one.url, "build")
        site.wait_for("dig")
        stop(one)
        site.open("dig", "wall", "roof")
        handed = answer.result(SECONDS).result
        assert one.process.wait(SECONDS) == 0

        done = call(two.url, "build", requestState=handed["requestState"])

    assert (handed["resultType"], handed.get("inputRequests", {})) == ("input_required", {})
    assert text(done) == "dug walled roofed"
    assert site.ran == [("dig", one.process.pid), ("wall", two.process.pid), ("roof", two.process.pid)]


def test_an_idle_connection_is_closed_and_a_server_with_nothing_to_do_ends_well(site: Site):
    with site.server() as served, connected(served.url) as idle:
        idle.request("GET", "/elsewhere")
        assert idle.getresponse().read() == b"Not Found"
        served.process.send_signal(signal.SIGINT)

        assert idle.sock.recv(1) == b""
        assert served.process.wait(SECONDS) == 0


def test_a_call_that_takes_longer_than_the_grace_ends_with_the_process(tmp_path: Path, pool):
    site = Site(tmp_path)
    given = {"RAN": str(tmp_path / "ran"), "DOORS": str(tmp_path), "GRACE": "1", "CLAIMS": str(tmp_path / "claims")}
    with processes.http_process("tests.server.worksite", MRTR_TOOLS_KEYS=KEY, **given) as served:
        answer = pool.submit(call, served.url, "build")
        site.wait_for("dig")
        served.process.terminate()

        assert served.process.wait(SECONDS) == 0
        assert answer.result(SECONDS).status == 500


def test_a_step_of_single_use_comes_to_its_end_before_the_process_though_its_client_is_gone(site: Site):
    """Security 4: what was begun is settled, so the repeat gets the answer that nobody waited for."""
    with site.server() as one, site.server() as two:
        asked = call(one.url, "blast").result
        again = {"name": "blast", "inputResponses": YES, "requestState": asked["requestState"]}
        with connected(one.url) as impatient:
            impatient.request("POST", "/mcp", *written("tools/call", again))
            site.wait_for("blast")
        stop(one)
        with pytest.raises(subprocess.TimeoutExpired):
            one.process.wait(1)
        site.open("blast")
        assert one.process.wait(SECONDS) == 0

        repeated = raw_http.request(two.url, "tools/call", again)

    assert text(repeated) == f"blasted by {one.process.pid}"
    assert site.ran == [("blast", one.process.pid)]


@contextmanager
def connected(url: str) -> Iterator[HTTPConnection]:
    there = urlsplit(url)
    connection = HTTPConnection(there.hostname or "", there.port, timeout=SECONDS)
    try:
        yield connection
    finally:
        connection.close()


# Killed


def test_a_worker_that_was_killed_is_started_again_and_none_outlives_the_one_that_started_it(site: Site, pool):
    with site.server("--workers", "2") as served:
        first = int(text(call(served.url, "who")))
        os.kill(first, signal.SIGKILL)
        seen = {first}

        def is_another() -> bool:
            for asked in [pool.submit(call, served.url, "who") for _ in range(4)]:  # one by one may all go to the same
                with suppress(OSError):  # it went to the one that died
                    seen.add(int(text(asked.result())))
            return len(seen) == 3

        until(is_another)
        served.process.kill()
        served.process.wait(SECONDS)
        until(lambda: not any(map(is_there, seen)))


def test_workers_end_when_the_one_that_started_them_is_told_to_stop(site: Site, pool):
    with site.server("--workers", "2") as served:
        answer = pool.submit(call, served.url, "build")
        site.wait_for("dig")
        served.process.terminate()
        site.open("dig", "wall", "roof")

        assert text(answer.result(SECONDS)) == "dug walled roofed"
        assert served.process.wait(SECONDS) == 0
    (worker,) = {pid for _, pid in site.ran}
    assert worker != served.process.pid
    assert not is_there(worker)


def is_there(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # empty when it has ended, and nobody has heard of it
    except (FileNotFoundError, ProcessLookupError):
        return False


# At a time


class Busywork:
    """A toolbox with a step that lasts as long as a test wants, and how often it ran."""

    def __init__(self) -> None:
        self.toolbox, self.ran = Toolbox("busy"), 0
        self.begun, self.door = Event(), Event()
        self.toolbox.tool(self.last)

    def last(self) -> str:
        self.ran += 1
        self.begun.set()
        assert self.door.wait(SECONDS)
        return "done"


@pytest.mark.parametrize("lean", [True, False])
def test_a_call_over_the_limit_is_refused_before_it_is_begun_and_may_be_sent_again(pool, lean):
    """Security 21."""
    busy = Busywork()
    app = http_app(busy.toolbox, keys=[KEY], max_calls=1, lean=lean)
    with raw_http.serving(app) as url:
        first = pool.submit(call, url, "last")
        assert busy.begun.wait(SECONDS)

        over = call(url, "last")
        told = raw_http.request(url, "tools/list", {})
        busy.door.set()

        assert text(first.result(SECONDS)) == "done"
        assert text(call(url, "last")) == "done"
    assert over.error == {
        "code": -31001,
        "message": "There are too many calls at the moment; send it again later",
        "data": {"reason": "overloaded"},
    }
    assert told.status == 200
    assert busy.ran == 2


def test_one_principal_is_refused_over_its_limit_and_others_are_served():
    """Security 21."""
    busy = Busywork()
    load = Load(max_calls_each=1)
    service = Service(busy.toolbox, starting_signer(busy.toolbox, [KEY], audience=None, ttl=60), load=load)
    busy.door.set()
    alice, bob = (Call("last", {}, principal=name) for name in ("alice", "bob"))

    async def both() -> None:
        with load.call("alice"):
            with pytest.raises(Busy, match="too many"):
                await service.answer(alice)
            assert isinstance(await service.answer(bob), Complete)
        assert isinstance(await service.answer(alice), Complete)

    anyio.run(both)
    assert busy.ran == 2


SWALLOWED = """
import signal, weakref
from mrtr_tools.server.stopping import until_told

class Something:
    pass

with until_told():
    something = Something()
    watched = weakref.ref(something, lambda _: signal.raise_signal(signal.SIGTERM))
    del something
print("went on")
"""


def test_a_process_that_does_not_serve_yet_ends_at_once_wherever_it_is():
    """An exception in the callback of a weak reference is swallowed, and the process would never end."""
    done = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "")
