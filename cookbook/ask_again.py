"""Ask again when an answer no longer holds: a day that filled up while somebody was thinking.

    mrtr-tools call cookbook/ask_again.py reserve_table guests=2

`raise AskAgain(day=...)` asks for the day again, with the reason above the question, and keeps the other answers. The
day's question is made by a function, which runs again as well, so the days on offer are those that are free now. Raise
it before you act: the step runs again from its top. Each asking counts among the ten that a call has.
"""

from datetime import date

from mrtr_tools import AskAgain, Context, Elicit, Toolbox, ToolError, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("restaurant")


def free_days(guests: int) -> Elicit:
    free = [day for day, seats in calendar.items() if seats >= guests]
    if not free:
        raise ToolError(f"There is no day with {guests} free seats")
    return Elicit(f"On which day shall {guests} of you come?", choices=free)


@toolbox.tool
@needs_input(name="Under which name?")
@needs_input(day=free_days)
def reserve_table(guests: int, name: str, day: date, ctx: Context) -> str:
    """Reserve a table."""
    if not take_seats(day, guests, ctx.idempotency_key):
        raise AskAgain(day=f"{day:%A, %d %B} has just filled up.")
    return f"{name}, we expect {guests} of you on {day:%A, %d %B}."


calendar = {date(2026, 8, 3): 4, date(2026, 8, 4): 2, date(2026, 8, 5): 8}
taken: set[str] = set()


def take_seats(day: date, guests: int, key: str) -> bool:
    """Stands for a booking system that takes each key once; it alone knows what is free, for it is asked last."""
    if key not in taken:
        if calendar[day] < guests:
            return False
        calendar[day] -= guests
        taken.add(key)
    return True


if __name__ == "__main__":
    run_stdio(toolbox)
