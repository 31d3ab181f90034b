"""One server that asks for everything there is, in every place where something can be asked."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from mrtr_tools import (
    AskAgain,
    Context,
    Elicit,
    ElicitUrl,
    ListRoots,
    Refused,
    Root,
    Sample,
    Sampled,
    Toolbox,
    confirm,
    needs_input,
    then,
)

PAGE = "https://login.example/start"
CLOCK: Any = {"name": "clock", "description": "Tells the time", "inputSchema": {"type": "object"}}
TIME = "What time is it?"

toolbox = Toolbox("asker", version="1")


# Forms


class Order(BaseModel):
    guest: Annotated[str, Field(title="Your name", min_length=1, max_length=40)]
    size: Literal["S", "M"] = "M"
    extras: list[Literal["milk", "sugar"]] = ["milk"]
    count: Annotated[int, Field(ge=1, le=9)] = 1
    share: float = 0.5
    gift: bool = True


@toolbox.tool
@needs_input(order="What would you like?")
def fill_in(order: Order) -> str:
    """Asks with a field of every kind, all but one with a default."""
    return repr(order)


@toolbox.tool
@needs_input(
    one=Elicit("Which colour?", choices={"r": "Red", "g": "Green"}),
    many=Elicit("Which sizes?", choices={"s": "Small", "m": "Medium"}),
    plain="Which letters?",
)
def choose(one: str, many: list[str], plain: list[Literal["A", "B"]]) -> str:
    """Asks for one choice with titles, for several with titles, and for several without."""
    return f"{one} {many} {plain}"


@toolbox.tool
@needs_input(name="Who are you?")
def greet(name: str | Refused) -> str:
    """Takes a no for an answer."""
    return f"Hello, whoever you are ({name.action})" if isinstance(name, Refused) else f"Hello, {name}"


@toolbox.tool
@needs_input(ok=confirm("Delete {file}?"))
def delete(file: str) -> str:
    """Wants a yes."""
    return f"{file} is deleted"


@toolbox.tool
@needs_input(day="Which day?")
def book(day: str) -> str:
    """Asks again, with a reason."""
    if day == "Sunday":
        raise AskAgain(day="That day is full")
    return f"Booked for {day}"


# A page


@toolbox.tool
@needs_input(page=ElicitUrl("Sign in, please", PAGE))
def sign_in(page: Literal[True] | Refused) -> str:
    """Opens a page."""
    return f"not signed in: {page.action}" if isinstance(page, Refused) else "signed in"


# The model


@toolbox.tool
@needs_input(
    answer=Sample(
        "Say {word}", max_tokens=10, system_prompt="Be brief", temperature=0.5, stop_sequences=["END", "STOP"]
    )
)
def ask_model(word: str, answer: str) -> str:
    """Asks the model."""
    return answer


@toolbox.tool
@needs_input(answer=Sample(TIME, tools=[CLOCK], tool_choice={"mode": "auto"}))
def ask_model_with_tools(answer: Sampled) -> str:
    """Asks the model, runs the tool that it wants to use, and asks again."""
    [use] = [block for block in answer.blocks if block["type"] == "tool_use"]
    return then(tell_model, use=use)


def told(use: dict[str, Any]) -> Sample:
    result = {"type": "tool_result", "toolUseId": use["id"], "content": [{"type": "text", "text": "noon"}]}
    said: Any = [TIME, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return Sample(said, tools=[CLOCK])


@toolbox.step
@needs_input(answer=told)
def tell_model(use: dict[str, Any], answer: Sampled) -> str:
    return f"{answer.model}: {answer.text}"


# The roots


@toolbox.tool
@needs_input(roots=ListRoots())
def list_folders(roots: list[Root]) -> str:
    """Asks for the roots."""
    return ", ".join(f"{root.name}={root.uri}" for root in roots)


# Several


@dataclass
class Everything:
    name: str
    answer: str
    folders: list[str]


@toolbox.tool
@needs_input(name="Your name?", answer=Sample("Greet somebody"), roots=ListRoots())
def ask_all(name: str, answer: str, roots: list[Root]) -> Everything:
    """Asks a person, the model and the client at the same time; returns data."""
    return Everything(name, answer, [root.uri for root in roots])


@toolbox.tool
@needs_input(start="From where?")
def travel(start: str) -> str:
    """Three rounds, one after the other."""
    return then(to_where, start=start)


@toolbox.step
@needs_input(end="From {start} to where?")
def to_where(start: str, end: str) -> str:
    return then(pay, route=f"{start}-{end}")


@toolbox.step
@needs_input(ok=confirm("Pay for {route}?"))
def pay(route: str) -> str:
    return f"{route} is paid"


# Progress and log messages


@toolbox.tool
@needs_input(limit="How far?")
async def count(limit: int, ctx: Context) -> str:
    """Tells how far it is, and logs."""
    await ctx.log("debug", "not asked for")
    for reached in range(1, limit + 1):
        await ctx.report_progress(reached, limit, f"{reached} of {limit}")
        await ctx.log("info", {"reached": reached}, "counter")
    return f"counted to {limit}"


# Prompts and resources


@toolbox.prompt()
@needs_input(mood="In which mood?")
def poem(topic: str, mood: str) -> list[str]:
    """A poem."""
    return [f"Write about {topic}.", f"Be {mood}."]


@toolbox.resource("memo://{name}", mime_type="text/plain")
@needs_input(region="Which region?", answer=Sample("Sum it up"))
def memo(name: str, region: str, answer: str) -> str:
    """A memo, by region."""
    return f"{name} of {region}: {answer}"
