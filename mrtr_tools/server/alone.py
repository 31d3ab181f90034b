"""A server of the official SDK for one toolbox and nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from mrtr_tools.server.clients import Request
from mrtr_tools.server.listing import kinds
from mrtr_tools.server.principals import Principal
from mrtr_tools.server.sdk import Attached
from mrtr_tools.server.service import Service

__all__ = ["server_for"]


def server_for(service: Service, principal: Principal = "subject") -> Server[Any]:
    """A server of the SDK that has nothing but one toolbox, and says so: a kind that is not there has no methods.

    Args:
        service: what is served.
        principal: see `attach`.
    """
    toolbox = service.toolbox
    tools, prompts, resources = (kind in kinds(toolbox) for kind in ("tools", "prompts", "resources"))
    server: Server[Any] = Server(
        toolbox.name,
        title=toolbox.title,
        version=toolbox.version or "",
        instructions=toolbox.instructions,
        lifespan=_no_lifespan,
        get_tool_input_schema=lambda _: None,  # `Attached` compares the headers
        on_list_tools=_no_tools if tools else None,
        on_call_tool=_unknown_tool if tools else None,
        on_list_prompts=_no_prompts if prompts else None,
        on_get_prompt=_unknown_prompt if prompts else None,
        on_list_resources=_no_resources if resources else None,
        on_list_resource_templates=_no_templates if resources else None,
        on_read_resource=_unknown_resource if resources else None,
    )
    Attached(service, server, principal).install()
    return server


@asynccontextmanager
async def _no_lifespan(_: Server[None]) -> AsyncGenerator[None]:
    yield None


# What is left when `Attached` has taken what is in the toolbox.


async def _no_tools(*_: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[])


async def _no_prompts(*_: object) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[])


async def _no_resources(*_: object) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[])


async def _no_templates(*_: object) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[])


async def _unknown_tool(*_: object) -> types.CallToolResult:
    raise MCPError(types.INVALID_PARAMS, "Unknown tool")


async def _unknown_prompt(*_: object) -> types.GetPromptResult:
    raise MCPError(types.INVALID_PARAMS, "Unknown prompt")


async def _unknown_resource(_: Request, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    raise MCPError(types.INVALID_PARAMS, "Unknown resource", {"uri": params.uri})
