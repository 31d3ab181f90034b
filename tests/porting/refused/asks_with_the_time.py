"""The time in a question."""

from datetime import UTC, datetime

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")


@toolbox.tool
@resumable
async def delete(path: str, ctx: Context) -> str:
    answer = await ctx.elicit(f"It is {datetime.now(UTC)}. Delete {path}?", response_type=bool)
    return f"{path} {answer.action}"
