"""`Input`: one named thing that a step needs, and how its answer is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final, cast

from pydantic import JsonValue

from mrtr_tools.annotations import bare
from mrtr_tools.answers import Misfit
from mrtr_tools.forms import Form, FormError
from mrtr_tools.input_requests import Elicit, Root, Sampled, Source
from mrtr_tools.marks import Refused
from mrtr_tools.progress import Slot
from mrtr_tools.properties import NO_SECRETS
from mrtr_tools.questions import Draft, Kind, Question, kind_of, kinds_of, read_response, read_roots
from mrtr_tools.records import record
from mrtr_tools.sampling import read_sampled
from mrtr_tools.signatures import Carried

if TYPE_CHECKING:
    from mrtr_tools.steps import Step

__all__ = ["Condition", "Group", "Input", "all_inputs", "asked_schema", "pin_of"]


@record(eq=False)
class Condition:
    """An ``only_if=``: a pure function over parameters by name."""

    function: Callable[..., object]
    names: tuple[str, ...]

    def holds(self, values: Mapping[str, object]) -> bool:
        """Whether it says yes to these values."""
        return bool(self.function(**{name: values[name] for name in self.names}))


@record(eq=False)
class Input:
    """One input of a function: a fixed question, or a function that makes one.

    Attributes:
        name: the name it was marked with.
        path: where it stands in the step, ``name`` or ``outer.name``; the wire key is made of it.
        carried: the parameter that takes the answer; None for a gate.
        draft: the question, unless a function makes it.
        maker: the function that makes the question or the value.
        form: the form of the parameter's annotation, or None when it has none.
        pins: the digest of its definition, and what it was under older names of the step.
        uses: the parameters of the function it belongs to that it is asked or made from.
        given: those of them that its own function is given.
        is_static: whether it is asked or made from nothing that a call has, so that `pins` say all.
        pin: the first of them: a kept answer stands for as long as this is the same.
    """

    name: str
    path: str
    carried: Carried | None
    draft: Draft | None
    maker: Step | None
    form: Form | None
    pins: tuple[str, ...]
    uses: frozenset[str]
    given: frozenset[str]
    is_static: bool = field(init=False)
    pin: str = field(init=False)

    def __post_init__(self) -> None:
        is_static = self.draft.plain is not None if self.draft is not None else not self.given
        object.__setattr__(self, "is_static", is_static)
        object.__setattr__(self, "pin", self.pins[0])

    @property
    def is_gate(self) -> bool:
        """Whether it is a fixed question for a yes."""
        return self.draft is not None and self.draft.kind in ("confirm", "url")

    def asks(self, kind: Kind) -> bool:
        """Whether it may ask a question of this kind, as far as a fixed question or its function's annotation tells."""
        if self.draft is not None:
            return self.draft.kind == kind
        return self.maker is not None and kind in kinds_of(self.maker.signature.returns)

    def pins_for(self, question: Question | None, given: str) -> tuple[str, ...]:
        """What a kept answer must carry to stand where `pins` do not say all: with what was filled in, or what its
        function was given.

        Args:
            question: the question as it is asked now.
            given: a digest of what its function is given.
        """
        if self.draft is not None and question is not None:
            return tuple(pin_of([pin, question.params]) for pin in self.pins)
        return tuple(pin_of([pin, given]) for pin in self.pins)

    def fill(self, values: dict[str, object], slot: Slot) -> bool:
        """Put what is settled into `values`; False when it is no value of the parameter any more."""
        if slot.refused is not None and not self.admits_refused:
            return False
        if self.carried is not None:
            try:
                values[self.name] = Refused(slot.refused) if slot.refused else self.carried.codec.load(slot.value)
            except ValueError:
                return False
        return True

    @property
    def admits_refused(self) -> bool:
        """Whether its parameter takes a `Refused`."""
        return self.carried is not None and self.carried.parameter.admits_refused

    def made(self, source: Source) -> Question:
        """What the function asks, as it is kept and sent.

        Raises:
            FormError: it cannot be shown, or its answer is none of the parameter's.
        """
        try:
            return Question.made(source, asked_schema(source, self.carried, self.form, self.property_name))
        except FormError as error:
            raise FormError(f"input {self.path!r} cannot be asked: {error}") from error

    def read(self, raw: JsonValue, question: Question) -> JsonValue | Refused:
        """A response as the JSON of an answer.

        Args:
            raw: the response, untrusted.
            question: what was asked.

        Raises:
            Misfit: it is no answer to that.
        """
        if question.kind == "roots":
            return self._taken(read_roots(raw))
        if question.kind == "sample":
            sampled = read_sampled(raw)
            return self._taken(sampled.text if self._takes(str) else sampled)
        response = read_response(raw)
        if response.action != "accept":
            return Refused(response.action)
        if question.kind == "form":
            return self._taken(cast("Form", self.form).read(response.content, question.schema))
        return True if question.kind == "url" or _said_yes(response.content, self.property_name) else Refused("decline")

    def _taken(self, value: object) -> JsonValue:
        try:
            return self.dump(value)
        except TypeError as error:
            raise Misfit(f"{self.property_name} cannot be taken as it is.") from error

    def _takes(self, kind: type) -> bool:
        return self.carried is not None and bare(self.carried.parameter.annotation) is kind

    def dump(self, value: object) -> JsonValue:
        """An answer, or what a function made in its place, as JSON.

        Raises:
            TypeError: it does not fit the parameter, or would not come back as it is.
        """
        return cast("Carried", self.carried).codec.dump(value)

    @property
    def property_name(self) -> str:
        """The name of its field in a form of one field."""
        return self.carried.parameter.wire_name if self.carried else self.name


