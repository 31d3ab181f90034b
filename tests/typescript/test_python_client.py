"""The Python SDK's client drives everything that `server.py` asks, in both eras.

What must come of it stands in `script.py`; test_typescript.py wants the same of the TypeScript SDK's client.
"""

from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, types
from mcp.client import ClientRequestContext

from tests.server import processes
from tests.typescript.script import MODERN, OLDER, SESSIONS, Call, Json, Session, check

SERVER = "tests.typescript.server"
SECONDS = 30

ERAS = pytest.mark.parametrize("version", [MODERN, OLDER])
pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


@ERAS
async def test_the_python_client_is_asked_everything_over_http(url, version):
    check(await play(url, version), version)


@ERAS
async def test_the_python_client_is_asked_everything_over_stdio(version):
    check(await play(processes.stdio(SERVER, PYTHONWARNINGS="error"), version), version)


async def play(server: Any, version: str) -> list[Json]:
    """Plays all sessions, as `client.mjs` does."""
    with anyio.fail_after(SECONDS):
        return [await Listener(session.at(version)).play(server, version) for session in SESSIONS]


class Listener:
    """A client of one session, and what it hears."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._answers: Json = {}
        self._heard: Json = {}

    async def play(self, server: Any, version: str) -> Json:
        declared = self._session.capabilities
        client = Client(
            server,
            mode="legacy" if version == OLDER else "auto",
            elicitation_callback=self._elicit if "elicitation" in declared else None,
            sampling_callback=self._sample if "sampling" in declared else None,
            sampling_capabilities=types.SamplingCapability(tools=types.SamplingToolsCapability()),
            list_roots_callback=self._list_roots if "roots" in declared else None,
            logging_callback=self._log,
            log_level="info",
            client_info=types.Implementation(name="python", version="1"),
        )
        async with client:
            tools = await client.list_tools()
            prompts = await client.list_prompts()
            resources = await client.list_resource_templates()
            if version == OLDER:
                await self._set_level(client)
            return {
                "version": client.protocol_version,
                "server": client.server_info.name if client.server_info else None,
                "listed": {
                    "tools": [tool.name for tool in tools.tools],
                    "prompts": [prompt.name for prompt in prompts.prompts],
                    "resources": [template.uri_template for template in resources.resource_templates],
                },
                "outcomes": [await self._call(client, call) for call in self._session.calls],
            }

    async def _set_level(self, client: Client) -> None:
        """Asks for log messages, without the method of the client that warns of its deprecation."""
        params = types.SetLevelRequestParams(level="info")
        await client.session.send_request(types.SetLevelRequest(params=params), types.EmptyResult)

    async def _call(self, client: Client, call: Call) -> Json:
        self._answers = call.answers
        self._heard = {"asked": [], "progress": [], "logs": []}
        params = call.params
        try:
            match call.method:
                case "tools/call":
                    result = await client.call_tool(
                        params["name"], params["arguments"], progress_callback=self._progress
                    )
                case "prompts/get":
                    result = await client.get_prompt(params["name"], params["arguments"])
                case _:
                    result = await client.read_resource(params["uri"])
        except MCPError as error:
            return {**self._heard, "error": error.error.model_dump(exclude_unset=True)}
        return {**self._heard, "result": _wire(result)}

    async def _elicit(self, context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        self._note("elicitation/create", params)
        return types.ElicitResult.model_validate(self._answers[params.message])

    async def _sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResultWithTools:
        self._note("sampling/createMessage", params)
        block = params.messages[-1].content_as_list[0]
        if isinstance(block, types.ToolResultContent):
            block = block.content[0]
        assert isinstance(block, types.TextContent)
        return types.CreateMessageResultWithTools.model_validate(self._answers[block.text])

    async def _list_roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        self._note("roots/list", None)
        return types.ListRootsResult.model_validate(self._answers["roots"])

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        self._heard["progress"].append({"progress": progress, "total": total, "message": message})

    async def _log(self, params: types.LoggingMessageNotificationParams) -> None:
        self._heard["logs"].append(_wire(params))

    def _note(self, method: str, params: Any) -> None:
        shown = _wire(params) if params is not None else {}
        shown.pop("_meta", None)
        self._heard["asked"].append({"method": method, "params": shown})


def _wire(model: Any) -> Json:
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)
