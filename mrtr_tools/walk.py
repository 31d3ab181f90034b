"""One walk through the groups of a step: what is settled, what must be asked, what must run first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, cast

from pydantic import JsonValue

from mrtr_tools import responses
from mrtr_tools.calls import Call
from mrtr_tools.context import Context
from mrtr_tools.errors import MissingCapability, ToolError
from mrtr_tools.inputs import Group, Input
from mrtr_tools.progress import Open, Progress
from mrtr_tools.questions import Question
from mrtr_tools.records import mutable, record
from mrtr_tools.steps import Step

__all__ = ["Ask", "First", "Walk"]


@mutable(eq=False)
class Ask:
    """An input without an answer.

    Attributes:
        item: the input it belongs to.
        question: what to send; None where its function must run first.
        pin: what tells this question from another.
    """

    item: Input
    question: Question | None
    pin: str


@record(shown=False)
class First:
    """A function of an input that must run before anything is asked.

    Attributes:
        maker: the function.
        values: what it may take.
        pin: what tells what it makes from what it would make of other values.
    """

    maker: Step
    values: Mapping[str, object]
    pin: str


_no_asks: Final = cast("Callable[[], list[Ask]]", list)  # ten times as quick as calling list[Ask]
_no_paths: Final = cast("Callable[[], set[str]]", set)


@mutable(eq=False)
class Walk:
    """A walk from the top.

    Attributes:
        progress: what is settled so far. On the way answers are taken, and inputs that this client cannot be asked are
            settled where they admit it.
        call: the request; its client would be asked.
        step: the current step.
        context: makes the `Context` of a function, which a text may name the handle of.
        responses: unread responses by wire key; each is taken out when the walk comes to its question.
        cold: whether they came before their questions were asked.
        digests: of the values that functions were given in this round, by identity.
        asks: the questions of the first group that is not settled.
        skipped: paths of inputs whose condition says no.
    """

    progress: Progress
    call: Call
    step: Step
    context: Callable[[Step], Context]
    responses: dict[str, JsonValue]
    cold: bool
    digests: dict[int, tuple[object, str]]
    asks: list[Ask] = field(default_factory=_no_asks)
    skipped: set[str] = field(default_factory=_no_paths)

    def through(self, owner: Step, values: dict[str, object]) -> First | None:
        """Fill `values` group by group, up to the first group that is not settled.

        Returns:
            A function of an input that must run before anything is asked; else None.

        Raises:
            MissingCapability: a question must be asked that this client cannot show.
            ToolError: something was refused that must not be, or did not fit too often.
        """
        for place, group in enumerate(owner.groups):
            if group.only_if is not None and not group.only_if.holds(values):
                self._skip(group, values)
                continue
            known = dict(values)
            open_inputs = [item for item in group.inputs if item.name not in known]
            waiting = self._unsettled(owner, open_inputs, known, values)
            if waiting:
                waiting = self._refuse_unsupported(waiting, values)
            first: First | None = None
            for ask in waiting:  # to the end, so that no function runs before all questions of the group are checked
                if ask.question is not None:
                    self.asks.append(ask)
                else:
                    found = self._before_making(ask, known)
                    first = first or found
            if waiting:
                for below in owner.groups[place + 1 :]:  # a yes there was given to what is asked anew
                    responses.withdraw_yeses(self.progress, below.inputs, inner=True)
                return first
        return None

    def _unsettled(
        self, owner: Step, inputs: Sequence[Input], known: Mapping[str, object], values: dict[str, object]
    ) -> list[Ask]:
        """What is to be asked of a group, and each yes beside what is asked for the first time, or otherwise than it
        was: another build asks it, and whoever said yes has not seen it."""
        waiting = self._settle_each(owner, inputs, known, values)
        if waiting and self.progress.slots and any(self._is_new(ask.item) for ask in waiting):
            responses.withdraw_yeses(self.progress, inputs, inner=False)
        open_still = [item for item in inputs if item.path not in self.progress.slots]
        if len(open_still) == len(waiting):
            return waiting
        return self._settle_each(owner, inputs, known, values)  # one has taken the answer of another with it

    def _settle_each(
        self, owner: Step, inputs: Sequence[Input], known: Mapping[str, object], values: dict[str, object]
    ) -> list[Ask]:
        waiting: list[Ask] = []
        for item in inputs:
            ask = self._settle(owner, item, known, values)
            if ask is not None:
                waiting.append(ask)
        return waiting

    def _is_new(self, item: Input) -> bool:
        """Whether nothing was asked, answered or made for an input so far."""
        seen = {*self.progress.slots, *(question.path for question in self.progress.open.values())}
        if item.maker is not None and item.maker.groups:  # it may ask again for all that it asked
            seen.update(self.progress.used)
        return not any(item.path in responses.around(path) for path in seen)

    def _before_making(self, ask: Ask, known: Mapping[str, object]) -> First | None:
        """What must run so that an input's function can: one of its own inputs', or itself when they are settled."""
        maker, pin = cast("Step", ask.item.maker), ask.pin
        values = {
            name: known[name] for name in maker.signature.parameters if name in known and name not in maker.carried
        }
        asked = len(self.asks)
        first = self.through(maker, values)
        return first if first is not None or len(self.asks) > asked else First(maker, values, pin)

    def _settle(self, owner: Step, item: Input, known: Mapping[str, object], values: dict[str, object]) -> Ask | None:
        """Put an input's answer into `values`, kept or new; without one, give what is to be asked."""
        slot = self.progress.slots.get(item.path)
        if slot is not None and item.is_static and slot.pin == item.pin and item.fill(values, slot):
            return None
        key = responses.open_key(self.progress, item.path)
        kept = self.progress.open.get(key)
        question = self._question(owner, item, known, kept)
        pins = item.pins if item.is_static else item.pins_for(question, self._given(owner, item, known))
        if kept is not None and kept.pin not in pins:  # asked otherwise than it would be now: nobody answered this
            responses.forget(self.progress, self.step, item.path, item.path.rpartition(".")[0])
            kept, question = None, self._question(owner, item, known, None)
            key = responses.open_key(self.progress, item.path)
        ask = Ask(item, question, pins[0])
        if question is not None and key in self.responses and (kept is not None or self.cold):
            responses.take(self.progress, item, question, pins[0], self.responses.pop(key))
        slot = self.progress.slots.get(item.path)
        if slot is None:
            return ask
        if slot.pin not in pins or not item.fill(values, slot):
            responses.forget(self.progress, self.step, item.path, item.path.rpartition(".")[0])
            return ask if question is not None or item.maker is None else Ask(item, None, pins[0])
        if slot.pin != pins[0]:  # the step has a new name; the next build may not know the old one
            self.progress.slots[item.path] = replace(slot, pin=pins[0])
        return None

    def _given(self, owner: Step, item: Input, known: Mapping[str, object]) -> str:
        """A digest of what an input's function is given; each value is digested once a round."""
        parts: list[str] = []
        for name in sorted(item.given):
            value, (seen, digest) = known[name], self.digests.get(id(known[name]), (None, ""))
            if seen is not value or not digest:
                taken = owner.carried.get(name) or self.step.carried[name]
                digest = taken.digest(value)
                self.digests[id(value)] = (value, digest)
            parts.append(f"{name} {digest}")
        return ",".join(parts)

    def _question(self, owner: Step, item: Input, known: Mapping[str, object], kept: Open | None) -> Question | None:
        """The question of an input as it is asked now; None where a function has yet to make it."""
        if item.draft is None:
            return Question.from_json(kept.asked) if kept is not None and kept.asked is not None else None
        if item.draft.plain is not None:
            return item.draft.plain
        context = owner.signature.context
        nameable = known if context is None else {**known, context: self.context(owner)}
        return item.draft.question(nameable)

    def _skip(self, group: Group, values: dict[str, object]) -> None:
        for item in group.inputs:
            if item.name not in values:
                self.skipped.add(item.path)
                if item.carried is not None:
                    values[item.name] = item.carried.parameter.default()

    def _refuse_unsupported(self, waiting: Sequence[Ask], values: dict[str, object]) -> list[Ask]:
        """Settle what this client cannot be asked, where that is admitted, before any function runs for the group.

        Returns:
            What is still to be asked or made.

        Raises:
            MissingCapability: this client cannot show one of them, and its parameter admits no refusal.
            ToolError: a page would be opened for nobody in particular.
        """
        missing: dict[str, dict[str, JsonValue]] = {}
        left: list[Ask] = []
        for ask in waiting:
            question, item = ask.question, ask.item
            if question is None or self.call.client.supports(question.requires):
                if (
                    question is not None
                    and question.kind == "url"
                    and not (self.call.principal or self.call.anonymous_ok)
                ):
                    raise ToolError("A page cannot be opened for somebody whom this server does not know.")
                left.append(ask)
            elif item.admits_refused:
                responses.refuse(self.progress, item, ask.pin, "unsupported")
                item.fill(values, self.progress.slots[item.path])
            else:
                for capability, parts in question.requires.items():
                    missing.setdefault(capability, {}).update(cast("dict[str, JsonValue]", parts))
        if missing:
            raise MissingCapability(cast("dict[str, JsonValue]", missing))
        return left
