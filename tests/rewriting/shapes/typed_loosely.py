# expect: update ported
# expect: anything refused
# play: {"tool": "update", "arguments": {"id": 3}, "answers": {"ask": "Dune"}, "says": "Dune"}
"""Defaults that do not fit their annotations, and parameters without one."""

from fastmcp import Context, FastMCP

mcp = FastMCP("loose")


@mcp.tool()
async def update(id: int, ctx: Context, title: str = None, tags: list = None) -> dict:
    """Update."""
    if title is None:
        answer = await ctx.elicit("Title?", response_type=str)
        if answer.action != "accept":
            return {"updated": False}
        title = answer.data
    return {"updated": True, "id": id, "title": title, "tags": tags}


@mcp.tool()
async def anything(ctx: Context, thing) -> str:
    """Anything."""
    return (await ctx.elicit("Sure?", response_type=bool)).action


if __name__ == "__main__":
    mcp.run()
