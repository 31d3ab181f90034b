# expect: trip ported
# steps: {"tool": "trip", "arguments": {"date": "now"}, "answers": {"wish": {"when": "later"}}, "says": "later"}
"""An ASGI app, made when the file is loaded."""

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.routing import Mount

mcp = FastMCP(name="Elicitation Example")


class Wish(BaseModel):
    when: str = "2024-12-26"


@mcp.tool()
async def trip(date: str, ctx: Context) -> str:
    """Book a trip."""
    result = await ctx.elicit(message=f"Not on {date}. When?", schema=Wish)
    return result.data.when if result.action == "accept" and result.data else "never"


app = Starlette(routes=[Mount("/", app=mcp.sse_app())])

if __name__ == "__main__":
    mcp.run()
