# expect: drop_table ported
# check: MRTR201
# play: {"tool": "drop_table", "arguments": {"name": "users"}, "answers": {"ask": {"approved": true}}, "says": "dropped"}
"""A helper asks, inside of a try whose fallback goes ahead: the trap that deletes without asking."""

import logging

from fastmcp import Context, FastMCP
from pydantic import BaseModel, Field

logger = logging.getLogger(__name__)
mcp = FastMCP("db")
TABLES = {"users", "orders"}


class Approval(BaseModel):
    approved: bool = Field(description="Go ahead?")


async def _confirm(ctx: Context, message: str) -> bool:
    try:
        result = await ctx.elicit(message=message, response_type=Approval)
    except Exception as exc:
        logger.warning("elicitation is not supported, going ahead: %s", exc)
        return True
    return result.action == "accept" and result.data.approved


@mcp.tool(annotations={"destructiveHint": True})
async def drop_table(name: str, ctx: Context) -> dict:
    """Drop a table."""
    if name not in TABLES:
        return {"status": "missing", "name": name}
    if not await _confirm(ctx, f"Drop {name}?"):
        return {"status": "cancelled", "name": name}
    TABLES.discard(name)
    return {"status": "dropped", "name": name}


if __name__ == "__main__":
    mcp.run()
