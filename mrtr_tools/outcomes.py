"""What a claimed step or round left, as JSON, and what comes of it when the same is asked for again."""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from mrtr_tools.calls import Complete
from mrtr_tools.carriers import Carrier
from mrtr_tools.events import Event, Finished, HandBack, NeedInput
from mrtr_tools.once import Once
from mrtr_tools.progress import Progress

__all__ = ["Outcome", "outcome_of", "restored"]

Outcome = dict[str, JsonValue]
"""``{"done": value}``, ``{"error": text}``, ``{"progress": ...}`` after a `then`, and after a round that asks
``{"progress": ..., "asked": {...}}`` with the questions by wire key."""


def outcome_of(event: Event | None, progress: Progress, once: Once) -> Outcome:
    """What was left.

    Args:
        event: the end of the round, or None after a `then`.
        progress: what the call has now.
        once: of the step that was claimed, or of the tool when the round was.

    Raises:
        TypeError: what was returned does not fit its annotation, or would not come back from JSON as it is.
    """
    match event:
        case Finished(reply=Complete(is_error=False, value=value)):
            return {"done": once.result.dump(value)}
        case Finished(reply=reply):
            return {"error": str(reply.value)}
        case NeedInput(requests=requests):
            return {"progress": progress.to_json(), "asked": {key: dict(sent) for key, sent in requests.items()}}
        case HandBack():
            return {"progress": progress.to_json(), "asked": {}}
        case _:
            return {"progress": progress.to_json()}


def restored(outcome: Outcome, carrier: Carrier, once: Once) -> tuple[Event | None, Progress | None]:
    """The event and the progress that an outcome stands for; None for one that does not change.

    Raises:
        ValueError: another build left it, and it no longer fits.
    """
    if "done" in outcome:
        return Finished(carrier.complete(once.result.load(outcome["done"]))), None
    if "error" in outcome:
        return Finished(Complete(str(outcome["error"]), is_error=True)), None
    progress = Progress.from_json(cast("dict[str, JsonValue]", outcome["progress"]))
    requests = cast("dict[str, dict[str, JsonValue]] | None", outcome.get("asked"))
    if requests is None:
        return None, progress
    return NeedInput(requests) if requests else HandBack(), progress
