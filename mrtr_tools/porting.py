"""`resumable`: await-style tools, ``await ctx.elicit(...)`` in the middle of a function, on servers that remember
nothing.

    from mrtr_tools.porting import Context, resumable

    @toolbox.tool
    @resumable
    async def book_table(day: str, ctx: Context) -> str:
        answer = await ctx.elicit(f"Book a table for {day}?", schema=Booking)
        ...

The body runs again from its first line in each round. An ask that was answered gives its answer at once; the first one
that was not ends the run, and its question goes to the client. So:

- What stands before the last ask runs several times. What acts, or reads what may change, goes through
  ``await ctx.once(function, ...)``: it runs once, and what it returned is kept.
- Ask the same in the same order. A time or a random id in a question makes it another one, which ends the call with an
  error that says which question has moved; such things go through `Context.once` too.
- An ask ends a run with an exception that is no `Exception`: ``with`` and ``finally`` are left in each round
  (`Context.is_suspended` tells that from an end). Caught all the same, it still ends the round, and what the body does
  then does not count.
- An ask takes no time: ``wait_for`` around it never runs out. Several at once go through `Context.gather`.
- A question is sent as it is written. What a model or a person wrote goes through `mrtr_tools.shown` before it stands
  in one, or it could hide what is asked.
- Log messages and progress are counted, and sent by the first run that comes to them only.

It is a way to port, and steps are where a ported tool grows to: in these nothing runs twice. A body may end with
``return then(step, ...)``, so that what acts can move first.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, overload

from pydantic import BaseModel, JsonValue

from mrtr_tools import context
from mrtr_tools.asks import GATHER, Asks
from mrtr_tools.calls import Call
from mrtr_tools.errors import DefinitionError
from mrtr_tools.input_requests import Sample, Sampled
from mrtr_tools.marks import BRIDGE, name_of, registered_as
from mrtr_tools.progress import Progress, Slot
from mrtr_tools.response_types import ResponseType, response_type_of
from mrtr_tools.returns import codec_of_result
from mrtr_tools.server import dialects
from mrtr_tools.surroundings import Surroundings
from mrtr_tools.suspension import Suspended
from mrtr_tools.values import Codec, NotCarriable

if TYPE_CHECKING:
    from mrtr_tools.server.dialects import Elicited, Refusal, Root, UrlElicited

__all__ = ["Context", "SamplingResult", "get_context", "resumable"]

_current: Final[ContextVar[Context | None]] = ContextVar("mrtr_tools_asking", default=None)
F = TypeVar("F", bound=Callable[..., object])
R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)

_NOTHING: Final[Any] = object()


def resumable(function: F) -> F:
    """Let an async function ask in its body; put it below ``@toolbox.tool``, ``step``, ``prompt`` or ``resource``.

    Its context is the parameter that is annotated with `Context`, with that of the SDK or of FastMCP, or that is called
    ``ctx`` and has no annotation.

    Raises:
        DefinitionError: it stands above the decorator that registers the function. Whatever else is wrong with the
            function is found there.
    """
    if registered_as(function) is not None:
        raise DefinitionError(f"{name_of(function)}: put @resumable below @toolbox.tool and @toolbox.step, not above")
    try:
        setattr(function, BRIDGE, _bridged)
    except AttributeError:
        raise DefinitionError(f"{name_of(function)} cannot be marked; mark the function it is made from") from None
    return function


def _bridged(
    progress: Progress, call: Call, where: str, responses: dict[str, JsonValue], own: context.Context
) -> tuple[Asks, Context]:
    """What a run of a body is asked, for the round, and what it asks with; see `Asks` for the arguments."""
    asks = Asks(progress, call, where, responses)
    return asks, Context(asks, own)


def get_context() -> Context:
    """The context of the body that runs, for functions below it that are not handed it: FastMCP's `get_context`.

    Raises:
        RuntimeError: no body runs here.
    """
    current = _current.get()
    if current is None:
        raise RuntimeError("get_context() is for what a resumable tool calls; nothing of that kind runs here")
    return current


@dataclass(frozen=True, slots=True)
class SamplingResult:
    """What `Context.sample` gives, as FastMCP has it.

    Attributes:
        text: what the model said.
        sampled: its whole answer.
    """

    text: str
    sampled: Sampled

    @property
    def result(self) -> str:
        """What the model said."""
        return self.text


class Context(Surroundings):
    """What a `resumable` asks with; made for each run of it.

    Its methods are those of the contexts of the SDK and of FastMCP. An ask is made where its method is called, and
    answered where that is awaited. What cannot be asked as it is written, such as a form that is not flat, ends the
    call with an error that no handler of the body catches: many handlers go ahead without an answer.
    """

    __slots__ = ()

    def __init__(self, asks: Asks, own: context.Context) -> None:
        super().__init__(asks, own)
        _current.set(self)

    def __class_getitem__(cls, _: object) -> type[Context]:
        """The class itself: the SDK's is written with its types, ``Context[ServerSession, None]``."""
        return cls

    # Asking a person

    @overload
    def elicit(self, message: str, schema: type[M]) -> Coroutine[Any, Any, Elicited[M]]: ...
    @overload
    def elicit(
        self,
        message: str,
        schema: object,
        *,
        response_title: str | None = None,
        response_description: str | None = None,
    ) -> Coroutine[Any, Any, Elicited[Any]]: ...
    @overload
    def elicit(
        self,
        message: str,
        *,
        response_type: object = None,
        response_title: str | None = None,
        response_description: str | None = None,
    ) -> Coroutine[Any, Any, Elicited[Any]]: ...
    def elicit(
        self,
        message: str,
        schema: object = _NOTHING,
        *,
        response_type: object = None,
        response_title: str | None = None,
        response_description: str | None = None,
    ) -> Coroutine[Any, Any, Any]:
        """Ask a person with a form.

        Args:
            message: the question.
            schema: what is asked for: a flat model, or what FastMCP takes as `response_type`; see `response_types`.
            response_type: the same by FastMCP's name.
            response_title: what an answer of one value is called.
            response_description: what it means.

        Returns:
            The SDK's `AcceptedElicitation` with the answer as `data` (FastMCP's too, where that is imported),
            `DeclinedElicitation` or `CancelledElicitation`.

        Raises:
            MCPError: the client cannot show forms. Not handled, it becomes error -32021 of the request.
        """
        given = response_type if schema is _NOTHING else schema
        try:
            of = response_type_of(given, response_title, response_description)
        except TypeError as error:
            raise self._asks.fail(error) from error
        return self._elicited(self._asking.form(message, of), of)

    async def _elicited(self, answer: Awaitable[Slot], of: ResponseType) -> Elicited[Any]:
        slot = await answer
        return (
            dialects.elicited(of.load(slot.value))
            if slot.refused is None
            else dialects.refused(cast("Refusal", slot.refused))
        )

    def elicit_url(self, message: str, url: str, elicitation_id: str = "") -> Coroutine[Any, Any, UrlElicited]:  # noqa: ARG002  the SDK has it
        """Ask a person to open a page; see `mrtr_tools.ElicitUrl` for what the URL must not hold.

        Args:
            message: why.
            url: https, or http on this machine.
            elicitation_id: goes nowhere: the protocol has none any more.

        Raises:
            MCPError: the client cannot open pages.
        """
        return self._opened(self._asking.url(message, url))

    async def _opened(self, answer: Awaitable[Slot]) -> UrlElicited:
        slot = await answer
        return dialects.url_elicited() if slot.refused is None else dialects.refused(cast("Refusal", slot.refused))

    # Asking the client and its model

    def sample(
        self,
        messages: str | Sequence[object],
        system_prompt: str | None = None,
        *,
        temperature: float | None = None,
        max_tokens: int = 512,
        model_preferences: object = None,
        **more: object,
    ) -> Coroutine[Any, Any, SamplingResult]:
        """Ask the client's model, as FastMCP does; `session.create_message` is the SDK's way.

        Args:
            messages: a text, or texts and messages.
            system_prompt: how the model should behave.
            temperature: how freely it writes.
            max_tokens: the most that it may write, in tokens.
            model_preferences: the protocol's object, or the name of a model, or several.
            more: nothing that can be: with `tools=` or `result_type=`, FastMCP asks in a loop that nobody sees.

        Raises:
            MCPError: the client has no model to ask.
        """
        if more:
            told = f"ctx.sample() takes no {min(more)!r}, which hides a loop of questions to the model; write that loop"
            raise self._asks.fail(TypeError(f"{told}, with ctx.session.create_message(..., tools=...)"))
        wanted = [model_preferences] if isinstance(model_preferences, str) else model_preferences
        if isinstance(wanted, list):
            wanted = {"hints": [{"name": name} for name in cast("list[str]", wanted)]}
        source = Sample(
            messages if isinstance(messages, str) else dialects.plain(messages),
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            temperature=temperature,
            model_preferences=dialects.plain(wanted),
        )
        return self._sampled(self._asking.sample(source))

    async def _sampled(self, answer: Awaitable[Slot]) -> SamplingResult:
        said = cast("dict[str, Any]", (await answer).value)
        sampled = Sampled(said["content"], said["model"], said["role"], said.get("stopReason"))
        return SamplingResult(sampled.text, sampled)

    def list_roots(self) -> Coroutine[Any, Any, list[Root]]:
        """Ask for the client's folders.

        Raises:
            MCPError: the client has none to tell of.
        """
        return self._roots(self._asking.roots())

    async def _roots(self, answer: Awaitable[Slot]) -> list[Root]:
        return dialects.roots((await answer).value).roots

    # Running once, and several at once

    @overload
    def once(
        self, function: Callable[..., Awaitable[R]], /, *args: object, **kwargs: object
    ) -> Coroutine[Any, Any, R]: ...
    @overload
    def once(self, function: Callable[..., R], /, *args: object, **kwargs: object) -> Coroutine[Any, Any, R]: ...
    def once(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> Coroutine[Any, Any, Any]:
        """Run something once in the call: what acts, what reads what may change, what makes an id.

        Args:
            function: sync or async; what it returns is kept, so its return annotation says how it goes into JSON and
                back.
            args: what to call it with, and `kwargs`.

        Returns:
            What it returned when it ran. What it raises is not kept: it runs again in the next round, as it does when
            the process dies inside it. A function without a return annotation, or one that JSON cannot bring back, is
            refused, and so is a result that does not fit it.
        """
        self._asking.require_own_task()
        name = name_of(function)
        with self._asks.loudly():
            codec = codec_of_result(function)
        place, pin = self._asks.once(name)
        return self._run_once(place, pin, name, codec, lambda: function(*args, **kwargs))

    async def _run_once(self, place: str, pin: str, name: str, codec: Codec, run: Callable[[], object]) -> object:
        slot = self._asks.kept(place, pin, name)
        if slot is not None:
            return codec.load(slot.value)
        with self._asks.inside(place):
            value = run()
            if inspect.isawaitable(value):
                value = await value
        try:
            kept = codec.dump(value)
        except NotCarriable as error:
            told = f"once({name}): what it returned does not come back as annotated: {error}"
            raise self._asks.fail(TypeError(told)) from error
        self._asks.keep(place, pin, kept)
        return value

    async def gather(self, *awaitables: Awaitable[Any]) -> list[Any]:
        """Ask several questions in one round: ``await ctx.gather(ctx.elicit(...), check_with_user(ctx))``.

        The branches run one after the other, each as far as its first question without an answer.

        Returns:
            What they returned, in their order.

        Raises:
            Exception: the first that one of them raised, when all have ended.
        """
        results: list[object] = []
        raised: list[Exception] = []
        suspended: Suspended | None = None
        with _closing(awaitables):
            place = self._asks.place(GATHER)
            for number, awaitable in enumerate(awaitables, 1):
                with self._asks.branch(place, number):
                    try:
                        results.append(await awaitable)
                    except Suspended as waits:
                        suspended = waits
                    except Exception as error:  # noqa: BLE001  of the author, and it is raised again
                        raised.append(error)
        if suspended is not None or self._asks.is_suspended:
            raise suspended or Suspended
        if raised:
            raise raised[0]
        return results


@contextmanager
def _closing(awaitables: Sequence[Awaitable[object]]) -> Generator[None]:
    """Close what was not awaited, or Python warns of it."""
    try:
        yield
    finally:
        for awaitable in awaitables:
            if inspect.iscoroutine(awaitable):
                awaitable.close()
