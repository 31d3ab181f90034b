# expect: log_in refused MRTR215
# expect: set_token ported
# check: MRTR215
"""A secret of pydantic in a form, and one by its name alone."""

from fastmcp import Context, FastMCP
from pydantic import BaseModel, SecretStr

mcp = FastMCP("secrets")


class Login(BaseModel):
    user: str
    code: SecretStr


@mcp.tool
async def log_in(ctx: Context) -> str:
    """Log in."""
    return (await ctx.elicit("Log in", response_type=Login)).action


@mcp.tool
async def set_token(ctx: Context) -> str:
    """Set the token."""
    answer = await ctx.elicit("Your API key?", response_type=str)
    return answer.action


if __name__ == "__main__":
    mcp.run()
