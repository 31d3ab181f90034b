# expect: on_call_tool refused
# expect: wipe nothing
# check: MRTR210
"""Middleware that asks for every tool."""

from fastmcp import Context, FastMCP
from fastmcp.server.middleware import Middleware, MiddlewareContext


class ConfirmationMiddleware(Middleware):
    async def on_call_tool(self, context: MiddlewareContext, call_next):
        ctx = context.fastmcp_context
        result = await ctx.elicit(message=f"Run {context.message.name}?", response_type=bool)
        if result.action != "accept" or not result.data:
            raise PermissionError("no")
        return await call_next(context)


mcp = FastMCP("guarded", middleware=[ConfirmationMiddleware()])


@mcp.tool
def wipe() -> str:
    """Wipe."""
    return "wiped"
