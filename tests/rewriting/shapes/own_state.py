# expect: remember refused MRTR218
# check: MRTR001
"""The session's memory of FastMCP."""

from fastmcp import Context, FastMCP

mcp = FastMCP("memory")


@mcp.tool
async def remember(ctx: Context) -> str:
    """Once asked, never again."""
    name = await ctx.get_state("name")
    if name is None:
        answer = await ctx.elicit("Name?", response_type=str)
        name = answer.data
        await ctx.set_state("name", name)
    return name
