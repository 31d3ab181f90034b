"""Times that can be compared, and the table they go into."""

import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

Job = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio, what it is made of, and what it must not exceed."""

    what: str
    ours: float
    other: float
    unit: str = "us"
    bound: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours / self.other

    @property
    def missed(self) -> bool:
        return self.bound is not None and self.ratio > self.bound

    def __str__(self) -> str:
        bound = "" if self.bound is None else f"<= {self.bound:.2f}{' MISSED' if self.missed else ''}"
        return f"{self.what:<50} {self.ours:>8.0f} : {self.other:>6.0f} {self.unit:<3} {self.ratio:>6.2f}  {bound}"


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


def report(rows: Iterable[Row]) -> int:
    """Print the table; 1 when a bound is missed, else 0."""
    shown = list(rows)
    print(f"{'':<50} {'compared':>21} {'ratio':>6}  bound")
    for row in shown:
        print(row)
    return int(any(row.missed for row in shown))
