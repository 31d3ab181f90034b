"""Annotation <-> the flat schema that elicitation allows; the content of an answer -> a value, or a misfit.

`properties` makes the schema and `answers` holds the content against the schema that was sent; then the annotation
makes the value of it, with pydantic. All that can be known of a form is worked out when it is made. See the protocol's
page on elicitation, revision 2026-07-28.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from functools import cache, partial
from typing import Any, Final, cast

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from mrtr_tools.answers import Misfit, checked, is_safe_decimal, sentence
from mrtr_tools.choices import FormError, choices_shown, listed, wire_text
from mrtr_tools.form_types import default_fields, fields_of, has_own_rules, is_told, preset
from mrtr_tools.guards import Guard
from mrtr_tools.properties import NO_CHOICES, Property, property_of, read_type
from mrtr_tools.records import record
from mrtr_tools.values import NotCarriable, adapter_for

__all__ = ["Form", "FormError", "Misfit", "form_for", "schema_of"]

Schema = dict[str, JsonValue]


@record(eq=False)
class Form:
    """The form of one parameter; made by `form_for`.

    Attributes:
        schema: the `requestedSchema` as it is sent; empty when choices or a form must be given at run time.
        kind: the type of the parameter, bare.
        properties: its properties, by their names on the wire.
        whole: makes the value of the parameter.
        guard: looks for answers that cost too much to be read.
        one: the property that is the parameter itself, unless its type has fields.
        element: gives what makes a single value, to try choices with; made when it is first needed.
        fallback: gives the value when nothing at all was answered; None when something must be.
        shown_defaults: the fields of the parameter's default, which are shown and stand where nothing is answered.
        trouble: why the annotation alone is no form, when it is none.
    """

    schema: Schema
    kind: object = field(repr=False)
    properties: Mapping[str, Property] = field(repr=False)
    whole: TypeAdapter[Any] = field(repr=False)
    guard: Guard = field(repr=False)
    one: Property | None = field(default=None, repr=False)
    element: Callable[[], TypeAdapter[Any]] | None = field(default=None, repr=False)
    fallback: Callable[[], object] | None = field(default=None, repr=False)
    shown_defaults: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    trouble: str = field(default="", repr=False)

    def read(self, content: object, sent: Mapping[str, JsonValue] | None = None) -> Any:
        """The value that the content of an accepted form stands for.

        Args:
            content: the content as it arrived, untrusted.
            sent: the schema that was sent, when it is not `schema`.

        Raises:
            Misfit: the content does not fit what was sent, or the annotation.
        """
        values: dict[str, object] = {}
        for name, answer in checked(content, self.schema if sent is None else sent).items():
            known = self.properties.get(name, self.one)  # one value is the parameter's, whatever a form calls it
            if known is None:
                values[name] = answer
            elif (value := _meant(known, answer)) is not None:
                values[known.field] = value
        self._check_cost(values)
        if not values and self.fallback is not None:
            return self.fallback()
        if self.one is None:
            blanks: dict[str, object] = {item.field: None for item in self.properties.values() if item.blank}
            return self._made({**blanks, **self.shown_defaults, **values})
        if values:
            return self._made(next(iter(values.values())))
        if self.one.blank:
            return None
        raise Misfit(f"{self.one.label} is missing.")

    def _check_cost(self, values: Mapping[str, object]) -> None:
        trouble = self.guard.trouble(cast("JsonValue", list(values.values()))) if self.guard.is_needed else None
        if trouble is not None:
            raise Misfit(f"This cannot be taken: {trouble}.")

    def _made(self, value: object) -> Any:
        try:
            return self.whole.validator.validate_python(value, strict=False, by_alias=False, by_name=True)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False)
            raise Misfit(" ".join(self._told(problem) for problem in problems)) from None

    def _told(self, problem: ErrorDetails) -> str:
        """One of pydantic's findings as a sentence."""
        place = problem["loc"][0] if problem["loc"] else None
        known = self.one or next((item for item in self.properties.values() if place in (item.field, item.name)), None)
        return sentence(problem, known.label if known else None, known.noun if known else "")

    def asking(self, form: object = None, choices: Sequence[object] | Mapping[str, str] | None = None) -> Schema:
        """The schema to send, where choices or another form may be given at run time.

        Raises:
            FormError: they cannot be shown, or none are given and the annotation alone is no form.
        """
        if choices is not None:
            return self.offering(choices)
        if form is not None:
            if form is self.kind:
                return self.schema
            if self.one is not None and len(fields_of(form) or ()) > 1:
                raise FormError(f"{self.one.field!r} takes one value, the form asks for several; make it a dict")
            return schema_of(form)
        if not self.schema:
            raise FormError(f"{self.trouble} (or give choices= or form=)")
        return self.schema

    def offering(self, choices: Sequence[object] | Mapping[str, str]) -> Schema:
        """The schema with choices that are known at run time.

        Args:
            choices: values that fit the annotation, or ``{value: label}``; a label never comes back as a value.

        Raises:
            FormError: there are none, one does not fit, two read alike, or the parameter is of several fields.
        """
        one = self.one
        if one is None:
            raise FormError("choices go with a parameter that takes one value or a list, such as str or list[str]")
        texts = [self._offered(one, choice) for choice in listed(choices)]
        if len(set(texts)) != len(texts):
            raise FormError(f"{one.field!r}: two of the choices read alike")
        labels = list(choices.values()) if isinstance(choices, Mapping) else None
        if labels is not None and len(set(labels)) != len(labels):
            raise FormError(f"{one.field!r}: two of the choices have the same label")
        spec: Schema = {key: one.spec[key] for key in _KEPT if key in one.spec}
        spec |= choices_shown(texts, labels=labels, many=one.many)
        shown = one.spec.get("default")
        preset = shown if shown is None or isinstance(shown, list) else wire_text(shown)
        if preset is not None and set(preset if isinstance(preset, list) else [preset]) <= set(texts):
            spec["default"] = preset
        return _schema([dataclasses.replace(one, spec=spec)])

    def _element(self) -> TypeAdapter[Any]:
        return cast("Callable[[], TypeAdapter[Any]]", self.element)()

    def _offered(self, one: Property, choice: object) -> str:
        """The text of a choice that fits the annotation."""
        try:
            text = wire_text(choice)
            made = one.choices[text] if one.choices else self._element().validate_python(text)
        except (KeyError, ValueError):
            made = text = None
        if text is None or not (made == choice or (isinstance(choice, str) and wire_text(made) == text)):
            raise FormError(f"{one.field!r}: one of the choices does not fit its annotation")
        return text


