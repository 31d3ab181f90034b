# expect: rename ported
"""The context of version 1, from the server."""

from mcp.server.fastmcp import FastMCP
from pydantic import BaseModel

mcp = FastMCP("server-context")


class NewName(BaseModel):
    name: str


@mcp.tool()
async def rename(old: str) -> str:
    """Rename."""
    ctx = mcp.get_context()
    result = await ctx.elicit(message=f"A new name for {old}?", schema=NewName)
    return result.data.name if result.action == "accept" else old


if __name__ == "__main__":
    mcp.run()
