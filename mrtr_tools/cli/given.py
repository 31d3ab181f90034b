"""``--answer KEY=VALUE``: answers that are given before the question is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, cast

from pydantic import JsonValue
from pydantic_core import from_json

from mrtr_tools.cli.exits import Stop
from mrtr_tools.cli.pairs import split_pairs, value_of
from mrtr_tools.cli.questions import Action, Misfit, Question, Response, Spec, checked, choices_of, yes_or_no

__all__ = ["Given"]

NUMBERED: Final = re.compile(r"-\d+$")
ACTIONS: Final[Mapping[str, Action]] = {"@accept": "accept", "@decline": "decline", "@cancel": "cancel"}


class Given:
    """The answers of a command line.

    A KEY is a wire key, or the name of an input, which serves ``ok``, ``ok-2`` and so on. A VALUE is that of the form's
    only field; or a JSON object with all fields; or ``@decline``, ``@cancel``, or ``@accept`` for a form that may stay
    empty and for a page to visit.

    Raises:
        Stop: an answer is not ``KEY=VALUE``, or is given twice.
    """

    def __init__(self, pairs: Iterable[str]) -> None:
        self._texts = split_pairs(pairs, "--answer")
        self._used: set[str] = set()

    @property
    def unused(self) -> list[str]:
        """The keys for which nothing was asked."""
        return [key for key in self._texts if key not in self._used]

    def to(self, question: Question) -> Response | None:
        """The response to a question, or None without an answer to it.

        Raises:
            Stop: the answer does not fit the form.
        """
        key = question.key if question.key in self._texts else NUMBERED.sub("", question.key)
        text = self._texts.get(key)
        if text is None:
            return None
        self._used.add(key)
        if text in ACTIONS and text != "@accept":
            return Response(ACTIONS[text])
        if question.url is not None:
            if text == "@accept":
                return Response("accept")
            raise Stop(f"--answer {key}: this is a page to visit; the answer is @accept, @decline or @cancel")
        try:
            return Response("accept", checked({} if text == "@accept" else _content(text, question), question.schema))
        except Misfit as misfit:
            raise Stop(f"--answer {key}={text} does not fit: {misfit}") from None


def _content(text: str, question: Question) -> dict[str, JsonValue]:
    fields = question.fields
    whole = _object(text)
    if whole is not None and whole.keys() <= fields.keys():
        return whole
    if len(fields) != 1:
        example = ", ".join(f'"{name}": ...' for name in fields)
        raise Misfit(f"the form has several fields, so write a JSON object: {question.key}={{{example}}}")
    name, spec = next(iter(fields.items()))
    return {name: _answer(text, spec)}


def _object(text: str) -> dict[str, JsonValue] | None:
    try:
        value: object = from_json(text, allow_inf_nan=False)
    except ValueError:
        return None
    return cast("dict[str, JsonValue]", value) if isinstance(value, dict) else None


def _answer(text: str, spec: Spec) -> JsonValue:
    kind = spec.get("type")
    if kind == "boolean" and (said := yes_or_no(text)) is not None:
        return said
    value = value_of(text, spec)
    if kind == "array" and not isinstance(value, list):  # written as a,b where no choice has a comma in it
        picked = [part.strip() for part in text.split(",")]
        return list(picked) if {choice for choice, _ in choices_of(spec)}.issuperset(picked) else [text]
    return value
