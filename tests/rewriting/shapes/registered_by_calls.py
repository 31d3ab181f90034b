# expect: rename ported
# expect: drop ported
# expect: greet ported
# play: {"tool": "rename_it", "arguments": {"old": "a"}, "answers": {"ask": "b"}, "says": "a is b"}
# play: {"tool": "drop", "arguments": {}, "answers": {"ask": true}, "says": "accept"}
# play: {"tool": "greet", "arguments": {}, "answers": {"ask": "Ann"}, "says": "accept"}
"""Tools that are registered by calls."""

from fastmcp import Context, FastMCP
from mcp.types import ToolAnnotations

mcp = FastMCP("calls")


async def rename(old: str, ctx: Context) -> str:
    """Rename."""
    answer = await ctx.elicit("A new name?", response_type=str)
    return f"{old} is {answer.data}" if answer.action == "accept" else old


async def drop(ctx: Context) -> str:
    """Drop."""
    return (await ctx.elicit("Drop it?", response_type=bool)).action


async def greet(ctx: Context) -> str:
    """Greet."""
    return (await ctx.elicit("Who?", response_type=str)).action


async def plain() -> str:
    """Plain."""
    return "plain"


mcp.tool(name="rename_it", annotations=ToolAnnotations(destructiveHint=False))(rename)
mcp.tool(drop)
mcp.add_tool(greet)
mcp.tool(plain)

if __name__ == "__main__":
    mcp.run()
