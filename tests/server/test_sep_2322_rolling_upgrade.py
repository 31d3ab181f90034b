"""SEP-2322's rolling upgrade over HTTP, message by message: two processes, an old version and a new one of the tool."""

from collections.abc import Iterator
from typing import Any

import pytest

from mrtr_tools.keys import generate_key
from tests.server import processes
from tests.server.raw_http import accept, call


@pytest.fixture(scope="module")
def fleet() -> Iterator[tuple[str, str]]:
    """An instance with the old version and one with the new version, which share nothing but a key."""
    key = {"MRTR_TOOLS_KEYS": generate_key()}
    with (
        processes.http("tests.server.logins:before", **key) as old,
        processes.http("tests.server.logins:after", **key) as new,
    ):
        yield old, new


def asking(company: str) -> dict[str, Any]:
    """The input request for a login."""
    name = f"{company.lower()}_login"
    return {
        name: {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": f"Please provide your {company} username",
                "requestedSchema": {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]},
            },
        }
    }


@pytest.mark.parametrize(("tool", "state"), [("link", True), ("link_cold", False)], ids=["with a state", "without one"])
def test_of_two_logins_the_one_that_an_upgrade_replaces_is_asked_and_the_one_that_it_keeps_is_not(
    fleet: tuple[str, str], tool: str, state: bool
):
    old, new = fleet

    # 1. and 2. The old version is called and asks for both logins.
    first = call(old, tool, {}).result
    assert first["resultType"] == "input_required"
    assert first["inputRequests"] == asking("GitHub") | asking("Google")
    assert ("requestState" in first) is state

    # 3. and 4. The new version gets both answers, and asks for the login that it misses; the other is in the state.
    answers = {"github_login": accept(github_login="octocat"), "google_login": accept(google_login="cat@gmail")}
    sent = {"requestState": first["requestState"]} if state else {}
    second = call(new, tool, {}, inputResponses=answers, **sent).result
    assert second["resultType"] == "input_required"
    assert second["inputRequests"] == asking("Microsoft")

    # 5. and 6. It gets that answer with its state, and completes the call.
    answers = {"microsoft_login": accept(microsoft_login="cat@outlook")}
    third = call(new, tool, {}, inputResponses=answers, requestState=second["requestState"]).result
    assert third["resultType"] == "complete"
    assert third["content"] == [{"type": "text", "text": "octocat is cat@outlook at Microsoft"}]
    assert third["isError"] is False


def test_while_both_versions_run_the_answer_to_a_login_that_both_ask_for_stands(fleet: tuple[str, str]):
    """The rounds go to old and new instances in turn; each asks for its own login, and never for the common one."""
    old, new = fleet
    result, keys = call(old, "link", {}).result, list[list[str]]()
    for url, login in ((new, "google"), (old, "microsoft"), (new, "google")):
        keys.append(list(result["inputRequests"]))
        answers = {key: accept(**{key.partition("-")[0]: f"cat@{login}"}) for key in keys[-1]}
        result = call(url, "link", {}, inputResponses=answers, requestState=result["requestState"]).result

    assert keys == [["github_login", "google_login"], ["microsoft_login"], ["google_login-2"]]
    assert list(result["inputRequests"]) == ["microsoft_login-2"]
    done = call(
        new,
        "link",
        {},
        inputResponses={"microsoft_login-2": accept(microsoft_login="cat@outlook")},
        requestState=result["requestState"],
    ).result
    assert done["content"][0]["text"] == "cat@google is cat@outlook at Microsoft"
