# expect: ask refused
"""A tool that asks nothing looks the context up too, and needs that of the server."""

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_context

mcp = FastMCP("both")


@mcp.tool
async def ask() -> str:
    """Ask."""
    ctx = get_context()
    return (await ctx.elicit("Sure?", response_type=bool)).action


@mcp.tool
async def session() -> str:
    """Which session?"""
    return get_context().session_id
