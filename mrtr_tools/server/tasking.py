"""Whether a server has tasks."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from mrtr_tools.errors import DefinitionError
from mrtr_tools.server.signing import Keys, KeysFile, given_keys
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mrtr_tools.server.proposed_tasks import ProposedTasks
    from mrtr_tools.server.service import Service
    from mrtr_tools.single_use import Ledger
    from mrtr_tools.tasks.engine import Engine
    from mrtr_tools.tasks.service import TaskService

__all__ = ["TASK_VARIABLE", "Tasks", "serving_proposed_tasks", "starting_tasks"]

Tasks: TypeAlias = "Engine | str | os.PathLike[str]"
"""A file for all processes of one machine; ``postgresql://...`` for several machines; or an engine."""

TASK_VARIABLE: Final = "MRTR_TOOLS_TASK_KEYS"

_log = logging.getLogger("mrtr_tools")


def starting_tasks(
    toolbox: Toolbox,
    signer: StateSigner,
    ledger: Ledger | None,
    tasks: Tasks | None,
    *,
    task_keys: Keys | None = None,
    task_keys_file: KeysFile | None = None,
) -> TaskService | None:
    """The tasks of a toolbox; None where nothing keeps any, and what may be one goes on without.

    Args:
        toolbox: what is served.
        signer: of its states; its audience names the server.
        ledger: keeps what is used once.
        tasks: where they are kept.
        task_keys: seal them, the current one first; they have to last as long as the tasks do. By default
            `MRTR_TOOLS_TASK_KEYS`, which is removed; else for a file another one beside it, which is made when it is
            not there.
        task_keys_file: a file of keys in place of `task_keys`.

    Raises:
        DefinitionError: a step has to be a task, and nothing keeps them.
        ImportError: the packages that keep them are not installed.
        InvalidKey: there are no keys, one cannot be used, or they are given in two ways.
        OSError: a file cannot be read or made.
    """
    given = given_keys(task_keys, task_keys_file, name="task_keys", variable=TASK_VARIABLE)
    marked = toolbox.steps.as_tasks
    if tasks is None or not marked:
        required = [step.name for step in marked if step.task is not None and step.task.is_required]
        if required:
            raise DefinitionError(
                f"{toolbox.name}: {', '.join(required)} can only go on as a task, so say where those are kept: "
                'tasks="tasks.sqlite3" on one machine, tasks="postgresql://..." on several'
            )
        if marked:
            _log.info("%s: nothing keeps tasks (tasks=), and its steps go on without", toolbox.name)
        return None
    from mrtr_tools.server.task_places import engine_at, kept_keys
    from mrtr_tools.server.wire import shown
    from mrtr_tools.tasks.sealing import TaskSealer
    from mrtr_tools.tasks.service import TaskService

    ring = given if given is not None else kept_keys(tasks, TASK_VARIABLE)
    sealer, engine = TaskSealer.of(ring, signer.audience), engine_at(tasks, ring, signer.audience)
    _log.info("%s: tasks are kept in %r, under key %s", signer.audience, engine, sealer.ring.key_id)
    return TaskService(
        toolbox,
        engine,
        sealer,
        audience=signer.audience,
        written=shown,
        clock=signer.clock,
        ledger=ledger,
    )


def serving_proposed_tasks(service: Service, *, wanted: bool) -> ProposedTasks | None:
    """What serves the proposal's messages; None unless that is wanted.

    Raises:
        DefinitionError: there are no tasks to serve.
        TypeError: `wanted` is neither True nor False.
    """
    if not isinstance(cast("object", wanted), bool):
        raise TypeError("sep_2322_tasks= is True or False")
    if not wanted:
        return None
    if service.tasks is None:
        raise DefinitionError(
            f"{service.toolbox.name}: sep_2322_tasks=True serves tasks, and there are none: mark a step with "
            'task="optional", and say where they are kept with tasks='
        )
    from mrtr_tools.server.proposed_tasks import ProposedTasks  # of use to few

    return ProposedTasks(service, service.tasks.apart("SEP-2322"))
