"""Drives a `Round`: one call in, one reply out.

anyio, and what runs functions in threads, are imported where they are needed: a server of async tools does without.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import types
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, cast

from mrtr_tools.calls import Call, Complete, Created, InputRequired, Reply
from mrtr_tools.errors import Busy, DefinitionError, InvalidState, RequestError, ToolError
from mrtr_tools.events import FAILED, Event, Finished, HandBack, NeedInput, RunStep, StartTask
from mrtr_tools.marks import Then, watched
from mrtr_tools.once import Claim, Once
from mrtr_tools.outcomes import Outcome
from mrtr_tools.records import mutable
from mrtr_tools.rounds import Round
from mrtr_tools.state import StateSigner, describe
from mrtr_tools.suspension import Suspended, is_suspension, stuck
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mrtr_tools.single_use.ledger import Ledger

__all__ = ["Act", "Claiming", "End", "Observer", "Start", "handle_call", "log_end", "play", "require_seal", "run_one"]

_log = logging.getLogger("mrtr_tools")


Observer = Callable[[Event], object]
"""Told of every event before it is acted on: of each function of the author before it runs, and of the end."""


End = NeedInput | HandBack | StartTask | Finished
"""How a round ends."""


Act = Callable[[], Awaitable[Outcome | None]]
Claiming = Callable[[Claim, Act], Awaitable[Outcome | None]]
"""Does what is claimed and gives None, or gives what came of it before; see `Ledger.once`."""


Start = Callable[[Round], Awaitable[Created]]
"""Makes a call a task from where its round stands."""


async def handle_call(
    toolbox: Toolbox,
    call: Call,
    signer: StateSigner,
    observer: Observer | None = None,
    *,
    ledger: Ledger | None = None,
    is_busy: Callable[[], bool] | None = None,
    start: Start | None = None,
) -> Reply:
    """Play one round of a call, remembering nothing but what is used once.

    Args:
        toolbox: where the tool is.
        call: the request.
        signer: opens its state and mints the next.
        observer: told what happens.
        ledger: keeps what is used once; without one, such a step is refused.
        is_busy: asked after each `then`; while it says so, the call goes on in another request, which another machine
            may serve, as far as `Round.hand_back` allows.
        start: makes the call a task; without it, none becomes one.

    Returns:
        Questions with the state to come back with, the task that the call goes on as, or the result.

    Raises:
        RequestError: the request cannot be served; it becomes a JSON-RPC error.
        DefinitionError: see `require_seal`.
    """
    require_seal(toolbox, signer)
    try:
        machine = _opened(toolbox, call, signer, can_start=start is not None)
    except InvalidState as refused:
        why = f"{refused.reason}: {refused.because}" if refused.because else refused.reason
        _log.warning("requestState refused: %s (%s)", why, describe(call.state))
        raise
    if machine.anew:
        _log.info("%s begins anew: %s: %s (%s)", call.target, machine.anew, machine.because, describe(call.state))
    driver = _Driver(machine, observer, _nowhere if ledger is None else ledger.once, is_busy)
    event = await (driver.play() if machine.claim is None else driver.play_once())
    if isinstance(event, Finished):
        return event.reply
    if start is not None and isinstance(event, StartTask):
        return await start(machine)
    asked = event if isinstance(event, NeedInput) else NeedInput({})
    try:
        return InputRequired(asked.requests, signer.dumps(machine.progress, call) if asked.keep else None)
    except ToolError as too_large:
        _log.error("%s: %s", call.target, too_large)
        return Complete(str(too_large), is_error=True)


def _opened(toolbox: Toolbox, call: Call, signer: StateSigner, *, can_start: bool) -> Round:
    if call.state is None:
        return Round(toolbox, call, can_start=can_start)
    carrier, _ = toolbox.find(call.method, call.target, call.arguments)  # before anything is done for it
    opened = signer.loads(call.state, call, carrier.ttl)
    return Round(toolbox, call, opened.progress, expired=opened.expired, can_start=can_start)


def require_seal(toolbox: Toolbox, signer: StateSigner) -> None:
    """Refuse to mint states that anybody can read where one may hold a secret.

    Raises:
        DefinitionError: the toolbox carries secrets, and the signer does not seal.
    """
    if not signer.seals and toolbox.steps.carries_secrets:
        raise DefinitionError(
            f"{toolbox.name}: its states may hold secrets (carry_secrets=True), and with seal=False anybody could read "
            "them; leave seal= out"
        )


async def play(machine: Round, observer: Observer | None = None) -> End:
    """Play a round where no request can come twice, so that nothing has to be claimed.

    An async function is awaited in place, any other runs in a thread; each sees a copy of the context variables.

    Raises:
        MissingCapability: a question must be asked that this request's client cannot show.
    """
    return await _Driver(machine, observer, _at_once, None).play()


async def run_one(
    machine: Round, event: RunStep, observer: Observer | None = None, ledger: Ledger | None = None
) -> None:
    """Run one function of the author, for a driver that keeps what the call has after each.

    Raises:
        AlreadyDone: it is of single use and ran before, otherwise.
        Busy: it runs just now, or nobody knows.
    """
    await _Driver(machine, observer, _nowhere if ledger is None else ledger.once, None).run(event)


async def _at_once(_: Claim, act: Act) -> Outcome | None:
    from anyio import CancelScope

    with CancelScope(shield=True):  # nothing is claimed, but what was begun comes to its end here too
        await act()
    return None


async def _nowhere(*_: object) -> Outcome | None:
    _log.error("a step of single use cannot run where no claims are kept: give handle_call() a ledger")
    raise Busy("unavailable")


def log_end(machine: Round, event: Event) -> None:
    """Tell the log what the client is not told."""
    if isinstance(event, Finished) and event.cause is not None:
        told = f"failed: {FAILED}" if event.reply.is_error else "ran, but a repeat will not get its result"
        _log.error("%s %s", machine.carrier.name, told, exc_info=event.cause)


@mutable(eq=False)
class _Driver:
    """Does what a round says."""

    machine: Round
    observer: Observer | None
    once: Claiming
    is_busy: Callable[[], bool] | None

    async def play_once(self) -> End:
        """`play` a round of a tool of single use, as far as it was not played before."""
        machine, held = self.machine, cast("Once", self.machine.carrier.step.once)
        refused: list[RequestError] = []

        async def act() -> Outcome | None:
            try:
                await self._to_the_end()
            except RequestError as error:
                refused.append(error)
                if not machine.has_run:
                    return None
            return machine.outcome(held)

        while machine.claim is not None:
            outcome = await self.once(machine.claim, act)
            if refused:
                raise refused[0]
            if outcome is None:
                break
            machine.replay(outcome, held)
        return await self.play()

    async def play(self) -> End:
        """Run functions of the author until the round is over.

        Raises:
            MissingCapability: a question must be asked that this request's client cannot show.
            AlreadyDone: a step of single use ran before, otherwise.
            Busy: it runs just now, or nobody knows.
            RequestError: the author raised it.
        """
        event = await self._to_the_end()
        if self.observer is not None:
            self.observer(event)
        log_end(self.machine, event)
        if isinstance(event, Finished) and event.failure is not None:
            raise event.failure
        return event

    async def _to_the_end(self) -> End:
        machine = self.machine
        while isinstance(event := machine.next_event(), RunStep):
            await self.run(event)
            if self.is_busy is not None and self.is_busy():
                machine.hand_back()
        return event

    async def run(self, event: RunStep) -> None:
        """Run a function, and claim it before where that must be."""
        await (self._run(event) if event.claim is None else self._run_once(event, event.claim))

    async def _run_once(self, event: RunStep, claim: Claim) -> None:
        machine, held = self.machine, cast("Once", event.step.once)

        async def act() -> Outcome | None:
            await self._run(event)
            return None if machine.asks_again else machine.outcome(held)

        outcome = await self.once(claim, act)
        if outcome is not None:
            machine.restore(outcome, held)

    async def _run(self, event: RunStep) -> None:
        if self.observer is not None:
            self.observer(event)
        try:
            value, made = await _called(event, self.machine.toolbox)
        except Exception as error:  # noqa: BLE001  an author's code may raise anything
            self.machine.raised(error)
        else:
            self.machine.returned(value, made)


def _is_cancellation(error: BaseException) -> bool:
    if isinstance(error, Exception):
        return False
    from anyio import get_cancelled_exc_class

    return isinstance(error, get_cancelled_exc_class())


def _is_cancelled() -> bool:
    """Whether this call is cancelled, and not just something that a function waited for."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # trio, where nothing else is ever cancelled
        return True
    return task is None or task.cancelling() > 0


async def _called(event: RunStep, toolbox: Toolbox) -> tuple[object, Sequence[Then]]:
    """Call a function so that it cannot end the server, or the task that serves the call."""
    signature = event.step.signature
    context, made = watched(toolbox.steps.of)
    try:
        if signature.is_async:
            value = context.run(signature.function, **event.arguments)
        else:  # in a list, for trio refuses a coroutine that comes out of a thread
            from mrtr_tools.threads import in_thread

            [value] = await in_thread(lambda: [context.run(signature.function, **event.arguments)])
        if inspect.isawaitable(value) and not isinstance(value, Then):
            value = await _in_context(context, value)
    except BaseException as left:
        if is_suspension(left):  # the round knows what is asked
            return None, ()
        if not isinstance(left, SystemExit) and (not _is_cancellation(left) or _is_cancelled()):
            raise
        raise RuntimeError(f"{signature.where} ended with {type(left).__name__}") from left
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
        if context.get(stuck):
            raise Suspended
        try:
            step, sent = steps.send, ((yield waiting),)
        except BaseException as error:  # noqa: BLE001  cancellation too goes to whom it concerns
            step, sent = steps.throw, (error,)
