"""Times that can be compared, and the tables they go into."""

import argparse
import faulthandler
import gc
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

Job = Callable[[], Awaitable[object]]
LIMIT = 900  # seconds that one run may take, on a machine that is busy too


@dataclass(frozen=True)
class Row:
    """A ratio, what it is made of, and what it must keep: at most, or at least."""

    what: str
    ours: float
    other: float
    unit: str = "us"
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours / self.other

    @property
    def missed(self) -> bool:
        too_much = self.at_most is not None and self.ratio > self.at_most
        too_little = self.at_least is not None and self.ratio < self.at_least
        return too_much or too_little

    def __str__(self) -> str:
        bounds = [
            "" if self.at_most is None else f"<= {self.at_most:.2f}",
            "" if self.at_least is None else f">= {self.at_least:.2f}",
            "MISSED" if self.missed else "",
        ]
        made_of = f"{self.ours:>9.5g} : {self.other:>8.5g} {self.unit:<5}"
        return f"{self.what:<70} {made_of} {self.ratio:>6.2f}  {' '.join(filter(None, bounds))}".rstrip()


@dataclass(frozen=True)
class Grid:
    """Several contenders in several columns: what the first one has, and its ratio to each of the others.

    Attributes:
        what: is in the cells.
        cells: by contender and column. One that was not measured is missing.
    """

    what: str
    cells: Mapping[str, Mapping[str, float]]

    def __str__(self) -> str:
        (first, ours), *others = self.cells.items()
        lines = [_line(self.what, list(ours)), _line(first, [f"{value:.4g}" for value in ours.values()])]
        for name, cells in others:
            ratios = [f"{value / cells[column]:.2f}" if column in cells else "-" for column, value in ours.items()]
            lines.append(_line(f"    : {name}", ratios))
        return "\n".join([*lines, ""])


def _line(name: str, cells: Sequence[str]) -> str:
    return f"{name:<44}" + "".join(f"{cell:>13}" for cell in cells)


Result = Row | Grid | str
"""A line of the report; a text says what could not be measured."""

Part = Callable[[bool], Sequence[Result]]
"""Measures one thing: quickly, or well."""


class Samples:
    """What was measured, repetition by repetition, by contender and column."""

    def __init__(self) -> None:
        self._taken: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    def add(self, contender: str, column: str, value: float) -> None:
        self._taken[contender][column].append(value)

    def medians(self) -> dict[str, dict[str, float]]:
        return {
            contender: {column: statistics.median(values) for column, values in columns.items()}
            for contender, columns in self._taken.items()
        }


async def medians(jobs: Mapping[str, Job], *, batches: int, calls: int) -> dict[str, float]:
    """Microseconds of processor time of one call of each job: the median of batches.

    Every batch visits every job, so that whatever else the machine does meanwhile slows all of them alike. The first
    call after a change of jobs is not timed: it finds the processor's caches full of the job before.
    """
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    gc.collect()
    for _ in range(batches):
        for name, job in jobs.items():
            await job()
            began = time.process_time()
            for _ in range(calls):
                await job()
            taken[name].append((time.process_time() - began) / calls * 1e6)
    return {name: statistics.median(times) for name, times in taken.items()}


def main(**parts: Part) -> int:
    """Measure each part and print its table; 1 when a bound is missed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a look, not a result")
    quick = parser.parse_args().quick
    faulthandler.dump_traceback_later(LIMIT, exit=True)  # servers end with the process that started them
    missed = False
    for name, part in parts.items():
        began = time.perf_counter()
        results = part(quick)
        print(f"\n== {name.replace('_', ' ')}, {time.perf_counter() - began:.0f} s")
        for result in results:
            print(result, flush=True)
            missed |= isinstance(result, Row) and result.missed
    return int(missed)
