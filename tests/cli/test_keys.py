"""`mrtr-tools keys`."""

from pathlib import Path

import anyio
import pytest

from mrtr_tools.cli import keys as command_of_keys
from mrtr_tools.errors import Busy
from mrtr_tools.keys import generate_key, keys_from_file, read_keys
from mrtr_tools.tasks import MemoryEngine, Row
from mrtr_tools.tasks.sealing import TaskSealer

from .conftest import WORKS

OLD, NEW = generate_key(), generate_key()


class Kept(MemoryEngine):
    """Tasks of the works, under the old key; `closed` when it was let go."""

    closed = False

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def kept(monkeypatch, tmp_path) -> Kept:
    monkeypatch.chdir(tmp_path)
    for name in ("tasks", "tasks.sqlite3"):
        Path(name).touch()
    engine, seals = Kept(), TaskSealer.of(read_keys([OLD]), "works")

    async def fill() -> None:
        for number in range(3):
            row = seals.wrapped(Row(f"t{number}", "owner", "completed", 1, 0, 0, None, "", b"", b""))
            await engine.create(seals.with_data(row, {}), at_most=10)

    anyio.run(fill)
    monkeypatch.setattr(command_of_keys, "engine_at", lambda tasks, ring, audience: engine)
    return engine


@pytest.fixture
def place(tmp_path) -> str:
    """A file of tasks, as far as the command looks at it."""
    path = tmp_path / "tasks"
    path.touch()
    return str(path)


@pytest.fixture
def ring(tmp_path) -> str:
    path = tmp_path / "ring"
    path.write_text(f"{NEW}\n{OLD}\n")
    path.chmod(0o600)
    return str(path)


def wrapped_by(engine: MemoryEngine) -> dict[str, int]:
    return dict(anyio.run(engine.key_ids))


def test_all_tasks_get_the_current_key_and_are_counted(command, kept, ring, place):
    rewrap = ["keys", "rewrap", "--tasks", place, "--task-keys-file", ring]
    new = TaskSealer.of(keys_from_file(ring), "works").ring.key_id

    first, again = command(*rewrap, WORKS), command(*rewrap, "--audience", "works")

    assert (first.returncode, first.stdout) == (0, f"3 tasks are sealed with key {new} now.\n")
    assert (again.returncode, again.stdout) == (0, f"0 tasks are sealed with key {new} now.\n")
    assert wrapped_by(kept) == {new: 3}
    assert kept.closed


def test_tasks_that_no_key_of_the_file_opens_are_told(command, kept, ring, place):
    done = command("keys", "rewrap", "--tasks", place, "--task-keys-file", ring, "--audience", "other")

    assert done.returncode == 1
    assert f"Sealed with other keys: 3 with {next(iter(wrapped_by(kept)))}" in done.stderr


def test_the_keys_beside_a_file_of_tasks_are_taken_unless_others_are_given(command, kept, place, tmp_path):
    (tmp_path / "tasks.keys").write_text(f"{NEW}\n{OLD}\n")
    (tmp_path / "tasks.keys").chmod(0o600)

    done = command("keys", "rewrap", "--tasks", place, "--audience", "works")

    assert (done.returncode, done.stdout[:7]) == (0, "3 tasks")


def test_what_is_missing_is_said(command, kept, ring, place, monkeypatch):
    monkeypatch.delenv("MRTR_TOOLS_TASK_KEYS", raising=False)
    rewrap = ["keys", "rewrap", "--tasks", place]

    assert "--audience" in command(*rewrap, "--task-keys-file", ring).stderr
    done = command(*rewrap, "--audience", "works")
    assert (done.returncode, "--task-keys-file" in done.stderr) == (2, True)
    assert not Path(f"{place}.keys").exists()
    none = command("keys", "rewrap", "--tasks", f"{place}-none", "--audience", "works")
    assert (none.returncode, "there is no such file" in none.stderr) == (2, True)


def test_a_store_that_cannot_be_reached_is_told(command, kept, ring, place, monkeypatch):
    async def away() -> dict[str, int]:
        raise Busy("unavailable")

    monkeypatch.setattr(kept, "key_ids", away)

    done = command("keys", "rewrap", "--tasks", place, "--task-keys-file", ring, "--audience", "works")

    assert done.returncode == 1
    assert "what was done is done, so run it again" in done.stderr


def test_a_file_that_is_not_there_or_of_another_server_is_told_and_none_is_made(command, ring, tmp_path):
    missing, taken = tmp_path / "missing", tmp_path / "tasks.sqlite3"
    taken.touch()
    rewrap = ["keys", "rewrap", "--task-keys-file", ring]
    command(*rewrap, "--tasks", str(taken), "--audience", "works")

    done = command(*rewrap, "--tasks", str(missing), "--audience", "works")
    other = command(*rewrap, "--tasks", str(taken), "--audience", "other")

    assert (done.returncode, done.stderr) == (2, f"Error: --tasks {missing}: there is no such file\n")
    assert not missing.exists()
    assert (other.returncode, "holds the tasks of another server" in other.stderr) == (2, True)
