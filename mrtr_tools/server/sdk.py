"""Toolboxes inside a server of the official SDK, through its public list of middlewares.

Each toolbox puts two of them there. `Attached.around_boundary` stands before the SDK's `RequestStateBoundary`, which
seals every `requestState` with a key of its process: it takes our state out on the way in, and puts ours on the result
on the way out. So ours is sealed by us alone, and what the server's own tools ask stays the SDK's. `Attached.serve`
stands last: it adds our tools to the list and answers calls to them; everything else goes on untouched. The author's
own middlewares are between the two and see our calls without their state.

A middleware that answers by itself owns its result, so four duties of the SDK are done here: refusing calls before
`initialize`, checking the envelope, comparing ``Mcp-Param-*`` headers, and naming the server in the result.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, cast

import mcp_types as types
from mcp.server import MCPServer, Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import validate_mcp_param_headers
from mcp.shared.message import ServerMessageMetadata
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field, JsonValue, RootModel, ValidationError

from mrtr_tools.calls import Call, Client, Complete, Reply
from mrtr_tools.errors import DefinitionError, RequestError
from mrtr_tools.runner import handle_call
from mrtr_tools.server import legacy, wire
from mrtr_tools.server.principals import Principal, current_principal
from mrtr_tools.server.signing import Keys, starting_signer
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

__all__ = ["Attached", "attach", "server_for"]

Context = ServerRequestContext[Any, Any]

IDENTITY: Final = ("name", "version", "title", "description", "website_url", "icons")

_log = logging.getLogger("mrtr_tools")


def attach(
    toolbox: Toolbox,
    server: MCPServer[Any],
    *,
    keys: Keys | None = None,
    audience: str | None = None,
    ttl: float = 3600,
    signer: StateSigner | None = None,
    principal: Principal = "subject",
) -> None:
    """Serve a toolbox beside what `server` serves already. Several can be attached, after its middlewares are there.

    Args:
        toolbox: what to serve.
        server: the SDK's server; its own tools, resources and prompts stay as they are.
        keys: sign states, the current one first; by default `MRTR_TOOLS_KEYS`. All processes of a server share them.
        audience: keeps the states of different servers apart; by default the toolbox's name.
        ttl: seconds that a state lives.
        signer: in place of the three above.
        principal: what of an access token says who is calling, see `principals.Principal`. One without a subject is
            refused unless this says otherwise, for all who share a client would be one person.

    Raises:
        InvalidKey: there are no keys, or one cannot be used.
        DefinitionError: the server has a tool of the same name. One that comes later is found when tools are listed.
    """
    for name in _names_taken(server):
        if name in toolbox.tools:
            raise DefinitionError(_clash(name, server.name))
    if signer is None:
        signer = starting_signer(toolbox, keys, audience=audience, ttl=ttl)
    Attached(toolbox, server, signer, principal).install()


def server_for(toolbox: Toolbox, signer: StateSigner) -> Server[Any]:
    """A server of the SDK that has nothing but this toolbox."""

    async def no_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    async def unknown_tool(_: Context, __: types.CallToolRequestParams) -> types.CallToolResult:
        raise MCPError(types.INVALID_PARAMS, "Unknown tool")

    server: Server[Any] = Server(
        toolbox.name,
        title=toolbox.title,
        version=toolbox.version or "",
        instructions=toolbox.instructions,
        get_tool_input_schema=lambda _: None,  # `Attached` compares the headers
        on_list_tools=no_tools,
        on_call_tool=unknown_tool,
    )
    Attached(toolbox, server, signer, "subject").install()
    return server


@dataclass(slots=True)
class _Exchange:
    """What passes the SDK's boundary beside it: the state that came, and the one that goes."""

    came: object
    goes: JsonValue = None


_exchange: ContextVar[_Exchange | None] = ContextVar("mrtr_tools_exchange", default=None)


