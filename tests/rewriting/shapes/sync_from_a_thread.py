# expect: click refused MRTR208
# check: MRTR208
"""A sync tool whose confirmer crosses back into the event loop."""

import anyio
from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

mcp = FastMCP("desktop")


class Empty(BaseModel):
    pass


async def _elicit_confirmation(ctx: Context, prompt: str) -> bool:
    result = await ctx.elicit(message=prompt, schema=Empty)
    return getattr(result, "action", None) == "accept"


@mcp.tool()
def click(x: int, y: int, ctx: Context) -> str:
    """Click."""
    if not anyio.from_thread.run(_elicit_confirmation, ctx, f"Click at {x}, {y}?"):
        return "denied"
    return "clicked"
