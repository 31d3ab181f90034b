"""The official SDK's `MCPServer` with `Resolve`."""

import functools
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.elicitation import render_elicitation_schema
from mcp.server.mcpserver import resolve
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.request_state import RequestStateSecurity
from pydantic import BaseModel

from benchmarks.contenders import texts

server: MCPServer[Any] = MCPServer(
    "benchmark", request_state_security=RequestStateSecurity(keys=[bytes(range(32))]), log_level="WARNING"
)


class Login(BaseModel):
    name: str


class Resolution(BaseModel):
    resolution: Literal["Fixed", "Duplicate"]


class Original(BaseModel):
    original: int


async def ask_login(location: str) -> Elicit[Login]:
    return Elicit(texts.LOGIN, Login)


async def ask_resolution(work_item: int) -> Elicit[Resolution]:
    return Elicit(texts.RESOLUTION.format(work_item=work_item), Resolution)


async def ask_original(
    resolution: Annotated[Resolution, Resolve(ask_resolution)],
) -> Original | Elicit[Original] | None:
    return Elicit(texts.ORIGINAL, Original) if resolution.resolution == "Duplicate" else None


@server.tool(description=texts.WEATHER_ABOUT)
async def get_weather(location: str, login: Annotated[Login, Resolve(ask_login)]) -> str:
    return texts.weather(location, login.name)


@server.tool(description=texts.WORK_ITEM_ABOUT)
async def update_work_item(
    work_item: int,
    state: str,
    resolution: Annotated[Resolution, Resolve(ask_resolution)],
    original: Annotated[Original | None, Resolve(ask_original)],
) -> str:
    return texts.work_item_done(work_item, state, resolution.resolution, original and original.original)


def app() -> Any:
    return server.streamable_http_app(json_response=True, stateless_http=True)


def app_with_schema_rendered_once() -> Any:
    """As it may be soon: the schema of a form is rendered once, and not for every question."""
    once = functools.cache(render_elicitation_schema)
    resolve.render_elicitation_schema = once  # pyright: ignore[reportPrivateImportUsage]
    return app()


if __name__ == "__main__":
    server.run("stdio")
