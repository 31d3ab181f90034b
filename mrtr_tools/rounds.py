"""`Round`: the state machine of one round.

A call is played in rounds. Each round begins with what the call has so far (`Progress`) and one request (`Call`), runs
functions of the author, and ends with questions or a result. `Round` decides what comes next; it does no I/O and awaits
nothing, so that one machine serves a request, an old client and a test alike. Whoever drives it does what `next_event`
says and reports back:

    event = round.next_event()    # or MissingCapability: this client cannot be asked
    RunStep    ->  call event.step's function with event.arguments, noting every then() it makes (`marks.watched`);
                   then round.returned(value, made) or round.raised(error)
    NeedInput  ->  keep round.progress (where event.keep), send event.requests; the next round begins with the answers
    HandBack   ->  keep round.progress; the next round begins at once
    StartTask  ->  make round.progress a task, and go on with it there
    Finished   ->  send event.reply

A driver that has too much to do may call `round.hand_back()` after a step went on by `then`; the next event is then a
`HandBack`, where that is allowed.

What runs once (`single_use=True`) is claimed by the driver before it goes on: the round where `round.claim` is set, a
step where `RunStep.claim` is. Whoever claims it keeps `round.outcome()`, but gives a step back when `round.asks_again`.
Whoever comes second does nothing and reports with `round.restore(outcome)`, or for a round with `round.replay`.

What happens next follows from `progress` alone: take the current step; walk its groups from top to bottom; the first
group that is not settled runs its functions and asks its questions; when all are settled the step's body runs; what it
returns is the result, or a `then` that makes another step the current one.

The promises:

1. Each time a call comes to a step its body runs once, except: the process dies inside it; a client sends the same
   state twice, or its very first request twice; it raised `AskAgain`; it is `resumable`, and asks in its body (see
   `asks`). The idempotency key is call id : n : place, where n counts `then` and `AskAgain`. An exception ends the
   call; effects of earlier steps stand.
2. A step sees what it takes: handed-on values, its inputs, its `Context`; nothing else.
3. Responses are read once, when the round begins, against the questions that are open. Unknown keys are ignored;
   missing answers are asked again under the same key; settled ones are never asked again. A key is never used again in
   a call once it was answered or its question was taken back.
4. A fixed question is pinned by a digest of its definition and of what was filled in; reworded, reshaped or filled in
   otherwise, it is asked again, and so is every yes beside and below it. A question made by a function is kept as
   sent, and its answer is checked against that. Answers to what was never asked are not taken, unless a tool takes
   cold answers to its own fixed forms in a call without state.
5. An answer that does not fit is asked again with the reason, 3 times, then a tool error. Decline and cancel are
   answers.
6. What this request's client did not declare is not asked: `Refused("unsupported")` where admitted, else
   `MissingCapability`. A group's fixed questions are checked before its functions run.
7. At most `max_rounds` times ``input_required`` a call, and 1000 functions a round. A driver moves a call on only
   after a `then`, at most 2 times in a row and 3 in all.
8. Progress that expired or no longer fits this build: as if neither it nor the answers had come (the call id stays)
   when no function of the author has run, else `InvalidState` that says so.
9. Handed-on values and answers pass through JSON and the annotation at once, question or not; steps share no objects.
10. A `then` that is not returned, or is inside a result, is an error.
11. `progress` is valid JSON at every edge, and its size does not depend on the number of rounds played.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from pydantic import JsonValue

from mrtr_tools import responses
from mrtr_tools.arguments import Given
from mrtr_tools.calls import Call, Complete
from mrtr_tools.context import Context
from mrtr_tools.endings import ask, hand_back, may_hand_back
from mrtr_tools.errors import InvalidArguments, InvalidParams, InvalidState, MissingCapability, RequestError, ToolError
from mrtr_tools.events import (
    Event,
    Finished,
    RunStep,
    StartTask,
    alone,
    meant_for_the_client,
    tool_error,
    unexpected,
)
from mrtr_tools.input_requests import Source
from mrtr_tools.inputs import Input
from mrtr_tools.marks import AskAgain, Refused, Then, holds_then, name_of
from mrtr_tools.once import Claim, Once, claim_rest, claim_round, claim_step
from mrtr_tools.outcomes import Outcome, outcome_of, restored
from mrtr_tools.progress import Open, Progress
from mrtr_tools.resuming import going_on, resume
from mrtr_tools.steps import Step
from mrtr_tools.task_marks import REQUIRED
from mrtr_tools.tools import Toolbox
from mrtr_tools.upgrades import Unfit, values_before_inputs
from mrtr_tools.walk import Walk

if TYPE_CHECKING:
    from mrtr_tools.asks import Asks  # which comes with those who ask in their bodies

__all__ = ["Round"]

MAX_FUNCTIONS: Final = 1000
NOT_CHANGED: Final = (str, int, float, bool, Refused)  # nor can they be
NOTHING_GIVEN: Final = Given({}, (), "", {})


class Round:
    """One round of a call.

    Args:
        toolbox: where the tool is.
        call: the request.
        progress: what the call has so far; None when it begins.
        expired: whether `progress` is genuine but too old.
        can_start: whether the driver can make the call a task.

    Attributes:
        carrier: what is called.
        progress: what the call has.
        claim: what must be claimed before anything is done, for a tool whose rounds are played once; None for any
            other, and in a round that begins the call, or begins it anew.
        anew: why the call begins anew although it came with progress: ``expired`` or ``no_longer_fits``; else empty.
        because: what of it, for the log.
        has_run: whether a function of the author has run in this round, as far as it was played here.
        asks_again: whether the last function that ran has asked again, and so has not acted.

    Raises:
        InvalidParams: there is no such tool, prompt or resource, or a prompt's or resource's arguments do not fit.
        InvalidState: `progress` came too late or no longer fits, and a function of the author has run.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        call: Call,
        progress: Progress | None = None,
        *,
        expired: bool = False,
        can_start: bool = False,
    ) -> None:
        self.carrier, self._raw = toolbox.find(call.method, call.target, call.arguments)
        self.call = call
        self.toolbox = toolbox
        self._given = NOTHING_GIVEN
        self._event: Event | None = None
        self.has_run = self.asks_again = False
        self._functions = 0
        self._responses: dict[str, JsonValue] = {}
        self._cold = False
        self._digests: dict[int, tuple[object, str]] = {}
        self._skipped: set[str] = set()
        self._went = False
        self._can_start = can_start
        self._asks: Asks | None = None
        self.anew = self.because = ""
        self.claim: Claim | None = None
        is_played_once = self.carrier.single_use and progress is not None and not progress.is_task
        once = self.carrier.step.once if is_played_once else None
        begins = progress is None
        self.progress = Progress() if progress is None else progress
        claim = claim_round(self.progress, call.responses, once.on_crash, self.carrier.ttl) if once else None
        try:
            resumed = resume(toolbox, self.carrier, call, self._raw, self.progress, begins=begins, expired=expired)
            self.progress, self._given = resumed.progress, resumed.given
            self._responses, self._cold = resumed.cold, bool(resumed.cold)
            self.anew, self.because = resumed.anew, resumed.because
            if resumed.goes_on:  # else there is nothing to claim, as in a first request
                self.claim = claim
                self._responses = responses.read_responses(self.progress, self.step, call.responses)
        except InvalidArguments as error:
            if self.call.method != "tools/call":
                raise InvalidParams(str(error)) from None
            self._event = tool_error(error)
        except ToolError as error:
            self._event = tool_error(error)
        except RequestError:
            raise
        except Exception as error:  # noqa: BLE001  validators and defaults are the author's code
            self._event = unexpected(error)

    @property
    def step(self) -> Step:
        """The current step."""
        return cast("Step", self.toolbox.steps.named(self.progress.step)) if self.progress.step else self.carrier.step

    @property
    def place(self) -> str:
        """The name of the current step as it was when the call came to it: what it does is known by this."""
        return self.progress.formerly or self.step.name

    def next_event(self) -> Event:
        """What comes next; the same again until it was done.

        Raises:
            MissingCapability: a question must be asked that this request's client cannot show.
        """
        if self._event is None:
            self._went = False
            try:
                self._event = self._next()
            except ToolError as error:
                self._event = tool_error(error)
            except MissingCapability:
                raise
            except Exception as error:  # noqa: BLE001  templates and conditions run the author's code
                self._event = unexpected(error)
        return self._event

    def returned(self, value: object, made: Sequence[Then] = ()) -> None:
        """The function of the last `RunStep` returned `value`, and made these `then` while it ran."""
        step, pin = self._done()
        if self._has_broken_off():
            return
        try:
            if (made and any(going is not value for going in made)) or holds_then(value):
                raise TypeError(f"{step.signature.where} made a then() that it did not return; write: return then(...)")
            if step is not self.step:
                self._made(self.step.inputs[step.name], pin, value)
            elif isinstance(value, Then):
                self._go(value)
            else:
                self._end(step, value)
        except ToolError as error:
            self._event = tool_error(error)
        except Exception as error:  # noqa: BLE001  a result goes through the author's types
            self._event = unexpected(error)

    def raised(self, error: Exception) -> None:
        """The function of the last `RunStep` raised `error`."""
        step, _ = self._done()
        asks = self._asks
        if self._has_broken_off():
            return
        error = alone(error)
        if asks is not None:
            error = asks.missing(error) or meant_for_the_client(error) or error
        if isinstance(error, ToolError):
            self._event = tool_error(error)
        elif isinstance(error, RequestError):
            self._event = Finished(Complete(error.message, is_error=True), failure=error)
        elif isinstance(error, AskAgain):
            try:
                self._ask_again(step, error.reasons)
            except TypeError as wrong:
                self._event = unexpected(wrong)
        else:
            self._event = unexpected(error)

    def outcome(self, once: Once) -> Outcome:
        """What was done, as JSON, for `restore` in a round that must not do it again.

        Args:
            once: of the step that was claimed, or of the tool when the round was.
        """
        outcome, self._event = outcome_of(self._event, self.progress, self.carrier, once)
        return outcome

    def restore(self, outcome: Outcome, once: Once) -> None:
        """Go on as if what left this outcome had just been done.

        Raises:
            InvalidState: another build left it, and the call cannot go on from there in this one.
        """
        self._event, progress = restored(outcome, self.carrier, once)
        self._responses, self._cold = {}, False
        if progress is not None:
            try:
                self._given = going_on(self.toolbox, self.carrier, self._raw, progress)
            except Unfit as unfit:
                raise InvalidState("no_longer_fits", public="no_longer_fits", because=str(unfit)) from None
            self.progress = progress

    def replay(self, outcome: Outcome, once: Once) -> None:
        """Go on as the round did that left this outcome; what is left of one that was cut short is claimed next."""
        self.restore(outcome, once)
        self.claim = claim_rest(self.progress, once.on_crash, self.carrier.ttl) if self._event is None else None

    # What comes next

    def _next(self) -> Event:
        step = self.step
        as_task = self._as_task(step)
        if as_task and step is not self.carrier.step:
            return StartTask()
        walk = Walk(self.progress, self.call, step, self._context, self._responses, self._cold, self._digests)
        values = values_before_inputs(self.carrier, step, self._given, self.progress)
        first = walk.through(step, values)
        self._skipped = walk.skipped
        if first is not None:
            return self._run(first.maker, first.values, first.pin)
        if walk.asks:
            return ask(self.progress, self.carrier, self.call, step.name, walk.asks, anew=self.anew)
        if as_task:
            return StartTask()
        return self._run(step, values) if step.once is None else self._run_once(step, step.once, values)

    def _as_task(self, step: Step) -> bool:
        """Whether the call goes on as a task, before the step asks or, for its first step, before that runs.

        Raises:
            MissingCapability: it cannot go on otherwise, and its client knows no tasks.
            ToolError: likewise, for somebody whom nobody has authenticated.
        """
        if step.task is None or self.progress.is_task:
            return False
        knows = self.call.client.supports(REQUIRED)
        may_start = self._can_start and self.call.method == "tools/call"
        if knows and may_start and (self.call.principal or self.call.anonymous_ok):
            return True
        if not step.task.is_required:
            return False
        if not knows:
            raise MissingCapability(REQUIRED)
        raise ToolError("This cannot be done as a task here.")

    def _run_once(self, step: Step, once: Once, values: Mapping[str, object]) -> Event:
        if not (self.call.principal or self.call.anonymous_ok):
            raise ToolError("This cannot be done for somebody whom this server does not know.")
        if not (
            self.progress.born or self.progress.is_task
        ):  # the same request may come again as another call, and nobody could tell
            return hand_back(self.progress, self.carrier, step.name)
        return replace(self._run(step, values), claim=claim_step(self.progress, once, self.call, self.carrier.ttl))

    def hand_back(self) -> bool:
        """Let the call go on in another request, perhaps on another machine; only after a step went on by `then`.

        Returns:
            Whether it does. It does not when it was moved 2 times in a row, or 3 times in all, or when a question could
            not be asked any more.
        """
        if self._went and may_hand_back(self.progress, self.carrier):
            self._event = hand_back(self.progress, self.carrier, self.step.name)
            return True
        return False

    def _run(self, step: Step, values: Mapping[str, object], pin: str = "") -> RunStep:
        self._functions += 1
        if self._functions > MAX_FUNCTIONS:
            raise ToolError(f"The call ran {MAX_FUNCTIONS} functions in one round without an end, at {step.name!r}.")
        arguments = {
            name: _own(values[name]) if name in values else parameter.default()
            for name, parameter in step.signature.parameters.items()
        }
        if step.signature.context is not None:
            context = self._context(step)
            arguments[step.signature.context] = context if step.bridge is None else self._bridged(step, context)
        return RunStep(step, arguments, pin)

    def _bridged(self, step: Step, context: Context) -> object:
        """What a body asks with for itself."""
        bridge = cast("Callable[..., tuple[Asks, object]]", step.bridge)
        self._asks, given = bridge(self.progress, self.call, step.signature.where, self._responses, context)
        return given

    def _context(self, step: Step) -> Context:
        place = self.place if step is self.step else f"{self.place}/{step.name}"
        return Context(
            call_id=self.progress.call,
            idempotency_key=f"{self.progress.call}:{self.progress.n}:{place}",
            round=self.progress.rounds,
            principal=self.call.principal,
            client=self.call.client,
            lifespan=self.call.lifespan,
            channel=self.call.channel,
        )

    # What a function did

    def _done(self) -> tuple[Step, str]:
        if not isinstance(self._event, RunStep):
            raise RuntimeError("no function is running: call next_event() first")  # noqa: TRY004  a driver's mistake in order
        done, self._event = self._event, None
        self.has_run = True
        self.progress.ran = self.progress.ran or done.step.bridge is None  # one that runs again anyway may begin anew
        self.asks_again = False
        return done.step, done.pin

    def _has_broken_off(self) -> bool:
        """Whether a body that asks for itself ends the round, whatever it returned or raised."""
        asks, self._asks = self._asks, None
        self._event = asks.end(self.carrier, self.step.name, self.anew) if asks is not None else None
        return self._event is not None

    def _made(self, item: Input, pin: str, value: object) -> None:
        """An input's function returned a question or the value."""
        if isinstance(value, Then):
            raise TypeError(
                f"{name_of(value.step)}: only a step can go on with then(); the function of {item.path!r} cannot"
            )
        if isinstance(value, Source):
            key = responses.open_key(self.progress, item.path)
            self.progress.open[key] = Open(item.path, pin, item.made(value).to_json())
        elif isinstance(value, Refused):
            responses.refuse(self.progress, item, pin, value.action)
        else:
            responses.settle(self.progress, item, pin, item.dump(value))

    def _end(self, step: Step, value: object) -> None:
        """What the last step returned is the result."""
        if isinstance(value, Source):
            raise TypeError(f"{step.signature.where} returned a question; ask it with @needs_input")
        if isinstance(value, Refused):
            raise TypeError(f"{step.signature.where} returned a refusal; return a text, or raise ToolError")
        self._event = Finished(self.carrier.complete(value))

    def _go(self, going: Then) -> None:
        """Make another step the current one."""
        step = self.toolbox.steps.of(going.step)
        if step is None or not step.may_follow:
            raise TypeError(f"then() goes to a step of {self.toolbox!r}; mark {name_of(going.step)} with its @step")
        same = [
            name for name, value in going.carried.items() if self.carrier.arguments.is_same(self._given, name, value)
        ]
        self.progress.n += 1
        self.progress.ran = True
        if step.once is not None:
            self.progress.visits[step.once.name] = self.progress.visits.get(step.once.name, 0) + 1
        self.progress.step, self.progress.formerly = step.name, ""
        self.progress.carried = {name: value for name, value in going.carried.items() if name not in same}
        self.progress.same = same
        responses.withdraw(self.progress)
        self.progress.slots, self.progress.why, self.progress.misfits = {}, {}, {}
        self._responses, self._cold = {}, False
        self._went = True

    def _ask_again(self, step: Step, reasons: Mapping[str, str]) -> None:
        inside = "" if step is self.step else step.name
        for name, why in reasons.items():
            if not responses.ask_again(self.progress, self.step, name, why, inside=inside, skipped=self._skipped):
                asked = ", ".join(each for each in self.step.inputs if each not in self._skipped) or "nothing"
                raise TypeError(f"AskAgain({name}=...): {step.signature.where} asked for no {name!r}, but for {asked}")
        self.progress.n += 1
        self.asks_again = True


def _own(value: object) -> object:
    """An object of a function's own, so that no other sees what it does to it."""
    return value if value is None or isinstance(value, NOT_CHANGED) else copy.deepcopy(value)
