"""Keep an await-style tool as it is, and serve it where no server remembers anything.

    mrtr-tools call cookbook/port_an_await_tool.py book_table day=Monday

`BEFORE` is the tool as it was. Three things change: an import, the decorator, and the read before the last ask, which
goes through `ctx.once`. That line matters: the body runs again from its first line in each round, and stops at the
first question without an answer. Nothing that acts, and nothing that reads what may change, stands bare before the last
ask; a question that comes out otherwise in a later round ends the call with an error that names it. What comes after
the last answer runs once, like any tool. `from_bridge_to_steps.py` shows where such a tool grows to.
"""

from pydantic import BaseModel

from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable
from mrtr_tools.server import run_stdio

toolbox = Toolbox("tables")

BEFORE = '''
@server.tool()
async def book_table(day: str, ctx: Context) -> str:
    """Book a table at the cafe."""
    tables = await free_tables(day)
    answer = await ctx.elicit(f"Which of the tables {tables} on {day}?", schema=Choice)
    if answer.action != "accept":
        return "Nothing was booked."
    sure = await ctx.elicit(f"Table {answer.data.table} for {answer.data.guests}?", schema=Sure)
    if sure.action != "accept" or not sure.data.yes:
        return "Nothing was booked."
    booked.append((day, answer.data.table))
    return f"Table {answer.data.table} is yours on {day}."
'''

booked: list[tuple[str, int]] = []


class Choice(BaseModel):
    table: int
    guests: int = 2


class Sure(BaseModel):
    yes: bool


async def free_tables(day: str) -> list[int]:
    taken = [table for booked_day, table in booked if booked_day == day]
    return [table for table in range(1, 5) if table not in taken]


@toolbox.tool
@resumable
async def book_table(day: str, ctx: Context) -> str:
    """Book a table at the cafe."""
    tables = await ctx.once(free_tables, day)
    answer = await ctx.elicit(f"Which of the tables {tables} on {day}?", schema=Choice)
    if answer.action != "accept":
        return "Nothing was booked."
    sure = await ctx.elicit(f"Table {answer.data.table} for {answer.data.guests}?", schema=Sure)
    if sure.action != "accept" or not sure.data.yes:
        return "Nothing was booked."
    booked.append((day, answer.data.table))
    return f"Table {answer.data.table} is yours on {day}."


if __name__ == "__main__":
    run_stdio(toolbox)
