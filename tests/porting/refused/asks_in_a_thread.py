"""A sync tool that asks through `anyio.from_thread`."""

import anyio

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable

toolbox = Toolbox("refused")


@toolbox.tool
@resumable
def delete(path: str, ctx: Context) -> str:
    answer = anyio.from_thread.run(ctx.elicit, f"Delete {path}?", bool)
    return f"{path} {answer.action}"
