"""From the start of a process to its first answer over stdin and stdout, with all bytecode compiled."""

import time
from collections.abc import Sequence

from benchmarks.measuring import Samples, main
from benchmarks.peers import FASTMCP, LOW_LEVEL, OURS, RESOLVE, present
from benchmarks.processes import cores, on_core, started
from benchmarks.stdio_client import stdio_server
from benchmarks.tables import Grid, Result, Row
from benchmarks.talks import TWO_ROUNDS, calls
from benchmarks.wire import line

SERVERS = {OURS: "ours", RESOLVE: "mcpserver", LOW_LEVEL: "lowlevel", FASTMCP: "with_fastmcp"}
PYDANTIC = "import pydantic; pydantic.BaseModel"
COLUMN = "first answer"
TO_PYDANTIC, TO_RESOLVE = 2, 0.25  # the bounds


def first_answer(contender: str) -> float:
    """Milliseconds until the first round of a call is answered."""
    talk = calls(line, TWO_ROUNDS)
    request = next(talk)
    began = time.perf_counter()
    with stdio_server(contender) as server:
        answer = server.ask(request)
        took = time.perf_counter() - began
        talk.send(answer)
    return took * 1e3


def whole_run(code: str) -> float:
    """Milliseconds until a line of Python has run and its process has ended."""
    began = time.perf_counter()
    with started(["-c", code]) as process:
        process.wait()
        return (time.perf_counter() - began) * 1e3


def measured(quick: bool = False) -> Sequence[Result]:
    repetitions = 3 if quick else 9
    servers, left_out = present(SERVERS)
    samples = Samples()
    with on_core(cores()[1]):
        for contender in servers.values():
            first_answer(contender)  # whatever was not compiled is now
        for _ in range(repetitions):
            for name, contender in servers.items():
                samples.add(name, COLUMN, first_answer(contender))
            samples.add(PYDANTIC, COLUMN, whole_run(PYDANTIC))
    took = {name: columns[COLUMN] for name, columns in samples.medians().items()}
    return [
        *left_out,
        Grid("ms from exec, ours over the others", samples.medians()),
        Row(f"first answer: ours : {PYDANTIC}", took[OURS], took[PYDANTIC], "ms", at_most=TO_PYDANTIC),
        Row(f"first answer: ours : {RESOLVE}", took[OURS], took[RESOLVE], "ms", at_most=TO_RESOLVE),
    ]


if __name__ == "__main__":
    raise SystemExit(main(starting=measured))
