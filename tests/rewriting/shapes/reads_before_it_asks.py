# expect: cancel_order ported
# check: MRTR103
"""An awaited read that is shown in the question; its function says what it returns, so it runs once."""

from dataclasses import dataclass

import httpx
from fastmcp import Context, FastMCP

mcp = FastMCP("orders", instructions="Ask before you cancel.")


@dataclass
class Order:
    id: str
    total: float


async def load_order(order_id: str) -> Order:
    """Look it up."""
    async with httpx.AsyncClient() as client:
        response = await client.get(f"http://127.0.0.1:9/orders/{order_id}")
    return Order(**response.json())


@mcp.tool
async def cancel_order(order_id: str, ctx: Context) -> str:
    """Cancel an order."""
    order = await load_order(order_id)
    sure = await ctx.elicit(f"Cancel {order.id} for {order.total}?", bool)
    if sure.action != "accept" or not sure.data:
        return "Kept"
    return f"Cancelled {order.id}"


if __name__ == "__main__":
    mcp.run()
