"""Requests per second over HTTP, and the processor time of the server for each.

All servers run at once, on one core, and are idle but for the one that is under test; the client has the other core.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec

from benchmarks.contenders.ours import HAS_LEAN
from benchmarks.http_load import HttpServer, connected, exchange, http_server
from benchmarks.measuring import Grid, Result, Row, Samples, main
from benchmarks.processes import cores, cpu_seconds, on_core
from benchmarks.talks import ASKED, DONE, THREE_ROUNDS, TWO_ROUNDS, Talk, calls, repeated

OURS, RESOLVE, FLOOR = "ours", "MCPServer with Resolve", "bare ASGI, pydantic, seal and signature"
SERVERS = {
    OURS: "ours:app",
    "ours, lean path off": "ours:app_through_sdk",
    RESOLVE: "mcpserver:app",
    "... with its schema rendered once": "mcpserver:app_with_schema_rendered_once",
    "low-level Server by hand": "lowlevel:app",
    "FastMCP 4": "with_fastmcp:app",
    FLOOR: "bare:app",
}
HELLO = "hello"
LIST = "tools/list"
OPERATIONS = ("round 1", "round 2", "two rounds", "three rounds", LIST)
CONNECTIONS = 16
TIMES, FLOOR_SHARE = 7, 0.6  # the bounds for a call of two rounds


def installed() -> tuple[dict[str, str], list[str]]:
    """The contenders that can run here, and a line for each that cannot."""
    servers, left_out = dict(SERVERS), list[str]()
    if find_spec("fastmcp") is None:
        del servers["FastMCP 4"]
        left_out.append("left out, because it is not installed (scripts/install test): FastMCP 4")
    if not HAS_LEAN:
        del servers["ours, lean path off"]
        left_out.append("left out, because http_app has no lean=: ours, lean path off")
    return servers, left_out


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
    contenders, left_out = installed()
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
        Row("two rounds, requests per second: ours : floor", ours, floor, "/s", at_least=FLOOR_SHARE),
    ]


if __name__ == "__main__":
    raise SystemExit(main(http=measured))
