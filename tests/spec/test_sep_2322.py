"""What SEP-2322 tells as stories: a rolling upgrade, and a client that answers something else. Over HTTP."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from cookbook import get_weather
from mrtr_tools import Toolbox, needs_input
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.raw_http import accept, call, serving


def old_build() -> Toolbox:
    toolbox = Toolbox("accounts")

    @toolbox.tool
    @needs_input(github_login="Your GitHub login?", google_login="Your Google login?")
    def connect(team: str, github_login: str, google_login: str) -> str:
        return f"{team}: {github_login}, {google_login}"

    return toolbox


def new_build() -> Toolbox:
    toolbox = Toolbox("accounts")

    @toolbox.tool
    @needs_input(github_login="Your GitHub login?", microsoft_login="Your Microsoft login?")
    def connect(team: str, github_login: str, microsoft_login: str) -> str:
        return f"{team}: {github_login}, {microsoft_login}"

    return toolbox


@pytest.fixture
def deployment() -> Iterator[list[str]]:
    """One instance of the old build and two of the new one, which share a key and nothing else."""
    keys = [generate_key()]
    with ExitStack() as running:
        builds = (old_build(), new_build(), new_build())
        yield [running.enter_context(serving(http_app(build, keys=keys))) for build in builds]


def test_an_answer_is_kept_through_a_rolling_upgrade(deployment):
    """Spec P17: the GitHub login is asked once, the Google login is no longer needed, the Microsoft login is new."""
    old, new, other = deployment
    arguments = {"team": "red"}

    first = call(old, "connect", arguments).result
    both = {"github_login": accept(github_login="octocat"), "google_login": accept(google_login="g")}
    second = call(new, "connect", arguments, inputResponses=both, requestState=first["requestState"]).result
    rest = {"microsoft_login": accept(microsoft_login="clippy")}
    third = call(other, "connect", arguments, inputResponses=rest, requestState=second["requestState"]).result

    assert list(first["inputRequests"]) == ["github_login", "google_login"]
    assert second["resultType"] == "input_required"
    assert list(second["inputRequests"]) == ["microsoft_login"]
    assert third["resultType"] == "complete"
    assert third["content"][0]["text"] == "red: octocat, clippy"


def test_who_answers_something_else_is_asked_once_more():
    """Spec P44: message by message, as the SEP has it."""
    answers: dict[str, Any] = {
        "not_requested_info": accept(not_requested_param_name="Information the server did not request")
    }
    with serving(http_app(get_weather.toolbox, keys=[generate_key()])) as url:
        asked = call(url, "get_weather", {"location": "New York"}).result
        again = call(url, "get_weather", {"location": "New York"}, inputResponses=answers).result
        with_state = call(
            url, "get_weather", {"location": "New York"}, inputResponses=answers, requestState=asked["requestState"]
        ).result

    assert again["resultType"] == with_state["resultType"] == "input_required"
    assert again["inputRequests"] == with_state["inputRequests"] == asked["inputRequests"]
