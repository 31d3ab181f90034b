# expect: hello ported
# play: {"tool": "hello", "arguments": {}, "answers": {"ask": "Ann"}, "says": "Hello, Ann"}
# steps: {"tool": "hello", "arguments": {}, "answers": {"answer": "Ann"}, "says": "Hello, Ann"}
"""Started in one of two ways, from main()."""

import argparse

from fastmcp import Context, FastMCP

mcp = FastMCP("two ways")


@mcp.tool()
async def hello(ctx: Context) -> str:
    """Hello."""
    answer = await ctx.elicit("Who?", response_type=str)
    return f"Hello, {answer.data if answer.action == 'accept' else 'you'}"


def main() -> None:
    """Start."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", action="store_true")
    args = parser.parse_args()
    if args.http:
        mcp.run(transport="http")
    else:
        mcp.run()


if __name__ == "__main__":
    main()
