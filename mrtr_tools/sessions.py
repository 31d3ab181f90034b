"""`Session`: the client of a call, as the body of an await-style tool knows it; and `Asking`, which it asks with.

It looks like the SDK's `ServerSession` as far as a tool can use that: to ask, to look at capabilities, to send log
messages and progress.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

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
from mrtr_tools.response_types import ResponseType, raw_form
from mrtr_tools.sampling import read_sampled
from mrtr_tools.server import dialects

if TYPE_CHECKING:
    from mrtr_tools.server.dialects import types

__all__ = ["Asking", "RequestContext", "Session"]

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
        self.require_own_task()
        return self._answer(self.asks.ask(parts, make, read))

    async def _answer(self, asked: Asked) -> Slot:
        try:
            return self.asks.answer(asked)
        except MissingCapability as missing:
            error = dialects.cannot_be_asked(asked.make().kind, missing.required)
            raise self.asks.cannot_ask(error, missing) from None


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


class Session:
    """The client of a call, in place of the SDK's `ServerSession`.

    Args:
        asking: what the body asks with.
    """

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"ctx.session.{name} is not there for a resumable tool, whose client has no session; it can ask, look at "
            "capabilities, log and report progress"
        )

    @property
    def client_params(self) -> types.InitializeRequestParams:
        """What the client of this request told about itself."""
        return dialects.client_params(self._asking.context.client)

    @property
    def client_capabilities(self) -> types.ClientCapabilities:
        """What the client of this request declared."""
        return self.client_params.capabilities

    def check_client_capability(self, capability: types.ClientCapabilities) -> bool:
        """Whether the client of this request declared something."""
        return dialects.has_capability(self._asking.context.client, capability)

    def elicit(
        self, message: str, requested_schema: object = None, related_request_id: object = None, **older: object
    ) -> Coroutine[Any, Any, types.ElicitResult]:
        """Ask with a form whose schema is a dict; ``requestedSchema=`` of older SDKs is the same."""
        return self.elicit_form(message, older.get("requestedSchema", requested_schema), related_request_id)

    def elicit_form(
        self,
        message: str,
        requested_schema: object,
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> Coroutine[Any, Any, types.ElicitResult]:
        """Ask with a form whose schema is a dict."""
        with self._asking.asks.loudly():
            of = raw_form(requested_schema)
        return self._raw(self._asking.form(message, of))

    def elicit_url(
        self,
        message: str,
        url: str,
        elicitation_id: str = "",  # noqa: ARG002  the SDK has it
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> Coroutine[Any, Any, types.ElicitResult]:
        """Ask for a page to be opened."""
        return self._raw(self._asking.url(message, url))

    async def _raw(self, answer: Awaitable[Slot]) -> types.ElicitResult:
        slot = await answer
        if slot.refused is not None:
            return dialects.raw_elicited(cast("Any", slot.refused), None)
        return dialects.raw_elicited("accept", slot.value if isinstance(slot.value, dict) else None)

    def create_message(
        self,
        messages: Sequence[object],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        include_context: str | None = None,  # noqa: ARG002  the SDK has it
        temperature: float | None = None,
        stop_sequences: Sequence[str] | None = None,
        metadata: object = None,  # noqa: ARG002  the SDK has it
        model_preferences: object = None,
        tools: Sequence[object] | None = None,
        tool_choice: object = None,
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> Coroutine[Any, Any, types.CreateMessageResult | types.CreateMessageResultWithTools]:
        """Ask the client's model. `include_context` and `metadata` stay here: a client may ignore them, and most do."""
        source = Sample(
            dialects.plain(messages),
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            temperature=temperature,
            stop_sequences=stop_sequences,
            model_preferences=dialects.plain(model_preferences),
            tools=dialects.plain(tools),
            tool_choice=dialects.plain(tool_choice),
        )
        return self._message(self._asking.sample(source), with_tools=tools is not None or tool_choice is not None)

    async def _message(
        self, answer: Awaitable[Slot], *, with_tools: bool
    ) -> types.CreateMessageResult | types.CreateMessageResultWithTools:
        return dialects.sampled((await answer).value, with_tools=with_tools)

    def list_roots(self) -> Coroutine[Any, Any, types.ListRootsResult]:
        """Ask for the client's folders."""
        return self._roots(self._asking.roots())

    async def _roots(self, answer: Awaitable[Slot]) -> types.ListRootsResult:
        return dialects.roots((await answer).value)

    async def send_elicit_complete(self, elicitation_id: str) -> None:
        """Do nothing: since 2026-07-28 the protocol does not tell a client that a page is done."""

    async def send_log_message(
        self,
        level: str,
        data: JsonValue,
        logger: str | None = None,
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> None:
        """Send a log message; what an earlier run sent is not sent again."""
        await self._asking.log(level, data, logger)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the request is; what an earlier run told is not told again."""
        await self._asking.report_progress(progress, total, message)

    async def send_progress_notification(
        self,
        progress_token: object,  # noqa: ARG002  the SDK has it
        progress: float,
        total: float | None = None,
        message: str | None = None,
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> None:
        """Tell how far the request is; it always goes to the token of this request."""
        await self._asking.report_progress(progress, total, message)


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The request of a call, in place of the SDK's.

    Attributes:
        session: the client.
        request_id: names the whole call, and so is the same in each of its rounds.
        lifespan_context: what the server's lifespan gave.
    """

    session: Session
    request_id: str
    lifespan_context: Any
