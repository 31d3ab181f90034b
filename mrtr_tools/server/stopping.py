"""Hearing that the process is to stop, beside whoever stops it, and going on when it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

__all__ = ["GRACE", "Stop", "before_the_end", "until_told"]

GRACE: Final = 10
"""Seconds that calls under way may take when a server is to end, over HTTP and stdio alike."""

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def before_the_end(act: Callable[[], None]) -> Generator[None]:
    """Do something as soon as the process is told to stop, before whoever serves it does what is to be done then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def told(number: int, frame: FrameType | None) -> None:
        act()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number, handler in before.items():
        if callable(handler):  # else nobody stops gracefully here
            signal.signal(number, told)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is told:
                signal.signal(number, handler)


class _Told(BaseException):
    """SIGTERM, and whoever served has done what is to be done then."""


class Stop:
    """Whether somebody serves who hears that the process is to stop, and passes it on when that is done."""

    __slots__ = ("is_heard",)

    def __init__(self) -> None:
        self.is_heard = False


@contextmanager
def until_told() -> Generator[Stop]:
    """Leave when the process is told to stop, and go on after it: an orderly end is no failure.

    Servers pass a signal on when they are done with it. SIGTERM would then end the process with no exit code at all,
    and SIGINT would raise `KeyboardInterrupt`. Before anybody serves, SIGTERM ends the process as it would have.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def told(number: int, _: FrameType | None) -> None:
        if stop.is_heard:
            raise _Told
        # It comes at any moment, also where an exception is swallowed.
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    before = signal.signal(signal.SIGTERM, told)
    try:
        with suppress(_Told, KeyboardInterrupt):
            yield stop
    finally:
        signal.signal(signal.SIGTERM, before)
