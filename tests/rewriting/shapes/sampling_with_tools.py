# expect: workflow refused MRTR217
# check: MRTR217
"""A model that may call functions: a loop of rounds that nobody counts."""

from fastmcp import Context, FastMCP

mcp = FastMCP("hub")


@mcp.tool
async def workflow(goal: str, ctx: Context) -> str:
    """Plan and run."""

    async def status() -> str:
        return "fine"

    result = await ctx.sample(messages=goal, system_prompt="You plan.", tools=[status], max_tokens=1024)
    return result.text or "nothing"
