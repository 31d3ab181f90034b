"""Redeem a voucher once, whatever the client sends again: twice, from an older round, or to two machines at a time.

    mrtr-tools call cookbook/use_once.py redeem_voucher code=SPRING
    mrtr-tools run cookbook/use_once.py --http --keys-file keys --claims claims.sqlite3 --anonymous-ok

`single_use=True` claims the effect before the step runs. The same round sent again gets the reply that was made; sent
again with another answer it gets an error; sent while the step runs it is told to try again. A new call is another one:
here it takes the next voucher of its kind. All processes of a server must see the same claims: a file on one machine,
``--claims redis://...`` on several. On a step of its own, only that step is claimed; on a tool, as here, every round of
the call is, so that nobody can go back and choose otherwise.

A process that ends inside the step leaves its claim behind: nobody knows how far it came, so nobody runs it again,
unless you say ``on_crash="rerun"`` because what it calls takes each `ctx.idempotency_key` once (see `charge_once.py`).
"""

from mrtr_tools import Context, Toolbox, ToolError, confirm, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("vouchers")


@toolbox.tool(single_use=True)
@needs_input(ok=confirm("Redeem {code} now?"))
def redeem_voucher(code: str, ctx: Context) -> str:
    """Redeem a voucher."""
    if not vouchers.get(code):
        raise ToolError(f"{code} has been used up")
    vouchers[code] -= 1
    wallets[ctx.principal] = wallets.get(ctx.principal, 0) + 10
    return f"Redeemed {code}: there are {wallets[ctx.principal]} EUR in your wallet"


vouchers = {"SPRING": 2}
wallets: dict[str | None, int] = {}

if __name__ == "__main__":
    run_stdio(toolbox)
