"""FastMCP 4: a tool returns what is to be asked, and looks at the answers when it is called again."""

from typing import Any

import mcp_types as types
from fastmcp import Context, FastMCP
from mcp.server.request_state import RequestStateSecurity

from benchmarks.contenders import by_hand, texts
from benchmarks.contenders.by_hand import Question
from benchmarks.contenders.in_sdk_types import asking, contents_of, state_of

server: FastMCP[Any] = FastMCP("benchmark", request_state_security=RequestStateSecurity(keys=[bytes(range(32))]))


def told(outcome: str | Question) -> str | types.InputRequiredResult:
    return asking(outcome) if isinstance(outcome, Question) else outcome


@server.tool(description=texts.WEATHER_ABOUT)
async def get_weather(location: str, ctx: Context) -> str | types.InputRequiredResult:
    return told(by_hand.get_weather(location, state_of(ctx.request_state), contents_of(ctx.input_responses)))


@server.tool(description=texts.WORK_ITEM_ABOUT)
async def update_work_item(work_item: int, state: str, ctx: Context) -> str | types.InputRequiredResult:
    contents = contents_of(ctx.input_responses)
    return told(by_hand.update_work_item(work_item, state, state_of(ctx.request_state), contents))


def app() -> Any:
    return server.http_app(path="/mcp", json_response=True, stateless_http=True)


if __name__ == "__main__":
    server.run("stdio", show_banner=False)
