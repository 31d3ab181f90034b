# expect: ticket refused MRTR106
# check: MRTR105 MRTR106
"""An id that is new in each round, in the question."""

import uuid

from fastmcp import Context, FastMCP

mcp = FastMCP("tickets")


@mcp.tool
async def ticket(title: str, ctx: Context) -> str:
    """Open a ticket."""
    ticket_id = str(uuid.uuid4())
    ok = await ctx.elicit(f"Open {ticket_id}: {title}?", response_type=bool)
    return ticket_id if ok.action == "accept" and ok.data else "none"
