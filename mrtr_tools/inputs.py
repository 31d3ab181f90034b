"""`Input`: one named thing that a step needs, and how its answer is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools.errors import DefinitionError
from mrtr_tools.forms import Form, FormError, Misfit
from mrtr_tools.input_requests import FORM, Confirm, Elicit, form_request
from mrtr_tools.signatures import Carried
from mrtr_tools.templates import Template

if TYPE_CHECKING:
    from mrtr_tools.steps import Step

__all__ = ["Condition", "Group", "Input", "Question", "pin_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question made at definition.

    Attributes:
        template: its message.
        schema: the form that is sent.
        confirms: whether it is a `confirm`.
    """

    template: Template
    schema: Mapping[str, JsonValue]
    confirms: bool


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """An ``only_if=``: a pure function over parameters by name."""

    function: Callable[..., object]
    names: tuple[str, ...]

    def holds(self, values: Mapping[str, object]) -> bool:
        """Whether it says yes to these values."""
        return bool(self.function(**{name: values[name] for name in self.names}))


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """One input of a function: a fixed question, or a function that makes one.

    Attributes:
        name: the name it was marked with.
        path: where it stands in the step, ``name`` or ``outer.name``; the wire key is made of it.
        carried: the parameter that takes the answer; None for a gate.
        question: the question, unless a function makes it.
        maker: the function that makes the question or the value.
        form: the form of the parameter's annotation, or None when it has none.
        pins: the digest of its definition, and what it was under older names of the step.
        uses: the parameters of the function it belongs to that it is asked or made from.
    """

    name: str
    path: str
    carried: Carried | None
    question: Question | None
    maker: Step | None
    form: Form | None
    pins: tuple[str, ...]
    uses: frozenset[str]

    @property
    def pin(self) -> str:
        """The digest of its definition: a kept answer stands for as long as this is the same."""
        return self.pins[0]

    @property
    def admits_refused(self) -> bool:
        """Whether its parameter takes a `Refused`."""
        return self.carried is not None and self.carried.parameter.admits_refused

    @property
    def requires(self) -> Mapping[str, JsonValue]:
        """The client capability that asking needs, as a `ClientCapabilities` object."""
        return FORM

    def request(
        self, values: Mapping[str, object], asked: Mapping[str, JsonValue] | None, why: str | None
    ) -> dict[str, JsonValue]:
        """The question as it is sent, with the reason why it is asked again before it."""
        if asked is not None:
            message, schema = cast("str", asked["message"]), cast("dict[str, JsonValue]", asked["requestedSchema"])
        else:
            question = cast("Question", self.question)
            message, schema = question.template.fill(values), question.schema
        return form_request(f"{why}\n{message}" if why else message, schema)

    def made(self, question: Elicit | Confirm) -> dict[str, JsonValue]:
        """What a function asks, as it is kept and sent.

        Raises:
            FormError: the question has no form that can be shown.
        """
        if isinstance(question, Confirm):
            if self.carried is None or not takes_yes(self.carried):
                raise FormError(f"{self.path!r} takes a confirm: annotate it {self.name}: bool | Refused")
            schema, more = confirm_schema(self.property_name), {"confirm": True}
        else:
            schema, more = asked_schema(self.path, self.form, question), {}
        asked: dict[str, JsonValue] = {"message": question.message, "requestedSchema": schema, **more}
        if not question.message.strip():
            raise FormError(f"{self.path!r} asks with an empty text; say what is asked")
        try:
            to_json(asked)
        except ValueError as error:
            raise FormError(f"{self.path!r} asks with text that is no Unicode") from error
        return asked

    def confirms(self, asked: Mapping[str, JsonValue] | None) -> bool:
        """Whether the question, as asked, is a `confirm`."""
        return "confirm" in asked if asked is not None else cast("Question", self.question).confirms

    def read(self, content: object, asked: Mapping[str, JsonValue] | None) -> JsonValue:
        """The content of an accepted form as the JSON of an answer.

        Raises:
            Misfit: it does not fit the form that was sent.
        """
        if self.confirms(asked):
            return _confirmed(content, self.property_name)
        sent = (
            cast("Mapping[str, JsonValue]", asked["requestedSchema"])
            if asked
            else cast("Question", self.question).schema
        )
        try:
            return self.dump(cast("Form", self.form).read(content, sent))
        except TypeError as error:
            raise Misfit(f"{self.property_name} cannot be taken as it is.") from error

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


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Inputs that are asked together."""

    inputs: tuple[Input, ...]
    only_if: Condition | None

    @property
    def most_open(self) -> int:
        """How many questions can be open at once."""
        return sum(max([1, *(g.most_open for g in item.maker.groups)]) if item.maker else 1 for item in self.inputs)


def takes_yes(carried: Carried) -> bool:
    """Whether True, which is what a `confirm` gives, is a value of the parameter."""
    try:
        return carried.codec.load(data=True) is True
    except ValueError:
        return False


def confirm_schema(name: str) -> dict[str, JsonValue]:
    """The form of a `confirm`: one required boolean without a default."""
    return {"type": "object", "properties": {name: {"type": "boolean"}}, "required": [name]}


def asked_schema(path: str, form: Form | None, question: Elicit) -> dict[str, JsonValue]:
    """The form that an `Elicit` shows for a parameter whose annotation has this form.

    Raises:
        FormError: there is no such form, or the choices do not go with it.
    """
    if form is None:
        raise FormError(f"{path!r} has an annotation that no form shows; return the value itself, not a question")
    return form.asking(question.form, question.choices)


def _confirmed(content: object, name: str) -> bool:
    answer = cast("dict[str, object]", content).get(name) if isinstance(content, dict) else None
    if not isinstance(answer, bool):
        raise Misfit(f"Please answer {name} with yes or no.")
    return answer


def fixed_question(
    where: str, name: str, source: str | Elicit | Confirm, form: Form | None, property_name: str
) -> Question:
    """The question that a decorator was given.

    Raises:
        DefinitionError: its text is no template, or it cannot be shown.
    """
    template = Template(source if isinstance(source, str) else source.message)
    if not template.text.strip():
        raise DefinitionError(f"{where}: input {name!r} has an empty text; say what is asked")
    if isinstance(source, Confirm):
        return Question(template, confirm_schema(property_name), confirms=True)
    try:
        schema = asked_schema(name, form, source if isinstance(source, Elicit) else Elicit(source))
    except FormError as error:
        raise DefinitionError(f"{where}: input {name!r}: {error}") from error
    return Question(template, schema, confirms=False)


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
