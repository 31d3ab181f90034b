"""Choices that are read anew in each round."""

import random

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")


async def free_seats() -> list[str]:
    return [f"seat {random.random()}" for _ in range(2)]


@toolbox.tool
@resumable
async def choose_seat(ctx: Context) -> str:
    seat = await ctx.elicit("Which seat?", response_type=await free_seats())
    return seat.action
