"""The two ephemeral examples of SEP-2322 over HTTP, message by message, with nothing but a JSON client."""

from collections.abc import Iterator

import pytest

from cookbook import get_weather, update_work_item
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.raw_http import accept, call, serving

KEYS = [generate_key()]


@pytest.fixture
def weather() -> Iterator[str]:
    with serving(http_app(get_weather.toolbox, keys=KEYS)) as url:
        yield url


@pytest.fixture
def work_items() -> Iterator[str]:
    with serving(http_app(update_work_item.toolbox, keys=KEYS)) as url:
        yield url


def test_the_weather_asks_for_the_login_and_then_reports(weather):
    first = call(weather, "get_weather", {"location": "New York"}).result
    state = first["requestState"]
    info = {"io.modelcontextprotocol/serverInfo": {"name": "weather", "version": ""}}

    assert first == {
        "resultType": "input_required",
        "inputRequests": {
            "github_login": {
                "method": "elicitation/create",
                "params": {
                    "mode": "form",
                    "message": "Please provide your GitHub username",
                    "requestedSchema": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}},
                        "required": ["name"],
                    },
                },
            }
        },
        "requestState": state,
        "_meta": info,
    }

    answers = {"github_login": accept(name="octocat")}
    second = call(weather, "get_weather", {"location": "New York"}, inputResponses=answers, requestState=state).result

    report = "Current weather in New York:\nTemperature: 72°F\nConditions: Partly cloudy"
    assert second == {
        "resultType": "complete",
        "content": [{"type": "text", "text": report}],
        "structuredContent": {"result": report},
        "isError": False,
        "_meta": info,
    }


def test_a_work_item_asks_for_a_resolution_without_state_and_then_for_the_original(work_items):
    """SEP-2322: no state is needed yet in the first round, for the arguments come again."""
    arguments = {"workItemId": 4522, "fields": {"System.State": "Resolved"}}

    first = call(work_items, "update_work_item", arguments).result

    assert first["resultType"] == "input_required"
    assert "requestState" not in first
    assert first["inputRequests"] == {
        "resolution": {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "Resolving Bug #4522 requires a resolution. How was this bug resolved?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {
                        "resolution": {
                            "type": "string",
                            "enum": ["Fixed", "Won't Fix", "Duplicate", "By Design"],
                            "description": "Resolution type for this bug",
                        }
                    },
                    "required": ["resolution"],
                },
            },
        }
    }

    answers = {"resolution": accept(resolution="Duplicate")}
    second = call(work_items, "update_work_item", arguments, inputResponses=answers).result

    assert second["resultType"] == "input_required"
    assert second["requestState"]
    assert second["inputRequests"] == {
        "duplicate_of": {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "Since this is a duplicate, which work item is the original?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {
                        "duplicateOfId": {"type": "number", "description": "Work item ID of the original bug"}
                    },
                    "required": ["duplicateOfId"],
                },
            },
        }
    }

    answers = {"duplicate_of": accept(duplicateOfId=4301)}
    state = second["requestState"]
    third = call(work_items, "update_work_item", arguments, inputResponses=answers, requestState=state).result

    assert third["resultType"] == "complete"
    assert third["isError"] is False
    assert [block["text"] for block in third["content"]] == [
        "Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created."
    ]


def test_a_resolution_that_needs_no_more_ends_the_call(work_items):
    arguments = {"workItemId": 4522, "fields": {"System.State": "Resolved"}}
    answers = {"resolution": accept(resolution="Fixed")}

    done = call(work_items, "update_work_item", arguments, inputResponses=answers).result

    assert done["resultType"] == "complete"
    assert done["content"][0]["text"] == "Bug #4522 resolved as Fixed. State set to Resolved."
