"""The SDK's client, and the recipes it drives."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from mcp import types
from mcp.client import ClientRequestContext
from mcp.client.session import ElicitationFnT

from cookbook import book_flight, get_weather, update_work_item


@dataclass(frozen=True)
class Recipe:
    """A recipe, a call of its tool, what a person answers in turn, and the text at the end."""

    module: ModuleType
    tool: str
    arguments: dict[str, Any]
    contents: list[dict[str, Any]]
    text: str


RECIPES = [
    Recipe(
        get_weather,
        "get_weather",
        {"location": "Paris"},
        [{"name": "octocat"}],
        "Current weather in Paris:\nTemperature: 72°F\nConditions: Partly cloudy",
    ),
    Recipe(
        update_work_item,
        "update_work_item",
        {"workItemId": 4522, "fields": {"System.State": "Resolved"}},
        [{"resolution": "Duplicate"}, {"duplicateOfId": 4301}],
        "Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.",
    ),
    Recipe(
        book_flight,
        "book_flight",
        {"origin": "BER", "destination": "LIS"},
        [{"ok": True}],
        "Booked BER-LIS-1 to LIS for 120 EUR, ticket T1",
    ),
]


def answering(*contents: dict[str, Any]) -> ElicitationFnT:
    """A person who accepts each form with the next of these contents."""
    left = list(contents)

    async def elicit(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content=left.pop(0))

    return elicit


def text_of(result: object) -> str:
    """The text of a result that is one text."""
    assert isinstance(result, types.CallToolResult), result
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text
