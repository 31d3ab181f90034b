# expect: survey ported
# expect: mixed ported
# expect: in_a_group refused MRTR207
# play: {"tool": "survey", "arguments": {}, "answers": {"ask": "Ann", "ask-2": "41"}, "says": "Ann is 41"}
# play: {"tool": "mixed", "arguments": {}, "answers": {"ask": "Ann"}, "says": "Ann"}
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
    return f"{name.data} {size}"


@mcp.tool
async def in_a_group(ctx: Context) -> str:
    """A question in a task of its own."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(ctx.elicit("Name?", str))
    return task.result().action


if __name__ == "__main__":
    mcp.run()
