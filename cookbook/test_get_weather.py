from cookbook.get_weather import get_weather, toolbox
from mrtr_tools import Refused
from mrtr_tools.testing import Player

REPORT = "Current weather in New York:\nTemperature: 72°F\nConditions: Partly cloudy"


def test_it_asks_for_the_username_and_then_reports() -> None:
    played = Player(toolbox).play("get_weather", {"location": "New York"}, github_login="octocat")

    assert played.text == REPORT
    assert played.questions == ["github_login"]
    assert played.ran == ["get_weather"]
    assert played.messages == {"github_login": "Please provide your GitHub username"}


def test_whoever_declines_gets_no_report() -> None:
    played = Player(toolbox).play("get_weather", {"location": "New York"}, github_login=Refused("decline"))

    assert played.is_error
    assert played.ran == []


def test_it_is_still_a_plain_function() -> None:
    assert get_weather("New York", github_login="octocat") == REPORT
