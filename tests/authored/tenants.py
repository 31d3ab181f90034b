"""Toolboxes for two tenants from one factory: the same tools, each with its own data, words and states."""

from dataclasses import dataclass, field

from mrtr_tools import Context, Toolbox, needs_input, then


@dataclass
class Tenant:
    """A customer of the service."""

    name: str
    currency: str
    orders: dict[str, int] = field(default_factory=dict[str, int])


def toolbox_for(tenant: Tenant) -> Toolbox:
    """The tools of one tenant."""
    toolbox = Toolbox(f"orders-{tenant.name}")

    @toolbox.tool
    def order(article: str) -> str:
        """Order an article."""
        return then(place, article=article, price=len(article))

    @toolbox.step
    @needs_input(count=f"How many, at {{price}} {tenant.currency} each?")
    def place(article: str, price: int, count: int, ctx: Context) -> str:
        tenant.orders[ctx.idempotency_key] = price * count
        return f"{count} x {article}: {price * count} {tenant.currency}"

    return toolbox
