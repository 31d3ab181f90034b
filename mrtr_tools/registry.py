"""`Registry`: the steps of one toolbox, by their names and by their functions.

Tools, prompts, resources and steps share one set of names, for a state calls its step by name and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from types import MethodType
from typing import Final, cast

from mrtr_tools.errors import DefinitionError
from mrtr_tools.marks import REGISTERED, name_of
from mrtr_tools.questions import Kind
from mrtr_tools.steps import Step

__all__ = ["Registry"]

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class Registry(Collection[Step]):
    """Every step, and the first steps of tools, prompts and resources, in the order of definition.

    Args:
        owner: whose steps they are, for errors.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._names: dict[str, Step] = {}
        self._by_function: dict[Callable[..., object], Step] = {}
        self._carries_secrets = False

    def __iter__(self) -> Iterator[Step]:
        return iter(dict.fromkeys(self._names.values()))

    def __len__(self) -> int:
        return len(set(self._names.values()))

    def __contains__(self, step: object) -> bool:
        return step in self._names.values()

    def named(self, name: str) -> Step | None:
        """The step or tool with this name, present or past."""
        return self._names.get(name)

    def of(self, function: Callable[..., object]) -> Step | None:
        """The step that a function is registered as here."""
        try:
            return self._by_function.get(function)
        except TypeError:
            return None

    def asking(self, kind: Kind) -> list[str]:
        """The names of the steps that ask a question of this kind, as far as fixed questions and annotations tell."""
        return [step.name for step in self if any(item.asks(kind) for item in step.inputs.values())]

    @property
    def used_once(self) -> list[str]:
        """The names of the steps that run once in a call."""
        return [step.name for step in self if step.once is not None]

    @property
    def as_tasks(self) -> list[Step]:
        """The steps that go on as a task."""
        return [step for step in self if step.task is not None]

    @property
    def carries_secrets(self) -> bool:
        """Whether a state of one of these may hold a secret; then no server runs that does not seal its states."""
        return self._carries_secrets

    def new_name(self, function: object, given: str | None) -> str:
        """The name of a function that is to be added: what was given, or its own.

        Raises:
            DefinitionError: it has none, it is no name, or it is taken.
        """
        chosen = given if given is not None else cast("str | None", getattr(function, "__name__", None))
        if chosen is None:
            raise DefinitionError(f"{name_of(function)} has no name of its own; give one: name=...")
        self._check(chosen, name_of(function))
        return chosen

    def check_aliases(self, step: str, aliases: object) -> None:
        """Refuse older names of a step that cannot be.

        Raises:
            DefinitionError: one is no name, is taken, or stands there twice.
        """
        older: list[object] = [*cast("tuple[object, ...]", aliases)] if isinstance(aliases, (tuple, list)) else [step]
        if step in older or any(older.count(alias) > 1 for alias in older):
            raise DefinitionError(f"{step}: aliases= takes the older names of the step, each once: aliases=('buy',)")
        for alias in older:
            self._check(alias, f"alias of {step!r}")

    def add(self, step: Step, function: Callable[..., object]) -> None:
        """Add a step whose names were checked, and note at its function that it is one."""
        for name in (step.name, *step.aliases):
            self._names[name] = step
        self._carries_secrets = self._carries_secrets or step.carries_secrets
        marked = function.__func__ if isinstance(function, MethodType) else function
        if step.may_follow or function not in self._by_function:
            self._by_function[function] = step
            setattr(marked, REGISTERED, step)

    def _check(self, name: object, what: str) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise DefinitionError(
                f"{what}: {name!r} is no name for a tool or step; use letters, digits, _ . - (at most 128): name=..."
            )
        if name in self._names:
            holder = self._names[name].signature.where
            raise DefinitionError(
                f"{what}: the name {name!r} is taken in {self._owner} by {holder}; give another: name=..."
            )
