"""What was answered is remembered in the module, so that it is not asked for again."""

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")
session: dict[str, str] = {}


@toolbox.tool
@resumable
async def order(ctx: Context) -> str:
    if "user" not in session:
        user = await ctx.elicit("Who are you?", response_type=str)
        session["user"] = user.data if user.action == "accept" else "nobody"
    what = await ctx.elicit("What do you want?", response_type=str)
    return f"{session['user']} gets {what.data if what.action == 'accept' else 'nothing'}"
