"""What a claimed step or round left, as JSON, and what comes of it when the same is asked for again."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

from pydantic import JsonValue

from mrtr_tools.calls import Complete
from mrtr_tools.carriers import Carrier
from mrtr_tools.errors import InvalidState
from mrtr_tools.events import Event, Finished, HandBack, NeedInput, StartTask
from mrtr_tools.once import Once
from mrtr_tools.progress import Progress
from mrtr_tools.values import NotCarriable

__all__ = ["Outcome", "outcome_of", "restored"]

Outcome = dict[str, JsonValue]
"""``{"done": value}``; ``{"error": text}``; ``{"progress": ...}`` after a `then`, or of a round that was cut short; and
after a round that asks or hands back ``{"progress": ..., "asked": {...}}``, with the questions by wire key; after one
that goes on as a task ``{"progress": ..., "task": true}``."""

NOT_KEPT: Final = "This was done before, and what came of it cannot be told again."


def outcome_of(event: Event | None, progress: Progress, carrier: Carrier, once: Once) -> tuple[Outcome, Event | None]:
    """What was left.

    Args:
        event: the end of the round, or None after a `then`.
        progress: what the call has now.
        carrier: what was called.
        once: of the step that was claimed, or of the tool when the round was.

    Returns:
        The outcome, and the event as a repeat will have it. A result that would not come back from JSON as it is stays
        with the first, which has its `cause`; a repeat is told that there is no more.
    """
    match event:
        case Finished(reply=Complete(is_error=False, value=value)):
            try:
                kept = once.result.dump(value)
                return {"done": kept}, _done(kept, carrier, once)
            except Exception as error:  # noqa: BLE001  the author's types run the author's code
                why = error if isinstance(error, NotCarriable) else type(error).__name__
                told = TypeError(f"{once.name}: single_use=True keeps what is returned for a repeat, but {why}")
                return {"error": NOT_KEPT}, replace(event, cause=told)
        case Finished(reply=reply):
            return {"error": str(reply.value)}, event
        case NeedInput(requests=requests):
            asked: JsonValue = {key: dict(sent) for key, sent in requests.items()}
            return {"progress": progress.to_json(), "asked": asked}, event
        case HandBack():
            return {"progress": progress.to_json(), "asked": {}}, event
        case StartTask():
            return {"progress": progress.to_json(), "task": True}, event
        case _:
            return {"progress": progress.to_json()}, event


def restored(outcome: Outcome, carrier: Carrier, once: Once) -> tuple[Event | None, Progress | None]:
    """The event and the progress that an outcome stands for; None for one that does not change.

    Raises:
        InvalidState: another build left it, whose progress this one cannot read.
    """
    if "done" in outcome:
        try:
            return _done(outcome["done"], carrier, once), None
        except Exception as error:  # noqa: BLE001  another build left it, and it no longer fits the author's types
            return Finished(Complete(NOT_KEPT, is_error=True), error), None
    if "error" in outcome:
        return Finished(Complete(str(outcome["error"]), is_error=True)), None
    try:
        progress = Progress.from_json(cast("dict[str, JsonValue]", outcome["progress"]))
    except ValueError:
        raise InvalidState("no_longer_fits", public="no_longer_fits") from None
    if "task" in outcome:
        return StartTask(), progress
    requests = cast("dict[str, dict[str, JsonValue]] | None", outcome.get("asked"))
    if requests is None:
        return None, progress
    return NeedInput(requests) if requests else HandBack(), progress


def _done(kept: JsonValue, carrier: Carrier, once: Once) -> Finished:
    return Finished(carrier.complete(once.result.load(kept)))
