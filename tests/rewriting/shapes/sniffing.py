# expect: risky ported
# check: MRTR211
# play: {"tool": "risky", "arguments": {"name": "x"}, "answers": {"ask": {"ok": true}}, "says": "accept"}
"""Goes by the words of an error, and by the declared capabilities."""

from mcp.server.fastmcp import Context, FastMCP
from mcp.shared.exceptions import McpError
from mcp.types import ClientCapabilities, ElicitationCapability
from pydantic import BaseModel

mcp = FastMCP("sniff")


class Ok(BaseModel):
    ok: bool


def can_ask(ctx: Context) -> bool:
    return ctx.session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability()))


@mcp.tool()
async def risky(name: str, ctx: Context) -> str:
    """Risky."""
    if not can_ask(ctx):
        return "cannot ask"
    try:
        result = await ctx.elicit(f"Do {name}?", Ok)
    except McpError as error:
        if "not supported" in str(error).lower():
            return "unsupported"
        raise
    return result.action


if __name__ == "__main__":
    mcp.run()
