"""Responses, unread and untrusted, against the questions that are open: the one place where an answer is taken."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, cast

from pydantic import JsonValue

from mrtr_tools.errors import ToolError
from mrtr_tools.forms import Misfit
from mrtr_tools.inputs import Input
from mrtr_tools.marks import Refused
from mrtr_tools.progress import Progress, Slot
from mrtr_tools.questions import Question
from mrtr_tools.steps import Step
from mrtr_tools.templates import shown

__all__ = [
    "around",
    "ask_again",
    "drop_question",
    "forget",
    "note_misfit",
    "open_key",
    "read_responses",
    "refuse",
    "settle",
    "take",
    "why",
    "withdraw",
    "withdraw_yeses",
]

MAX_MISFITS: Final = 3
MAX_REASON: Final = 500


def open_key(progress: Progress, path: str) -> str:
    """The wire key of an input: its path, and a number once a key of it was answered."""
    used = progress.used.get(path, 0)
    return f"{path}-{used + 1}" if used else path


def read_responses(progress: Progress, step: Step, responses: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Take the responses to open questions that need nothing but themselves to be told from others.

    What another build asks otherwise is forgotten, with each yes that was given beside it, perhaps in this request.

    Returns:
        The responses to questions whose text names values; the walk takes them when it has those.

    Raises:
        ToolError: something was refused that must not be, or did not fit too often.
    """
    if step.bridge is not None:  # its body says what it asked, when it comes there again
        return {key: responses[key] for key in progress.open if key in responses}
    left: dict[str, JsonValue] = {}
    otherwise: list[str] = []
    for key, opened in list(progress.open.items()):
        item = step.inputs.get(opened.path)
        if item is None:
            drop_question(progress, key)
        elif not item.is_static:
            left |= {key: responses[key]} if key in responses else {}
        elif opened.pin not in item.pins:
            otherwise.append(item.path)
        elif key in responses:
            question = item.draft.unfilled if item.draft is not None else None
            asked = question or Question.from_json(cast("dict[str, JsonValue]", opened.asked))
            take(progress, item, asked, item.pin, responses[key])
    for path in otherwise:
        forget(progress, step, path, path.rpartition(".")[0])
    return left


def drop_question(progress: Progress, key: str) -> None:
    """Withdraw a question: an answer to it, that may be on its way, must not count for what is asked instead.

    Nor do those that did not fit it.
    """
    path = progress.open.pop(key).path
    progress.used[path] = progress.used.get(path, 0) + 1
    if progress.misfits.pop(path, 0):
        progress.why.pop(path, None)


def withdraw(progress: Progress, still: Collection[str] = ()) -> None:
    """Withdraw the questions that are out, but for these keys."""
    for key in [key for key in progress.open if key not in still]:
        drop_question(progress, key)


def take(progress: Progress, item: Input, question: Question, pin: str, response: JsonValue) -> None:
    """Take a response to a question, or note why it is no answer.

    Raises:
        ToolError: something was refused that must not be, or did not fit too often.
    """
    try:
        value = item.read(response, question)
    except Misfit as error:
        note_misfit(progress, item.path, str(error))
        return
    progress.misfits.pop(item.path, None)
    progress.open.pop(open_key(progress, item.path), None)
    progress.used[item.path] = progress.used.get(item.path, 0) + 1
    if isinstance(value, Refused):
        refuse(progress, item, pin, value.action)
    else:
        settle(progress, item, pin, value, is_yes=question.kind in ("confirm", "url"))


def settle(progress: Progress, item: Input, pin: str, value: JsonValue, *, is_yes: bool = False) -> None:
    """Keep an answer."""
    progress.slots[item.path] = Slot(pin, value, is_yes=is_yes)
    progress.why.pop(item.path, None)


def refuse(progress: Progress, item: Input, pin: str, action: Literal["decline", "cancel", "unsupported"]) -> None:
    """Keep a refusal.

    Raises:
        ToolError: the parameter does not admit one.
    """
    if not item.admits_refused:
        told = {"decline": "was declined", "cancel": "was cancelled", "unsupported": "cannot be shown by this client"}
        raise ToolError(f"The question {item.path!r} {told[action]}.")
    progress.slots[item.path] = Slot(pin, None, action)
    progress.why.pop(item.path, None)


