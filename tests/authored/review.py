"""A reviewer's loop: a draft is shown until it is approved; a change that is not explained is asked for again."""

from dataclasses import dataclass
from typing import Literal

from mrtr_tools import AskAgain, Toolbox, needs_input, then

toolbox = Toolbox("press")


@dataclass
class Draft:
    """A text under review."""

    number: int
    text: str


@dataclass
class Opinion:
    """What the reviewer says; all of it is one form."""

    verdict: Literal["approve", "change", "drop"]
    comment: str = ""


@toolbox.tool
def publish(headline: str) -> str:
    """Publish a text once a reviewer has approved it."""
    return then(review, draft=Draft(1, headline))


@toolbox.step
@needs_input(opinion="Draft {draft.number}: {draft.text}")
def review(draft: Draft, opinion: Opinion) -> str:
    """Do what the reviewer says."""
    match opinion.verdict:
        case "approve":
            return f"Published after {draft.number} drafts: {draft.text}"
        case "drop":
            return "Dropped"
        case "change" if not opinion.comment:
            raise AskAgain(opinion="Say in the comment what to change")
        case "change":
            return then(review, draft=Draft(draft.number + 1, f"{draft.text} ({opinion.comment})"))
