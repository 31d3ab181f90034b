# expect: introduce ported
# expect: pick_color ported
# expect: pick_many ported
# expect: confirm_only ported
# play: {"tool": "introduce", "arguments": {}, "answers": {"ask": {"name": "Ann", "age": 41, "mood": "bad"}}, "says": "Hello, Ann (41, bad)"}
# play: {"tool": "pick-color", "arguments": {}, "answers": {"ask": "green", "ask-2": 3}, "says": "3 x green"}
# play: {"tool": "pick_many", "arguments": {}, "answers": {"ask": "high", "ask-2": ["ui", "docs"]}, "says": "high: ui, docs"}
# play: {"tool": "confirm_only", "arguments": {"path": "/a"}, "answers": {"ask": true}, "says": "Forgot /a."}
# steps: {"tool": "pick-color", "arguments": {"note": "bright"}, "answers": {"color": "green", "count": 3}, "says": "3 x green bright"}
# steps: {"tool": "pick-color", "arguments": {}, "answers": {"color": "green", "count": 3}, "says": "3 x green"}
# steps: {"tool": "confirm_only", "arguments": {"path": "/a"}, "answers": {"response": true}, "says": "Forgot /a."}
# steps: {"tool": "confirm_only", "arguments": {"path": "/a"}, "answers": {"response": false}, "says": "Kept."}
"""The dialect of FastMCP: scalars, lists, dicts with titles, several choices, nothing at all."""

from dataclasses import dataclass
from typing import Annotated, Literal, Optional

from fastmcp import Context, FastMCP
from fastmcp.server.elicitation import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from pydantic import Field

mcp = FastMCP("dialect")


@dataclass
class Person:
    name: str
    age: int
    mood: Literal["good", "bad"] = "good"


@mcp.tool
async def introduce(ctx: Context, greeting: Annotated[str, Field(description="How to greet")] = "Hello") -> str:
    """Ask who it is."""
    result = await ctx.elicit("Who are you?", response_type=Person)
    match result:
        case AcceptedElicitation(data=person):
            return f"{greeting}, {person.name} ({person.age}, {person.mood})"
        case DeclinedElicitation():
            return "Nobody said"
        case CancelledElicitation():
            return "Gone"


@mcp.tool(name="pick-color", tags={"fun"})
async def pick_color(ctx: Context, note: Optional[str] = None) -> str:
    """Pick one of a list, then a number."""
    color = await ctx.elicit("Which color?", response_type=["red", "green", "blue"])
    if color.action != "accept":
        return "No color"
    count = await ctx.elicit("How many?", response_type=int)
    if count.action != "accept":
        return f"{color.data}, nobody knows how many"
    return f"{count.data} x {color.data} {note or ''}".strip()


@mcp.tool
async def pick_many(ctx: Context) -> str:
    """Titles, and several at once."""
    level = await ctx.elicit("How urgent?", response_type={"low": {"title": "Low"}, "high": {"title": "High"}})
    if not isinstance(level, AcceptedElicitation):
        return "cancelled"
    tags = await ctx.elicit("Which tags?", response_type=[["bug", "docs", "ui"]])
    return f"{level.data}: {', '.join(tags.data) if tags.action == 'accept' else 'none'}"


@mcp.tool
async def confirm_only(path: str, ctx: Context) -> str:
    """An empty form: only yes or no."""
    response = await ctx.elicit(f"Really forget {path}?", response_type=None)
    if response.action != "accept":
        return "Kept."
    return f"Forgot {path}."


if __name__ == "__main__":
    mcp.run()
