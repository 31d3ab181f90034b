# expect: wipe ported
"""The server is an attribute, and the tools are made in a method."""

from fastmcp import Context, FastMCP


class Desk:
    """A server."""

    def __init__(self) -> None:
        self.mcp = FastMCP("desk")
        self._register()

    def _register(self) -> None:
        """Put the tools there."""

        @self.mcp.tool()
        async def wipe(path: str, ctx: Context) -> str:
            """Wipe."""
            answer = await ctx.elicit(f"Wipe {path}?", response_type=bool)
            return answer.action

    def run(self) -> None:
        """Start."""
        self.mcp.run()


if __name__ == "__main__":
    Desk().run()
