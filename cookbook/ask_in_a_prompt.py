"""A prompt that asks before it is there: whoever picks it in their client is asked what only they know.

    mrtr-tools run cookbook/ask_in_a_prompt.py --http

All that a tool can do a prompt can do: groups, `then`, `AskAgain`, `confirm`. What is asked is no argument of the
prompt, so clients do not show it beforehand. A prompt has no tool error to end with: a refusal that its parameter does
not admit becomes an error of the request, so `Refused` is admitted here and has a meaning.
"""

from typing import Literal

from pydantic import JsonValue

from mrtr_tools import Refused, Toolbox, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("writing")

Audience = Literal["users", "developers", "managers"]


@toolbox.prompt()
@needs_input(
    audience="For whom are the notes on release {version}?", highlight="What matters most in it? May be left empty."
)
def release_notes(
    version: str, audience: Audience | Refused, highlight: str | Refused | None = None
) -> list[str | dict[str, JsonValue]]:
    """Write the notes of a release."""
    wanted = f"Write release notes for version {version}, for {audience or 'everybody'}."
    if highlight:
        wanted += f" Begin with this: {highlight}"
    return [wanted, {"role": "assistant", "content": "Show me the list of changes, and I will begin."}]


if __name__ == "__main__":
    run_stdio(toolbox)
