# expect: hidden refused MRTR214
# expect: shown ported
# check: MRTR214
# play: {"tool": "shown", "arguments": {"name": "x"}, "answers": {"ask": true}, "says": "accept"}
"""Decorators between a tool and its server: one that hides the parameters, and one that does not."""

import functools

from fastmcp import Context, FastMCP

mcp = FastMCP("wrapped")


def with_user(fn):
    async def inner(request: dict, ctx: Context):
        return await fn(request["name"], ctx)

    return inner


def logged(fn):
    @functools.wraps(fn)
    async def inner(*args, **kwargs):
        return await fn(*args, **kwargs)

    return inner


@mcp.tool
@with_user
async def hidden(name: str, ctx: Context) -> str:
    """Hidden."""
    return (await ctx.elicit(name, response_type=bool)).action


@mcp.tool
@logged
async def shown(name: str, ctx: Context) -> str:
    """Shown."""
    return (await ctx.elicit(name, response_type=bool)).action


if __name__ == "__main__":
    mcp.run()
