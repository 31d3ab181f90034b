"""One round run twice from the same state, and what differs: a clock, a random id, live data, a global.

In a tool whose body runs again in each round that is what ends calls; in any tool it is worth knowing where a question
or a result does not follow from what the call has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from pydantic import JsonValue
from pydantic_core import from_json, to_json

from mrtr_tools.asks import recorded
from mrtr_tools.calls import Call, Complete, InputRequired
from mrtr_tools.context import Context
from mrtr_tools.events import Event, Finished, RunStep
from mrtr_tools.runner import handle_call
from mrtr_tools.single_use import Ledger, MemoryClaims
from mrtr_tools.state import StateSigner
from mrtr_tools.templates import shown
from mrtr_tools.tools import Toolbox

__all__ = ["Rerun", "twice"]

_THE_CALL: Final = "(the call)"


@dataclass(slots=True)
class Rerun:
    """What one run of a round came to.

    Attributes:
        reply: questions or the result.
        ran: the functions of the author that ran, in order.
        names: the id of the call and its handle, which are made anew where a call begins.
    """

    reply: InputRequired | Complete
    ran: list[str] = field(default_factory=list[str])
    names: set[str] = field(default_factory=set[str])

    def noted(self, event: Event) -> None:
        """Note what happens; what a step raised unexpectedly is raised here."""
        if isinstance(event, RunStep):
            self.ran.append(event.step.name)
            context = event.step.signature.context
            if context is not None:
                self._name(cast("Context", event.arguments[context]).call_id)
        elif isinstance(event, Finished) and event.cause is not None:
            raise event.cause

    def read(self, signer: StateSigner, call: Call) -> None:
        """Note what the call is named in the state."""
        state = self.reply.state if isinstance(self.reply, InputRequired) else None
        if state is not None:
            self._name(signer.loads(state, replace(call, state=state)).progress.call)

    def _name(self, call_id: str) -> None:
        self.names |= {call_id, Context(call_id=call_id, idempotency_key="").handle}

    def plain(self, value: object) -> JsonValue:
        """A value as JSON that does not depend on what the call is named."""
        text = to_json(value, fallback=repr).decode()
        for name in self.names:
            text = text.replace(name, _THE_CALL)
        return cast("JsonValue", from_json(text))


async def twice(
    toolbox: Toolbox, call: Call, signer: StateSigner, ledger: Ledger, observer: Callable[[Event], object]
) -> InputRequired | Complete:
    """Play a round of a call, and once more from the same state; the rest is as in `runner.handle_call`.

    What runs once in the call (`Context.once` of `porting`, or single use) runs in both, but a body gets what was kept
    of the first run.

    Returns:
        What the first run came to.

    Raises:
        AssertionError: the second run came to something else; the text says what.
    """
    first, second = Rerun(Complete(None)), Rerun(Complete(None))

    def note(event: Event) -> None:
        observer(event)
        first.noted(event)

    recording = recorded.set({})
    try:
        first.reply = await _played(toolbox, call, signer, note, ledger)
        second.reply = await _again(toolbox, call, signer, second)
    finally:
        recorded.reset(recording)
    first.read(signer, call)
    second.read(signer, call)
    for difference in _differences(first, second):
        raise AssertionError(_told(call, difference))
    return first.reply


async def _played(
    toolbox: Toolbox, call: Call, signer: StateSigner, observer: Callable[[Event], object], ledger: Ledger
) -> InputRequired | Complete:
    """A round of a call that goes on as no task."""
    return cast("InputRequired | Complete", await handle_call(toolbox, call, signer, observer, ledger=ledger))


async def _again(toolbox: Toolbox, call: Call, signer: StateSigner, run: Rerun) -> InputRequired | Complete:
    try:
        return await _played(toolbox, call, signer, run.noted, Ledger(MemoryClaims(), signer))
    except Exception as error:
        raise AssertionError(_told(call, f"ends well and then with {type(error).__name__}: {error}")) from error


def _told(call: Call, difference: str) -> str:
    return (
        f"a round of {call.target!r}, run twice from the same state, {difference}. What differs from run to run goes "
        "into ctx.once(...), or into a step or input function, whose result is kept"
    )


def _differences(first: Rerun, second: Rerun) -> Iterable[str]:
    if first.ran != second.ran:
        yield f"runs {_listed(first.ran)} and then {_listed(second.ran)}"
    one, other = first.reply, second.reply
    if isinstance(one, InputRequired) and isinstance(other, InputRequired):
        if list(one.requests) != list(other.requests):
            yield f"asks for {_listed(one.requests)} and then for {_listed(other.requests)}"
        for key, request in one.requests.items():
            yield from _of_question(key, first.plain(request), second.plain(other.requests[key]))
    elif isinstance(one, Complete) and isinstance(other, Complete):
        ends = [
            run.plain([reply.value, reply.structured, reply.is_error]) for run, reply in ((first, one), (second, other))
        ]
        if ends[0] != ends[1]:
            yield f"ends with {_short(ends[0])} and then with {_short(ends[1])}"
    else:
        asked = one if isinstance(one, InputRequired) else cast("InputRequired", other)
        yield f"asks for {_listed(asked.requests)} in one run, and ends in the other"


def _of_question(key: str, one: Any, other: Any) -> Iterable[str]:
    if one == other:
        return
    told, again = one.get("params", {}), other.get("params", {})
    changed = [name for name in {**told, **again} if told.get(name) != again.get(name)] or ["method"]
    yield (
        f"asks {key!r} otherwise: its {changed[0]} is {_short(told.get(changed[0]))} and then "
        f"{_short(again.get(changed[0]))}"
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "nothing"


def _short(value: object) -> str:
    return shown(str(value))
