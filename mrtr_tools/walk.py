"""One walk through the groups of a step: what is settled, what must be asked, what must run first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from pydantic import JsonValue

from mrtr_tools import responses
from mrtr_tools.calls import Call
from mrtr_tools.context import Context
from mrtr_tools.errors import MissingCapability, ToolError
from mrtr_tools.inputs import Group, Input
from mrtr_tools.marks import Refused
from mrtr_tools.progress import Progress
from mrtr_tools.questions import Question
from mrtr_tools.steps import Step

__all__ = ["Ask", "Walk"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to send.

    Attributes:
        item: the input it belongs to.
        question: what to send.
    """

    item: Input
    question: Question


@dataclass(slots=True)
class Walk:
    """A walk from the top.

    Attributes:
        progress: what is settled so far; on the way, cold answers are taken, and inputs that this client cannot be
            asked are settled where they admit it.
        call: the request; its client would be asked.
        step: the current step.
        context: makes the `Context` of a function, which a text may name the handle of.
        cold: answers that came before their question, by path; what is reached is taken out.
        asks: the questions of the first group that is not settled.
        skipped: paths of inputs whose condition says no.
    """

    progress: Progress
    call: Call
    step: Step
    context: Callable[[Step], Context]
    cold: dict[str, JsonValue]
    asks: list[Ask] = field(default_factory=list[Ask])
    skipped: set[str] = field(default_factory=set[str])

    def through(self, owner: Step, values: dict[str, object]) -> tuple[Step, dict[str, object]] | None:
        """Fill `values` group by group, up to the first group that is not settled.

        Returns:
            A function of an input that must run before anything is asked, with its values; else None.

        Raises:
            MissingCapability: a question must be asked that this client cannot show.
            ToolError: a cold answer refuses what must not be refused.
        """
        for group in owner.groups:
            if group.only_if is not None and not group.only_if.holds(values):
                self._skip(group, values)
                continue
            known = dict(values)
            waiting = [item for item in group.inputs if item.name not in known and not self._settled(item, values)]
            self._check_client(waiting)
            waiting = [item for item in waiting if not self._settled(item, values)]
            first: tuple[Step, dict[str, object]] | None = None
            for item in waiting:  # to the end, so that no function runs before all questions of the group are checked
                if item.draft is not None:
                    self.asks.append(Ask(item, item.draft.question(self._nameable(owner, known))))
                elif (kept := self._kept(item)) is not None:
                    self.asks.append(Ask(item, kept))
                elif item.maker is not None:
                    found = self._before_making(item.maker, known)
                    first = first or found
            if waiting:
                return first
        return None

    def _before_making(self, maker: Step, known: Mapping[str, object]) -> tuple[Step, dict[str, object]] | None:
        """What must run so that an input's function can: one of its own inputs', or itself when they are settled."""
        values = {
            name: known[name] for name in maker.signature.parameters if name in known and name not in maker.carried
        }
        asked = len(self.asks)
        first = self.through(maker, values)
        return first if first is not None or len(self.asks) > asked else (maker, values)

    def _settled(self, item: Input, values: dict[str, object]) -> bool:
        """Whether the input has an answer that still stands; it goes into `values`."""
        if item.path in self.cold:
            responses.read_cold_answer(self.progress, item, self.cold.pop(item.path))
        slot = self.progress.slots.get(item.path)
        if slot is None:
            return False
        try:
            if slot.pin not in item.pins or (slot.refused is not None and not item.admits_refused):
                raise ValueError
            if item.carried is not None:
                values[item.name] = Refused(slot.refused) if slot.refused else item.carried.codec.load(slot.value)
        except ValueError:
            responses.forget(self.progress, self.step, item.path)
            return False
        if slot.pin != item.pin:  # the step has a new name; the next build may not know the old one
            self.progress.slots[item.path] = replace(slot, pin=item.pin)
        return True

    def _skip(self, group: Group, values: dict[str, object]) -> None:
        for item in group.inputs:
            if item.name not in values:
                self.skipped.add(item.path)
                if item.carried is not None:
                    values[item.name] = item.carried.parameter.default()

    def _nameable(self, owner: Step, known: Mapping[str, object]) -> Mapping[str, object]:
        """What the texts of a function's questions may name."""
        context = owner.signature.context
        return known if context is None else {**known, context: self.context(owner)}

    def _kept(self, item: Input) -> Question | None:
        """The question that a function made for this input and that is still open."""
        kept = self.progress.open.get(responses.open_key(self.progress, item.path))
        return Question.from_json(kept.asked) if kept is not None and kept.asked is not None else None

    def _check_client(self, waiting: Iterable[Input]) -> None:
        """See that all of these can be asked, before any function runs for them.

        Raises:
            MissingCapability: this client cannot show one of them, and its parameter admits no refusal.
            ToolError: a page would be opened for nobody in particular.
        """
        missing: dict[str, dict[str, JsonValue]] = {}
        for item in waiting:
            question = item.draft.unfilled if item.draft is not None else self._kept(item)
            if question is None:
                continue
            if question.kind == "url" and self.call.principal is None and not self.call.pages_ok:
                raise ToolError("A page cannot be opened for somebody whom this server does not know.")
            if self.call.client.supports(question.requires):
                continue
            if item.admits_refused:
                responses.refuse(self.progress, item, "unsupported")
                continue
            for capability, parts in question.requires.items():
                missing.setdefault(capability, {}).update(cast("dict[str, JsonValue]", parts))
        if missing:
            raise MissingCapability(cast("dict[str, JsonValue]", missing))
