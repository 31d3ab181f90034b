# expect: deploy ported
# steps: {"tool": "deploy", "arguments": {"service": "shop", "tags": ["a"]}, "answers": {"environment": "prod", "replicas": 3, "go": true}, "says": "shop: 3 on prod as SHOP-prod for ann, a"}
# steps: {"tool": "deploy", "arguments": {"service": "shop", "tags": []}, "answers": {"environment": "prod", "replicas": 3, "go": false}, "says": "No: decline"}
"""Work, logs and comments between three questions; names that go from one to the next."""

from typing import Optional

from fastmcp import Context, FastMCP

mcp = FastMCP("deploy")


async def owner_of(service: str) -> str:
    """Look it up."""
    return await look_up(service)


async def look_up(service: str) -> str:
    return {"shop": "ann"}.get(service, "nobody")


@mcp.tool()
async def deploy(service: str, tags: list[str], ctx: Context, note: Optional[str] = None) -> str:
    """Deploy a service.

    In three questions.
    """
    await ctx.info(f"deploying {service}")
    # Who has it?
    owner = await owner_of(service)
    if owner == "nobody":
        raise ValueError("nobody has it")

    where = await ctx.elicit("Where?", response_type=["dev", "prod"])
    if where.action != "accept":
        return "Nowhere."  # not an error
    environment = where.data
    label = f"{service.upper()}-{environment}"

    # How many?
    count = await ctx.elicit(f"How many for {owner} on {environment}? {{any}}", response_type=int)
    if count.action == "decline":
        return "Declined."
    if count.action == "cancel":
        return "Cancelled."
    replicas = count.data
    await ctx.report_progress(1, 2)

    go = await ctx.elicit(
        f"Go ahead with {replicas!r} of {label}?",
        response_type=bool,
    )
    if go.action != "accept" or not go.data:
        return f"No: {go.action}"
    return f"{service}: {replicas} on {environment} as {label} for {owner}, {', '.join(tags)}"


if __name__ == "__main__":
    mcp.run()
