# expect: handle refused
# check: MRTR210
"""A low-level server whose one handler serves all tools."""

import mcp.types as types
from mcp.server.lowlevel import Server

app = Server("low")


@app.call_tool()
async def handle(name: str, arguments: dict) -> list[types.TextContent]:
    ctx = app.request_context
    result = await ctx.session.elicit(
        message=f"Run {name}?",
        requestedSchema={"type": "object", "properties": {"ok": {"type": "boolean"}}},
        related_request_id=ctx.request_id,
    )
    return [types.TextContent(type="text", text=result.action)]
