# expect: survey ported
# expect: mixed refused MRTR207
"""gather of nothing but questions, and gather with other work."""

import asyncio

from fastmcp import Context, FastMCP

mcp = FastMCP("survey")


async def load(name: str) -> int:
    return len(name)


@mcp.tool
async def survey(ctx: Context) -> str:
    """Two at a time."""
    name, age = await asyncio.gather(ctx.elicit("Name?", str), ctx.elicit("Age?", response_type=int))
    if name.action != "accept" or age.action != "accept":
        return "no"
    return f"{name.data} is {age.data}"


@mcp.tool
async def mixed(ctx: Context) -> str:
    """A question beside work."""
    name, size = await asyncio.gather(ctx.elicit("Name?", str), load("x"))
    return f"{name} {size}"


if __name__ == "__main__":
    mcp.run()
