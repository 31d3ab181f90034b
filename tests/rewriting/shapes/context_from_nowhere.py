# expect: where ported
# expect: who ported
# check: MRTR001
# play: {"tool": "where", "arguments": {"place": "Oslo"}, "answers": {"ask": true}, "says": "Oslo: accept"}
# play: {"tool": "who", "arguments": {}, "answers": {"ask": "Ann"}, "says": "Ann"}
"""The context is no parameter: it is looked up, by the tool itself or by what it calls."""

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_context, get_http_headers

mcp = FastMCP("nowhere")


async def confirm(text: str) -> str:
    """Ask."""
    ctx = get_context()
    answer = await ctx.elicit(text, response_type=bool)
    return answer.action


@mcp.tool
async def where(place: str = "home") -> str:
    """Where to?"""
    return f"{place}: {await confirm(place)}"


@mcp.tool()
async def who() -> str:
    """Who?"""
    ctx = get_context()
    answer = await ctx.elicit("Who?", response_type=str)
    return answer.data if answer.action == "accept" else "nobody"


@mcp.tool
def headers() -> list[str]:
    """Which headers?"""
    return sorted(get_http_headers())
