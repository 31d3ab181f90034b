# expect: tidy refused MRTR203
# check: MRTR203
"""A question in finally."""

from fastmcp import Context, FastMCP

mcp = FastMCP("tidy")


@mcp.tool
async def tidy(ctx: Context) -> str:
    """Tidy."""
    try:
        return "done"
    finally:
        await ctx.elicit("Happy?", response_type=bool)
