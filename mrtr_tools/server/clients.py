"""What a client of either era declared about itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import JsonValue

from mrtr_tools.calls import Client
from mrtr_tools.server.revisions import askable

__all__ = ["Request", "client_of", "is_initialized", "is_modern"]

Request = ServerRequestContext[Any, Any]


def is_modern(ctx: Request) -> bool:
    """Whether a request is of 2026-07-28 or later, and stands for itself."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def is_initialized(ctx: Request) -> bool:
    """Whether an older client has said hello; over HTTP the session sees to that."""
    return is_modern(ctx) or ctx.request is not None or ctx.session.client_params is not None


def client_of(ctx: Request) -> Client:
    """The client of a request whose envelope was checked."""
    return _of_envelope(ctx.params or {}) if is_modern(ctx) else _of_session(ctx)


def _of_envelope(params: Mapping[str, Any]) -> Client:
    meta = cast("Mapping[str, Any]", params["_meta"])
    info = cast("Mapping[str, str]", meta.get(types.CLIENT_INFO_META_KEY) or {})
    return Client(meta[types.CLIENT_CAPABILITIES_META_KEY], info.get("name"), info.get("version"))


def _of_session(ctx: Request) -> Client:
    """What an older client said when it began; where it cannot be reached in mid-call, it can be asked nothing."""
    declared, began = ctx.session.client_capabilities, ctx.session.client_params
    capabilities: dict[str, JsonValue] = {}
    if declared is not None and ctx.session.can_send_request:
        capabilities = declared.model_dump(by_alias=True, mode="json", exclude_none=True)
    asked = askable(ctx.protocol_version, capabilities)
    return Client(asked, began.client_info.name, began.client_info.version) if began else Client(asked)
