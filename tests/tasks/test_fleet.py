"""Whole servers that share their tasks: each serves any request and runs any task, whatever becomes of others."""

import os
import signal
from pathlib import Path

import pytest

from tests.server.processes import Served
from tests.tasks.fleets import Fleet, about, agreed, created, until, wait
from tests.tasks.places import Cluster

MANY, SOME = 50, 12


@pytest.fixture(params=["sqlite", "postgresql"])
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Fleet:
    kept = tmp_path / "tasks.sqlite3" if request.param == "sqlite" else request.getfixturevalue("cluster").url
    return Fleet(tmp_path, str(kept))


def kill(served: list[Served], pid: int) -> Served:
    """Kill one of them; gives another one."""
    os.kill(pid, signal.SIGKILL)
    for each in served:
        if each.process.pid == pid:
            each.process.wait(20)
    return next(each for each in served if each.process.pid != pid)


def test_made_on_one_shown_by_another_answered_on_a_third_and_the_one_that_runs_it_killed(fleet):
    with fleet.serving(3) as served:
        a, b, c = (each.url for each in served)
        task = created(a, "web")
        until(b, task, "input_required")

        (fleet.doors / "check").touch()
        agreed(c, task)
        wait(lambda: ("check", "web") in fleet.counted("begin"))
        [running] = [run for run in fleet.runs("begin") if run.step == "check"]
        left = kill(served, running.pid)
        (fleet.doors / "check").unlink()
        done = until(left.url, task, "completed")

    assert done["result"]["content"][0]["text"] == "published web"
    assert fleet.counted() == {("prepare", "web"): 1, ("check", "web"): 1, ("publish", "web"): 1}
    again = [run for run in fleet.runs("begin") if run.step == "check"]
    assert [run.key for run in again] == [running.key, running.key]
    assert again[1].pid != running.pid


def test_tasks_that_wait_go_on_in_the_next_build(fleet):
    many = MANY if fleet.tasks.startswith("postgresql") else SOME
    with fleet.serving(2) as served:
        tasks = {f"n{number}": created(served[number % 2].url, f"n{number}") for number in range(many)}
        for task in tasks.values():
            until(served[0].url, task, "input_required")
    with fleet.serving(2, "new") as served:
        for number, task in enumerate(tasks.values()):
            url = served[number % 2].url
            asked = until(url, task, "input_required")["inputRequests"]
            assert asked["ok"]["params"]["message"].startswith(("Publish", "Really"))
            agreed(url, task)
        for task in tasks.values():
            asked = about(served[1].url, "get", task).result
            if asked["status"] == "input_required":  # the question is worded otherwise, and nobody has said yes to that
                assert [*asked["inputRequests"]] == ["ok-2"]
                agreed(served[0].url, task)
        ended = {name: until(served[1].url, task, "completed") for name, task in tasks.items()}

    texts = {name: done["result"]["content"][0]["text"] for name, done in ended.items()}
    assert texts == {name: f"published {name}, scanned" for name in tasks}
    steps = ("prepare", "verify", "scan", "publish")
    assert fleet.counted() == {(step, name): 1 for step in steps for name in tasks}
    assert len({run.key for run in fleet.runs()}) == many * len(steps)


def test_a_database_that_goes_away_comes_back_with_all_tasks(cluster: Cluster, tmp_path: Path):
    fleet = Fleet(tmp_path, cluster.url)
    with fleet.serving(2) as served:
        a, b = (each.url for each in served)
        waiting, running = created(a, "waiting"), None
        until(b, waiting, "input_required")
        (fleet.doors / "prepare").touch()
        running = created(a, "running")
        wait(lambda: ("prepare", "running") in fleet.counted("begin"))
        cluster.stop()
        try:
            for url in (a, b):
                refused = about(url, "get", waiting)
                assert refused.error["code"] == -31001
                assert refused.error["data"] == {"reason": "unavailable"}
            (fleet.doors / "prepare").unlink()
        finally:
            cluster.start()
        until(b, waiting, "input_required")
        agreed(b, waiting)
        until(a, running, "input_required")
        agreed(a, running)
        for task in (waiting, running):
            until(b, task, "completed")

    assert fleet.counted()["publish", "waiting"] == fleet.counted()["publish", "running"] == 1


def test_what_is_told_to_stop_leaves_its_tasks_to_others(fleet):
    with fleet.serving(2) as served:
        (fleet.doors / "prepare").touch()
        task = created(served[0].url, "web")
        wait(lambda: ("prepare", "web") in fleet.counted("begin"))
        [running] = fleet.runs("begin")
        stopping = next(each for each in served if each.process.pid == running.pid)
        other = next(each for each in served if each is not stopping)
        stopping.process.terminate()
        (fleet.doors / "prepare").unlink()
        assert stopping.process.wait(20) == 0
        until(other.url, task, "input_required")
        agreed(other.url, task)
        until(other.url, task, "completed")

    assert fleet.counted("begin") == {("prepare", "web"): 1, ("check", "web"): 1, ("publish", "web"): 1}
