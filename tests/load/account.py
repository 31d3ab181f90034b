"""What became of calls while processes ended: which were lost, and which steps ran twice for what reason."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.load.relay import STEPS, expected


@dataclass
class Told:
    """What the clients saw.

    Attributes:
        results: the text of each order that came to its end.
        again: why requests were sent again, for each order.
        handed_on: rounds without a question.
        sessions: answers that named a session.
    """

    results: dict[int, str] = field(default_factory=dict)
    again: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    handed_on: int = 0
    sessions: int = 0


@dataclass(frozen=True)
class Run:
    """One run of a step."""

    pid: int
    is_done: bool


Runs = Mapping[tuple[int, str], list[Run]]


@dataclass(frozen=True)
class Account:
    """The outcome; each list names orders, or orders with their steps.

    Attributes:
        lost: did not come to their end.
        wrong: ended with another result than they should.
        missing: ended, and not all of their steps ran to the end.
        inside: ran again because their process was killed inside of them.
        unanswered: ran again because their process was killed before the answer had reached the client.
        twice: ran again for no such reason.
    """

    lost: list[int]
    wrong: list[int]
    missing: list[tuple[int, str]]
    inside: list[tuple[int, str]]
    unanswered: list[tuple[int, str]]
    twice: list[tuple[int, str]]

    @property
    def is_good(self) -> bool:
        """Whether nothing happened that must not."""
        return not (self.lost or self.wrong or self.missing or self.twice)


def read_notes(folder: Path) -> Runs:
    """What the processes noted."""
    runs: dict[tuple[int, str], list[Run]] = defaultdict(list)
    for notes in folder.iterdir():
        lines = [line.split() for line in notes.read_text().splitlines()]
        done = Counter((int(order), step) for order, step, what in lines if what == "done")
        for order, step, what in lines:
            if what == "begun":
                place = int(order), step
                runs[place].append(Run(int(notes.name), done[place] > 0))
                done[place] -= 1
    return runs


def settle(orders: Collection[int], told: Told, runs: Runs, killed: Collection[int]) -> Account:
    """Lay side by side what clients saw and what processes noted.

    Args:
        orders: those that were sent.
        told: what the clients saw.
        runs: the runs of each step of each order.
        killed: the processes that were given no chance to end well.
    """
    account = Account([], [], [], [], [], [])
    for order in orders:
        if order not in told.results:
            account.lost.append(order)
        elif told.results[order] != expected(order):
            account.wrong.append(order)
        else:
            account.missing.extend(
                (order, step) for step in STEPS if not any(run.is_done for run in runs.get((order, step), []))
            )
    for place, each in runs.items():
        if len(each) > 1:
            reasons = {"inside": account.inside, "unanswered": account.unanswered, "": account.twice}
            reasons[_why(each, killed, told.again[place[0]].total())].append(place)
    return account


def _why(runs: list[Run], killed: Collection[int], sent_again: int) -> str:
    """Why a step ran more than once; nothing where there is no reason for all of it."""
    ended_early = [run for run in runs if run.pid in killed]
    if len(ended_early) < len(runs) - 1 or len(runs) - 1 > sent_again:
        return ""
    return "unanswered" if all(run.is_done for run in ended_early) else "inside"
