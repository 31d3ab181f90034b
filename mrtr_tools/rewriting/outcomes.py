"""What became of the tools of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

__all__ = ["Outcome", "Reason", "Rewritten", "Verdict"]


class Verdict(Enum):
    """What became of a tool."""

    PORTED = "ported"
    STEPS = "steps"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was not done, or what a person must decide.

    Attributes:
        line: where, from 1, in the file as it was.
        code: of the rule of `mrtr-tools check`, or "" where none is about it.
        text: in words.
    """

    line: int
    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.text} ({self.code})" if self.code else self.text


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one tool.

    Attributes:
        tool: the name of its function.
        line: where that stands, from 1.
        verdict: what became of it.
        reasons: why it was refused; for a tool that was ported, what a person must decide.
    """

    tool: str
    line: int
    verdict: Verdict
    reasons: Sequence[Reason] = ()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A file after it was ported.

    Attributes:
        text: what it holds now.
        outcomes: what became of each tool that asks, in the order of the file.
    """

    text: str
    outcomes: Sequence[Outcome]
