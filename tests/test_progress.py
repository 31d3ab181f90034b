from dataclasses import fields

import pytest
from pydantic_core import from_json, to_json

from mrtr_tools.progress import Open, Progress, Slot, new_call_id

FULL = Progress(
    call="c",
    born=5,
    version=2,
    n=3,
    ran=True,
    rounds=4,
    step="purchase",
    formerly="buy",
    defaults={"day": None},
    given="d",
    carried={"flight": {"price": 3}},
    same=["destination"],
    slots={"ok": Slot("p", True), "no": Slot("p", None, "decline"), "none": Slot("p")},
    open={"a": Open("a", "p"), "b-2": Open("b", "p", {"message": "?"})},
    why={"a": "That day is full"},
    misfits={"a": 1},
    used={"b": 1},
    visits={"purchase": 2},
    moves=3,
    moves_in_a_row=1,
    is_task=True,
)


@pytest.mark.parametrize("progress", [FULL, Progress(), Progress(call="c", step="x")])
def test_progress_comes_back_from_json_as_it_was(progress: Progress):
    assert Progress.from_json(from_json(to_json(progress.to_json()))) == progress


def test_every_field_that_holds_something_is_written():
    assert FULL.to_json().keys() == {field.name for field in fields(Progress)}


def test_what_is_empty_costs_no_bytes():
    assert Progress(call="c").to_json() == {"call": "c"}


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"call": 3},
        {"call": "c", "n": "1"},
        {"call": "c", "n": True},
        {"call": "c", "slots": {"a": 3}},
        {"call": "c", "x": 1},
    ],
)
def test_what_is_no_progress_is_refused(data: dict):
    with pytest.raises(ValueError, match="not the progress of a call"):
        Progress.from_json(data)


def test_call_ids_are_128_random_bits():
    assert len({new_call_id() for _ in range(1000)}) == 1000
    assert len(new_call_id()) == 22
