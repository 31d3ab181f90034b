"""One question: the weather, for those who say who they are.

    mrtr-tools call cookbook/get_weather.py get_weather location="New York"

The parameter `github_login` is the question: its text is in `needs_input`, its form is its annotation, its name is
the key on the wire. `Field(alias=...)` gives the form's field another name.
"""

from typing import Annotated

from pydantic import Field

from mrtr_tools import Toolbox, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("weather")


@toolbox.tool
@needs_input(github_login="Please provide your GitHub username")
def get_weather(location: str, github_login: Annotated[str, Field(alias="name")]) -> str:
    """Current weather, for GitHub users."""
    return f"Current weather in {location}:\nTemperature: 72°F\nConditions: Partly cloudy"


if __name__ == "__main__":
    run_stdio(toolbox)
