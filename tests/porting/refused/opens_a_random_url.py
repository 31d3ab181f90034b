"""A random id in an address to open."""

from uuid import uuid4

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")


@toolbox.tool
@resumable
async def sign_in(ctx: Context) -> str:
    page = await ctx.elicit_url("Sign in", f"https://example.com/sign-in/{uuid4()}", elicitation_id="1")
    return page.action
