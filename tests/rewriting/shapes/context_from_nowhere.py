# expect: where refused
# check: MRTR001
"""The context is no parameter."""

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_context

mcp = FastMCP("nowhere")


@mcp.tool
async def where(place: str) -> str:
    """Where to?"""
    ctx = get_context()
    answer = await ctx.elicit(f"{place}?", response_type=bool)
    return answer.action
