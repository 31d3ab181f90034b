"""`Asks`: what a body that asks for itself has asked so far in its call, and what it was answered.

Such a body (`mrtr_tools.porting.resumable`) runs again from its first line in each round. What it asks is told apart by
the order of asking: the first is at ``ask``, the second at ``ask-2``. An ask that was answered gives its answer at
once; the first one that was not ends the run with `Suspended`, and the round with its question.

1. Whatever a body does once it is suspended, the round ends with the questions; nothing that it asks, runs once or
   returns from there on counts.
2. A place has one question. When another is asked there, the run ends with an error of the author that names both.
3. Places are given in the order of calling, which only one task at a time can have; the branches of a ``gather`` have
   places of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Final, cast

from pydantic import JsonValue

from mrtr_tools import questions
from mrtr_tools.calls import Call
from mrtr_tools.carriers import Carrier
from mrtr_tools.endings import count_round, told_above
from mrtr_tools.errors import MissingCapability, ToolError
from mrtr_tools.events import Finished, NeedInput, tool_error, unexpected
from mrtr_tools.forms import Misfit
from mrtr_tools.inputs import PIN_LENGTH
from mrtr_tools.marks import Refused
from mrtr_tools.progress import Open, Progress, Slot
from mrtr_tools.questions import Question
from mrtr_tools.records import record
from mrtr_tools.responses import note_misfit
from mrtr_tools.suspension import Suspended, stuck
from mrtr_tools.templates import shown

__all__ = ["ASK", "GATHER", "Asked", "Asks", "recorded"]

MAX_OPEN: Final = 32
MAX_SWALLOWED: Final = 100
ASK: Final = "ask"
ONCE: Final = "once"
GATHER: Final = "gather"
_TOLD: Final = "told"


_scope: Final[ContextVar[str]] = ContextVar("mrtr_tools_scope", default="")
recorded: Final[ContextVar[dict[str, Slot] | None]] = ContextVar("mrtr_tools_recorded", default=None)
"""Where a test runs a round twice: what was kept of the first run, for the second; else None."""


@record(eq=False)
class Asked:
    """One ask of a body.

    Attributes:
        path: its place.
        pin: what tells its question from another.
        make: makes the question; raises `TypeError` where nothing can show it.
        read: a response as the JSON of an answer, or a refusal; raises `Misfit`.
    """

    path: str
    pin: str
    make: Callable[[], Question] = field(repr=False)
    read: Callable[[JsonValue], JsonValue | Refused] = field(repr=False)


class Asks:
    """The asks of one run of a body.

    Args:
        progress: what the call has; answers and what runs once are kept in it.
        call: the request; its client would be asked.
        where: how messages call the body.
        responses: unread responses to what is open, by wire key; each is taken out when the body comes to its ask.
    """

    def __init__(self, progress: Progress, call: Call, where: str, responses: dict[str, JsonValue]) -> None:
        self.progress = progress
        self.call = call
        self.where = where
        self._responses = responses
        self._counts: dict[str, int] = {}
        self._pending: dict[str, tuple[Asked, Question]] = {}
        self._failure: Exception | None = None
        self._refusals: list[tuple[Exception, MissingCapability]] = []
        self._told_before = cast("int", progress.slots[_TOLD].value) if _TOLD in progress.slots else 0
        self._told = 0
        self._is_suspended = self._is_over = False
        self._suspended_in: set[str] = set()
        self._swallowed = 0

    @property
    def is_stuck(self) -> bool:
        """Whether the body is `stuck`."""
        return self._swallowed >= MAX_SWALLOWED

    @property
    def is_suspended(self) -> bool:
        """Whether the body waits for an answer, and what it does now does not count."""
        return self._is_suspended or self._is_over

    # Places

    def place(self, kind: str) -> str:
        """The next place of a kind: ``ask``, then ``ask-2``.

        Raises:
            Suspended: the body waits for an answer.
            RuntimeError: the body has ended.
        """
        self._require_running()
        name = _scope.get() + kind
        count = self._counts[name] = self._counts.get(name, 0) + 1
        return name if count == 1 else f"{name}-{count}"

    @contextmanager
    def branch(self, place: str, number: int) -> Generator[None]:
        """Places of their own for one of several branches, which may be suspended while others go on."""
        was_suspended = self._is_suspended
        self._is_suspended = self._failure is not None
        try:
            with self.inside(f"{place}.{number}"):
                yield
        finally:
            self._is_suspended = self._is_suspended or was_suspended

    @contextmanager
    def inside(self, place: str) -> Generator[None]:
        """Places of their own for what happens inside of something that has a place."""
        scope = _scope.get()
        _scope.set(f"{place}.")
        try:
            yield
        finally:
            _scope.set(scope)

    def fail(self, error: Exception) -> Suspended:
        """End the run with an error, which no handler of the body can keep from the author."""
        self._failure = self._failure or error
        return self._suspended()

    def _suspended(self) -> Suspended:
        self._is_suspended = True
        self._suspended_in.add(_scope.get())
        return Suspended()

    @contextmanager
    def loudly(self) -> Generator[None]:
        """Fail with a `TypeError` of the author, who may have a handler around that goes ahead without an answer."""
        try:
            yield
        except TypeError as error:
            raise self.fail(error) from error

    def _require_running(self) -> None:
        if self._is_over:
            raise RuntimeError(f"{self.where} has ended, and its ctx with it; nothing can be asked any more")
        if self._is_suspended:
            self._swallowed += 1
            if self.is_stuck:
                stuck.set(True)
            raise self._suspended()

    # Asking

    def ask(
        self, parts: Sequence[str], make: Callable[[], Question], read: Callable[[JsonValue], JsonValue | Refused]
    ) -> Asked:
        """Ask at the next place.

        Args:
            parts: what makes its question the same question.
            make: makes it, where it has no answer yet.
            read: a response as the JSON of an answer.

        Raises:
            Suspended: the body waits for an answer.
            RuntimeError: the body has ended.
        """
        try:
            pin = _pin(parts)
        except TypeError as error:
            raise self.fail(error) from error
        return Asked(self.place(ASK), pin, make, read)

    def answer(self, asked: Asked) -> Slot:
        """The answer to an ask.

        Raises:
            Suspended: there is none yet.
            MissingCapability: this client cannot be asked.
        """
        if self._is_over:
            raise RuntimeError(f"{self.where} has ended; nothing can be asked any more")
        if self._failure is not None:
            raise self._suspended()
        slots, path = self.progress.slots, asked.path
        slot = slots.get(path)
        if slot is not None:
            self._check_same(asked, slot.pin)
            return slot
        key = self._key(path)
        if key is not None:
            opened = self.progress.open[key]
            self._check_same(asked, opened.pin, opened.asked)
            if key in self._responses:
                self._take(asked, key)
        if path not in slots:
            self._wait_for(asked)
        return slots[path]

    def cannot_ask(self, error: Exception, missing: MissingCapability) -> Exception:
        """Note that a body is told of `missing` by an error that it may handle; when it does not, the request fails
        with what was missing."""
        self._refusals.append((error, missing))
        return error

    def missing(self, error: Exception) -> MissingCapability | None:
        """What is behind an error that a body did not handle."""
        return next((missing for told, missing in self._refusals if told is error), None)

    def _key(self, path: str) -> str | None:
        return next((key for key, opened in self.progress.open.items() if opened.path == path), None)

    def _check_same(self, asked: Asked, pin: str, before: Mapping[str, JsonValue] | None = None) -> None:
        if pin == asked.pin:
            return
        was = f"; before it was {_told(Question.from_json(before))}" if before is not None else ""
        raise self.fail(
            TypeError(
                f"{self.where}: the question at {asked.path!r} has moved: this time it is "
                f"{_told(self._made(asked))}{was}. A body that runs again must ask the same in the same order; what "
                "differs from run to run (a time, an id, live data) goes through: await ctx.once(...)"
            )
        )

    def _take(self, asked: Asked, key: str) -> None:
        progress, path = self.progress, asked.path
        try:
            value = asked.read(self._responses.pop(key))
        except Misfit as error:
            try:
                note_misfit(progress, path, str(error))
            except ToolError as given_up:
                raise self.fail(given_up) from None
            return
        progress.open.pop(key)
        progress.misfits.pop(path, None)
        progress.why.pop(path, None)
        refused = value.action if isinstance(value, Refused) else None
        progress.slots[path] = Slot(asked.pin, None if isinstance(value, Refused) else value, refused)

    def _made(self, asked: Asked) -> Question:
        try:
            return asked.make()
        except TypeError as error:
            raise self.fail(error) from error

    def _wait_for(self, asked: Asked) -> None:
        question = self._made(asked)
        if not self.call.client.supports(question.requires):
            raise MissingCapability(question.requires)
        if question.kind == "url" and not (self.call.principal or self.call.anonymous_ok):
            raise self.fail(ToolError("A page cannot be opened for somebody whom this server does not know."))
        if len(self._pending) >= MAX_OPEN:
            raise self.fail(TypeError(f"{self.where} asks more than {MAX_OPEN} questions at once; ask in turn"))
        self._pending[asked.path] = asked, question
        raise self._suspended()

    # What runs once

    def once(self, name: str) -> tuple[str, str]:
        """The place and the pin of what runs once.

        Raises:
            Suspended: the body waits for an answer.
            RuntimeError: the body has ended.
        """
        return self.place(ONCE), _pin([ONCE, name])

    def kept(self, path: str, pin: str, name: str) -> Slot | None:
        """What was kept of it, or None when it has to run.

        Raises:
            Suspended: something else ran there.
        """
        slot = self.progress.slots.get(path) or (recorded.get() or {}).get(f"{self.progress.n} {path}")
        if slot is not None and slot.pin != pin:
            raise self.fail(
                TypeError(
                    f"{self.where}: what runs at {path!r} has moved: this time it is {name}, and before it was another "
                    "function. A body that runs again must do the same in the same order"
                )
            )
        return slot

    def keep(self, path: str, pin: str, value: JsonValue) -> None:
        """Keep what came of it.

        Raises:
            Suspended: it waits for an answer itself, whatever it gave.
        """
        if any(scope.startswith(f"{path}.") for scope in self._suspended_in):
            raise self._suspended()
        slot = self.progress.slots[path] = Slot(pin, value)
        if (record := recorded.get()) is not None:
            record[f"{self.progress.n} {path}"] = slot
        self.progress.ran = True  # from here on the call cannot begin anew

    def is_news(self) -> bool:
        """Whether a message to the client that is sent now was not sent in an earlier run; counts it."""
        if self.is_suspended:
            return False
        self._told += 1
        return self._told > self._told_before

    # The end

    def end(self, carrier: Carrier, step: str, anew: str) -> NeedInput | Finished | None:
        """How the run ends, whatever the body returned or raised; None where that counts.

        Args:
            carrier: what is called.
            step: the name of the current step.
            anew: see `Round.anew`.
        """
        self._is_over = True
        if isinstance(self._failure, ToolError):
            return tool_error(self._failure)
        if self._failure is not None:
            return unexpected(self._failure)
        if not self._pending:
            return None
        try:
            count_round(self.progress, carrier, step)
        except ToolError as too_often:
            return tool_error(too_often)
        self.progress.moves_in_a_row = 0
        self.progress.slots[_TOLD] = Slot("", max(self._told, self._told_before))
        return self._sent(anew)

    def _sent(self, anew: str) -> NeedInput:
        opened: dict[str, Open] = {}
        sent: dict[str, tuple[Question, str]] = {}
        for path, (asked, question) in self._pending.items():
            key = self._key(path) or self._new_key()
            opened[key] = Open(path, asked.pin, question.to_json())
            sent[key] = question, told_above(self.progress, path, question, anew)
        self.progress.open = opened
        return NeedInput(questions.Asked(sent))

    def _new_key(self) -> str:
        """A wire key that was never sent in this call: all asks count as one input."""
        used = self.progress.used[ASK] = self.progress.used.get(ASK, 0) + 1
        return ASK if used == 1 else f"{ASK}-{used}"


def _pin(parts: Sequence[str]) -> str:
    told = "\0".join(parts).encode(errors="surrogatepass")
    return hashlib.sha256(told).hexdigest()[:PIN_LENGTH]


def _told(question: Question) -> str:
    message = question.params.get("message") or question.params.get("messages")
    return f"{question.kind} {shown(str(message))!r}" if message else question.kind
