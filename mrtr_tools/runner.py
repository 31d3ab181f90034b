"""Drives a `Round`: one call in, one reply out."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import types
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any

from anyio import get_cancelled_exc_class

from mrtr_tools.calls import Call, Complete, InputRequired, Reply
from mrtr_tools.errors import InvalidState, ToolError
from mrtr_tools.events import FAILED, Event, Finished, NeedInput, RunStep
from mrtr_tools.marks import Then, watched
from mrtr_tools.rounds import Round
from mrtr_tools.state import StateSigner, describe
from mrtr_tools.threads import in_thread
from mrtr_tools.tools import Toolbox

__all__ = ["Observer", "handle_call", "play"]

_log = logging.getLogger("mrtr_tools")


Observer = Callable[[Event], object]
"""Told of every event before it is acted on: of each function of the author before it runs, and of the end."""


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
        _log.warning("requestState refused: %s (%s)", refused.reason, describe(call.state))
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
    toolbox.find(call.method, call.target, call.arguments)  # before anything is done for it
    if call.state is None:
        return Round(toolbox, call)
    opened = signer.loads(call.state, call)
    return Round(toolbox, call, opened.progress, expired=opened.expired)


async def play(machine: Round, observer: Observer | None = None) -> NeedInput | Finished:
    """Run functions of the author until the round is over.

    An async function is awaited in place, any other runs in a thread; each sees a copy of the context variables.

    Raises:
        MissingCapability: a question must be asked that this request's client cannot show.
    """
    while True:
        event = machine.next_event()
        if observer is not None:
            observer(event)
        if not isinstance(event, RunStep):
            break
        try:
            value, made = await _contained(event, machine.toolbox)
        except Exception as error:  # noqa: BLE001  an author's code may raise anything
            machine.raised(error)
        else:
            machine.returned(value, made)
    if isinstance(event, Finished) and event.cause is not None:
        _log.error("%s failed: %s", machine.carrier.name, FAILED, exc_info=event.cause)
    return event


async def _contained(event: RunStep, toolbox: Toolbox) -> tuple[object, Sequence[Then]]:
    """Call a function so that it cannot end the server, or the task that serves the call."""
    try:
        return await _called(event, toolbox)
    except (SystemExit, get_cancelled_exc_class()) as left:
        if not isinstance(left, SystemExit) and _is_cancelled():
            raise
        raise RuntimeError(f"{event.step.signature.where} ended with {type(left).__name__}") from left


def _is_cancelled() -> bool:
    """Whether this call is cancelled, and not just something that a function waited for."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # trio, where nothing else is ever cancelled
        return True
    return task is None or task.cancelling() > 0


async def _called(event: RunStep, toolbox: Toolbox) -> tuple[object, Sequence[Then]]:
    signature = event.step.signature
    context, made = watched(toolbox.step_of)
    if signature.is_async:
        value = context.run(signature.function, **event.arguments)
    else:  # in a list, for trio refuses a coroutine that comes out of a thread
        [value] = await in_thread(lambda: [context.run(signature.function, **event.arguments)])
    if inspect.isawaitable(value) and not isinstance(value, Then):
        value = await _in_context(context, value)
    return value, made


@types.coroutine
def _in_context(context: contextvars.Context, awaitable: Awaitable[object]) -> Generator[Any, Any, object]:
    """Await in a context, so that what a function sets there stays there."""
    steps = awaitable.__await__()
    step: Callable[..., Any] = steps.__next__
    sent: tuple[Any, ...] = ()
    while True:
        try:
            waiting = context.run(step, *sent)
        except StopIteration as done:
            return done.value
        try:
            step, sent = steps.send, ((yield waiting),)
        except BaseException as error:  # noqa: BLE001  cancellation too goes to whom it concerns
            step, sent = steps.throw, (error,)
