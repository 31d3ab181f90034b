"""Something is bought before the last ask, and so once more in each round."""

import httpx  # pyright: ignore[reportMissingImports]

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")


@toolbox.tool
@resumable
async def buy(cart: str, ctx: Context) -> str:
    async with httpx.AsyncClient() as client:
        order = (await client.post("https://shop.example.com/orders", json={"cart": cart})).json()
    answer = await ctx.elicit(f"Pay {order['total']}?", response_type=bool)
    return answer.action
