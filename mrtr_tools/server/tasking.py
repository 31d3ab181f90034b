"""Where a server keeps its tasks, and the keys that seal them."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from mrtr_tools.errors import DefinitionError
from mrtr_tools.keys import InvalidKey, Key, generate_key, keys_from_file, read_keys
from mrtr_tools.sealing import Sealer
from mrtr_tools.server.signing import Keys, KeysFile, given_keys
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mrtr_tools.server.proposed_tasks import ProposedTasks
    from mrtr_tools.server.service import Service
    from mrtr_tools.single_use import Ledger
    from mrtr_tools.tasks.engine import Engine
    from mrtr_tools.tasks.service import TaskService

__all__ = ["TASK_VARIABLE", "Tasks", "engine_at", "keys_beside", "serving_proposed_tasks", "starting_tasks"]

Tasks: TypeAlias = "Engine | str | os.PathLike[str]"
"""A file for all processes of one machine; ``postgresql://...`` for several machines; or an engine."""

SPELLED: Final = 30  # of the 63 characters that a name may have there
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
    from mrtr_tools.server.wire import shown
    from mrtr_tools.tasks.sealing import TaskSealer
    from mrtr_tools.tasks.service import TaskService

    ring = given if given is not None else _kept_keys(tasks)
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


def _kept_keys(tasks: Tasks) -> tuple[Key, ...]:
    """The keys that lie beside a file of tasks."""
    from mrtr_tools.tasks.memory import MemoryEngine

    if isinstance(tasks, MemoryEngine):
        return read_keys([generate_key()])
    if not isinstance(tasks, (str, os.PathLike)) or "://" in os.fspath(tasks):
        raise InvalidKey(
            "tasks outlive the process, so all processes of the server need keys that last: make one with `mrtr-tools "
            f"keygen` and give it as task_keys=[...], in a file as task_keys_file=, or in {TASK_VARIABLE}"
        )
    path = keys_beside(tasks)
    if not path.exists():
        _make_keys(path)
    return keys_from_file(path)


def keys_beside(tasks: str | os.PathLike[str]) -> Path:
    """Where the keys of a file of tasks lie unless others are given."""
    return Path(f"{os.fspath(tasks)}.keys")


def _make_keys(path: Path) -> None:
    """Make a file with a new key, which is whole when it is there: of several processes that begin, one makes it."""
    made = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"# seals {path.stem}: keep it as long as that, and apart from its copies\n{generate_key()}\n")
    try:
        os.link(made, path)
        _log.info("a key for tasks was made: %s", path)
    except FileExistsError:
        pass
    finally:
        made.unlink()


def engine_at(tasks: Tasks, ring: tuple[Key, ...], audience: str) -> Engine:
    """What keeps tasks there, and runs them where it is told to.

    Raises:
        DefinitionError: it is no place for tasks.
        ImportError: the packages that keep them are not installed.
        TypeError: nor could it be one.
    """
    if not isinstance(tasks, (str, os.PathLike)):
        from mrtr_tools.tasks.engine import is_engine

        if not is_engine(tasks):
            raise TypeError("tasks= takes a file, a postgresql:// URL, or an Engine")
        return tasks
    from mrtr_tools.tasks.dbos import DbosEngine

    try:
        return DbosEngine(tasks, sealer=Sealer(ring, audience, "task/queue"), schema=_schema(audience))
    except ValueError as error:
        raise DefinitionError(f"{audience}: {error}") from None


def _schema(audience: str) -> str:
    """The schema of a server in PostgreSQL, so that several can have one database."""
    spelled = re.sub(r"[^a-z0-9]+", "_", audience.lower()).strip("_")[:SPELLED]
    return f"mrtr_tools_{spelled}_{hashlib.sha256(audience.encode()).hexdigest()[:6]}"
