"""Offer what is there now: the choices come from a search, not from the annotation.

    mrtr-tools call cookbook/choose_at_run_time.py send_message name=Kim text=Hello

An input function takes parameters of the step by name, and returns a question or the value itself: where there is
nothing to choose, nobody is asked. `choices={value: label}` shows the labels and gives the step the value, and an
answer that was not on offer is asked again. Its text is sent as written, so what the model or a person wrote goes
through `shown`, which keeps it on one line and short.
"""

from mrtr_tools import Elicit, Toolbox, ToolError, needs_input, shown
from mrtr_tools.server import run_stdio

toolbox = Toolbox("messages")

PEOPLE = {  # stands for a directory that is searched
    "u1": "Kim Lee, Sales",
    "u2": "Kim Novak, Research",
    "u3": "Robin Day, Sales",
}


async def which_person(name: str) -> Elicit | str:
    found = {user: about for user, about in PEOPLE.items() if name.casefold() in about.casefold()}
    if not found:
        raise ToolError(f"Nobody here is called {shown(name)}")
    if len(found) == 1:
        return next(iter(found))
    return Elicit(f"Which {shown(name)} do you mean?", choices=found)


@toolbox.tool
@needs_input(person=which_person)
def send_message(name: str, text: str, person: str) -> str:
    """Send a message to somebody, by a part of their name."""
    return f"Sent to {PEOPLE[person]}: {text}"


if __name__ == "__main__":
    run_stdio(toolbox)
