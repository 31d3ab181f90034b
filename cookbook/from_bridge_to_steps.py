"""Grow an await-style tool into steps, one piece at a time.

    mrtr-tools call cookbook/from_bridge_to_steps.py send_as_steps to=Ada

Three tools that do the same. The first is a body on the bridge: it runs again in each round. In the second the part
that acts has moved into a step: the body ends with `then`, so nothing of it runs beside the effect any more, and the
step may be of single use. In the third the questions are inputs: nothing runs twice, the draft is written once without
`ctx.once`, and a type checker and `mrtr-tools call` know what will be asked. The way is open at each stage: calls that
are under way end in the build they began in, or begin anew where `version=` is raised.
"""

from pydantic import BaseModel

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.porting import Context, resumable
from mrtr_tools.server import run_stdio

toolbox = Toolbox("letters")

drafts: list[str] = []
sent: list[str] = []


class Sure(BaseModel):
    yes: bool


def write_draft(to: str, about: str) -> str:
    drafts.append(f"Dear {to}, about {about}: all is well.")
    return drafts[-1]


@toolbox.tool
@resumable
async def send_on_the_bridge(to: str, ctx: Context) -> str:
    """Send a letter."""
    about = await ctx.elicit(f"What do you write to {to} about?", response_type=str)
    if about.action != "accept":
        return "Nothing was sent."
    draft = await ctx.once(write_draft, to, about.data)
    sure = await ctx.elicit(f"Send this? {draft}", schema=Sure)
    if sure.action != "accept" or not sure.data.yes:
        return "Nothing was sent."
    sent.append(draft)
    return f"Sent to {to}."


@toolbox.tool
@resumable
async def send_half_way(to: str, ctx: Context) -> str:
    """Send a letter."""
    about = await ctx.elicit(f"What do you write to {to} about?", response_type=str)
    if about.action != "accept":
        return "Nothing was sent."
    return then(send, to=to, draft=write_draft(to, about.data))


@toolbox.tool
@needs_input(about="What do you write to {to} about?")
def send_as_steps(to: str, about: str) -> str:
    """Send a letter."""
    return then(send, to=to, draft=write_draft(to, about))


@toolbox.step
@needs_input(ok=confirm("Send this? {draft}"))
def send(to: str, draft: str) -> str:
    sent.append(draft)
    return f"Sent to {to}."


if __name__ == "__main__":
    run_stdio(toolbox)
