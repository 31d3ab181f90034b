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
    outcomes = {each.tool: each for each in on_bridge.outcomes}
    for each in further.outcomes:
        outcomes[each.tool] = _both(outcomes.get(each.tool), each)
    return Rewritten(further.text, list(outcomes.values()))


def _both(before: Outcome | None, after: Outcome) -> Outcome:
    if before is None:
        return after
    if after.verdict is Verdict.STEPS:
        return replace(before, verdict=Verdict.STEPS)
    return replace(before, reasons=[*before.reasons, *after.reasons])
