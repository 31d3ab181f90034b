"""Await-style tools that the bridge does not take, each a file in `refused/`.

A file is read by ``mrtr-tools check``, which refuses it before it runs. What a call of it comes to all the same is
`Refusal.said`: the bridge is loud where it can see, and where it cannot there is nothing but the check.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["FOLDER", "REFUSALS", "Refusal"]

FOLDER = Path(__file__).with_name("refused")


@dataclass(frozen=True)
class Refusal:
    """A tool that is refused.

    Attributes:
        file: where it is, without ``.py``.
        traps: which of `await_style.TRAPS` it shows.
        line: a text in the line that the check names.
        reason: a word of the reason that the check gives.
        said: what the bridge says when the tool is defined or called; None where it cannot know.
        tool: what is called, with which arguments and answers.
    """

    file: str
    traps: tuple[int, ...]
    line: str
    reason: str
    said: str | None
    tool: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    answers: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def path(self) -> Path:
        """The file."""
        return FOLDER / f"{self.file}.py"


REFUSALS = [
    Refusal("asks_in_a_thread", (15,), "from_thread", "async", "write: async def"),
    Refusal(
        "asks_with_the_time", (8,), "ctx.elicit", "time", "'ask' has moved", "delete", {"path": "a"}, {"ask": True}
    ),
    Refusal("opens_a_random_url", (8,), "elicit_url", "uuid", "'ask' has moved", "sign_in", answers={"ask": True}),
    Refusal(
        "asks_for_live_data", (9,), "free_seats()", "live", "'ask' has moved", "choose_seat", answers={"ask": None}
    ),
    Refusal("asks_in_two_tasks", (6,), "gather", "gather", "await ctx.gather(...)", "delete"),
    Refusal(
        "remembers_in_a_global",
        (13,),
        "session",
        "global",
        "'ask' has moved",
        "order",
        answers={"ask": "Ada", "ask-2": "tea"},
    ),
    Refusal("acts_before_it_asks", (12,), "client.post", "once", None),
    Refusal("asks_for_a_password", (10,), "ctx.elicit", "secret", "must not ask for a secret", "log_in"),
    Refusal("asks_a_model_with_tools", (14,), "ctx.sample", "tools", "'tools'", "research"),
    Refusal("asks_from_a_middleware", (15,), "elicit", "outside", None),
]
