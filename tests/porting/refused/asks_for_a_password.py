"""A secret as an answer, which then rides along in the state."""

from pydantic import BaseModel, SecretStr

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")


class Login(BaseModel):
    user: str
    password: SecretStr


@toolbox.tool
@resumable
async def log_in(ctx: Context) -> str:
    login = await ctx.elicit("Log in", schema=Login)
    return login.action
