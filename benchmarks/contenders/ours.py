"""mrtr_tools, as its README has it."""

from typing import Annotated, Any, Literal

from pydantic import Field

from benchmarks.contenders import texts
from mrtr_tools import Toolbox, needs_input

toolbox = Toolbox("benchmark")


@toolbox.tool(description=texts.WEATHER_ABOUT)
@needs_input(github_login=texts.LOGIN)
async def get_weather(location: str, github_login: Annotated[str, Field(alias="name")]) -> str:
    return texts.weather(location, github_login)


@toolbox.tool(description=texts.WORK_ITEM_ABOUT)
@needs_input(resolution=texts.RESOLUTION)
@needs_input(original=texts.ORIGINAL, only_if=lambda resolution: resolution == "Duplicate")
async def update_work_item(
    work_item: int, state: str, resolution: Literal["Fixed", "Duplicate"], original: int | None = None
) -> str:
    return texts.work_item_done(work_item, state, resolution, original)


def app(**options: Any) -> Any:
    from mrtr_tools.keys import generate_key
    from mrtr_tools.server import http_app

    return http_app(toolbox, keys=[generate_key()], **options)


def app_through_sdk() -> Any:
    return app(lean=False)


if __name__ == "__main__":
    from mrtr_tools.server import run_stdio

    run_stdio(toolbox)
