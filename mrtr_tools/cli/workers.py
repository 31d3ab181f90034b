"""Several processes that serve one file at one port."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass, field
from multiprocessing import parent_process
from typing import TYPE_CHECKING, TypedDict

from mrtr_tools.cli.loading import load_toolbox
from mrtr_tools.cli.logs import show_log
from mrtr_tools.keys import Key
from mrtr_tools.server import http_app

if TYPE_CHECKING:
    from mrtr_tools.server.http import HttpEndpoint

__all__ = ["Terms", "Worker", "never"]


class Terms(TypedDict):
    """What holds for the states of a server, as `http_app` takes it."""

    audience: str | None
    ttl: float
    max_age: float | None


@dataclass(frozen=True)
class Worker:
    """Makes the application of one process, to which it goes through a pipe: keys are in no environment.

    Attributes:
        target: the file, and which of its toolboxes.
        keys: sign states.
        claims: see `http_app`, as is what follows.
        allowed_hosts: see there.
        anonymous_ok: see there.
        terms: how states are bound and how long they live, see `Terms`.
        sheds: whether calls go on elsewhere when the process is told to stop.
    """

    target: str
    keys: tuple[Key, ...] = field(repr=False)
    claims: str | None
    allowed_hosts: list[str] | None
    terms: Terms
    anonymous_ok: bool = False
    sheds: bool = False

    def __call__(self) -> HttpEndpoint:
        """The application, made in the process that serves it."""
        end_with_parent()
        show_log()
        return http_app(
            load_toolbox(self.target),
            keys=self.keys,
            **self.terms,
            claims=self.claims,
            allowed_hosts=self.allowed_hosts,
            anonymous_ok=self.anonymous_ok,
            shed_when=never if self.sheds else None,
        )


def end_with_parent() -> None:
    """Stop when the process that started this one has ended without a word: nobody else would stop it."""
    parent = parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=watch, daemon=True).start()


def never() -> bool:
    """When a server sheds that does so only while it stops."""
    return False
