"""How long an answer takes over stdin and stdout, what it costs, and how many come when 16 requests are under way."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from benchmarks.measuring import Samples, main
from benchmarks.peers import ECHO, LOW_LEVEL, OURS, RESOLVE
from benchmarks.processes import cores, cpu_seconds, on_core
from benchmarks.stdio_client import StdioServer, latencies, pipelined, stdio_server
from benchmarks.tables import Grid, Result, Row
from benchmarks.talks import ASKED, DONE, TWO_ROUNDS, Talk, echoed, repeated
from benchmarks.wire import line, next_round

SERVERS = {OURS: "ours", RESOLVE: "mcpserver", LOW_LEVEL: "lowlevel", ECHO: "echo"}
OPERATIONS = ("round 1", "round 2")
UNDER_WAY = 16
TO_ECHO, TO_RESOLVE = 2, 1 / 7  # the bounds of the latency

New = Callable[[int], Talk]
"""A talk whose requests have this id."""


def talks_of(server: StdioServer, *, echo: bool) -> dict[str, New]:
    """What is said in each operation."""
    first = TWO_ROUNDS.params
    if echo:
        return dict.fromkeys(OPERATIONS, lambda number: echoed(line(number, "tools/call", first)))
    asked = server.ask(line(1, "tools/call", first))["result"]
    second = next_round(first, asked, TWO_ROUNDS.content)
    return {
        "round 1": lambda number: repeated(line(number, "tools/call", first), ASKED),
        "round 2": lambda number: repeated(line(number, "tools/call", second), DONE),
    }


def measured(quick: bool = False) -> Sequence[Result]:
    repetitions, count = (3, 100) if quick else (7, 300)
    p50, p99, cost, rate = Samples(), Samples(), Samples(), Samples()
    with ExitStack() as stack:
        stack.enter_context(on_core(cores()[1]))
        servers = {name: stack.enter_context(stdio_server(contender)) for name, contender in SERVERS.items()}
        talks = {name: talks_of(server, echo=name == ECHO) for name, server in servers.items()}
        for _ in range(repetitions):
            for operation in OPERATIONS:
                for name, server in servers.items():
                    new = talks[name][operation]
                    latencies(server, new(0), count // 5)  # to warm up
                    before = cpu_seconds(server.process)
                    taken = latencies(server, new(0), count)
                    cost.add(name, operation, (cpu_seconds(server.process) - before) / count * 1e6)
                    p50.add(name, operation, statistics.median(taken) * 1e6)
                    p99.add(name, operation, statistics.quantiles(taken, n=100)[98] * 1e6)
                    rate.add(name, operation, pipelined(server, [new(number) for number in range(UNDER_WAY)], count))
    return [
        Grid("latency, us: p50, ours over the others", p50.medians()),
        Grid("latency, us: p99, ours over the others", p99.medians()),
        Grid("CPU us per request, ours over the others", cost.medians()),
        Grid(f"requests per second, {UNDER_WAY} under way", rate.medians()),
        *bounds(p50.medians()),
    ]


def bounds(p50: Mapping[str, Mapping[str, float]]) -> list[Row]:
    return [
        Row(f"{operation}, latency: ours : {name}", p50[OURS][operation], p50[name][operation], at_most=bound)
        for name, bound in ((ECHO, TO_ECHO), (RESOLVE, TO_RESOLVE))
        for operation in OPERATIONS
    ]


if __name__ == "__main__":
    raise SystemExit(main(stdio=measured))
