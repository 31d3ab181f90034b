"""What `ctx.elicit` is told to ask for -> a form, and what an answer to that becomes.

=====================================================  ==============================================================
given                                                  asks for
=====================================================  ==============================================================
a pydantic model, dataclass or TypedDict               its fields; the answer is one of it
``bool``, ``int``, ``float``, ``str``, ``Literal``,    one field ``value``; the answer is what is in it
``Enum``, ``list[Literal[...]]``
``["a", "b"]``                                         one of these
``[["a", "b"]]``                                       several of these
``{"a": {"title": "A"}}``                              one of the keys, shown by their titles
``[{"a": {"title": "A"}}]``                            several of them
None, or a model without fields                        a yes: a form without fields is not shown by all clients
=====================================================  ==============================================================

The first row is `schema=` of the SDK; all of them are `response_type=` of FastMCP. A dict that is a schema already, as
`session.elicit` takes it, is made flat by `flat_schemas`, and answered with a dict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, cast

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from mrtr_tools.answers import Misfit, checked
from mrtr_tools.choices import FormError
from mrtr_tools.flat_schemas import flat_schema
from mrtr_tools.form_types import fields_of
from mrtr_tools.forms import form_for
from mrtr_tools.inputs import pin_of
from mrtr_tools.values import Codec, NotCarriable

__all__ = ["VALUE", "ResponseType", "raw_form", "response_type_of"]

VALUE: Final = "value"
"""The name of the field that stands for an answer of one value."""

_YES: Final = "confirm"
Schema = dict[str, JsonValue]
MANY_CACHED: Final = 256  # a class that a function makes anew each time must not stay for ever


@dataclass(frozen=True, slots=True, eq=False)
class ResponseType:
    """A form, and the way of its answers.

    Attributes:
        schema: the `requestedSchema`.
        read: the content of an accepted form as JSON to keep; raises `Misfit`.
        load: what was kept as the value that the author gets.
        is_yes: whether it asks for nothing but a yes.
        digest: what tells it from another form.
    """

    schema: Schema
    read: Callable[[object], JsonValue] = field(repr=False)
    load: Callable[[JsonValue], Any] = field(repr=False)
    is_yes: bool = False
    digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", pin_of([self.is_yes, self.schema]))


def response_type_of(given: object, title: str | None = None, description: str | None = None) -> ResponseType:
    """The form for what was given as `schema` or `response_type`.

    Args:
        given: see above.
        title: of the field, where there is one field and it is not the author's own.
        description: of that field likewise.

    Raises:
        FormError: no form shows it; the text says which part, and the way out.
    """
    if _is_schema(given):
        return raw_form(given)
    key = _key(given)
    try:
        try:
            hash(key)
        except TypeError:  # a note of `Annotated` that has no hash
            return _made.__wrapped__(key, title, description)
        return _made(key, title, description)
    except NotCarriable as error:
        raise FormError(f"elicit() asks for what does not come back as it is: {error}") from error


def _is_schema(given: object) -> bool:
    return isinstance(given, dict) and "properties" in cast("dict[str, object]", given)


@dataclass(frozen=True, slots=True)
class _Choices:
    """Choices that are known at run time, with their titles where they have some."""

    values: tuple[str, ...]
    titles: tuple[str, ...] | None
    many: bool


def _key(given: object) -> object:
    """What was given, as something that can be looked up."""
    if isinstance(given, list):
        listed = cast("list[Any]", given)
        if len(listed) == 1 and isinstance(listed[0], (list, dict)):
            return _choices(cast("object", listed[0]), many=True)
    return _choices(cast("object", given), many=False) if isinstance(given, (list, dict)) else given


def _choices(given: object, *, many: bool) -> _Choices:
    values = list(cast("list[object]", given))
    if not values or not all(isinstance(value, str) for value in values):
        raise FormError(
            "elicit() takes choices as texts: ['a', 'b'], [['a', 'b']] for several, or {'a': {'title': 'A'}}"
        )
    titles = None
    if isinstance(given, dict):
        titled = cast("dict[str, Mapping[str, str]]", given)
        titles = tuple(str(about.get("title", value)) for value, about in titled.items())
    return _Choices(tuple(cast("list[str]", values)), titles, many)


@lru_cache(maxsize=MANY_CACHED)
def _made(given: object, title: str | None, description: str | None) -> ResponseType:
    kind: Any = type(None) if given is None else given
    if isinstance(given, _Choices):
        one = cast("Any", Literal)[given.values]
        kind = list[one] if given.many else one
    fields = None if isinstance(given, _Choices) or given is None else fields_of(given)
    if fields is not None and (title is not None or description is not None):
        raise FormError(
            "response_title= and response_description= are for one value; give the fields their own Field()"
        )
    if given is None or fields == {}:
        return _yes(dict if given is None else cast("Any", given))
    form = form_for(kind, VALUE, field=FieldInfo(annotation=kind, title=title, description=description))
    codec = Codec(kind)
    titles = given.titles if isinstance(given, _Choices) else None
    schema = form.schema
    if titles is not None:
        schema = form.offering(dict(zip(cast("_Choices", given).values, titles, strict=True)))

    def read(content: object) -> JsonValue:
        try:
            return codec.dump(form.read(content, schema))
        except NotCarriable as error:
            raise Misfit("This cannot be taken as it is.") from error

    return ResponseType(schema, read, codec.load)


def _yes(given: Callable[[], object]) -> ResponseType:
    """A yes in place of a form without fields: some clients accept what they cannot show."""
    schema: Schema = {"type": "object", "properties": {_YES: {"type": "boolean"}}, "required": [_YES]}

    def read(content: object) -> JsonValue:
        answer = cast("dict[str, object]", content).get(_YES) if isinstance(content, dict) else None
        if not isinstance(answer, bool):
            raise Misfit("Please answer with yes or no.")
        return answer

    return ResponseType(schema, read, lambda _: given(), is_yes=True)


def raw_form(schema: object) -> ResponseType:
    """A form whose schema the author wrote, or had pydantic write; its answers are a dict, held against that.

    Raises:
        FormError: the protocol has no such form.
    """
    kept = flat_schema(schema)
    if not kept["properties"]:
        return _yes(dict)
    return ResponseType(kept, lambda content: checked(content, kept), lambda value: value)