@record(eq=False)
class Group:
    """Inputs that are asked together."""

    inputs: tuple[Input, ...]
    only_if: Condition | None

    @property
    def most_open(self) -> int:
        """How many questions can be open at once."""
        return sum(max([1, *(g.most_open for g in item.maker.groups)]) if item.maker else 1 for item in self.inputs)


def asked_schema(
    source: Source, carried: Carried | None, form: Form | None, property_name: str
) -> Mapping[str, JsonValue] | None:
    """The form that a question shows for a parameter; None for what is no form.

    Raises:
        FormError: the parameter does not take such answers, or no form shows it.
    """
    kind = kind_of(source)
    wanted = _ANSWERS[kind]
    if wanted is not None and not (
        carried is not None and any(bare(carried.parameter.annotation) == one for one in wanted)
    ):
        raise FormError(f"its answer is a {spelled(wanted[0])}; annotate it so: {property_name}: {spelled(wanted[0])}")
    if (
        kind in ("confirm", "url")
        and carried is not None
        and not (carried.parameter.admits_refused and _takes_yes(carried))
    ):
        raise FormError(f"it is a gate; write {carried.parameter.name}: bool | Refused, or leave the parameter out")
    if kind == "confirm":
        return {"type": "object", "properties": {property_name: {"type": "boolean"}}, "required": [property_name]}
    if not isinstance(source, Elicit):
        return None
    if carried is not None and carried.codec.has_secrets:
        raise FormError(f"{NO_SECRETS}, or return the value itself, not a question")
    if form is None:
        raise FormError("its annotation can be no form; return the value itself, not a question")
    return form.asking(source.form, source.choices)


_ANSWERS: Final[Mapping[Kind, tuple[object, ...] | None]] = {
    "form": None,
    "confirm": None,
    "url": None,
    "sample": (Sampled, str),
    "roots": (list[Root],),
}


def spelled(annotation: object) -> str:
    """An annotation as an author writes it."""
    return (
        annotation.__name__
        if isinstance(annotation, type)
        else str(annotation).replace("mrtr_tools.input_requests.", "")
    )


def _takes_yes(carried: Carried) -> bool:
    try:
        return carried.codec.load(data=True) is True
    except ValueError:
        return False


def _said_yes(content: JsonValue, name: str) -> bool:
    answer = content.get(name) if isinstance(content, dict) else None
    if not isinstance(answer, bool):
        raise Misfit(f"Please answer {name} with yes or no.")
    return answer


PIN_LENGTH: Final = 16


def pin_of(definition: list[object]) -> str:
    """A digest of what makes a question the same question: step, input, kind, text and form."""
    told = json.dumps(definition, sort_keys=True, default=repr)
    return hashlib.sha256(told.encode()).hexdigest()[:PIN_LENGTH]


def all_inputs(groups: Iterable[Group]) -> dict[str, Input]:
    """The inputs of groups, and those of the functions that make them, by path."""
    found: dict[str, Input] = {}
    for group in groups:
        for item in group.inputs:
            found[item.path] = item
            if item.maker is not None:
                found |= all_inputs(item.maker.groups)
    return found
