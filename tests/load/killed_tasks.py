"""Servers that share their tasks are killed at random while clients follow tasks to their end.

    python -m tests.load.killed_tasks [--tasks 200] [--kills 60] [--postgresql]

A task has a function, a question, and two functions after that. It ends with exit code 1 when a task was lost, ended
otherwise than it should, or a function ran again that was not inside of a process when that was killed, or with another
key.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

from tests.server.processes import Served
from tests.server.raw_http import accept
from tests.tasks.fleets import Fleet, about, created
from tests.tasks.places import postgresql

SERVERS = 3
CLIENTS = 12
PACE = "0.2"  # seconds that a function takes
SECONDS = 120  # for a task to end once nobody is killed any more


class Servers:
    """Servers of which one is killed now and then, and another one put in its place."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._contexts = [fleet.serving(PACE=PACE) for _ in range(SERVERS)]
        self._served: list[Served] = [context.__enter__()[0] for context in self._contexts]
        self.killed: set[int] = set()

    @property
    def url(self) -> str:
        """Of one of them, which may be dead."""
        return random.choice(self._served).url

    def kill(self) -> None:
        place = random.randrange(SERVERS)
        process = self._served[place].process
        self.killed.add(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(20)
        context = self._fleet.serving(PACE=PACE)
        [self._served[place]] = context.__enter__()
        old, self._contexts[place] = self._contexts[place], context
        old.__exit__(None, None, None)

    def close(self) -> None:
        for context in self._contexts:
            context.__exit__(None, None, None)


def follow(servers: Servers, name: str, told: dict[str, str], until: threading.Event) -> None:
    """Make a task and see it through, asking another server each time."""
    task: str | None = None
    end = float("inf")
    while time.monotonic() < end:
        if until.is_set() and end == float("inf"):
            end = time.monotonic() + SECONDS
        with suppress(OSError, HTTPException, AssertionError):  # it is asked again
            if task is None:
                task = created(servers.url, name)
            now: Any = about(servers.url, "get", task).result
            if now["status"] == "input_required":
                answers = {key: accept(ok=True) for key in now["inputRequests"]}
                about(servers.url, "update", task, inputResponses=answers)
            elif now["status"] != "working":
                told[name] = now["result"]["content"][0]["text"] if "result" in now else f"{now['status']} {now}"
                return
        time.sleep(random.uniform(0.01, 0.1))


@contextmanager
def place(folder: Path, *, in_postgresql: bool) -> Iterator[str]:
    if in_postgresql:
        with postgresql() as cluster:
            yield cluster.url
    else:
        yield str(folder / "tasks.sqlite3")


def main(tasks: int, kills: int, *, in_postgresql: bool) -> int:
    """Returns the exit code."""
    random.seed(tasks * 1000 + kills)
    with tempfile.TemporaryDirectory() as made, place(Path(made), in_postgresql=in_postgresql) as where:
        fleet = Fleet(Path(made), where)
        servers, told, over = Servers(fleet), dict[str, str](), threading.Event()
        with ThreadPoolExecutor(CLIENTS) as clients:
            try:
                for number in range(tasks):
                    clients.submit(follow, servers, f"n{number}", told, over)
                for _ in range(kills):
                    if len(told) == tasks:
                        break
                    time.sleep(random.uniform(0.1, 0.6))
                    servers.kill()
                over.set()
                clients.shutdown()
            finally:
                over.set()
                servers.close()
        return settle(fleet, told, servers.killed, tasks)


def settle(fleet: Fleet, told: dict[str, str], killed: set[int], tasks: int) -> int:
    """Tell what became of them; returns the exit code."""
    lost = [f"n{number}" for number in range(tasks) if f"n{number}" not in told]
    wrong = {name: text for name, text in told.items() if text != f"published {name}"}
    begun: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for run in fleet.runs("begin"):
        begun[run.step, run.name, run.key].append(run.pid)
    again = {run: pids for run, pids in begun.items() if len(pids) > 1}
    twice = {run: pids for run, pids in again.items() if not set(pids[:-1]) <= killed}
    keys = Counter((step, name) for step, name, _ in begun)
    # A client whose first request got no answer made its call again, and so another task.
    calls = {name: {key.partition(":")[0] for _, each, key in begun if each == name} for name in told}
    others = {each: count for each, count in keys.items() if count > len(calls.get(each[1], ()))}
    print(f"{tasks} tasks, {len(killed)} servers killed")
    print(f"lost {len(lost)}, wrong {len(wrong)}, run again after a kill {len(again)}, run again for no such reason "
          f"{len(twice)}, with another key {len(others)}")  # fmt: skip
    for what in (lost, wrong, twice, others):
        if what:
            print(what)
    return 1 if lost or wrong or twice or others else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--postgresql", action="store_true")
    given = parser.parse_args()
    sys.exit(main(given.tasks, given.kills, in_postgresql=given.postgresql))
