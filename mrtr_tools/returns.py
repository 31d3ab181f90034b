"""What a function returns, as JSON and back, by its return annotation: for `Context.once` of `porting`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from functools import lru_cache
from typing import Any, get_args, get_type_hints

from mrtr_tools.marks import name_of
from mrtr_tools.values import Codec, NotCarriable

__all__ = ["codec_of_result"]


@lru_cache(maxsize=256)
def codec_of_result(function: Callable[..., object]) -> Codec:
    """How what a function returns travels.

    Raises:
        TypeError: its annotation does not say it.
    """
    plain: Any = inspect.unwrap(getattr(function, "func", function))
    try:
        hints = get_type_hints(plain, include_extras=True)
    except (NameError, TypeError):
        hints = {}
    if "return" not in hints:
        raise TypeError(
            f"once({name_of(function)}): nothing says how what it returns goes into JSON; annotate it: -> str, or wrap "
            "it in a function that is"
        )
    try:
        return Codec(_awaited(hints["return"]))
    except NotCarriable as error:
        raise TypeError(f"once({name_of(function)}): its result cannot be kept: {error}") from error


def _awaited(annotation: object) -> object:
    """What awaiting gives, for a function that returns an awaitable and is annotated so."""
    origin = getattr(annotation, "__origin__", None)
    if isinstance(origin, type) and issubclass(origin, Coroutine):
        return get_args(annotation)[-1]
    if isinstance(origin, type) and issubclass(origin, Awaitable):
        return get_args(annotation)[0]
    return annotation
