"""Instructions of an application for a request over HTTP, without uvicorn: no matter what else the machine does.

Valgrind runs it, and has to be installed. It writes down how many instructions there were at each call of `getppid`,
which nothing else calls; so one run counts everything.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic_core import from_json

from benchmarks.measuring import main
from benchmarks.peers import FLOOR, OURS
from benchmarks.processes import ROOT
from benchmarks.tables import Grid, Result
from benchmarks.talks import TWO_ROUNDS, ToolCall
from benchmarks.wire import next_round, post_to

Message = dict[str, Any]

PORT = 8000  # nobody listens there
WARM, COUNTED = 40, 50  # requests
NAMES = (OURS, FLOOR)
ROUNDS: tuple[str, ...] = ("round 1", "round 2")


def played(serving: Coroutine[Any, Any, None]) -> None:
    """Run what never waits."""
    try:
        serving.send(None)
    except StopIteration:
        return
    raise RuntimeError("it waits")


def request_of(app: Any, sent: bytes) -> tuple[Callable[[], None], Message]:
    """Sends a request to an application, again and again, and the first answer."""
    head, _, body = sent.partition(b"\r\n\r\n")
    fields = [line.partition(b": ") for line in head.split(b"\r\n")[1:]]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(name, value) for name, _, value in fields]}
    answers: list[bytes] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            answers[:] = [message["body"]]

    def ask() -> None:
        played(app({**scope}, receive, send))

    ask()
    return ask, from_json(answers[0])


def requests_of(app: Any, call: ToolCall) -> list[Callable[[], None]]:
    """One for each round of a call."""
    encode, params, requests = post_to(PORT), call.params, list[Callable[[], None]]()
    while True:
        ask, answer = request_of(app, encode(1, "tools/call", params))
        requests.append(ask)
        if answer["result"]["resultType"] == "complete":
            return requests
        params = next_round(call.params, answer["result"], call.content)


def count_here() -> None:
    """What valgrind runs."""
    from benchmarks.contenders import bare, ours

    jobs = [job for app in (ours.app(), bare.app()) for job in requests_of(app, TWO_ROUNDS)]
    for job in [lambda: None, *jobs]:
        for _ in range(WARM):
            job()
        os.getppid()
        for _ in range(COUNTED):
            job()
        os.getppid()


def counted(valgrind: str) -> list[float]:
    """Thousands of instructions for each request of `count_here`."""
    with TemporaryDirectory() as folder:
        into = f"--callgrind-out-file={folder}/count"
        tool = [valgrind, "--quiet", "--tool=callgrind", "--dump-before=getppid", into]
        subprocess.run(
            [*tool, sys.executable, "-m", "benchmarks.instructions", "here"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            check=True,
        )
        ends = sorted(Path(folder).glob("count.*"), key=lambda path: int(path.suffix[1:]))[1::2]
        nothing, *counts = [_total(path) / COUNTED / 1000 for path in ends]
    return [count - nothing for count in counts]


def _total(dump: Path) -> int:
    return next(
        int(line.split()[1]) for line in dump.read_text().splitlines() if line.startswith(("totals:", "summary:"))
    )


def measured(quick: bool = False) -> Sequence[Result]:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return ["valgrind is not installed"]
    counts = counted(valgrind)
    cells = {name: dict(zip(ROUNDS, counts[place * 2 :], strict=False)) for place, name in enumerate(NAMES)}
    return [Grid("thousands of instructions, ours over the other", cells)]


if __name__ == "__main__":
    if sys.argv[1:] == ["here"]:
        count_here()
    else:
        raise SystemExit(main(instructions=measured))
