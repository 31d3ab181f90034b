# expect: about ported
# play: {"tool": "about", "arguments": {}, "answers": {"ask": true}, "says": "Dear about-me"}
# steps: {"tool": "about", "arguments": {}, "answers": {"answer": true}, "says": "Dear about-me"}
"""The server by way of its context."""

from fastmcp import Context, FastMCP

mcp = FastMCP("about-me")


@mcp.tool
async def about(ctx: Context) -> str:
    """What is it called?"""
    answer = await ctx.elicit("Polite?", response_type=bool)
    polite = answer.action == "accept" and answer.data
    return f"{'Dear' if polite else 'Hey'} {ctx.fastmcp.name}"


if __name__ == "__main__":
    mcp.run()
