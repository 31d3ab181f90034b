"""Tools, prompts and resources that ask in every way there is."""

import enum
from dataclasses import dataclass
from typing import Any, Literal

from mrtr_tools import (
    Elicit,
    ElicitUrl,
    ListRoots,
    Refused,
    Root,
    Sample,
    Sampled,
    Toolbox,
    ToolError,
    confirm,
    needs_input,
    then,
)
from mrtr_tools.content import Image

PAGE = "https://login.example/start"

toolbox = Toolbox("kinds")


# Forms


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Preferences:
    colour: Colour
    size: Literal["S", "M"] = "M"
    name: str = "Ada"
    count: int = 1
    share: float = 0.5
    gift: bool = True


@toolbox.tool
@needs_input(preferences="What do you like?")
def prefer(preferences: Preferences) -> str:
    return repr(preferences)


@toolbox.tool
@needs_input(
    one=Elicit("Which one?", choices={"r": "Red", "g": "Green"}),
    many=Elicit("Which ones?", choices={"s": "Small", "m": "Medium"}),
    sizes="Which sizes?",
)
def choose(one: str, many: list[str], sizes: list[Literal["S", "M"]]) -> str:
    return f"{one} {many} {sizes}"


@toolbox.tool
@needs_input(answer="Which?")
def answer_either(answer: str | Refused) -> str:
    return f"refused: {answer.action}" if isinstance(answer, Refused) else answer


@toolbox.tool
@needs_input(ok=confirm("Delete it?"))
def delete() -> str:
    return "deleted"


# Pages


def link(visit: bool) -> ElicitUrl | Literal[True]:
    return ElicitUrl("Sign in, please", PAGE) if visit else True


@toolbox.tool
@needs_input(page=link)
def sign_in(visit: bool, page: bool | Refused) -> str:
    return f"refused: {page.action}" if isinstance(page, Refused) else "signed in"


pages = Toolbox("pages")
"""What asks to open a page is not served over HTTP to just anybody."""


@pages.tool
@needs_input(page=ElicitUrl("Pay, please", PAGE))
def pay() -> str:
    return "paid"


# The model


@toolbox.tool
@needs_input(answer=Sample("Say {word}", max_tokens=10, system_prompt="Be brief", temperature=0.5))
def ask_model(word: str, answer: Sampled | Refused) -> str:
    return f"refused: {answer.action}" if isinstance(answer, Refused) else f"{answer.model}: {answer.text}"


CLOCK: Any = {"name": "clock", "inputSchema": {"type": "object"}}
QUESTION = "What time is it?"


@toolbox.tool
@needs_input(answer=Sample(QUESTION, tools=[CLOCK], tool_choice={"mode": "auto"}))
def ask_model_with_tools(answer: Sampled) -> str:
    [use] = [block for block in answer.blocks if block["type"] == "tool_use"]
    return then(told_model, use=use)


def tell_model(use: dict[str, Any]) -> Sample:
    result = {"type": "tool_result", "toolUseId": use["id"], "content": [{"type": "text", "text": "noon"}]}
    said: Any = [QUESTION, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return Sample(said, tools=[CLOCK])


@toolbox.step
@needs_input(answer=tell_model)
def told_model(use: dict[str, Any], answer: Sampled) -> str:
    return answer.text


# The roots


@toolbox.tool
@needs_input(roots=ListRoots())
def folders(roots: list[Root]) -> str:
    return ", ".join(root.uri for root in roots)


# Prompts and resources


@toolbox.prompt()
@needs_input(mood="In which mood?")
def poem(topic: str, mood: str | Refused) -> list[str]:
    """A poem."""
    return [f"Write about {topic}.", f"Be {mood or 'calm'}."]


@toolbox.prompt()
@needs_input(answer=Sample("Draw"), roots=ListRoots())
def picture(answer: str, roots: list[Root]) -> list[str | Image]:
    """A picture."""
    return [answer, str(len(roots)), Image(b"\1")]


@toolbox.prompt()
def broken() -> str:
    raise RuntimeError("postgres://secret")


@toolbox.resource("memo://{name}")
@needs_input(region="Which region?")
def memo(name: str, region: str) -> dict[str, str]:
    """A memo, by region."""
    if region == "none":
        raise ToolError("There is no such memo")
    return {"name": name, "region": region}


@toolbox.resource("memo:all", mime_type="text/markdown")
def memos() -> str:
    """All memos."""
    return "# Memos"
