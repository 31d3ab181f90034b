"""What a function returns, as JSON and back, by its return annotation: for `Context.once` of `porting`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

from mrtr_tools.marks import name_of
from mrtr_tools.values import Codec, NotCarriable

__all__ = ["codec_of_result"]


def codec_of_result(function: Callable[..., object]) -> Codec:
    """How what a function returns travels.

    Raises:
        TypeError: its annotation does not say it.
    """
    plain: Any = inspect.unwrap(getattr(function, "func", function))
    try:
        hints = get_type_hints(plain, include_extras=True)
    except (NameError, TypeError):  # what is no function, and what names something that is not there, says nothing
        hints = {}
    if "return" not in hints:
        raise TypeError(
            f"once({name_of(function)}): nothing says how what it returns goes into JSON; annotate it: -> str, or wrap "
            "it in a function that is"
        )
    try:
        return _codec(_awaited(hints["return"]))
    except NotCarriable as error:
        raise TypeError(f"once({name_of(function)}): its result cannot be kept: {error}") from error


@lru_cache(maxsize=256)
def _codec(annotation: object) -> Codec:
    """By annotation, not by function: one that is made anew in each round would stay with all that it closes over."""
    return Codec(annotation)


def _awaited(annotation: object) -> object:
    """What awaiting gives, for a function that returns an awaitable and is annotated so."""
    origin = get_origin(annotation)
    if not isinstance(origin, type) or not issubclass(origin, Awaitable):
        return annotation
    return get_args(annotation)[-1]
