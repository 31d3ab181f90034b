"""The official SDK's low-level `Server`: the tools by hand, the state sealed by the SDK's boundary."""

from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server

from benchmarks.contenders import by_hand, texts
from benchmarks.contenders.by_hand import Question, WeatherArguments, WorkItemArguments
from benchmarks.contenders.in_sdk_types import asking, contents_of, state_of

ABOUT = {"get_weather": texts.WEATHER_ABOUT, "update_work_item": texts.WORK_ITEM_ABOUT}
SCHEMAS = {
    "get_weather": WeatherArguments.model_json_schema(),
    "update_work_item": WorkItemArguments.model_json_schema(),
}
TOOLS = types.ListToolsResult(
    tools=[
        types.Tool(name=name, description=about, input_schema=SCHEMAS[name], output_schema=by_hand.OUTPUT_SCHEMA)
        for name, about in ABOUT.items()
    ]
)


async def list_tools(ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return TOOLS


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
    state, contents = state_of(params.request_state), contents_of(params.input_responses)
    if params.name == "get_weather":
        weather = WeatherArguments.model_validate(params.arguments)
        outcome = by_hand.get_weather(weather.location, state, contents)
    else:
        item = WorkItemArguments.model_validate(params.arguments)
        outcome = by_hand.update_work_item(item.work_item, item.state, state, contents)
    if isinstance(outcome, Question):
        return asking(outcome)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=outcome)], structured_content={"result": outcome}
    )


# Without `get_tool_input_schema` every call lists the tools first.
server: Server[Any] = Server(
    "benchmark", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=SCHEMAS.get
)
server.middleware.append(
    RequestStateBoundary(RequestStateSecurity(keys=[bytes(range(32))]), default_audience="benchmark")
)


def app() -> Any:
    return server.streamable_http_app(json_response=True, stateless_http=True)


async def serve_stdio() -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve_stdio)
