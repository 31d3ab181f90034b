"""What a request goes on with: what the call has so far, or a new beginning.

Progress comes from a build that may not be this one, and may be too old. When it no longer fits, the call begins anew,
as if neither progress nor answers had come, provided that no function of the author has run in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from pydantic import JsonValue

from mrtr_tools.arguments import Given
from mrtr_tools.calls import Call
from mrtr_tools.carriers import Carrier
from mrtr_tools.errors import InvalidState, ToolError
from mrtr_tools.progress import Progress
from mrtr_tools.steps import Step
from mrtr_tools.tools import Toolbox

__all__ = ["Resumed", "carried_values", "going_on", "resume"]


@dataclass(slots=True)
class Resumed:
    """Where a round begins.

    Attributes:
        progress: what the call has.
        given: the arguments of the call.
        goes_on: whether the progress that came still counts, and the answers with it.
        cold: responses that came before their questions were asked, and count.
    """

    progress: Progress
    given: Given
    goes_on: bool = False
    cold: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])


def resume(
    toolbox: Toolbox,
    carrier: Carrier,
    call: Call,
    raw: Mapping[str, JsonValue],
    progress: Progress | None,
    *,
    expired: bool,
) -> Resumed:
    """Where the round of a request begins.

    Args:
        toolbox: where the steps are.
        carrier: what is called.
        call: the request.
        raw: the arguments it is called with.
        progress: what the call has so far; None when it begins.
        expired: whether `progress` is genuine but too old.

    Raises:
        InvalidArguments: the arguments do not fit.
        InvalidState: `progress` came too late or no longer fits, and a function of the author has run.
    """
    if progress is None:
        return _begun(carrier, raw, Progress(), call.responses)
    given = None if expired else going_on(toolbox, carrier, raw, progress)
    if given is not None:
        return Resumed(progress, given, goes_on=True)
    trouble = "expired" if expired else "no_longer_fits"
    if progress.ran:
        raise InvalidState(trouble, public=trouble)
    return _begun(carrier, raw, _anew(progress), {})


def going_on(toolbox: Toolbox, carrier: Carrier, raw: Mapping[str, JsonValue], progress: Progress) -> Given | None:
    """The arguments, when progress that another build may have made can go on in this one, which it then goes by; else
    None."""
    given = _fitting(toolbox, carrier, raw, progress)
    if given is not None:
        progress.step = cast("Step", toolbox.step_named(progress.step)).name if progress.step else ""
        progress.defaults = carrier.arguments.defaults(given)
    return given


def carried_values(carrier: Carrier, step: Step, progress: Progress, given: Given) -> dict[str, object]:
    """The values of a step's parameters before its inputs.

    Raises:
        ValueError: one is missing, or does not fit its annotation.
    """
    if step is carrier.step:
        return dict(given.values)
    values: dict[str, object] = {}
    for name, taken in step.carried.items():
        if name in progress.carried:
            values[name] = taken.load(progress.carried[name])
        elif name in progress.same:
            values[name] = taken.load(carrier.arguments.dump(given, name))
        elif name not in step.inputs:
            if taken.parameter.required:
                raise ValueError(f"nothing was handed on for {name}")
            values[name] = taken.parameter.default()
    return values


def _begun(
    carrier: Carrier, raw: Mapping[str, JsonValue], progress: Progress, given_answers: Mapping[str, JsonValue]
) -> Resumed:
    given = carrier.arguments.read(raw, {})
    progress.version = carrier.version
    progress.defaults = carrier.arguments.defaults(given)
    progress.given = given.digest
    if not carrier.cold_answers:
        return Resumed(progress, given)
    cold = {
        name: given_answers[name]
        for name, item in carrier.step.inputs.items()
        if name in given_answers and item.draft is not None and item.draft.kind == "form" and "." not in name
    }
    return Resumed(progress, given, cold=cold)


def _fitting(toolbox: Toolbox, carrier: Carrier, raw: Mapping[str, JsonValue], progress: Progress) -> Given | None:
    try:
        given = carrier.arguments.read(raw, progress.defaults)
        step = toolbox.step_named(progress.step) if progress.step else carrier.step
        follows = step is not None and (not progress.step or step.may_follow)
        if follows and progress.version == carrier.version and given.digest == progress.given:
            if progress.step:
                carried_values(carrier, cast("Step", step), progress, given)
            return given
    except (ToolError, ValueError):
        pass
    return None


def _anew(progress: Progress) -> Progress:
    """A call that begins anew: its id stays, no key that was sent before is sent again, and no round is counted
    twice."""
    fresh = Progress(progress.call, rounds=progress.rounds, used=dict(progress.used))
    for question in progress.open.values():
        fresh.used[question.path] = fresh.used.get(question.path, 0) + 1
    return fresh
