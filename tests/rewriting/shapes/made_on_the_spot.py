# expect: choose ported
# play: {"tool": "choose", "arguments": {"options": ["a", "b"]}, "answers": {"ask": {"answer": "b", "other": ""}}, "says": "b"}
"""A form that is made in the function."""

from typing import Literal

from fastmcp import Context, FastMCP
from pydantic import Field, create_model

mcp = FastMCP("spot")


def _build_model(options: list[str]):
    choices = Literal[tuple(options)]
    return create_model("FeedbackForm", answer=(choices, Field(description="Select")), other=(str, ""))


@mcp.tool
async def choose(options: list[str], ctx: Context) -> str:
    """Choose."""
    result = await ctx.elicit("Which?", response_type=_build_model(options))
    return result.data.answer if result.action == "accept" else "none"


if __name__ == "__main__":
    mcp.run()
