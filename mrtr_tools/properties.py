"""Annotation -> one property of a flat form: its schema, and what the texts of its choices stand for.

==================================================  =============================================================
annotation                                          shown as
==================================================  =============================================================
``str``, ``int``, ``float``, ``bool``               string, integer, number, boolean
``date``, ``datetime``, ``EmailStr``, ``AnyUrl``    string with a format
``Decimal``, ``UUID``, ``Path``, ``time(delta)``    plain string, read by us
``Literal``, ``Enum``                               string with an ``enum``, whatever the type of the values
``list`` of these two                               array of such choices
``T | None``                                        T, not required
==================================================  =============================================================

A ``str`` whose `json_schema_extra` has an ``enum`` or a titled ``oneOf`` is a choice too, and a ``list[str]`` whose
`json_schema_extra` has such ``items``. Whatever else is refused, with what to do instead. Only keys of the protocol's
page on elicitation, revision 2026-07-28, are shown; other constraints, such as a pattern, still hold.
"""

from __future__ import annotations

import dataclasses
import math
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin
from uuid import UUID

import pydantic
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from mrtr_tools.answers import DATE, DATE_TIME, EMAIL, URI, choices_of
from mrtr_tools.choices import FormError, choices_in, choices_shown, wire_text
from mrtr_tools.records import record
from mrtr_tools.secret_values import SECRETS

__all__ = ["NO_CHOICES", "NO_SECRETS", "Property", "class_of", "is_typed_dict", "property_of", "read_type"]

Spec = dict[str, JsonValue]
"""The schema of one property."""


@record(eq=False)
class Property:
    """One property of a form.

    Attributes:
        name: its name on the wire.
        field: the name of the field it fills.
        spec: its schema; an array without ``items`` waits for choices that are given at run time.
        required: whether it has to be answered.
        noun: what an answer is, for messages.
        kind: the type of one value, bare.
        element: the annotation of one value.
        choices: what the text of each choice stands for; empty when the annotation offers none.
        blank: whether no answer has to be given on as None.
    """

    name: str
    field: str
    spec: Spec
    required: bool
    noun: str
    kind: object
    element: object
    choices: Mapping[str, object]
    blank: bool

    @property
    def label(self) -> str:
        """What a person calls it."""
        return cast("str", self.spec.get("title", self.name))

    @property
    def many(self) -> bool:
        """Whether several choices may be made."""
        return self.spec["type"] == "array"


def property_of(name: str, info: FieldInfo, *, must_answer: bool = False, at_run_time: bool = False) -> Property:
    """The property that fills one field.

    Args:
        name: the field's name.
        info: the field's annotation, default, alias, title and description.
        must_answer: whether it is required and shows no default, whatever `info` says.
        at_run_time: whether choices will be given, so that a list needs none of its own.

    Raises:
        FormError: a flat form has nothing that shows such a field.
    """
    kind, notes, optional = read_type(name, info.annotation, info.metadata)
    element: object = info.annotation
    if many := get_origin(kind) is list:
        element = get_args(kind)[0]
        kind, _, _ = read_type(name, element)
    choices = choices_in(name, kind)
    if many:
        shown = _many(name, kind, choices, info.json_schema_extra, at_run_time=at_run_time)
        spec, noun = shown | _lengths(notes, "Items"), "a list of choices"
    elif choices:
        spec, noun = choices_shown([*choices]), "one of the choices"
    else:
        spec, noun = _plain(name, kind, notes, info.json_schema_extra)
    for key in ("title", "description"):
        if text := _said(key, info, notes):
            spec[key] = text
    required = must_answer or (info.is_required() and not optional)
    if not required and info.default is not PydanticUndefined and info.default is not None:
        as_text = bool(choices) or spec["type"] == "string"
        spec["default"] = _default(info.default, many=many, as_text=as_text)
    wire_name = info.validation_alias if isinstance(info.validation_alias, str) else info.alias or name
    blank = info.is_required() and not required
    return Property(wire_name, name, spec, required, noun, kind, element, choices, blank)


