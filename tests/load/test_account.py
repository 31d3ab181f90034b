"""The account of a load test: what it must find."""

import pytest

from tests.load.account import Run, Told, read_notes, settle
from tests.load.relay import STEPS, expected

KILLED, LIVED = 666, 1


def settled(again: int = 0, result: str | None = expected(7), **ran: list[Run]):
    """The account of one order; each of its steps ran once, but for these."""
    told = Told({} if result is None else {7: result})
    told.again[7]["502"] += again
    runs = {(7, step): ran.get(step, [Run(LIVED, True)]) for step in STEPS}
    return settle([7], told, runs, {KILLED})


def test_a_call_whose_steps_ran_once_is_good():
    assert settled().is_good


@pytest.mark.parametrize(("result", "found"), [(None, "lost"), ("order 7 paid 0", "wrong")])
def test_a_call_without_its_result_is_not(result: str | None, found: str):
    account = settled(result=result)

    assert getattr(account, found) == [7]
    assert not account.is_good


@pytest.mark.parametrize("ran", [[], [Run(KILLED, False)]])
def test_a_result_without_all_its_steps_is_found(ran: list[Run]):
    account = settled(pay=ran)

    assert account.missing == [(7, "pay")]
    assert not account.is_good


@pytest.mark.parametrize("killed", [[], [Run(KILLED, True)]])
def test_a_step_that_ran_twice_in_processes_that_ended_well_is_found(killed: list[Run]):
    account = settled(again=5, pay=[Run(LIVED, True), Run(2, True), *killed])

    assert account.twice == [(7, "pay")]
    assert not account.is_good


def test_a_step_that_ran_again_though_its_client_sent_nothing_again_is_found():
    account = settled(pay=[Run(KILLED, False), Run(LIVED, True)])

    assert account.twice == [(7, "pay")]


@pytest.mark.parametrize(("was_done", "found"), [(False, "inside"), (True, "unanswered")])
def test_a_step_that_ran_again_after_its_process_was_killed_is_counted_and_good(was_done: bool, found: str):
    account = settled(again=1, pay=[Run(KILLED, was_done), Run(LIVED, True)])

    assert getattr(account, found) == [(7, "pay")]
    assert account.is_good


def test_notes_are_read_from_the_file_of_each_process(tmp_path):
    (tmp_path / "1").write_text("7 pay begun\n7 pay done\n8 pay begun\n")
    (tmp_path / "2").write_text("7 pay begun\n")

    runs = read_notes(tmp_path)

    assert sorted(runs[7, "pay"], key=lambda run: run.pid) == [Run(1, True), Run(2, False)]
    assert runs[8, "pay"] == [Run(1, False)]
