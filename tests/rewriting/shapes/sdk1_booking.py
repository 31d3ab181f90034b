# expect: book_table ported
# play: {"tool": "book_table", "arguments": {"date": "2024-12-25", "time": "19:00", "party_size": 2}, "answers": {"ask": {"checkAlternative": true, "alternativeDate": "2024-12-27"}}, "says": "[SUCCESS] Booked for 2024-12-27"}
# play: {"tool": "book_table", "arguments": {"date": "2024-12-24", "time": "19:00", "party_size": 2}, "answers": {}, "says": "[SUCCESS] Booked for 2024-12-24 at 19:00"}
"""A restaurant of version 1 of the SDK: one question with a pydantic form, under a condition."""

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.session import ServerSession
from pydantic import BaseModel, Field

mcp = FastMCP(name="Booking")


class BookingPreferences(BaseModel):
    """What else would do."""

    checkAlternative: bool = Field(description="Would you like to check another date?")
    alternativeDate: str = Field(default="2024-12-26", description="Alternative date (YYYY-MM-DD)")


@mcp.tool()
async def book_table(date: str, time: str, party_size: int, ctx: Context[ServerSession, None]) -> str:
    """Book a table with a date check."""
    if date == "2024-12-25":
        result = await ctx.elicit(
            message=f"No tables for {party_size} on {date}. Would you like to try another date?",
            schema=BookingPreferences,
        )
        if result.action == "accept" and result.data:
            if result.data.checkAlternative:
                return f"[SUCCESS] Booked for {result.data.alternativeDate}"
            return "[CANCELLED] No booking made"
        return "[CANCELLED] Booking cancelled"
    return f"[SUCCESS] Booked for {date} at {time}"


if __name__ == "__main__":
    mcp.run(transport="streamable-http")
