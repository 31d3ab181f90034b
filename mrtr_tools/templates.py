"""Message templates: the texts given to decorators, with ``{name}`` and ``{name.attribute}`` in them.

Only literals that an author wrote into a decorator become templates. What fills them is shown to a person who has to
trust it, so a filled-in value cannot break the line, hide text or run on: controls and invisible characters are
escaped, and it is cut at 200 characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from string import Formatter
from typing import Final

__all__ = ["Template", "TemplateError", "shown"]

MAX_SHOWN: Final = 200
_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


class TemplateError(ValueError):
    """A text that is not a template; says why."""


@dataclass(frozen=True, slots=True)
class Field:
    """A place to fill: the parameter, the attributes to follow from it, and the format."""

    name: str
    attributes: tuple[str, ...]
    spec: str


class Template:
    """A text parsed once.

    Raises:
        TemplateError: a field is not a plain name with plain attributes.
    """

    __slots__ = ("_parts", "fields", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._parts = tuple(_parse(text))
        except TemplateError:
            raise
        except ValueError as error:
            raise TemplateError(f"{error}; write {{{{ and }}}} for braces") from None
        self.fields = tuple(part for part in self._parts if isinstance(part, Field))

    def fill(self, values: Mapping[str, object]) -> str:
        """The text with every field replaced by its value as `shown`."""
        return "".join(part if isinstance(part, str) else _filled(part, values) for part in self._parts)


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """The text on one line, with what cannot be seen escaped, and at most `limit` characters long."""
    plain = _UNSEEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text[: limit + 1])
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
            raise TemplateError(f"{{{name}}} must be a parameter, or an attribute of one, without a leading underscore")
        yield Field(root, tuple(attributes), spec or "")


def _filled(field: Field, values: Mapping[str, object]) -> str:
    value = reduce(getattr, field.attributes, values[field.name])
    return shown(format(value, field.spec))
