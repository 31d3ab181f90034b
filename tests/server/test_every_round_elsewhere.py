"""Calls of which no two rounds in a row come to the same process, and for which nobody keeps anything."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path

import pytest

from mrtr_tools.keys import generate_key
from tests.load.relay import STEPS, expected
from tests.server import processes
from tests.server.processes import Served
from tests.server.raw_http import Answer, accept, call

CALLS = 20
INSTANCES = 3


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notes")


@pytest.fixture(scope="module")
def fleet(notes: Path) -> Iterator[list[Served]]:
    """Servers that share a key, and nothing else."""
    given = {"MRTR_TOOLS_KEYS": generate_key(), "NOTES": str(notes)}
    with ExitStack() as stack:
        yield [stack.enter_context(processes.http_process("tests.load.relay", **given)) for _ in range(INSTANCES)]


@pytest.mark.parametrize("order", range(1, CALLS + 1))
def test_a_call_ends_well_when_each_of_its_rounds_comes_to_another_process(fleet, notes, order):
    """20 of 20, and no answer has a session for its client to come back with."""
    one, two, three = islice(cycle(fleet), order, order + INSTANCES)
    given = {"digit": accept(digit=order % 10)}, {"ok": accept(ok=True)}

    first = call(one.url, "begin", {"order": order})
    second = call(two.url, "begin", {"order": order}, requestState=state(first), inputResponses=given[0])
    third = call(three.url, "begin", {"order": order}, requestState=state(second), inputResponses=given[1])

    assert third.result["content"][0]["text"] == expected(order)
    assert ran(notes, one, order) == ["begin"]
    assert ran(notes, two, order) == ["read", "price"]
    assert ran(notes, three, order) == ["agree", "pay", "send"]
    for answer in (first, second, third):
        assert not {"mcp-session-id", "set-cookie"} & answer.headers.keys()


def test_that_is_all_the_steps_there_are():
    assert STEPS == ("begin", "read", "price", "agree", "pay", "send")


def state(answer: Answer) -> str:
    return answer.result["requestState"]


def ran(notes: Path, served: Served, order: int) -> list[str]:
    """The steps of an order that one process ran to their end."""
    lines = [line.split() for line in (notes / str(served.process.pid)).read_text().splitlines()]
    return [step for number, step, what in lines if int(number) == order and what == "done"]
