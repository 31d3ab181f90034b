# expect: edit refused
"""A parameter that the server fills in."""

from fastmcp import Context, FastMCP
from fastmcp.dependencies import Depends

mcp = FastMCP("stores")


def get_store() -> dict:
    return {}


@mcp.tool
async def edit(path: str, ctx: Context, store: dict = Depends(get_store)) -> str:
    """Edit."""
    ok = await ctx.elicit(path, response_type=None)
    return ok.action
