# expect: hello refused
"""What version 2 of the SDK does not have."""

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

mcp = FastMCP("private")
mcp.settings.port = 9000


class Name(BaseModel):
    name: str


@mcp.tool()
async def hello(ctx: Context) -> str:
    """Hello."""
    result = await ctx.elicit(message="Who?", schema=Name)
    return result.action


@mcp._mcp_server.subscribe_resource()
async def subscribed(uri: str) -> None:
    pass
