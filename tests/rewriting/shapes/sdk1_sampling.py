# expect: summarize ported
# play: {"tool": "summarize", "arguments": {"text": "a long story"}, "answers": {"ask": "short"}, "says": "short"}
"""Sampling through the session, and a plain tool that reports its progress with the SDK's own context."""

import mcp.types as types
from mcp.server.fastmcp import Context, FastMCP

mcp = FastMCP("summaries", instructions="Short ones.", port=8010, host="127.0.0.1")


@mcp.tool()
async def count_words(text: str, ctx: Context) -> int:
    """Count."""
    await ctx.info("counting")
    return len(text.split())


@mcp.tool()
async def summarize(text: str, ctx: Context) -> str:
    """Summarize a text with the client's model."""
    result = await ctx.request_context.session.create_message(
        messages=[
            types.SamplingMessage(role="user", content=types.TextContent(type="text", text=f"Summarize: {text}")),
        ],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    if result.content.type == "text":
        return result.content.text
    return str(result.content)


if __name__ == "__main__":
    mcp.run(transport="sse")
