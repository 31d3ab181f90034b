"""A survey: one question for each entry of a list that is known only when the call runs.

A loop is a step that hands on to itself. What is left to ask and what was answered are ordinary parameters.
"""

from typing import Annotated

from pydantic import Field

from mrtr_tools import Toolbox, needs_input, then

toolbox = Toolbox("surveys")

catalogue: dict[str, list[str]] = {
    "lunch": ["How was the soup?", "How was the {main} course?", "How was the coffee?"],
    "none": [],
}


@toolbox.tool(max_rounds=70)
def survey(topic: str) -> dict[str, int]:
    """Ask everything there is to ask about a topic, and give back the ratings."""
    return ask_next(catalogue[topic], {})


def ask_next(left: list[str], ratings: dict[str, int]) -> dict[str, int]:
    """Go on with the next question, or end."""
    return then(rate, question=left[0], later=left[1:], ratings=ratings) if left else ratings


@toolbox.step
@needs_input(rating="{question}")
def rate(
    question: str, later: list[str], ratings: dict[str, int], rating: Annotated[int, Field(ge=1, le=5)]
) -> dict[str, int]:
    """Take one rating."""
    return ask_next(later, ratings | {question: rating})
