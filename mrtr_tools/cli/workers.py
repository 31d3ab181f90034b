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
    from mrtr_tools.server.claiming import Claims
    from mrtr_tools.server.http import HttpEndpoint
    from mrtr_tools.server.tasking import Tasks

__all__ = ["Access", "Kept", "Terms", "Worker"]


class Terms(TypedDict):
    """What holds for the states of a server, as `http_app` takes it."""

    audience: str | None
    ttl: float
    max_age: float | None


class Access(TypedDict):
    """Who is served over HTTP, how much at a time, and how long that may take at the end, as `http_app` takes it."""

    allowed_hosts: list[str] | None
    allowed_origins: list[str] | None
    anonymous_ok: bool
    max_request: int
    max_calls: int
    grace: float


class Kept(TypedDict):
    """Where tasks are kept, and what seals them, as `http_app` takes it; an engine of this process stays in it."""

    tasks: Tasks | None
    task_keys: tuple[Key, ...] | None


@dataclass(frozen=True)
class Worker:
    """Makes the application of one process. To another it goes through a pipe: keys are in no environment.

    Attributes:
        target: the file, and which of its toolboxes.
        keys: sign states.
        claims: see `http_app`.
        terms: how states are bound and how long they live.
        access: who is served, and how much at a time.
        kept: where tasks are kept.
        sheds: whether calls go on elsewhere when the process is told to stop.
    """

    target: str
    keys: tuple[Key, ...] = field(repr=False)
    claims: Claims | None
    terms: Terms
    access: Access
    kept: Kept = field(repr=False)
    sheds: bool = False

    def __call__(self) -> HttpEndpoint:
        """The application, made in the process that serves it."""
        end_with_parent()
        toolbox = load_toolbox(self.target)
        show_log()  # unless the file has said where logs go
        return http_app(
            toolbox,
            keys=self.keys,
            claims=self.claims,
            **self.terms,
            **self.access,
            **self.kept,
            shed_when=_never if self.sheds else None,
        )


def end_with_parent() -> None:
    """Stop when the process that started this one has ended without a word: nobody else would stop it."""
    parent = parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=watch, daemon=True).start()


def _never() -> bool:
    """When a server sheds that does so only while it stops."""
    return False
