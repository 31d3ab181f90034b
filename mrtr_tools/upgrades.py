"""What a state that another build made is to this one: whether its call can go on here, and how one begins anew."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from mrtr_tools.arguments import Given
from mrtr_tools.carriers import Carrier
from mrtr_tools.errors import ToolError
from mrtr_tools.progress import Progress
from mrtr_tools.signatures import Carried
from mrtr_tools.steps import Step
from mrtr_tools.tools import Toolbox

__all__ = ["Unfit", "begun_anew", "given_again", "values_before_inputs"]


class Unfit(Exception):
    """A call cannot go on in this build; the text is for the log, and has names of the author's but no values."""


def given_again(toolbox: Toolbox, carrier: Carrier, raw: Mapping[str, JsonValue], progress: Progress) -> Given:
    """The arguments of a call that goes on, as this build reads them.

    Args:
        toolbox: where the step is.
        carrier: what is called.
        raw: the arguments as they were sent.
        progress: what the call has so far, perhaps from another build.

    Raises:
        Unfit: the call cannot go on here.
    """
    if progress.version != carrier.version:
        raise Unfit(f"it began with version={progress.version}, and this is version={carrier.version}")
    try:
        given = carrier.arguments.read(raw, progress.defaults)
    except (ToolError, ValueError):
        raise Unfit("its arguments no longer fit") from None
    if given.digest != progress.given:
        raise Unfit("its arguments are read as other values than before")
    if progress.step:
        step = toolbox.steps.named(progress.step)
        if step is None or not step.may_follow:
            raise Unfit(f"there is no step {progress.step!r}; a step that was renamed needs it in aliases=")
        values_before_inputs(carrier, step, given, progress)
    return given


def values_before_inputs(carrier: Carrier, step: Step, given: Given, progress: Progress) -> dict[str, object]:
    """The values of a step's parameters before its inputs: arguments of the call, or what was handed on.

    Raises:
        Unfit: something that it takes was not handed on, or does not fit it.
    """
    if step is carrier.step:
        return dict(given.values)
    values: dict[str, object] = {}
    for name, taken in step.carried.items():
        try:
            if name in progress.carried:
                values[name] = taken.load(progress.carried[name])
            elif name in progress.same:
                values[name] = taken.load(carrier.arguments.dump(given, name))
            elif name not in step.inputs:
                values[name] = _default(step, taken)
        except ValueError:  # its text may quote the value
            raise Unfit(f"what was handed on to {step.name!r} as {name!r} no longer fits") from None
    return values


def _default(step: Step, taken: Carried) -> object:
    if taken.parameter.required:
        name = taken.parameter.name
        raise Unfit(f"nothing was handed on to {step.name!r} as {name!r}; a new parameter needs a default")
    return taken.parameter.default()


def begun_anew(progress: Progress) -> Progress:
    """A call that begins anew: its id stays, no key that was sent before is sent again, and no round is counted
    twice."""
    fresh = Progress(progress.call, rounds=progress.rounds, used=dict(progress.used))
    for question in progress.open.values():
        fresh.used[question.path] = fresh.used.get(question.path, 0) + 1
    return fresh