def ask_again(progress: Progress, step: Step, name: str, reason: str, *, inside: str, skipped: set[str]) -> bool:
    """Ask for a settled input again.

    Args:
        progress: holds the answers.
        step: the current step.
        name: the input, as whoever asks again knows it.
        reason: why, for the person who is asked.
        inside: as for `forget`.
        skipped: paths of inputs that were not asked for.

    Returns:
        False, and nothing done, where there is no such input.
    """
    path = _settled_path(progress, step, name, inside)
    if path is None or skipped & around(path):
        return False
    forget(progress, step, path, inside)
    progress.why[path] = _shown(reason)
    return True


def why(progress: Progress, path: str) -> str | None:
    """Why an input is asked again, or the one whose function needs it."""
    if not progress.why:
        return None
    while path and path not in progress.why:
        path = path.rpartition(".")[0]
    return progress.why.get(path)


def forget(progress: Progress, step: Step, path: str, inside: str) -> None:
    """Unsettle an input of the current step, and whatever was asked, made or said yes to because of it.

    Args:
        progress: holds the answers.
        step: the current step.
        path: the input.
        inside: the path of the function on whose behalf; empty for the step. What is beside that function is not
            its business.
    """
    owner, prefix = step, ""
    *outer, last = path.split(".")
    for name in outer:
        _forget(progress, owner, prefix + name, inner=False, beside=prefix + name not in around(inside))
        prefix += f"{name}."
        owner = cast("Step", step.inputs[prefix[:-1]].maker)
    _forget(progress, owner, prefix + last, inner=True, beside=True)


def withdraw_yeses(progress: Progress, inputs: Iterable[Input], *, inner: bool) -> None:
    """Unsettle each yes that was given to inputs of a group, and to their functions where `inner`."""
    for item in inputs:
        reached = [path for path in progress.slots if path == item.path or (inner and item.path in around(path))]
        for path in [path for path in reached if progress.slots[path].is_yes]:
            for each in around(path):
                progress.slots.pop(each, None)


def around(path: str) -> set[str]:
    """A path and those around it: ``a.b.c`` is in ``a.b`` and in ``a``."""
    return {path, *(path[:end] for end, letter in enumerate(path) if letter == ".")}


def _settled_path(progress: Progress, step: Step, name: str, inside: str) -> str | None:
    """The settled input that a name means: one of the function at `inside`, or of those around it; else None."""
    path = f"{inside}.{name}" if inside else name
    if path in step.inputs:
        settled = {*progress.slots, *progress.carried, *progress.same}
        return path if around(path) & settled else None
    return _settled_path(progress, step, name, inside.rpartition(".")[0]) if inside else None


def _forget(progress: Progress, owner: Step, path: str, *, inner: bool, beside: bool) -> None:
    """Unsettle one input of `owner`, with what its function asked where `inner`, and the inputs that follow from it.

    A yes was given to what was answered with it: where `beside`, it is withdrawn as well.
    """
    changed: set[str] = set()
    handed = {*progress.carried, *progress.same} - {path}
    for group in owner.groups:
        before = len(changed)
        for item in group.inputs:
            if item.path not in handed and (item.path == path or changed & item.uses):
                changed.add(item.name)
                _drop(progress, item.path, inner=inner or item.path != path)
        if beside and len(changed) > before:
            withdraw_yeses(progress, group.inputs, inner=False)
    progress.carried.pop(path, None)
    progress.same = [name for name in progress.same if name != path]


def _drop(progress: Progress, path: str, *, inner: bool) -> None:
    for known in [known for known in progress.slots if known == path or (inner and known.startswith(f"{path}."))]:
        del progress.slots[known]
    for key in [key for key, question in progress.open.items() if question.path == path]:
        drop_question(progress, key)


def _shown(reason: str) -> str:
    return shown(reason, MAX_REASON)


def note_misfit(progress: Progress, path: str, reason: str) -> None:
    """Note that an answer did not fit, and why, for the person who is asked again.

    Raises:
        ToolError: that happened too often.
    """
    misfits = progress.misfits.get(path, 0) + 1
    if misfits > MAX_MISFITS:
        raise ToolError(f"No usable answer for {path!r} after {misfits} tries. {_shown(reason)}")
    if progress.is_task:  # whose keys are answered once, even with what is no answer
        asked = progress.open.pop(open_key(progress, path))
        progress.used[path] = progress.used.get(path, 0) + 1
        progress.open[open_key(progress, path)] = asked
    progress.misfits[path] = misfits
    progress.why[path] = _shown(reason)
