"""A toolbox with a bit of everything, to compare servers by."""

import math
from typing import Any

from mrtr_tools import Context, Toolbox, needs_input
from tests.server import kinds

toolbox = Toolbox("everything", title="Everything", version="3.1", instructions="Ask.")
for prompt in (kinds.poem, kinds.picture, kinds.broken):
    toolbox.prompt(prompt)
toolbox.resource("memo://{name}")(kinds.memo)
toolbox.resource("memo:all", mime_type="text/markdown")(kinds.memos)


@toolbox.tool
@needs_input(who="Who are you?")
def greet(who: str) -> str:
    return who


@toolbox.tool
async def echo(value: Any = None) -> Any:
    return value


@toolbox.tool
async def fail() -> str:
    raise RuntimeError("postgres://secret")


@toolbox.tool
def shout() -> str:
    print("loud")
    return "shouted"


@toolbox.tool
async def report(ctx: Context) -> str:
    for reached in (0, 1, 1, 0.5, math.nan, math.inf, 2):
        await ctx.report_progress(reached, math.inf if reached else 2, "half \ud800" if reached == 1 else None)
    await ctx.log("debug", 1)
    await ctx.log("info", {"a": [None, "\ud800"]})
    await ctx.log("error", "down", "worker")
    await ctx.log("loud", "no level")  # type: ignore[arg-type]
    return "reported"
