"""Requests per second over HTTP, and the processor time of the server for each.

All servers run at once, on one core, and are idle but for the one that is under test; the client has the other core.
"""

from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks.http_load import HttpServer, connected, exchange, http_server
from benchmarks.measuring import Samples, main
from benchmarks.peers import FASTMCP, FLOOR, HELLO, LOW_LEVEL, OURS, RESOLVE, RESOLVE_SOON, WITHOUT_LEAN, present
from benchmarks.processes import cores, cpu_seconds, on_core
from benchmarks.tables import Grid, Result, Row
from benchmarks.talks import ASKED, DONE, THREE_ROUNDS, TWO_ROUNDS, Talk, calls, repeated

SERVERS = {
    OURS: "ours:app",
    WITHOUT_LEAN: "ours:app_through_sdk",
    RESOLVE: "mcpserver:app",
    RESOLVE_SOON: "mcpserver:app_with_schema_rendered_once",
    LOW_LEVEL: "lowlevel:app",
    FASTMCP: "with_fastmcp:app",
    FLOOR: "bare:app",
}
LIST = "tools/list"
OPERATIONS = ("round 1", "round 2", "two rounds", "three rounds", LIST)
CONNECTIONS = 16
TIMES, FLOOR_SHARE = 7, 0.6  # the bounds for a call of two rounds


def talk_of(server: HttpServer, operation: str) -> Talk:
    if operation == LIST:
        return repeated(server.encode(1, "tools/list", {}), DONE)
    if operation == "three rounds":
        return calls(server.encode, THREE_ROUNDS)
    talk = calls(server.encode, TWO_ROUNDS)
    if operation == "two rounds":
        return talk
    first = next(talk)
    if operation == "round 1":
        return repeated(first, ASKED)
    with connected(server, [repeated(first, ASKED)]) as (connection,):
        connection.send()
        return repeated(talk.send(connection.message()), DONE)


def load(server: HttpServer, operation: str, seconds: float) -> tuple[float, float]:
    """Requests per second, and microseconds of processor time of the server per request."""
    with connected(server, [talk_of(server, operation) for _ in range(CONNECTIONS)]) as connections:
        exchange(connections, seconds=seconds / 5)  # to warm up
        before = cpu_seconds(server.process)
        answers, took = exchange(connections, seconds=seconds)
        used = cpu_seconds(server.process) - before
    return answers / took, used / answers * 1e6


def measured(quick: bool = False) -> Sequence[Result]:
    repetitions, seconds = (3, 0.15) if quick else (5, 0.5)
    contenders, left_out = present(SERVERS)
    rates, costs = Samples(), Samples()
    with ExitStack() as stack:
        stack.enter_context(on_core(cores()[1]))
        servers = {name: stack.enter_context(http_server(app)) for name, app in contenders.items()}
        hello = stack.enter_context(http_server("hello:app"))
        for _ in range(repetitions):
            for operation in OPERATIONS:
                for name, server in [*servers.items(), *[(HELLO, hello)] * (operation == LIST)]:
                    rate, cost = load(server, operation, seconds)
                    rates.add(name, operation, rate)
                    costs.add(name, operation, cost)
    return [*left_out, *tables(rates, costs)]


def tables(rates: Samples, costs: Samples) -> list[Result]:
    rate = rates.medians()
    ours, resolve, floor = (rate[name]["two rounds"] for name in (OURS, RESOLVE, FLOOR))
    return [
        Grid("requests per second, ours over the others", rate),
        Grid("CPU us per request, ours over the others", costs.medians()),
        Row(f"two rounds, requests per second: ours : {RESOLVE}", ours, resolve, "/s", at_least=TIMES),
        Row(f"two rounds, requests per second: ours : {FLOOR}", ours, floor, "/s", at_least=FLOOR_SHARE),
    ]


if __name__ == "__main__":
    raise SystemExit(main(http=measured))
