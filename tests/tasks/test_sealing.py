"""What is kept of a task: nobody who can read the store learns anything, and what they change does not open."""

from dataclasses import replace

import pytest

from mrtr_tools.keys import generate_key, read_keys
from mrtr_tools.tasks import Row
from mrtr_tools.tasks.sealing import TaskSealer

KEYS = read_keys([generate_key()])
SEALER = TaskSealer.of(KEYS, "jobs")
SECRET = "hunter2"


def row(task: str = "task", owner: str = "ada") -> Row:
    made = SEALER.wrapped(Row(task, owner, "working", 1, 1.0, 2.0, 3.0, "", b"", b""))
    made = replace(made, message=SEALER.sealed_message(made, SECRET))
    return SEALER.with_data(made, {"secret": SECRET})


def test_what_was_sealed_opens():
    made = row()
    assert SEALER.data(made) == {"secret": SECRET}
    assert SEALER.message(made) == SECRET
    assert SEALER.message(replace(made, message=None)) is None


def test_nothing_of_it_can_be_read():
    """Security 19: everything at rest is sealed."""
    made = row()
    for part in (made.data, made.message, made.key):
        assert part is not None
        assert SECRET.encode() not in part
    assert SECRET not in repr(made)


def test_what_was_moved_or_changed_does_not_open():
    """Security 19: who can write to the store cannot swap rows, or parts of them."""
    mine, other = row(), row("task-2")
    changed = {
        "another task": replace(mine, id="task-2"),
        "another owner": replace(mine, owner="bob"),
        "another status": replace(mine, status="completed"),
        "another version": replace(mine, version=2),
        "a longer life": replace(mine, expires=9.0),
        "no end": replace(mine, expires=None),
        "another beginning": replace(mine, created=0.5),
        "data of another task": replace(mine, data=other.data),
        "data and key of another task": replace(mine, data=other.data, key=other.key),
        "a message in place of data": replace(mine, data=mine.message or b""),
        "a changed byte": replace(mine, data=mine.data[:-1] + bytes([mine.data[-1] ^ 1])),
        "nothing": replace(mine, data=b""),
        "no key": replace(mine, key=b""),
    }
    opened = []
    for what, each in changed.items():
        try:
            SEALER.data(each)
            opened.append(what)
        except ValueError:
            pass
    assert opened == []


def test_a_message_opens_at_any_version_of_its_task_and_nowhere_else():
    mine, other = row(), row("task-2")
    assert SEALER.message(replace(mine, version=7, status="completed")) == SECRET
    for moved in (replace(mine, message=other.message), replace(mine, message=mine.data), replace(mine, id="task-2")):
        with pytest.raises(ValueError, match="a task was changed where it is kept"):
            SEALER.message(moved)


def test_two_tasks_with_the_same_in_them_look_different():
    assert row().data != row().data
    assert row().key != row().key


def test_a_new_ring_opens_what_the_old_one_wrapped_and_wraps_it_anew():
    """Security 19: tasks outlive keys."""
    new = read_keys([generate_key()])
    both, alone = TaskSealer.of((*new, *KEYS), "jobs"), TaskSealer.of(new, "jobs")
    mine = row()
    assert both.data(mine) == {"secret": SECRET}
    with pytest.raises(ValueError, match="its key is gone"):
        alone.data(mine)
    moved = both.rewrapped(mine)
    assert (moved.data, moved.message, moved.version) == (mine.data, mine.message, mine.version)
    assert moved.key_id == alone.ring.key_id != mine.key_id
    assert (alone.data(moved), alone.message(moved)) == ({"secret": SECRET}, SECRET)
    with pytest.raises(ValueError, match="no key here has sealed it"):
        alone.rewrapped(mine)


def test_another_server_with_the_same_keys_opens_nothing():
    with pytest.raises(ValueError, match="its key is gone"):
        TaskSealer.of(KEYS, "staging").data(row())


def test_a_message_may_hold_half_a_surrogate_pair():
    mine = row()
    assert SEALER.message(replace(mine, message=SEALER.sealed_message(mine, "a\ud800"))) == "a\\ud800"
