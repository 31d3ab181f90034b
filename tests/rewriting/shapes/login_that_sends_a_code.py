# expect: login refused MRTR102
# check: MRTR215
"""A login on both sides of the question for its code, with secrets in a form."""

from mcp.server.fastmcp import Context, FastMCP
from monarchmoney import MonarchMoney
from pydantic import BaseModel, Field

mcp = FastMCP("bank")


class LoginForm(BaseModel):
    email: str = Field(description="E-mail")
    password: str = Field(description="Password")


class MFAForm(BaseModel):
    mfa_code: str = Field(description="The code that was sent")


@mcp.tool()
async def login(ctx: Context) -> str:
    """Log in."""
    form = await ctx.elicit(message="Sign in", schema=LoginForm)
    if form.action != "accept":
        return "Login cancelled."
    client = MonarchMoney()
    await client.login(form.data.email, form.data.password)
    code = await ctx.elicit(message="Enter the code", schema=MFAForm)
    if code.action != "accept":
        return "Login cancelled."
    await client.multi_factor_authenticate(form.data.email, form.data.password, code.data.mfa_code)
    return "Logged in."