def form_for(
    annotation: object,
    name: str,
    *,
    field: FieldInfo | None = None,
    must_answer: bool = False,
    at_run_time: bool = False,
    adapter: TypeAdapter[Any] | None = None,
) -> Form:
    """The form that asks for a parameter.

    Args:
        annotation: the parameter's annotation.
        name: the parameter's name.
        field: alias, default, title and description, when they say more than the annotation.
        must_answer: whether it must be answered and shows no default, although it has one.
        at_run_time: whether choices or a form may be given at run time; the annotation alone need not be a form then.
        adapter: that of the annotation where there is one already, for to make one takes its time.

    Raises:
        FormError: no flat form shows this annotation.
    """
    info = field or FieldInfo.from_annotation(cast("Any", annotation))
    trouble = ""
    try:
        properties, one = _properties(annotation, name, info, must_answer=must_answer, at_run_time=at_run_time)
    except FormError as error:
        if not at_run_time:
            raise
        properties, one, trouble = [], None, str(error)
    try:
        whole = adapter or adapter_for(annotation)
    except NotCarriable as error:
        raise FormError(f"{name!r}: {error}") from error
    element = None if one is None else cache(partial(adapter_for, one.element))
    _check_defaults(properties)
    if one is not None and one.many and "items" not in one.spec:
        trouble = NO_CHOICES.format(name)
    by_name = {item.name: item for item in properties}
    has_default = not must_answer and not info.is_required()
    fallback = partial(info.get_default, call_default_factory=True) if has_default else None
    schema = {} if trouble else _schema(properties, optional=has_default)
    fields = {} if one is not None or must_answer else default_fields(info.default, properties)
    kind = None if trouble else read_type(name, annotation)[0]
    return Form(schema, kind, by_name, whole, Guard(whole.core_schema), one, element, fallback, fields, trouble)


def _properties(
    annotation: object, name: str, info: FieldInfo, *, must_answer: bool, at_run_time: bool
) -> tuple[list[Property], Property | None]:
    """The properties of a form, and the one that is the parameter itself if it has no fields."""
    kind, _, _ = read_type(name, annotation)
    fields = fields_of(kind)
    if fields is None:
        one = property_of(name, info, must_answer=must_answer, at_run_time=at_run_time)
        return [one], one
    if not fields:
        raise FormError(f"{name!r}: a form without fields cannot be answered; give it one, or ask with confirm(...)")
    if info.default_factory is not None and not must_answer:
        raise FormError(
            f"{name!r}: its default is made when nothing is answered, so no form can show it; give a plain one"
        )
    default = None if must_answer or info.is_required() else info.default
    properties = [property_of(of, preset(default, of, item)) for of, item in fields.items()]
    names = [item.name for item in properties]
    for item in properties:
        if names.count(item.name) > 1:
            raise FormError(f"{item.field!r}: two fields are called {item.name!r} on the wire; change an alias")
    return properties, None


def schema_of(form: object) -> Schema:
    """The schema of a model, dataclass or TypedDict that is given at run time.

    Raises:
        FormError: it is not flat.
    """
    name = getattr(form, "__name__", "form")
    fields = fields_of(form)
    if fields is None:
        raise FormError(f"form= takes a flat model, dataclass or TypedDict, not {name}")
    schema = form_for(form, name).schema
    if has_own_rules(form) or not all(is_told(of, item) for of, item in fields.items()):
        raise FormError(f"{name} asks for more than a form can say; annotate the parameter with it")
    return schema


def _schema(properties: Sequence[Property], *, optional: bool = False) -> Schema:
    """What is sent; when there is a default for the whole, nothing has to be answered."""
    schema: Schema = {"type": "object", "properties": {item.name: item.spec for item in properties}}
    required = [item.name for item in properties if item.required]
    if required and not optional:
        schema["required"] = list[JsonValue](required)
    return schema


def _check_defaults(properties: Sequence[Property]) -> None:
    for item in properties:
        if "default" in item.spec:
            try:
                checked({item.name: item.spec["default"]}, {"properties": {item.name: item.spec}})
            except Misfit as misfit:
                raise FormError(f"{item.field!r}: its default does not fit: {misfit}") from misfit


_KEPT: Final = ("title", "description", "minItems", "maxItems")


def _meant(known: Property, answer: JsonValue) -> object:
    """What the answer to a property stands for, ready for pydantic; None when it is left blank."""
    if known.choices:
        texts = cast("list[str]", answer if known.many else [answer])
        if not all(text in known.choices for text in texts):
            raise Misfit(f"{known.label} must be one of the choices offered.")
        values = [known.choices[text] for text in texts]
        return values if known.many else values[0]
    if not isinstance(answer, str) or known.kind is str:
        return answer
    text = answer.strip()
    if text and known.kind is Decimal and not is_safe_decimal(text):
        raise Misfit(f"{known.label} must be a decimal number of at most 40 digits.")
    return text or None
