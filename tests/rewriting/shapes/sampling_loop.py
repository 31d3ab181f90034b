# expect: titles ported
# check: MRTR201
# play: {"tool": "titles", "arguments": {"items": ["a", "b"]}, "answers": {"ask": "A", "ask-2": "B"}, "says": "A"}
"""A model is asked for each item; what fails falls back."""

from typing import Any, Dict, List

from fastmcp import Context, FastMCP

mcp = FastMCP("titles")


async def title_for(ctx: Context, item: str) -> str:
    try:
        answer = await ctx.sample(f"A title for {item}", max_tokens=100, temperature=0.5)
        return answer.text.strip() if answer.text else item
    except Exception as llm_error:
        await ctx.warning(f"no title ({item}): {llm_error}")
        return item


@mcp.tool()
async def titles(items: List[str], ctx: Context) -> Dict[str, Any]:
    """Titles for all."""
    found = [await title_for(ctx, item) for item in items]
    return {"titles": found}


if __name__ == "__main__":
    mcp.run()
