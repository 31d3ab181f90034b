"""Responses, unread and untrusted, against the questions that are open: the one place where an answer is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, cast

from pydantic import JsonValue

from mrtr_tools.errors import ToolError
from mrtr_tools.forms import Misfit
from mrtr_tools.inputs import Input
from mrtr_tools.marks import Refused
from mrtr_tools.progress import Open, Progress, Slot
from mrtr_tools.questions import Draft, Question
from mrtr_tools.steps import Step
from mrtr_tools.templates import shown

__all__ = [
    "around",
    "forget",
    "open_key",
    "read_cold_answer",
    "read_responses",
    "reason",
    "refuse",
    "settle",
    "settled_path",
]

MAX_MISFITS: Final = 3
MAX_REASON: Final = 500


def open_key(progress: Progress, path: str) -> str:
    """The wire key of an input: its path, and a number once a key of it was answered."""
    used = progress.used.get(path, 0)
    return f"{path}-{used + 1}" if used else path


def read_responses(progress: Progress, inputs: Mapping[str, Input], responses: Mapping[str, JsonValue]) -> None:
    """Take the answers to open questions, and drop the questions that no longer stand.

    Raises:
        ToolError: something was refused that must not be, or did not fit too often.
    """
    for key, question in list(progress.open.items()):
        item = inputs.get(question.path)
        if item is None or question.pin not in item.pins:
            del progress.open[key]
        elif key in responses:
            _take(progress, item, question, responses[key])


def read_cold_answer(progress: Progress, item: Input, response: JsonValue) -> None:
    """Take an answer that came before its question: to a fixed form, never to a confirm.

    Raises:
        ToolError: something was refused that must not be.
    """
    if item.draft is not None and item.draft.kind == "form" and item.path not in progress.slots:
        _take(progress, item, Open(item.path, item.pin), response)


def settle(progress: Progress, item: Input, value: JsonValue) -> None:
    """Keep an answer."""
    progress.slots[item.path] = Slot(item.pin, value)
    progress.why.pop(item.path, None)


def refuse(progress: Progress, item: Input, action: Literal["decline", "cancel", "unsupported"]) -> None:
    """Keep a refusal.

    Raises:
        ToolError: the parameter does not admit one.
    """
    if not item.admits_refused:
        told = {"decline": "was declined", "cancel": "was cancelled", "unsupported": "cannot be shown by this client"}
        raise ToolError(f"The question {item.path!r} {told[action]}.")
    progress.slots[item.path] = Slot(item.pin, None, action)
    progress.why.pop(item.path, None)


def forget(progress: Progress, step: Step, path: str) -> None:
    """Unsettle an input of the current step, and whatever was asked or made because of it."""
    owner, prefix = step, ""
    *outer, last = path.split(".")
    for name in outer:
        _forget(progress, owner, prefix + name, inner=False)
        prefix += f"{name}."
        owner = cast("Step", step.inputs[prefix[:-1]].maker)
    _forget(progress, owner, prefix + last, inner=True)


def settled_path(progress: Progress, step: Step, name: str, inside: str) -> str | None:
    """The settled input that a name means: one of the function at `inside`, or of those around it; else None."""
    path = f"{inside}.{name}" if inside else name
    if path in step.inputs:
        settled = {*progress.slots, *progress.carried, *progress.same}
        return path if around(path) & settled else None
    return settled_path(progress, step, name, inside.rpartition(".")[0]) if inside else None


def around(path: str) -> set[str]:
    """A path and those around it: ``a.b.c`` is in ``a.b`` and in ``a``."""
    return {path, *(path[:end] for end, letter in enumerate(path) if letter == ".")}


def _forget(progress: Progress, owner: Step, path: str, *, inner: bool) -> None:
    """Unsettle one input of `owner`, with what its function asked where `inner`, and the inputs that follow from it."""
    changed: set[str] = set()
    handed = {*progress.carried, *progress.same} - {path}
    for item in (item for group in owner.groups for item in group.inputs):
        if item.path not in handed and (item.path == path or changed & item.uses):
            changed.add(item.name)
            _drop(progress, item.path, inner=inner or item.path != path)
    progress.carried.pop(path, None)
    progress.same = [name for name in progress.same if name != path]


def _drop(progress: Progress, path: str, *, inner: bool) -> None:
    for known in [known for known in progress.slots if known == path or (inner and known.startswith(f"{path}."))]:
        del progress.slots[known]
    for key in [key for key, question in progress.open.items() if question.path == path]:
        del progress.open[key]


def reason(text: str) -> str:
    """A reason for asking again, made fit to be shown."""
    return shown(text, MAX_REASON)


def _take(progress: Progress, item: Input, opened: Open, raw: JsonValue) -> None:
    question = Question.from_json(opened.asked) if opened.asked is not None else cast("Draft", item.draft).unfilled
    try:
        value = item.read(raw, question)
    except Misfit as error:
        _ask_again(progress, item, str(error))
        return
    progress.misfits.pop(item.path, None)
    progress.open.pop(open_key(progress, item.path), None)
    progress.used[item.path] = progress.used.get(item.path, 0) + 1
    if isinstance(value, Refused):
        refuse(progress, item, value.action)
    else:
        settle(progress, item, value)


def _ask_again(progress: Progress, item: Input, why: str) -> None:
    misfits = progress.misfits.get(item.path, 0) + 1
    if misfits > MAX_MISFITS:
        raise ToolError(f"No usable answer for {item.path!r} after {misfits} tries. {reason(why)}")
    progress.misfits[item.path] = misfits
    progress.why[item.path] = reason(why)