@dataclass(frozen=True, eq=False)
class Attached:
    """One toolbox in one server.

    Attributes:
        toolbox: what is served.
        server: where.
        signer: of its states.
        principal: what of an access token says who is calling.
    """

    toolbox: Toolbox
    server: MCPServer[Any] | Server[Any]
    signer: StateSigner
    principal: Principal

    def install(self) -> None:
        """Put the two middlewares in their places."""
        chain = self.server.middleware
        boundary = (place for place, each in enumerate(chain) if isinstance(each, RequestStateBoundary))
        chain.insert(next(boundary, len(chain)), self.around_boundary)
        chain.append(self.serve)

    async def around_boundary(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """The middleware that carries our state past the SDK's seal."""
        if not self._is_ours(ctx):
            return await call_next(ctx)
        params = dict(ctx.params or {})
        exchange = _Exchange(params.pop("requestState", None))
        token = _exchange.set(exchange)
        try:
            result = await call_next(replace(ctx, params=params))
        finally:
            _exchange.reset(token)
        if exchange.goes is not None and isinstance(result, dict):
            return {**result, "requestState": exchange.goes}
        return result

    async def serve(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """The middleware that lists our tools and answers calls to them."""
        if ctx.method == "tools/list" and ctx.request_id is not None:
            return self._with_ours(ctx, await call_next(ctx))
        if not self._is_ours(ctx):
            return await call_next(ctx)
        try:
            return await self._call(ctx)
        except MCPError:
            raise
        except RequestError as error:
            raise MCPError.from_error_data(types.ErrorData.model_validate(wire.error_object(error))) from None
        except Exception:  # noqa: BLE001 - the SDK tells older clients the text of exceptions that it does not know
            _log.exception("a call of %s could not be served", self.toolbox.name)
            raise MCPError(types.INTERNAL_ERROR, "Internal error") from None

    def _is_ours(self, ctx: Context) -> bool:
        if ctx.method != "tools/call" or ctx.request_id is None or not ctx.params:
            return False
        name: object = ctx.params.get("name")  # anything at all: nobody has looked at it yet
        return isinstance(name, str) and name in self.toolbox.tools

    def _with_ours(self, ctx: Context, listed: HandlerResult) -> HandlerResult:
        if (ctx.params or {}).get("cursor") is not None or not isinstance(listed, dict):
            return listed
        others = cast("list[dict[str, JsonValue]]", listed["tools"])
        for other in others:
            if other["name"] in self.toolbox.tools:
                raise MCPError(types.INTERNAL_ERROR, _clash(str(other["name"]), self.server.name))
        result = {**listed, "tools": [*map(wire.tool_entry, self.toolbox.tools.values()), *others]}
        return result if _is_modern(ctx) else methods.serialize_server_result(ctx.method, ctx.protocol_version, result)

    async def _call(self, ctx: Context) -> dict[str, Any]:
        self._check(ctx)
        params = dict(ctx.params or {})
        caller = current_principal(self.principal)
        if not _is_modern(ctx):
            known = {name: params[name] for name in ("name", "arguments") if name in params}
            call = Call.read(known, client=_legacy_client(ctx), principal=caller)
            reply = await legacy.handle_legacy_call(self.toolbox, call, _pushing(ctx))
            return methods.serialize_server_result(ctx.method, ctx.protocol_version, _shown(call, reply))
        exchange = _exchange.get()
        if exchange is None:
            raise RuntimeError(f"a middleware of {self.server.name!r} made another call one of {params['name']!r}")
        call = Call.read({**params, "requestState": exchange.came}, client=_client(params), principal=caller)
        result = _shown(call, await handle_call(self.toolbox, call, self.signer))
        exchange.goes = result.pop("requestState", None)
        meta = cast("dict[str, JsonValue]", result.get("_meta") or {})
        return {**result, "_meta": {types.SERVER_INFO_META_KEY: self._server_info, **meta}}

    def _check(self, ctx: Context) -> None:
        """Refuse what the SDK would refuse before it calls a tool, in its words."""
        params = dict(ctx.params or {})
        refused = MCPError(types.INVALID_PARAMS, "Invalid request parameters", "")
        if not _is_modern(ctx) and ctx.request is None and ctx.session.client_params is None:
            raise refused  # not initialized; over HTTP the session sees to that
        # Not the answers: one that cannot be read is asked again, and does not end the call.
        params.pop("inputResponses", None)
        try:
            methods.validate_client_request(ctx.method, ctx.protocol_version, params)
        except ValidationError:
            raise refused from None
        if _is_modern(ctx) and ctx.request is not None:
            schema = self.toolbox.tools[params["name"]].input_schema
            mismatch = validate_mcp_param_headers(schema, params.get("arguments") or {}, ctx.request.headers)
            if mismatch is not None:
                raise MCPError(mismatch.code, mismatch.message, mismatch.data)

    @cached_property
    def _server_info(self) -> JsonValue:
        told = types.Implementation(**{name: getattr(self.server, name) for name in IDENTITY})
        return told.model_dump(by_alias=True, mode="json", exclude_none=True)


def _shown(call: Call, reply: Reply) -> dict[str, JsonValue]:
    try:
        return wire.result_object(reply)
    except ValueError:
        _log.exception("%s returned what cannot be shown", call.target)
        return wire.result_object(Complete("The tool returned something that cannot be shown.", is_error=True))


def _is_modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _clash(name: str, server: str) -> str:
    return f"{server!r} has two tools named {name!r}, at least one of them in a toolbox: give one another name"


def _names_taken(server: MCPServer[Any]) -> set[str]:
    """The names of the tools that a server has now: its own, and those of toolboxes."""
    attached = (getattr(each, "__self__", None) for each in server.middleware)
    names = {name for each in attached if isinstance(each, Attached) for name in each.toolbox.tools}
    # Async by its type alone; should a subclass really wait in it, its tools are compared when they are listed.
    listing = server.list_tools()
    try:
        listing.send(None)
    except StopIteration as done:
        names |= {tool.name for tool in cast("list[types.Tool]", done.value)}
    finally:
        listing.close()
    return names


def _client(params: Mapping[str, Any]) -> Client:
    """What a client of 2026-07-28 says in the envelope of each request, which was checked."""
    meta = cast("Mapping[str, Any]", params["_meta"])
    info = cast("Mapping[str, str]", meta.get(types.CLIENT_INFO_META_KEY) or {})
    return Client(meta[types.CLIENT_CAPABILITIES_META_KEY], info.get("name"), info.get("version"))


def _legacy_client(ctx: Context) -> Client:
    """What an older client said when it began; where it cannot be reached in mid-call, it can be asked nothing."""
    declared, began = ctx.session.client_capabilities, ctx.session.client_params
    capabilities: dict[str, JsonValue] = {}
    if declared is not None and ctx.session.can_send_request:
        capabilities = declared.model_dump(by_alias=True, mode="json", exclude_none=True)
    askable = legacy.askable(ctx.protocol_version, capabilities)
    return Client(askable, began.client_info.name, began.client_info.version) if began else Client(askable)


class _Question(BaseModel):
    """A request whose answer the SDK does not read: it knows no `method` of this name, but sends the true one."""

    to: str = Field(serialization_alias="method")
    params: dict[str, JsonValue]

    @property
    def method(self) -> str:
        return "mrtr_tools/unread"


class _Unread(RootModel[dict[str, Any]]):
    """An answer as it came."""


def _pushing(ctx: Context) -> legacy.Push:
    """Asks the client of a call, on the call's own stream."""
    own_stream = ServerMessageMetadata(related_request_id=ctx.request_id)

    async def push(request: Mapping[str, JsonValue]) -> JsonValue:
        told = legacy.question_for(ctx.protocol_version, request)
        question = _Question(to=cast("str", told["method"]), params=cast("dict[str, JsonValue]", told["params"]))
        try:
            answer = await ctx.session.send_request(cast("types.ServerRequest", question), _Unread, metadata=own_stream)
        except MCPError as error:
            _log.info("a question was answered with error %d", error.code)
            raise legacy.Unanswered(error.code) from None
        return answer.root

    return push
