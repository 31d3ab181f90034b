"""Message templates: the texts given to decorators, with ``{name}`` and ``{name.attribute}`` in them.

Only literals that an author wrote into a decorator become templates. What fills them is shown to a person who has to
trust it, so a filled-in value cannot break the line, hide text or run on: controls and invisible characters are
escaped, and it is cut at 200 characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from string import Formatter
from typing import Final

from mrtr_tools.records import record

__all__ = ["MAX_SHOWN", "Field", "Template", "TemplateError", "shown"]

MAX_SHOWN: Final = 200
_UNSEEN: Final = (
    "[\x00-\x1f\x7f-\xa0\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5"
    "\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls, and what shows as nothing or as a space that is none: it could hide text, or push it out of sight. Compiled
when a value is first shown, for that takes longer than all else in here."""


class TemplateError(ValueError):
    """A text that is not a template; says why."""


@record
class Field:
    """A place to fill: the parameter, the attributes to follow from it, and the format."""

    name: str
    attributes: tuple[str, ...]
    spec: str


class Template:
    """A text parsed once.

    Args:
        text: the text.
        show: makes a filled-in value fit to stand in it; by default `shown`.

    Raises:
        TemplateError: a field is not a plain name with plain attributes.
    """

    __slots__ = ("_parts", "_show", "fields", "text")

    def __init__(self, text: str, show: Callable[[str], str] | None = None) -> None:
        self.text = text
        self._show = show or shown
        try:
            self._parts = tuple(_parse(text))
        except TemplateError:
            raise
        except ValueError as error:
            raise TemplateError(f"{error}; write {{{{ and }}}} for braces") from None
        self.fields = tuple(part for part in self._parts if isinstance(part, Field))

    def fill(self, values: Mapping[str, object]) -> str:
        """The text with every field replaced by its value, made fit to be shown."""
        return "".join(part if isinstance(part, str) else self._show(_filled(part, values)) for part in self._parts)


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """A text fit to stand in a question: on one line, what cannot be seen escaped, at most `limit` characters long.

    What a decorator's text names is shown like this anyway. A question that a function makes is sent as it is made, so
    what the model or a person wrote goes through here first: ``Elicit(f"Delete {shown(path)}?")``.
    """
    plain = re.sub(_UNSEEN, lambda found: found.group().encode("unicode_escape").decode(), text[: limit + 1])
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def _parse(text: str) -> Iterator[str | Field]:
    for literal, name, spec, conversion in Formatter().parse(text):
        if literal:
            yield literal
        if name is None:
            continue
        if conversion or (spec and "{" in spec):
            raise TemplateError(f"{{{name}}} may have a plain format such as {{{name}:.2f}} and nothing else")
        root, *attributes = name.split(".")
        if not all(part.isidentifier() and not part.startswith("_") for part in (root, *attributes)):
            raise TemplateError(
                f"{{{name}}} must be a parameter, or an attribute of one, without a leading underscore; "
                "write {{ and }} for braces"
            )
        yield Field(root, tuple(attributes), spec or "")


def _filled(field: Field, values: Mapping[str, object]) -> str:
    value = reduce(getattr, field.attributes, values[field.name])
    try:
        return format(value, field.spec)
    except (TypeError, ValueError, OverflowError):  # None where a number could be, or a number beyond all floats
        return str(value)
