"""Drives a `Round`: one call in, one reply out."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from functools import partial

from anyio import to_thread

from mrtr_tools.calls import Call, Complete, InputRequired, Reply
from mrtr_tools.errors import InvalidParams, InvalidState, ToolError
from mrtr_tools.marks import Then, watching
from mrtr_tools.rounds import FAILED, Finished, NeedInput, Round, RunStep
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

__all__ = ["Observer", "handle_call", "play"]

_log = logging.getLogger("mrtr_tools")


Observer = Callable[[RunStep], object]
"""Told of every function of the author just before it runs."""


async def handle_call(toolbox: Toolbox, call: Call, signer: StateSigner, observer: Observer | None = None) -> Reply:
    """Play one round of a call, remembering nothing.

    Returns:
        Questions with the state to come back with, or the result.

    Raises:
        RequestError: the request cannot be served; it becomes a JSON-RPC error.
    """
    try:
        machine = _opened(toolbox, call, signer)
    except InvalidState as refused:
        _log.warning("requestState refused: %s", refused.reason)
        raise
    event = await play(machine, observer)
    if isinstance(event, Finished):
        return event.reply
    try:
        return InputRequired(event.requests, signer.dumps(machine.progress, call) if event.keep else None)
    except ToolError as too_large:
        _log.error("%s: %s", call.target, too_large)
        return Complete(str(too_large), is_error=True)


def _opened(toolbox: Toolbox, call: Call, signer: StateSigner) -> Round:
    if call.target not in toolbox.tools:
        raise InvalidParams("Unknown tool")
    if call.state is None:
        return Round(toolbox, call)
    opened = signer.loads(call.state, call)
    return Round(toolbox, call, opened.progress, expired=opened.expired)


async def play(machine: Round, observer: Observer | None = None) -> NeedInput | Finished:
    """Run functions of the author until the round is over.

    An async function is awaited in place, any other runs in a thread that sees the same context variables.

    Raises:
        MissingCapability: a question must be asked that this request's client cannot show.
    """
    while isinstance(event := machine.next_event(), RunStep):
        if observer is not None:
            observer(event)
        try:
            value, made = await _called(event, machine.toolbox)
        except Exception as error:  # noqa: BLE001  an author's code may raise anything
            machine.raised(error)
        else:
            machine.returned(value, made)
    if isinstance(event, Finished) and event.cause is not None:
        _log.error("%s failed: %s", machine.tool.name, FAILED, exc_info=event.cause)
    return event


async def _called(event: RunStep, toolbox: Toolbox) -> tuple[object, Sequence[Then]]:
    signature = event.step.signature
    with watching(toolbox.step_of) as made:
        if signature.is_async:
            value = signature.function(**event.arguments)
        else:
            value = await to_thread.run_sync(partial(signature.function, **event.arguments))
        if inspect.isawaitable(value):
            value = await value
    return value, made
