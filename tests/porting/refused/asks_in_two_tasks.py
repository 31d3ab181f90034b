"""Asks in tasks of their own, where whoever is first asks first."""

import asyncio

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")


async def confirm(path: str, ctx: Context) -> bool:
    await asyncio.sleep(0)
    return (await ctx.elicit("Delete it?", response_type=bool)).action == "accept"


@toolbox.tool
@resumable
async def delete(ctx: Context) -> str:
    return str(await asyncio.gather(confirm("a", ctx), confirm("b", ctx)))
