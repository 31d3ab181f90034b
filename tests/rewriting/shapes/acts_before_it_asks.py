# expect: checkout refused MRTR101
# check: MRTR101
"""A payment is opened before the person has said yes."""

import httpx
from fastmcp import Context, FastMCP

mcp = FastMCP("till")


@mcp.tool
async def checkout(cart: str, ctx: Context) -> str:
    """Pay for a cart."""
    async with httpx.AsyncClient() as client:
        opened = await client.post("http://127.0.0.1:9/checkouts", json={"cart": cart})
    sure = await ctx.elicit(f"Pay {opened.json()['total']}?", response_type=bool)
    return "paid" if sure.action == "accept" and sure.data else "left open"
