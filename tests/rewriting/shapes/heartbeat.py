# expect: feedback refused MRTR207
# check: MRTR207
"""The question runs as a task of its own, beside a heartbeat."""

import asyncio

from fastmcp import Context, FastMCP

mcp = FastMCP("feedback")


async def _elicit_with_heartbeat(ctx: Context, message: str, response_type):
    task = asyncio.create_task(ctx.elicit(message, response_type=response_type))
    while not task.done():
        await asyncio.wait({task}, timeout=30)
        await ctx.report_progress(1, 2)
    return task.result()


@mcp.tool
async def feedback(project: str, ctx: Context) -> str:
    """Ask for feedback."""
    result = await _elicit_with_heartbeat(ctx, f"How is {project}?", str)
    return result.data if result.action == "accept" else ""
