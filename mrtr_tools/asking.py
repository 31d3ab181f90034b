"""`Asking`: how the body of an await-style tool asks, each question a place of its `Asks`."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, cast

import anyio
from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools.asks import Asked, Asks
from mrtr_tools.context import Context, LogLevel
from mrtr_tools.errors import MissingCapability
from mrtr_tools.input_requests import Confirm, Elicit, ElicitUrl, ListRoots, Sample
from mrtr_tools.marks import Refused
from mrtr_tools.progress import Slot
from mrtr_tools.questions import Question, read_response, read_roots
from mrtr_tools.response_types import ResponseType
from mrtr_tools.sampling import read_sampled
from mrtr_tools.server import dialects
from mrtr_tools.suspension import Suspended

__all__ = ["Asking"]

Read = Callable[[JsonValue], JsonValue | Refused]


class Asking:
    """The asks of one run of a body, made in the task that runs it.

    Each method asks when it is called and gives the answer when it is awaited, as a `Slot`. What cannot be asked as it
    is written, such as a form that is not flat, ends the run with an error of the author that no handler catches: many
    handlers go ahead without an answer.

    Args:
        asks: what was asked and answered so far.
        context: what the body may know about its call.
    """

    def __init__(self, asks: Asks, context: Context) -> None:
        self.asks = asks
        self.context = context
        self._task = _current_task()

    def form(self, message: str, of: ResponseType) -> Awaitable[Slot]:
        """A form, or a yes where it has no fields."""

        def make() -> Question:
            return Question.made(Confirm(message) if of.is_yes else Elicit(message), of.schema)

        return self._ask(["form", message, of.digest], make, functools.partial(_form_answer, of))

    def url(self, message: str, url: str) -> Awaitable[Slot]:
        """A page to open."""
        return self._ask(["url", message, url], lambda: Question.made(ElicitUrl(message, url), None), _url_answer)

    def sample(self, source: Sample) -> Awaitable[Slot]:
        """A question to the client's model."""
        with self.asks.loudly():
            question = Question.made(source, None)
        return self._ask(["sample", to_json(question.params).decode()], lambda: question, _model_answer)

    def roots(self) -> Awaitable[Slot]:
        """The client's folders."""
        return self._ask(["roots"], lambda: Question.made(ListRoots(), None), _roots_answer)

    async def log(self, level: str, data: JsonValue, logger: str | None) -> None:
        """A log message, unless it was sent in an earlier run."""
        if self.asks.is_news():
            await self.context.log(cast("LogLevel", level), data, logger)

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """How far the request is, unless that was sent in an earlier run."""
        if self.asks.is_news():
            await self.context.report_progress(progress, total, message)

    def require_own_task(self) -> None:
        """See that nothing is asked in two tasks at a time, for then there is no order of asking.

        Raises:
            Suspended: this is not the task that runs the body.
        """
        current = _current_task()
        if self._task in (None, current) or _is_waited_for(current, self._task):
            return
        raise self.asks.fail(
            RuntimeError(
                f"{self.asks.where} asks in a task or thread beside its own, where no order of asking is sure; ask in"
                " the body itself, several at once with: await ctx.gather(...)"
            )
        )

    def _ask(self, parts: Sequence[str], make: Callable[[], Question], read: Read) -> Awaitable[Slot]:
        if self.asks.is_stuck:
            return _for_ever()
        self.require_own_task()
        return self._answer(self.asks.ask(parts, make, read))

    async def _answer(self, asked: Asked) -> Slot:
        try:
            return self.asks.answer(asked)
        except MissingCapability as missing:
            error = dialects.cannot_be_asked(asked.make().kind, missing.required)
            raise self.asks.cannot_ask(error, missing) from None


async def _for_ever() -> Slot:
    await anyio.sleep_forever()
    raise Suspended


def _form_answer(of: ResponseType, raw: JsonValue) -> JsonValue | Refused:
    response = read_response(raw)
    if response.action != "accept":
        return Refused(response.action)
    answer = of.read(response.content)
    return Refused("decline") if of.is_yes and answer is False else answer


def _url_answer(raw: JsonValue) -> JsonValue | Refused:
    response = read_response(raw)
    return True if response.action == "accept" else Refused(response.action)


def _model_answer(raw: JsonValue) -> JsonValue:
    answer = read_sampled(raw)
    stop = {} if answer.stop_reason is None else {"stopReason": answer.stop_reason}
    return {"role": answer.role, "content": cast("JsonValue", answer.content), "model": answer.model, **stop}


def _roots_answer(raw: JsonValue) -> JsonValue:
    return [{"uri": root.uri, **({} if root.name is None else {"name": root.name})} for root in read_roots(raw)]


def _current_task() -> object:
    """The task that runs now, or None where nothing does."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        pass
    try:
        return anyio.get_current_task().id
    except RuntimeError:
        return None


_release_waiter: Final = getattr(asyncio.tasks, "_release_waiter", None)


def _is_waited_for(task: Any, body: Any) -> bool:
    """Whether a task is what `asyncio.wait_for` runs in the body: in Python 3.11 in a task of its own, for which the
    body waits and does nothing else."""
    waiting = getattr(body, "_fut_waiter", None)
    return waiting is not None and any(
        isinstance(callback, functools.partial) and callback.func is _release_waiter and callback.args == (waiting,)
        for callback, _ in getattr(task, "_callbacks", None) or ()
    )
