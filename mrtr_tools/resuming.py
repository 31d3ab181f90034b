"""What a request goes on with: what the call has so far, or a new beginning.

When what the call has came too late, or no longer fits this build, the call begins anew, as if neither that nor answers
had come, provided that no function of the author has run in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from pydantic import JsonValue

from mrtr_tools.arguments import Given
from mrtr_tools.calls import Call
from mrtr_tools.carriers import Carrier
from mrtr_tools.errors import InvalidState
from mrtr_tools.progress import Progress
from mrtr_tools.records import mutable
from mrtr_tools.steps import Step
from mrtr_tools.tools import Toolbox
from mrtr_tools.upgrades import Unfit, begun_anew, given_again

__all__ = ["Resumed", "going_on", "resume"]

LATE: Final = "the state is older than its time to live, or the call than its greatest age"


@mutable(eq=False)
class Resumed:
    """Where a round begins.

    Attributes:
        progress: what the call has.
        given: the arguments of the call.
        cold: responses that came before their questions were asked, and count.
        goes_on: whether the progress that came still counts, and the answers with it.
        anew: why the call begins anew although it came with progress: ``expired`` or ``no_longer_fits``; else empty.
        because: what of it, for the log.
    """

    progress: Progress
    given: Given
    cold: dict[str, JsonValue]
    goes_on: bool = False
    anew: str = ""
    because: str = ""


def resume(
    toolbox: Toolbox,
    carrier: Carrier,
    call: Call,
    raw: Mapping[str, JsonValue],
    progress: Progress,
    *,
    begins: bool,
    expired: bool,
) -> Resumed:
    """Where the round of a request begins.

    Args:
        toolbox: where the steps are.
        carrier: what is called.
        call: the request.
        raw: the arguments it is called with.
        progress: what the call has so far.
        begins: whether that is nothing, because the call begins.
        expired: whether `progress` is genuine but too old.

    Raises:
        InvalidArguments: the arguments do not fit.
        InvalidState: `progress` came too late or no longer fits, and a function of the author has run.
    """
    if begins:
        return _begun(carrier, raw, progress, call.responses)
    anew, because = "expired", LATE
    if not expired:
        try:
            return Resumed(progress, going_on(toolbox, carrier, raw, progress), {}, goes_on=True)
        except Unfit as unfit:
            anew, because = "no_longer_fits", str(unfit)
    if progress.ran:
        raise InvalidState(anew, public=anew, because=because)
    begun = _begun(carrier, raw, begun_anew(progress), {})
    begun.anew, begun.because = anew, because
    return begun


def going_on(toolbox: Toolbox, carrier: Carrier, raw: Mapping[str, JsonValue], progress: Progress) -> Given:
    """The arguments of a call that goes on from progress that another build may have made, which now goes by this one.

    Raises:
        Unfit: it cannot go on here.
    """
    given = given_again(toolbox, carrier, raw, progress)
    if progress.step:
        name = cast("Step", toolbox.steps.named(progress.step)).name
        if name != progress.step:  # what it does for this call keeps the key that it has
            progress.formerly = progress.formerly or progress.step
            progress.step = name
    progress.defaults |= carrier.arguments.defaults(given)
    return given


def _begun(
    carrier: Carrier, raw: Mapping[str, JsonValue], progress: Progress, answers: Mapping[str, JsonValue]
) -> Resumed:
    given = carrier.arguments.read(raw, {})
    progress.version = carrier.version
    progress.defaults = carrier.arguments.defaults(given)
    progress.given = given.digest
    if not carrier.cold_answers:
        return Resumed(progress, given, {})
    cold = {
        name: answers[name]
        for name, item in carrier.step.inputs.items()
        if name in answers and item.draft is not None and item.draft.kind == "form" and "." not in name
    }
    return Resumed(progress, given, cold)
