"""A middleware that asks, outside of any tool."""

from typing import Any

from fastmcp.server.middleware import Middleware


class Approval(Middleware):
    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        answer = await context.fastmcp_context.elicit("Go on?", response_type=bool)
        return await call_next(context) if answer.action == "accept" else None
