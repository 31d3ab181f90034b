"""Times that can be compared, and the command that measures them."""

import argparse
import faulthandler
import gc
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence

from benchmarks.tables import Result, Row

Job = Callable[[], Awaitable[object]]
LIMIT = 900  # seconds; a part takes a minute or two, and much longer only when a server hangs

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
    missed = False
    for name, part in parts.items():
        faulthandler.dump_traceback_later(LIMIT, exit=True)  # the servers end with this process
        began = time.perf_counter()
        results = part(quick)
        print(f"\n== {name.replace('_', ' ')}, {time.perf_counter() - began:.0f} s")
        for result in results:
            print(result, flush=True)
            missed |= isinstance(result, Row) and result.missed
    return int(missed)
