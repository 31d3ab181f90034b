"""`port`: a file onto the bridge, and where that is wanted and possible further to steps."""

from __future__ import annotations

from dataclasses import replace

from mrtr_tools.reading.sources import Source, parse_source
from mrtr_tools.rewriting.bridge import to_bridge
from mrtr_tools.rewriting.outcomes import Outcome, Rewritten, Verdict
from mrtr_tools.rewriting.steps import to_steps

__all__ = ["port"]


def port(source: Source, *, steps: bool = False) -> Rewritten:
    """Port the tools of a file that ask in their body.

    Args:
        source: the file.
        steps: go on to steps, also with tools that are on the bridge already, where a function is a straight line of
            questions.

    Returns:
        The file as it is then, and what became of each tool. Porting it again changes nothing.
    """
    on_bridge = to_bridge(source)
    if not steps:
        return on_bridge
    further = to_steps(parse_source(on_bridge.text, source.path))
    waiting = list(further.outcomes)
    outcomes = [_further(each, waiting) for each in on_bridge.outcomes]
    return Rewritten(further.text, [*outcomes, *waiting])


def _further(before: Outcome, waiting: list[Outcome]) -> Outcome:
    """What became of a tool in the end; taken from what is told of the second way, in the order of the file."""
    after = next((each for each in waiting if each.tool == before.tool), None)
    if before.verdict is Verdict.REFUSED or after is None:
        return before
    waiting.remove(after)
    if after.verdict is Verdict.STEPS:
        return replace(before, verdict=Verdict.STEPS)
    why_not = [replace(reason, line=before.line) for reason in after.reasons]  # theirs are lines of the bridge
    return replace(before, reasons=[*before.reasons, *why_not])
