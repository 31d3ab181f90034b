"""Builds of one tool, to be upgraded from one to the next in the middle of a call."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from mrtr_tools import Refused, Toolbox, needs_input, then
from tests.rounds_by_hand import tool


def no_capitals(text: str) -> str:
    """What an author may check."""
    if text != text.lower():
        raise ValueError("no capitals, please")
    return text


class Price(BaseModel):
    """What an author may hand on."""

    amount: int


class PriceIn(Price):
    """The same in a later build, which is nothing else to those that hold one of before."""

    currency: str = "EUR"


KNOWN: Mapping[str, Any] = {
    "AfterValidator": AfterValidator,
    "Annotated": Annotated,
    "Field": Field,
    "Literal": Literal,
    "Price": Price,
    "PriceIn": PriceIn,
    "Refused": Refused,
    "no_capitals": no_capitals,
}


def function(parameters: str, name: str = "go") -> Any:
    """A function that tells what it got: ``function("a: str")`` is ``def go(a: str) -> str``."""
    scope = dict(KNOWN)
    exec(f"def {name}({parameters}) -> str:\n    return ' '.join(map(str, locals().values()))", scope)
    return scope[name]


def build(parameters: str, *groups: Mapping[str, Any], **options: Any) -> Toolbox:
    """A toolbox with the tool ``go``, its groups from top to bottom."""
    return tool(function(parameters), *map(dict, groups), **options)


def handing_on(
    values: Mapping[str, Any],
    parameters: str,
    *groups: Mapping[str, Any],
    takes: str = "",
    unchanged: tuple[str, ...] = (),
    version: int = 0,
    **options: Any,
) -> Toolbox:
    """A toolbox whose tool ``start`` goes on with the step ``end``, its groups from top to bottom.

    Args:
        values: what is handed on.
        parameters: of the step.
        groups: of the step.
        takes: the parameters of the tool.
        unchanged: those of them that are handed on as well.
        version: of the tool.
        options: of the step.
    """
    toolbox = Toolbox("t")
    end = function(parameters, "end")
    for group in reversed(groups):
        end = needs_input(**group)(end)
    toolbox.step(**options)(end)
    scope: dict[str, Any] = {**KNOWN, "then": then, "end": end, "values": values}
    handed = ", ".join(["end", "**values", *(f"{name}={name}" for name in unchanged)])
    exec(f"def start({takes}) -> str:\n    return then({handed})", scope)
    toolbox.tool(version=version)(scope["start"])
    return toolbox
