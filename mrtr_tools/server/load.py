"""How much a server does at a time: calls in flight, and calls that go on elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from mrtr_tools.errors import Busy

__all__ = ["MAX_CALLS", "MAX_CALLS_EACH", "Load"]

MAX_CALLS: Final = 1000
"""Calls that one process serves at a time unless ``max_calls=`` says otherwise."""
MAX_CALLS_EACH: Final = 100
"""How many of them may be of one principal."""


class Load:
    """What one process has under way. For one event loop.

    Args:
        max_calls: calls at a time; one more is answered with `Busy` and not begun.
        max_calls_each: calls at a time of one principal; for nobody in particular `max_calls` alone holds.
        shed_when: while it says so, calls go on in another request after their next `then`, which a load balancer may
            give to another process. None, and they stay where they are, also while the server stops.

    Attributes:
        in_flight: calls at this moment.
        is_stopping: whether `stop` was called.

    Raises:
        ValueError: a number is not one from 1.
    """

    def __init__(
        self,
        *,
        max_calls: int = MAX_CALLS,
        max_calls_each: int = MAX_CALLS_EACH,
        shed_when: Callable[[], bool] | None = None,
    ) -> None:
        for name, value in {"max_calls": max_calls, "max_calls_each": max_calls_each}.items():
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} must be a number from 1")
        self._max_calls = max_calls
        self._max_calls_each = max_calls_each
        self._shed_when = shed_when
        self._each: Counter[str] = Counter()
        self.in_flight = 0
        self.is_stopping = False

    def stop(self) -> None:
        """Begin nothing new; what runs may end, or goes on elsewhere after its next `then`."""
        self.is_stopping = True

    @property
    def is_busy(self) -> Callable[[], bool] | None:
        """Whether a call should go on elsewhere, as `handle_call` asks; None where none ever should."""
        return None if self._shed_when is None else self._sheds

    def call(self, principal: str | None) -> _Counted:
        """Counts a call while it is served: ``with load.call(principal): ...``.

        Raises:
            Busy: there are too many; it is raised by the `with`.
        """
        return _Counted(self, principal)

    def begin(self, principal: str | None) -> None:
        """Count a call; see `call`, which ends it as well.

        Raises:
            Busy: there are too many.
        """
        if self.is_stopping:
            raise Busy("stopping")
        if self.in_flight >= self._max_calls or (
            principal is not None and self._each[principal] >= self._max_calls_each
        ):
            raise Busy("overloaded")
        self.in_flight += 1
        if principal is not None:
            self._each[principal] += 1

    def end(self, principal: str | None) -> None:
        """Count it no more."""
        self.in_flight -= 1
        if principal is not None:
            self._each[principal] -= 1
            if not self._each[principal]:
                del self._each[principal]

    def _sheds(self) -> bool:
        return self.is_stopping or (self._shed_when is not None and bool(self._shed_when()))


class _Counted:
    """A call that is served: a class, for a generator costs each call as much as reading its arguments."""

    __slots__ = ("_load", "_principal")

    def __init__(self, load: Load, principal: str | None) -> None:
        self._load = load
        self._principal = principal

    def __enter__(self) -> None:
        self._load.begin(self._principal)

    def __exit__(self, *_: object) -> None:
        self._load.end(self._principal)
