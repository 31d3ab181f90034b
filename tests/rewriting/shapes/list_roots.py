# expect: count_roots ported
# play: {"tool": "count_roots", "arguments": {}, "answers": {"ask": ["file:///a"]}, "says": "1"}
"""The client's roots."""

from fastmcp import Context, FastMCP

mcp = FastMCP("roots")


@mcp.tool
async def count_roots(ctx: Context) -> int:
    """How many?"""
    return len(await ctx.list_roots())


if __name__ == "__main__":
    mcp.run()
