# expect: remove_project ported
"""The server is made in a function, and its tools inside of it."""

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel


class Confirmation(BaseModel):
    confirm: bool


def create_server(port: int = 8184) -> FastMCP:
    """Make a server."""
    server = FastMCP(port=port)

    @server.tool()
    async def remove_project(name: str, ctx: Context) -> str:
        """Remove a project."""
        result = await ctx.elicit(message=f"Remove {name}?", schema=Confirmation)
        if result.action == "accept" and result.data.confirm:
            return f"Removed {name}"
        if result.action == "decline":
            return "Declined"
        return "Cancelled"

    @server.tool()
    def ping() -> str:
        """Still there?"""
        return "pong"

    return server


if __name__ == "__main__":
    create_server().run(transport="stdio")
