# expect: ask_soon ported
# check: MRTR206
# play: {"tool": "ask_soon", "arguments": {}, "answers": {"ask": "Ann"}, "says": "Ann"}
"""A time limit around a question."""

import asyncio

from fastmcp import Context, FastMCP

mcp = FastMCP("limits")


@mcp.tool
async def ask_soon(ctx: Context) -> str:
    """Half a minute."""
    try:
        answer = await asyncio.wait_for(ctx.elicit("Name?", response_type=str), timeout=30)
    except asyncio.TimeoutError:
        return "too late"
    return answer.data if answer.action == "accept" else "nobody"


if __name__ == "__main__":
    mcp.run()