def read_type(name: str, annotation: object, notes: Iterable[object] = ()) -> tuple[object, list[object], bool]:
    """What is under ``Annotated``, ``| None`` and aliases of types.

    Returns:
        The bare type, the notes that `Annotated` put on it from inside out, and whether None is admitted.

    Raises:
        FormError: it is a union of several types.
    """
    found, optional = list(notes), False
    while True:
        origin, inner = get_origin(annotation), cast("tuple[object, ...]", get_args(annotation))
        if origin is Annotated:
            annotation, found = inner[0], [*inner[1:], *found]
        elif origin in (Union, types.UnionType, Literal) and any(part in (None, type(None)) for part in inner):
            kept = tuple(part for part in inner if part not in (None, type(None)))
            annotation = cast("Any", Literal if origin is Literal else Union)[kept]
            optional = True
        elif origin is Union or origin is types.UnionType:
            raise FormError(f"{name!r}: a form cannot show several types in one field; use one of them, or str")
        elif under := getattr(annotation, "__supertype__", None) or getattr(annotation, "__value__", None):
            annotation = under
        else:
            return annotation, list(_flat(found)), optional


def _flat(notes: Iterable[object]) -> Iterator[object]:
    for note in notes:
        if isinstance(note, FieldInfo):
            yield from note.metadata
        yield note


def _said(key: str, info: FieldInfo, notes: list[object]) -> str | None:
    """The title or description; the outermost one counts."""
    told = [info, *(note for note in reversed(notes) if isinstance(note, FieldInfo))]
    return next((cast("str", text) for one in told if (text := getattr(one, key))), None)


def _many(name: str, kind: object, choices: Mapping[str, object], extra: object, *, at_run_time: bool) -> Spec:
    if choices:
        return choices_shown([*choices], many=True)
    items = cast("Spec", extra).get("items") if kind is str and isinstance(extra, dict) else None
    if isinstance(items, dict) and (offered := _offered(items, titled="anyOf")) is not None:
        return {"type": "array", "items": offered}
    if at_run_time and _shown_as(kind) is not None:
        return {"type": "array"}
    raise FormError(NO_CHOICES.format(name))


NO_SECRETS: Final = "a form must not ask for a secret; send the person to a page of your own with ElicitUrl"
NO_CHOICES: Final = "{!r}: a form shows a list only as choices; use list[Literal[...]] or list[an Enum]"


def _default(value: object, *, many: bool, as_text: bool) -> JsonValue:
    """A default as it looks on the wire."""
    if many:
        return [wire_text(item) for item in cast("Iterable[object]", value)]
    return wire_text(value) if as_text else cast("JsonValue", value)


_TYPES: Final[Mapping[object, tuple[str, str | None, str]]] = {
    str: ("string", None, "text"),
    int: ("integer", None, "a whole number"),
    float: ("number", None, "a number"),
    bool: ("boolean", None, "true or false"),
    date: ("string", "date", DATE),
    pydantic.PastDate: ("string", "date", DATE),
    pydantic.FutureDate: ("string", "date", DATE),
    datetime: ("string", "date-time", DATE_TIME),
    pydantic.AwareDatetime: ("string", "date-time", DATE_TIME),
    pydantic.NaiveDatetime: ("string", "date-time", DATE_TIME),
    pydantic.PastDatetime: ("string", "date-time", DATE_TIME),
    pydantic.FutureDatetime: ("string", "date-time", DATE_TIME),
    Decimal: ("string", None, "a decimal number"),
    UUID: ("string", None, "a UUID"),
    time: ("string", None, "a time such as 09:30"),
    timedelta: ("string", None, "a duration such as PT1H30M"),
    Path: ("string", None, "a path"),
    PurePath: ("string", None, "a path"),
}
_FORMATS: Final = ("email", "uri", "date", "date-time")


