"""Resident memory of a server over HTTP at its first answer, and after many calls of two rounds."""

from collections.abc import Sequence

from benchmarks.http_load import HttpServer, connected, exchange, http_server
from benchmarks.measuring import main
from benchmarks.peers import FASTMCP, FLOOR, OURS, RESOLVE, present
from benchmarks.processes import cores, on_core, resident
from benchmarks.tables import Grid, Result, Row
from benchmarks.talks import TWO_ROUNDS, calls

SERVERS = {OURS: "ours:app", RESOLVE: "mcpserver:app", FASTMCP: "with_fastmcp:app", FLOOR: "bare:app"}
CONNECTIONS = 16
FIRST = "first answer"
TO_RESOLVE, GROWTH = 0.7, 1.02  # the bounds; the latter is what "flat" may mean


def play(server: HttpServer, rounds: int) -> None:
    talks = [calls(server.encode, TWO_ROUNDS) for _ in range(min(CONNECTIONS, rounds))]
    with connected(server, talks) as connections:
        exchange(connections, answers=rounds)


def sizes(contender: str, counts: Sequence[int]) -> dict[str, float]:
    """MiB at the first answer, and after each of so many calls."""
    with http_server(contender) as server:
        play(server, 1)
        found, played = {FIRST: resident(server.process)}, 0
        for count in counts:
            play(server, 2 * (count - played))
            found[_after(count)], played = resident(server.process), count
    return found


def _after(count: int) -> str:
    return f"{count:,} calls"


def measured(quick: bool = False) -> Sequence[Result]:
    many, ten_times = (1_000, 10_000) if quick else (10_000, 100_000)
    servers, left_out = present(SERVERS)
    with on_core(cores()[1]):
        found = {
            name: sizes(contender, (many, ten_times) if name == OURS else (many,))
            for name, contender in servers.items()
        }
    ours, resolve = found[OURS], found[RESOLVE]
    after = _after(many)
    longer = Row(f"{_after(ten_times)} : {after}, ours", ours[_after(ten_times)], ours[after], "MiB", at_most=GROWTH)
    return [
        *left_out,
        Grid("resident MiB, ours over the others", found),
        Row(f"after {after}: ours : {RESOLVE}", ours[after], resolve[after], "MiB", at_most=TO_RESOLVE),
        longer,
    ]


if __name__ == "__main__":
    raise SystemExit(main(memory=measured))
