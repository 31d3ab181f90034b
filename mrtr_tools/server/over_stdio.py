"""Serving one toolbox to one client over stdin and stdout."""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from mrtr_tools.keys import VARIABLE
from mrtr_tools.server.claiming import Claims, starting_ledger
from mrtr_tools.server.envelope import MAX_REQUEST
from mrtr_tools.server.lean import LeanServer
from mrtr_tools.server.lines import CHUNK
from mrtr_tools.server.opening import read_opening
from mrtr_tools.server.pipes import Pipes, claimed, write_all
from mrtr_tools.server.service import Service
from mrtr_tools.server.signing import TTL, Keys, KeysFile, starting_signer
from mrtr_tools.server.stdio import hand_over
from mrtr_tools.server.tasking import Tasks, serving_proposed_tasks, starting_tasks
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mrtr_tools.server.proposed_tasks import ProposedTasks

__all__ = ["run_stdio"]


def run_stdio(
    toolbox: Toolbox,
    *,
    keys: Keys | None = None,
    keys_file: KeysFile | None = None,
    audience: str | None = None,
    ttl: float = TTL,
    max_age: float | None = None,
    claims: Claims | None = None,
    tasks: Tasks | None = None,
    task_keys: Keys | None = None,
    task_keys_file: KeysFile | None = None,
    sep_2322_tasks: bool = False,
    max_request: int = MAX_REQUEST,
    lean: bool = True,
) -> None:
    """Serve one client over stdin and stdout until it closes stdin. What steps print goes to stderr.

    Calls that are under way then have ten seconds to come to their end; after SIGTERM likewise.

    Args:
        toolbox: what to serve.
        keys: sign states, the current one first; by default `MRTR_TOOLS_KEYS`, else a key that ends with this process.
        keys_file: a file of keys in place of `keys`, which only its owner may read, see `mrtr_tools.keys`.
        audience: keeps the states of different servers apart; by default the toolbox's name.
        ttl: seconds that a state lives, unless a tool has a `ttl` of its own. A person may take as long to answer.
        max_age: seconds that a call may take in all; by default a day, or the `ttl` that counts when that is longer.
        claims: where it is kept that a step with ``single_use=True`` ran, see `http_app`; by default in memory where
            the key ends with this process.
        tasks: where calls are kept that go on as tasks, see `http_app`.
        task_keys: see there.
        task_keys_file: see there.
        sep_2322_tasks: see there. A client that begins with `initialize`, or with ``lean=False`` with any other request
            of a released revision, is one of that for good.
        max_request: bytes that one line may have. A longer one is answered with an error.
        lean: serve clients of 2026-07-28 without the MCP SDK, which is imported for older ones then; or not.

    Raises:
        DefinitionError: a step is of single use, there are keys that outlive the process, and no `claims`.
        InvalidKey: a key cannot be used, or they are given in two ways.
        OSError: `keys_file` cannot be read.
        ValueError: `ttl` or `max_age` is no positive number.
    """
    ends_with_process = keys is None and keys_file is None and VARIABLE not in os.environ
    signer = starting_signer(
        toolbox, keys, keys_file=keys_file, audience=audience, ttl=ttl, max_age=max_age, make_key=True
    )
    ledger = starting_ledger(toolbox, signer, claims, ends_with_process=ends_with_process)
    kept = starting_tasks(toolbox, signer, ledger, tasks, task_keys=task_keys, task_keys_file=task_keys_file)
    service = Service(toolbox, signer, ledger, anonymous_ok=True, tasks=kept)
    proposed = serving_proposed_tasks(service, wanted=sep_2322_tasks)
    gc.freeze()  # what is there by now stays, and need not be looked at again and again
    try:
        with suppress(KeyboardInterrupt), claimed() as pipes:  # a person at a terminal stops it so
            if lean or proposed is not None:
                _serve_stdio(service, pipes, max_request, proposed, lean=lean)
            else:
                hand_over(service, pipes, max_request)
    finally:
        gc.unfreeze()


def _serve_stdio(service: Service, pipes: Pipes, limit: int, proposed: ProposedTasks | None, *, lean: bool) -> None:
    """Serve a client by what it begins with, and import no more than that takes."""
    server = LeanServer(service, proposed=proposed)
    write = partial(write_all, pipes.output)
    try:
        opening = read_opening(partial(os.read, pipes.input, CHUNK), write, limit)
        is_ours = opening is not None and (
            (opening.is_modern and lean) or (proposed is not None and proposed.takes(opening.request))
        )
        answer = server.at_once(opening.request) if opening is not None and is_ours else None
        if answer is not None:
            write(answer.body + b"\n")
    except OSError:  # the client has gone
        return
    if opening is None:
        return
    if not is_ours:
        hand_over(service, pipes, limit, opening.read)
        return
    from mrtr_tools.server.loop import serve_modern

    serve_modern(server, pipes, limit, opening.read if answer is None else opening.before + opening.behind)
