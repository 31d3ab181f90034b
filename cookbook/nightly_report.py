"""Long work in pieces: each region is a step of its own, and what is done is never done again.

A task writes down what it has after each step. A process that is stopped or dies in the middle costs one region, which
is done again with the same idempotency key, by whichever process of the server comes next. What `report_progress` tells
is what the client shows while it waits.

    mrtr-tools call cookbook/nightly_report.py report night=2026-07-28
"""

from datetime import date

from pydantic import BaseModel

from mrtr_tools import Context, Toolbox, then
from mrtr_tools.server import run_stdio

toolbox = Toolbox("reports")

REGIONS = ["north", "south", "east", "west"]


class Total(BaseModel):
    region: str
    orders: int


@toolbox.tool(task="required", task_ttl=7 * 24 * 3600)
def report(night: date) -> str:
    """Count the orders of a night, region by region. Takes a while."""
    return then(count, night=night, left=REGIONS, totals=[])


@toolbox.step
async def count(night: date, left: list[str], totals: list[Total], ctx: Context) -> str:
    region, *others = left
    await ctx.report_progress(len(totals), len(REGIONS), f"counting {region}")
    totals = [*totals, Total(region=region, orders=await orders_of(region, night))]
    if others:
        return then(count, night=night, left=others, totals=totals)
    return then(summary, night=night, totals=totals)


@toolbox.step
def summary(night: date, totals: list[Total]) -> str:
    lines = [f"{total.region}: {total.orders}" for total in totals]
    return "\n".join([f"Orders of {night:%d %B %Y}", *lines, f"all: {sum(total.orders for total in totals)}"])


async def orders_of(region: str, night: date) -> int:
    """Stands for a query that takes an hour."""
    return len(region) * night.day


if __name__ == "__main__":
    run_stdio(toolbox, tasks="reports.sqlite3")
