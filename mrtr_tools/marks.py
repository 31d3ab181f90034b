"""What authors write on and in their functions: `needs_input`, `then`, `AskAgain`, `Refused`.

A mark leaves the function as it is: it can be called, tested and typed as if the mark were not there.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal, NoReturn, Protocol, TypeVar, cast, overload

from pydantic import JsonValue

from mrtr_tools.errors import DefinitionError
from mrtr_tools.input_requests import Source
from mrtr_tools.records import frozen, mutable, record

__all__ = ["AskAgain", "InputSource", "NeedsInput", "Refused", "Then", "needs_input", "then"]

F = TypeVar("F", bound=Callable[..., object])
R = TypeVar("R")

InputSource = str | Source | Callable[..., object]
"""Where an input comes from: a question, or a function that returns a question or the value itself."""


@frozen
class Refused:
    """In place of an answer, where the parameter admits it (``name: str | Refused``); falsy.

    Attributes:
        action: ``decline`` (said no), ``cancel`` (did not say), or ``unsupported`` (the client cannot be asked).
    """

    action: Literal["decline", "cancel", "unsupported"]

    def __bool__(self) -> Literal[False]:
        return False


class AskAgain(Exception):
    """Ask inputs of this step again, each with a reason: ``raise AskAgain(date="That day is full")``.

    Raise it before the step has acted: the step's body runs again, with its other inputs kept. What was asked or made
    because of the input goes with it: the price of another day is quoted anew, and a yes to the old one no longer
    counts. It is no way to check a secret: a client can go back to an older state, so count such tries on the server.
    """

    def __init__(self, /, **reasons: str) -> None:
        if not reasons or not all(isinstance(cast("object", reason), str) and reason for reason in reasons.values()):
            raise TypeError('AskAgain takes a reason for each input to ask again: AskAgain(date="That day is full")')
        super().__init__(", ".join(reasons))
        self.reasons = reasons


@record(eq=False)
class NeedsInput:
    """One group as marked: inputs that are asked together."""

    inputs: Mapping[str, InputSource]
    only_if: Callable[..., object] | None


ByName = (  # spelled out, for a type checker knows no parameters of a lambda that could take anything
    Callable[[], object]
    | Callable[[Any], object]
    | Callable[[Any, Any], object]
    | Callable[[Any, Any, Any], object]
    | Callable[[Any, Any, Any, Any], object]
)


@overload
def needs_input(*, only_if: ByName | None = None, **inputs: str | Source | ByName) -> Callable[[F], F]: ...
@overload
def needs_input(*, only_if: Callable[..., object] | None = None, **inputs: InputSource) -> Callable[[F], F]: ...
def needs_input(
    *misused: object, only_if: Callable[..., object] | None = None, **inputs: InputSource
) -> Callable[[F], F]:
    """Mark a function as needing inputs, which are asked together; stacked marks are asked from top to bottom.

    Args:
        only_if: a pure function over the step's parameters, by name; when it says no, the inputs keep their defaults.
        inputs: by parameter: a text (a template, the form is the parameter's annotation), `Elicit`, `confirm`, or a
            function that takes parameters of the step by name and returns a question or the value itself.

    Raises:
        DefinitionError: what is given cannot be an input.
    """
    _check_inputs(misused, only_if, inputs)

    def mark(function: F) -> F:
        if isinstance(function, (staticmethod, classmethod)):
            raise DefinitionError(
                f"{name_of(cast('object', function))}: put @needs_input below @staticmethod or @classmethod, not above"
            )
        if registered_as(function) is not None:
            raise DefinitionError(
                f"{name_of(function)}: put @needs_input below @toolbox.tool and @toolbox.step, not above"
            )
        try:
            setattr(function, GROUPS, [NeedsInput(inputs, only_if), *groups_of(function)])
        except AttributeError:
            raise DefinitionError(f"{name_of(function)} cannot be marked; mark the function it is made from") from None
        return function

    return mark


def _check_inputs(misused: object, only_if: object, inputs: Mapping[str, object]) -> None:
    if misused or not inputs:
        raise DefinitionError('needs_input takes at least one input, by name: @needs_input(name="What is your name?")')
    if only_if is not None and not callable(only_if):
        raise DefinitionError(
            "only_if= takes a function over the step's parameters: only_if=lambda kind: kind == 'other'"
        )
    for name, source in inputs.items():
        if not name.isidentifier():
            raise DefinitionError(f"{name!r} cannot name an input; use a name that a parameter could have")
        if not isinstance(source, (str, Source)) and not callable(source):
            kind = type(source).__name__
            raise DefinitionError(f"input {name!r} is {kind}; give a text, Elicit(...), confirm(...) or a function")


GROUPS = "__mrtr_groups__"
REGISTERED = "__mrtr_step__"
BRIDGE = "__mrtr_bridge__"


def groups_of(function: object) -> list[NeedsInput]:
    """The groups marked on a function, or on the one that a partial is made from; first asked first."""
    own = cast("list[NeedsInput]", getattr(function, GROUPS, []))
    return own if own or not isinstance(function, functools.partial) else groups_of(cast("object", function.func))


def bridge_of(function: object) -> Callable[..., object] | None:
    """What makes what a function asks with that asks in its body; see `mrtr_tools.porting.resumable`."""
    own = cast("Callable[..., object] | None", getattr(function, BRIDGE, None))
    return own if own or not isinstance(function, functools.partial) else bridge_of(cast("object", function.func))


def name_of(function: object) -> str:
    """How to call a function in a message."""
    if isinstance(function, functools.partial):
        return f"partial({name_of(cast('object', function.func))})"
    return getattr(function, "__qualname__", None) or repr(function)


class Target(Protocol):
    """What `then` needs to know of the step it goes to."""

    def stands_for(self, function: object) -> bool:
        """Whether the step is this function, and not one that a wrapper of it was made from."""
        ...

    @property
    def may_follow(self) -> bool:
        """Whether `then` may go to it."""
        ...

    def hand_on(self, values: Mapping[str, object]) -> dict[str, JsonValue]:
        """The values as JSON, checked like the arguments of a call; TypeError at what does not fit."""
        ...


def registered_as(function: object) -> Target | None:
    """The step that a function was registered as last, wherever that was."""
    target = cast("Target | None", getattr(function, REGISTERED, None))
    return target if target is not None and target.stands_for(function) else None


class Then:
    """Where a call goes next and with what; made by `then` and equal by value."""

    __slots__ = ("carried", "step", "values")

    def __init__(
        self, step: Callable[..., object], values: Mapping[str, object], carried: Mapping[str, JsonValue]
    ) -> None:
        self.step = step
        self.values = values
        self.carried = carried

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Then) and self.step == other.step and self.carried == other.carried

    __hash__ = None  # type: ignore[assignment]

    def __await__(self) -> NoReturn:
        raise TypeError(f"{self!r} is returned, not awaited: return then(...)")

    def __repr__(self) -> str:
        return f"then({', '.join([name_of(self.step), *(f'{name}=...' for name in self.values)])})"


@overload
def then(step: Callable[..., Coroutine[Any, Any, R]], /, **values: object) -> R: ...
@overload
def then(step: Callable[..., R], /, **values: object) -> R: ...
def then(step: Callable[..., object], /, **values: object) -> object:
    """Go on with another step, perhaps on another machine: ``return then(purchase, flight=flight)``.

    It takes what the step takes. An input that is left out will be asked, one that is handed on will not. The values
    go through JSON here and now.

    Returns:
        What to return from the step; to a type checker, what the other step returns.

    Raises:
        TypeError: the target is no step, or a value is missing, unknown, of the wrong type, or would not come back from
            JSON as it is.
    """
    running = _running.get()
    target = running.find(step) if running else registered_as(step)
    if target is not None and not target.may_follow:
        raise TypeError(f"then() goes to a step, and {name_of(step)} is none; move what both do into an @toolbox.step")
    if target is None:
        where = " of this toolbox" if running else ""
        raise TypeError(f"then() goes to a step{where}; mark {name_of(step)} with @toolbox.step")
    going = Then(step, values, target.hand_on(values))
    if running:
        running.made.append(going)
    return going


@mutable(eq=False)
class Running:
    """A function of the author that is running now, and every `then` it made."""

    find: Callable[[Callable[..., object]], Target | None]
    made: list[Then]


_running: contextvars.ContextVar[Running | None] = contextvars.ContextVar("mrtr_tools_running", default=None)


def watched(find: Callable[[Callable[..., object]], Target | None]) -> tuple[contextvars.Context, list[Then]]:
    """A context to run one function of the author in.

    Args:
        find: looks the target of a `then` up in the toolbox that runs.

    Returns:
        A copy of the current context, and every `then` that is made in it.
    """
    context, running = contextvars.copy_context(), Running(find, [])
    context.run(_running.set, running)
    return context, running.made


def holds_then(value: object) -> bool:
    """Whether a list or dict has a `then` in it, however it came there."""
    if isinstance(value, dict):
        value = list(cast("dict[object, object]", value).values())
    if isinstance(value, (list, tuple)):
        return any(isinstance(item, Then) or holds_then(item) for item in cast("list[object]", value))
    return False
