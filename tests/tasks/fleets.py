"""Processes of `fleet.py` that share a store, and a client for them."""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mrtr_tools.keys import generate_key
from tests.server.processes import Served, serving
from tests.server.raw_http import FORMS, Answer, accept, request

FLEET = str(Path(__file__).with_name("fleet.py"))
KNOWS = {**FORMS, "extensions": {"io.modelcontextprotocol/tasks": {}}}
SECONDS = 60


@dataclass(frozen=True)
class Run:
    """One run of a function."""

    step: str
    name: str
    pid: int
    key: str


@dataclass
class Fleet:
    """What its processes share."""

    folder: Path
    tasks: str
    audience: str = field(default_factory=lambda: f"fleet-{secrets.token_hex(4)}")

    def __post_init__(self) -> None:
        self.doors.mkdir()
        self.ran.touch()
        self.keys.write_text(generate_key())
        self.keys.chmod(0o600)

    @property
    def doors(self) -> Path:
        return self.folder / "doors"

    @property
    def ran(self) -> Path:
        return self.folder / "ran"

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    @contextmanager
    def serving(self, count: int = 1, build: str = "old", **more: str) -> Iterator[list[Served]]:
        """That many processes."""
        shared = {"DOORS": self.doors, "RAN": self.ran, "KEYS_FILE": self.keys, "TASKS": self.tasks}
        environment = {name: str(value) for name, value in shared.items()}
        environment |= {"AUDIENCE": self.audience, "BUILD": build, **more}
        with ExitStack() as stack, ThreadPoolExecutor(count) as starting:
            begun = [serving([FLEET], **environment) for _ in range(count)]
            yield list(starting.map(stack.enter_context, begun))

    def runs(self, what: str = "end") -> list[Run]:
        """What functions have done so far."""
        lines = [line.split() for line in self.ran.read_text().splitlines()]
        return [Run(step, name, int(pid), key) for each, step, name, pid, key in lines if each == what]

    def counted(self, what: str = "end") -> Counter[tuple[str, str]]:
        """How often each function did that for each name."""
        return Counter((run.step, run.name) for run in self.runs(what))


def created(url: str, name: str) -> str:
    """The id of a new task."""
    answer = request(url, "tools/call", {"name": "release", "arguments": {"name": name}}, capabilities=KNOWS)
    assert answer.result["resultType"] == "task", answer
    return str(answer.result["taskId"])


def about(url: str, method: str, task: str, **more: Any) -> Answer:
    """The answer to a request for a task."""
    return request(url, f"tasks/{method}", {"taskId": task, **more}, capabilities=KNOWS)


def agreed(url: str, task: str) -> None:
    """Say yes to whatever a task asks."""
    asked = about(url, "get", task).result["inputRequests"]
    told = about(url, "update", task, inputResponses={key: accept(ok=True) for key in asked})
    assert told.status == 200, told


def until(url: str, task: str, status: str, *, seconds: float = SECONDS) -> Any:
    """The task when it has that status; it must not end with another one."""
    found: list[Any] = []

    def has_it() -> bool:
        answer = about(url, "get", task)
        if answer.status == 200 and "result" in answer.body:
            found[:] = [answer.result]
            assert answer.result["status"] in (status, "working", "input_required"), answer
            return bool(answer.result["status"] == status)
        return False

    wait(has_it, seconds=seconds)
    return found[0]


def wait(holds: Callable[[], bool], *, seconds: float = SECONDS) -> None:
    """Ask until something is so."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)
