# expect: connect ported
# play: {"tool": "connect", "arguments": {"account": "ann"}, "answers": {"ask": true}, "says": "Opened"}
"""A page to open, with an id that the client gets."""

from mcp.server.fastmcp import Context, FastMCP

mcp = FastMCP("pages")


@mcp.tool()
async def connect(account: str, ctx: Context) -> str:
    """Connect an account."""
    result = await ctx.elicit_url(
        message=f"Connect {account}",
        url=f"https://example.com/connect?account={account}",
        elicitation_id=f"connect-{account}",
    )
    return "Opened" if result.action == "accept" else "Not opened"


if __name__ == "__main__":
    mcp.run()
