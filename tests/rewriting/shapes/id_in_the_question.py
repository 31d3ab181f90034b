# expect: ticket ported
# expect: page ported
# expect: inline refused MRTR106
# expect: derived refused MRTR106
# play: {"tool": "ticket", "arguments": {"title": "a"}, "answers": {"ask": true}, "says": "-"}
# play: {"tool": "page", "arguments": {}, "answers": {"ask": true}, "says": "accept"}
# check: MRTR105 MRTR106
"""An id that is new in each round, in the question."""

import uuid
from datetime import datetime

from fastmcp import Context, FastMCP

mcp = FastMCP("tickets")


@mcp.tool
async def ticket(title: str, ctx: Context) -> str:
    """Open a ticket."""
    ticket_id = str(uuid.uuid4())
    ok = await ctx.elicit(f"Open {ticket_id}: {title}?", response_type=bool)
    return ticket_id if ok.action == "accept" and ok.data else "none"


@mcp.tool
async def page(ctx: Context) -> str:
    """Open a page."""
    now = datetime.now()
    stamp = now.isoformat()
    link_id = uuid.uuid4().hex[:8]
    result = await ctx.elicit_url(f"Since {stamp}", f"https://example.com/{link_id}", elicitation_id=link_id)
    return result.action


@mcp.tool
async def inline(ctx: Context) -> str:
    """In the text itself."""
    return (await ctx.elicit(f"Use {uuid.uuid4()}?", response_type=bool)).action


@mcp.tool
async def derived(prefix: str, ctx: Context) -> str:
    """From an argument."""
    key = f"{prefix}-{uuid.uuid4()}"
    return (await ctx.elicit(f"Use {key}?", response_type=bool)).action
