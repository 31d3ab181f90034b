"""A loop of rounds that is hidden in one call."""

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")


def search(text: str) -> str:
    return text


@toolbox.tool
@resumable
async def research(ctx: Context) -> str:
    return (await ctx.sample("What is new?", tools=[search])).text
