"""Where tasks are kept, and the keys that lie beside a file of them."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mrtr_tools.errors import DefinitionError
from mrtr_tools.keys import InvalidKey, Key, generate_key, keys_from_file, read_keys
from mrtr_tools.sealing import Sealer

if TYPE_CHECKING:
    from mrtr_tools.server.tasking import Tasks
    from mrtr_tools.tasks.engine import Engine

__all__ = ["engine_at", "kept_keys", "keys_beside"]

SPELLED: Final = 30  # of the 63 characters that a name may have there

_log = logging.getLogger("mrtr_tools")


def kept_keys(tasks: Tasks, variable: str) -> tuple[Key, ...]:
    """The keys that lie beside a file of tasks; they are made where there are none.

    Args:
        tasks: where the tasks are kept.
        variable: that of the environment that could have keys.

    Raises:
        InvalidKey: the tasks are in no file.
        OSError: a file cannot be read or made.
    """
    from mrtr_tools.tasks.memory import MemoryEngine

    if isinstance(tasks, MemoryEngine):
        return read_keys([generate_key()])
    if not isinstance(tasks, (str, os.PathLike)) or "://" in os.fspath(tasks):
        raise InvalidKey(
            "tasks outlive the process, so all processes of the server need keys that last: make one with `mrtr-tools "
            f"keygen` and give it as task_keys=[...], in a file as task_keys_file=, or in {variable}"
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
