"""The tables that a benchmark prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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
