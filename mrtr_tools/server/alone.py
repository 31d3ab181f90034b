"""A server of the official SDK for one toolbox and nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from mrtr_tools.server.clients import Request
from mrtr_tools.server.sdk import Attached
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

__all__ = ["server_for"]


@asynccontextmanager
async def _no_lifespan(_: Server[None]) -> AsyncGenerator[None]:
    yield None


def server_for(toolbox: Toolbox, signer: StateSigner, *, anonymous_ok: bool = False) -> Server[Any]:
    """A server of the SDK that has nothing but this toolbox, and says so: it lists no kind that is not there."""

    async def no_tools(*_: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    async def no_prompts(*_: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[])

    async def no_resources(*_: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    async def no_templates(*_: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def unknown_tool(*_: object) -> types.CallToolResult:
        raise MCPError(types.INVALID_PARAMS, "Unknown tool")

    async def unknown_prompt(*_: object) -> types.GetPromptResult:
        raise MCPError(types.INVALID_PARAMS, "Unknown prompt")

    async def unknown_resource(_: Request, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        raise MCPError(types.INVALID_PARAMS, "Unknown resource", {"uri": params.uri})

    tools = bool(toolbox.tools) or not (toolbox.prompts or toolbox.resources)
    prompts, resources = bool(toolbox.prompts), bool(toolbox.resources)
    server: Server[Any] = Server(
        toolbox.name,
        title=toolbox.title,
        version=toolbox.version or "",
        instructions=toolbox.instructions,
        lifespan=_no_lifespan,
        get_tool_input_schema=lambda _: None,  # `Attached` compares the headers
        on_list_tools=no_tools if tools else None,
        on_call_tool=unknown_tool if tools else None,
        on_list_prompts=no_prompts if prompts else None,
        on_get_prompt=unknown_prompt if prompts else None,
        on_list_resources=no_resources if resources else None,
        on_list_resource_templates=no_templates if resources else None,
        on_read_resource=unknown_resource if resources else None,
    )
    Attached(toolbox, server, signer, "subject", anonymous_ok).install()
    return server
