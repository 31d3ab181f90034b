# expect: travel ported
# play: {"tool": "travel", "arguments": {"destination": "Oslo"}, "answers": {"ask": {"confirm": true, "notes": "x"}}, "says": "Booked"}
"""The session's own elicit, with a schema that is written out."""

from mcp.server.fastmcp import Context, FastMCP

mcp = FastMCP("travel")

PRICE = {"type": "object", "properties": {"confirm": {"type": "boolean"}, "notes": {"type": "string"}}}


@mcp.tool()
async def travel(destination: str, ctx: Context) -> str:
    """Book a trip."""
    elicit_result = await ctx.session.elicit(
        message=f"Please confirm the price of $1200 for {destination}",
        requestedSchema=PRICE,
        related_request_id=ctx.request_id,
    )
    if elicit_result and elicit_result.action == "accept":
        return f"Booked: {elicit_result.content}"
    return "Not booked"


if __name__ == "__main__":
    mcp.run()
