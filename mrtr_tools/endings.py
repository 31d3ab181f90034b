"""How a round ends while its call goes on: with questions, or handed back without one; and how often it may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from mrtr_tools import responses
from mrtr_tools.calls import Call
from mrtr_tools.carriers import Carrier
from mrtr_tools.errors import ToolError
from mrtr_tools.events import HandBack, NeedInput
from mrtr_tools.progress import Open, Progress
from mrtr_tools.questions import Asked, Question
from mrtr_tools.walk import Ask

__all__ = ["TOLD_ANEW", "ask", "count_round", "hand_back", "may_hand_back", "told_above"]

TOLD_ANEW: Final[Mapping[str, str]] = {
    "": "",
    "expired": "This was open for too long; please answer again.",
    "no_longer_fits": "This has changed in the meantime; please answer again.",
}
"""What a person reads above a question of a call that begins anew, by `Round.anew`."""

MAX_MOVES: Final = 3
MAX_MOVES_IN_A_ROW: Final = 2


def ask(
    progress: Progress, carrier: Carrier, call: Call, step: str, asks: Sequence[Ask], *, anew: str = ""
) -> NeedInput:
    """End with questions; those that are out and not among them are taken back.

    Args:
        progress: what the call has.
        carrier: what is called.
        call: the request.
        step: the name of the current step.
        asks: the questions.
        anew: why the call begins anew, which its questions then tell; see `Round.anew`.

    Raises:
        ToolError: the call has asked too often.
    """
    nothing_to_keep = carrier.cold_answers and call.state is None and progress.is_bare
    count_round(progress, carrier, step)
    progress.moves_in_a_row = 0
    opened: dict[str, Open] = {}
    asked: dict[str, tuple[Question, str]] = {}
    for each in asks:
        path, question = each.item.path, cast("Question", each.question)
        key = responses.open_key(progress, path)
        opened[key] = Open(path, each.pin, None if each.item.maker is None else question.to_json())
        asked[key] = question, told_above(progress, path, question, anew)
    if progress.open:
        responses.withdraw(progress, opened)
    progress.open = opened
    return NeedInput(Asked(asked), keep=not nothing_to_keep)


def told_above(progress: Progress, path: str, question: Question, anew: str) -> str:
    """What a person reads above a question: why it is asked again, or that its call begins anew.

    Args:
        progress: what the call has.
        path: what the question belongs to.
        question: the question; a model is told nothing of a call that begins anew.
        anew: as in `ask`.
    """
    return responses.why(progress, path) or (TOLD_ANEW[anew] if question.kind != "sample" else "")


def hand_back(progress: Progress, carrier: Carrier, step: str) -> HandBack:
    """End without a question; the arguments are as in `ask`.

    Raises:
        ToolError: the call has asked too often.
    """
    count_round(progress, carrier, step)
    progress.moves += 1
    progress.moves_in_a_row += 1
    return HandBack()


def may_hand_back(progress: Progress, carrier: Carrier) -> bool:
    """Whether a driver may: at most 2 times in a row and 3 in all, and a question must still find a round."""
    is_free = not progress.is_task and progress.moves < MAX_MOVES and progress.moves_in_a_row < MAX_MOVES_IN_A_ROW
    return is_free and progress.rounds + 1 < carrier.max_rounds


def count_round(progress: Progress, carrier: Carrier, step: str) -> None:
    """Count a round that ends while its call goes on.

    Raises:
        ToolError: the call has asked too often.
    """
    if progress.rounds >= carrier.max_rounds and not progress.is_task:
        raise ToolError(f"The call asked {progress.rounds} times without an end, at {step!r}.")
    progress.rounds += 1
