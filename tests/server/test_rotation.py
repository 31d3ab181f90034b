"""Keys are rotated while calls are under way: three servers, each a deployment further than the one before."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import pytest

from mrtr_tools.keys import generate_key
from tests.server import processes
from tests.server.raw_http import Answer, accept, call
from tests.server.test_processes import CALLS, Played

FROZEN = {"code": -32602, "message": "Invalid or expired requestState"}
OLD, NEW = generate_key(), generate_key()
RINGS = {1: [OLD, NEW], 2: [NEW, OLD], 3: [NEW]}
Fleet = Mapping[int, str]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ran") / "steps"


@pytest.fixture(scope="module")
def fleet(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The address of a server in each phase; two have their keys from a file, one from its environment."""
    folder = tmp_path_factory.mktemp("keys")
    with ExitStack() as running:
        fleet: dict[int, str] = {}
        for phase, ring in RINGS.items():
            given = {"MRTR_TOOLS_KEYS": ",".join(ring)}
            if phase != 2:
                file = folder / f"phase-{phase}"
                file.touch(mode=0o600)
                file.write_text("\n".join(ring))
                given = {"KEYS_FILE": str(file)}
            fleet[phase] = running.enter_context(processes.http("tests.server.counted", RAN=str(notes), **given))
        yield fleet


def play(fleet: Fleet, phases: list[int], played: Played) -> Answer:
    """A whole call, each round served by the next of these phases, over and over."""
    servers = cycle(phases)
    answer = call(fleet[next(servers)], played.tool, played.arguments)
    for given in played.answers:
        result = answer.result
        assert result["resultType"] == "input_required"
        again: dict[str, Any] = {"requestState": result["requestState"]} if "requestState" in result else {}
        answer = call(fleet[next(servers)], played.tool, played.arguments, inputResponses=given, **again)
    return answer


@pytest.mark.parametrize("phases", [[1, 2], [2, 1], [2, 3], [3, 2], [1, 2, 3], [3, 2, 1]], ids=str)
@pytest.mark.parametrize("played", CALLS, ids=lambda played: played.tool)
def test_phases_that_follow_each_other_serve_one_call_together(fleet, notes, phases, played):
    """Security 14: in the middle of a deployment each round may come to a machine that has the next ring, or not."""
    assert all(abs(one - other) == 1 for one, other in pairwise(phases))
    notes.write_text("")

    result = play(fleet, phases, played).result

    assert result["content"][0]["text"] == played.text
    assert notes.read_text().split() == played.steps


@pytest.mark.parametrize("tool", ["get_weather", "book_flight"])
def test_a_phase_that_was_skipped_refuses_with_the_one_message(fleet, notes, tool):
    """Security 14: what the first phase signs, the third does not know; whether anything has run or not."""
    (played,) = [each for each in CALLS if each.tool == tool]
    notes.write_text("")

    refused = play(fleet, [1, 3], played)

    assert (refused.status, refused.error) == (400, FROZEN)
    assert notes.read_text().split() == [step for step in played.steps if step == "book_flight"]


def test_a_key_that_was_cut_off_is_refused_with_the_same_message_and_the_new_one_serves(tmp_path, fleet, notes):
    """Security 14: by a line in the file, on the day that it leaks."""
    file = tmp_path / "keys"
    file.touch(mode=0o600)
    file.write_text(f"{NEW}\n{OLD} accept_until=2001-01-01T00:00Z\n")
    arguments, given = {"location": "Paris"}, {"github_login": accept(name="octocat")}
    leaked, clean = (call(fleet[phase], "get_weather", arguments).result["requestState"] for phase in (1, 2))

    with processes.http("tests.server.counted", RAN=str(notes), KEYS_FILE=str(file)) as url:
        refused = call(url, "get_weather", arguments, inputResponses=given, requestState=leaked)
        served = call(url, "get_weather", arguments, inputResponses=given, requestState=clean)

    assert (refused.status, refused.error) == (400, FROZEN)
    assert served.result["content"][0]["text"] == "Weather in Paris for octocat"
