"""Servers that share nothing but a key, each round of a call on another one."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from mrtr_tools.keys import generate_key
from tests.server import processes
from tests.server.raw_http import accept, call


@dataclass(frozen=True)
class Played:
    """A call, the answers of each further round, the text at the end, and the steps that run."""

    tool: str
    arguments: dict[str, Any]
    answers: list[dict[str, Any]]
    text: str
    steps: list[str]


CALLS = [
    Played(
        "get_weather",
        {"location": "Paris"},
        [{"github_login": accept(name="octocat")}],
        "Weather in Paris for octocat",
        ["get_weather"],
    ),
    Played(
        "update_work_item",
        {"workItemId": 7, "fields": {"System.State": "Resolved"}},
        [{"resolution": accept(resolution="Duplicate")}, {"duplicate_of": accept(duplicateOfId=4301)}],
        "7 {'System.State': 'Resolved'} Duplicate 4301",
        ["update_work_item"],
    ),
    Played(
        "book_flight",
        {"origin": "BER", "destination": "LIS"},
        [{"ok": accept(ok=True)}],
        "Booked BER-1 to LIS for 120",
        ["book_flight", "purchase"],
    ),
]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ran") / "steps"


@pytest.fixture(scope="module")
def fleet(notes: Path) -> Iterator[list[str]]:
    """Two servers with one key, and one with a key of its own."""
    shared = {"RAN": str(notes), "MRTR_TOOLS_KEYS": generate_key()}
    other = {"RAN": str(notes), "MRTR_TOOLS_KEYS": generate_key()}
    with (
        processes.http("tests.server.counted", **shared) as one,
        processes.http("tests.server.counted", **shared) as two,
        processes.http("tests.server.counted", **other) as stranger,
    ):
        yield [one, two, stranger]


@pytest.mark.parametrize("played", CALLS, ids=lambda played: played.tool)
def test_each_round_is_served_by_another_process_and_each_step_runs_once(fleet, notes, played):
    one, two, _ = fleet
    notes.write_text("")
    servers = cycle([one, two])

    result = call(next(servers), played.tool, played.arguments).result
    for given in played.answers:
        assert result["resultType"] == "input_required"
        again = {"requestState": result["requestState"]} if "requestState" in result else {}
        result = call(next(servers), played.tool, played.arguments, inputResponses=given, **again).result

    assert result["resultType"] == "complete"
    assert result["content"][0]["text"] == played.text
    assert notes.read_text().split() == played.steps


def test_a_state_of_another_key_is_refused_with_the_frozen_message(fleet):
    one, _, stranger = fleet
    first = call(one, "get_weather", {"location": "Paris"}).result
    given = {"github_login": accept(name="octocat")}

    refused = call(
        stranger, "get_weather", {"location": "Paris"}, inputResponses=given, requestState=first["requestState"]
    )

    assert refused.status == 400
    assert refused.error == {"code": -32602, "message": "Invalid or expired requestState"}