def _plain(name: str, kind: object, notes: list[object], extra: object) -> tuple[Spec, str]:
    """The schema of a property that is no choice, and what an answer is."""
    found = _shown_as(kind)
    if found is None:
        raise FormError(f"{name!r}: {_instead(kind)}")
    shown, form, noun = found
    spec: Spec = {"type": shown}
    if kind is str and isinstance(extra, dict):
        if (offered := _offered(cast("Spec", extra))) is not None:
            return offered, "one of the choices"
        asked = cast("Spec", extra).get("format")
        form = asked if isinstance(asked, str) and asked in _FORMATS else None
    if form is not None:
        spec["format"] = form
    if kind is str or form == "email":
        spec |= _lengths(notes, "Length")
    elif kind is int or kind is float:
        spec |= _bounds(notes, whole=kind is int)
    return spec, noun


def _shown_as(kind: object) -> tuple[str, str | None, str] | None:
    """The row of a type in `_TYPES`, or what it would be; None for a type that no form shows."""
    try:
        return _TYPES.get(kind) or _of_networks(kind)
    except TypeError:  # it has no hash
        return None


def _of_networks(kind: object) -> tuple[str, str, str] | None:
    """What `_TYPES` would have of a type of `pydantic.networks`.

    That takes long to import, and whoever annotates with one of its types has imported it: to the end, even if another
    thread is at it.
    """
    networks = sys.modules.get("pydantic.networks")
    email: object = getattr(networks, "EmailStr", None)
    url: type | None = getattr(networks, "AnyUrl", None)
    if email is not None and kind is email:
        return "string", "email", EMAIL
    found = class_of(kind)
    return ("string", "uri", URI) if found is not None and url is not None and issubclass(found, url) else None


def _offered(extra: Spec, *, titled: str = "oneOf") -> Spec | None:
    """The choices of a text that stand in the schema by hand, as for the SDK; None where there are none."""
    given = {key: extra[key] for key in ("enum", titled) if isinstance(extra.get(key), list)}
    try:
        texts = choices_of(given) or ()
    except (KeyError, TypeError):
        return None
    if not texts or not all(isinstance(cast("object", text), str) for text in texts):
        return None
    return given if "anyOf" in given else {"type": "string", **given}


def _lengths(notes: list[object], of: str) -> Spec:
    least, most = max(_noted(notes, "min_length"), default=0), min(_noted(notes, "max_length"), default=None)
    return ({f"min{of}": least} if least else {}) | ({f"max{of}": most} if most is not None else {})


def _bounds(notes: list[object], *, whole: bool) -> Spec:
    """Bounds as the protocol has them, inclusive; an exclusive one of a float is not shown."""
    lower, upper = _noted(notes, "ge"), _noted(notes, "le")
    if whole:
        lower += [math.floor(bound) + 1 for bound in _noted(notes, "gt")]
        upper += [math.ceil(bound) - 1 for bound in _noted(notes, "lt")]
    return ({"minimum": max(lower)} if lower else {}) | ({"maximum": min(upper)} if upper else {})


def _noted(notes: list[object], key: str) -> list[Any]:
    """What `annotated_types` and pydantic note under one key."""
    return [value for note in notes if (value := getattr(note, key, None)) is not None]


def _instead(kind: object) -> str:
    """Why no form shows a type, and what to do."""
    found = class_of(get_origin(kind) or kind) or object
    spelled = kind.__name__ if isinstance(kind, type) else str(kind)
    if issubclass(found, SECRETS):
        return NO_SECRETS
    if issubclass(found, BaseModel) or dataclasses.is_dataclass(found) or is_typed_dict(found):
        return (
            f"a form is flat and cannot hold {spelled}; make it an input of its own, or move its fields into this form"
        )
    if issubclass(found, (dict, list, tuple, set, frozenset)):
        return f"a form is flat and cannot hold {spelled}; use a field for each value, or list[Literal[...]]"
    if issubclass(found, (bytes, bytearray)):
        return "a form has no bytes; ask for str and decode it, or for the address of a file"
    return f"a form cannot show {spelled}; use str, int, float, bool, date, Literal or Enum"


def class_of(kind: object) -> type[object] | None:
    """The type itself if it is a class."""
    return cast("type[object]", kind) if isinstance(kind, type) and get_origin(kind) is None else None


def is_typed_dict(kind: type[object]) -> bool:
    """Whether a class is a TypedDict, of `typing` or of `typing_extensions`."""
    return dict in kind.__mro__ and hasattr(kind, "__required_keys__")
