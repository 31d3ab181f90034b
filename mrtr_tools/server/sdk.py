"""Toolboxes inside a server of the official SDK, through its public list of middlewares.

Each toolbox puts two of them there. `Attached.around_boundary` stands before the SDK's `RequestStateBoundary`, which
seals every `requestState` with a key of its process: it takes our state out on the way in, and puts ours on the result
on the way out. So ours is sealed by us alone, and what the server's own tools ask stays the SDK's. `Attached.serve`
stands last: it adds ours to the lists and answers calls to them; everything else goes on untouched. The author's own
middlewares are between the two and see our calls without their state.

A middleware that answers by itself owns its result, so four duties of the SDK are done here: refusing calls before
`initialize`, checking the envelope, comparing ``Mcp-Param-*`` headers, and naming the server in the result.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, cast

import mcp_types as types
from mcp.server import MCPServer, Server
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import validate_mcp_param_headers
from mcp_types import methods
from pydantic import JsonValue, ValidationError

from mrtr_tools.calls import Call
from mrtr_tools.carriers import Carrier, Tool
from mrtr_tools.errors import DefinitionError, InvalidParams, RequestError
from mrtr_tools.server import wire
from mrtr_tools.server.channel import RequestChannel
from mrtr_tools.server.claiming import Claims, starting_ledger
from mrtr_tools.server.clients import Request, client_of, is_initialized, is_modern
from mrtr_tools.server.envelope import CALLED_BY
from mrtr_tools.server.headers import check_name
from mrtr_tools.server.hosts import Host, sdk_server
from mrtr_tools.server.legacy import handle_legacy_call
from mrtr_tools.server.levels import Levels, with_logging
from mrtr_tools.server.listing import LISTS, can_log, own_names
from mrtr_tools.server.principals import Principal, current_principal
from mrtr_tools.server.pushing import pushing
from mrtr_tools.server.service import ANYBODY, Service, check_principal
from mrtr_tools.server.shapes import TASK_METHODS, fits
from mrtr_tools.server.signing import TTL, Keys, KeysFile, given_signer, starting_signer
from mrtr_tools.server.tasking import Tasks, starting_tasks
from mrtr_tools.server.tasks import answer as answer_for_task, with_extension
from mrtr_tools.state import StateSigner
from mrtr_tools.tasks.service import TaskService
from mrtr_tools.tools import Toolbox

__all__ = ["Attached", "attach"]

IDENTITY: Final = ("name", "version", "title", "description", "website_url", "icons")
HELLO: Final = ("initialize", "server/discover")

_log = logging.getLogger("mrtr_tools")


def attach(
    toolbox: Toolbox,
    server: Host,
    *,
    keys: Keys | None = None,
    keys_file: KeysFile | None = None,
    audience: str | None = None,
    ttl: float = TTL,
    max_age: float | None = None,
    signer: StateSigner | None = None,
    principal: Principal = "subject",
    claims: Claims | None = None,
    tasks: Tasks | None = None,
    task_keys: Keys | None = None,
    task_keys_file: KeysFile | None = None,
    anonymous_ok: bool = False,
) -> None:
    """Serve a toolbox beside what `server` serves already. Several can be attached, after its middlewares are there.

    What `server` has under a URI that one of our templates stands for is ours from then on. The middlewares of a
    FastMCP server do not see calls to what is ours.

    Args:
        toolbox: what to serve.
        server: the SDK's `MCPServer` or `Server`, or a server of FastMCP 4; its own tools, resources and prompts stay
            as they are.
        keys: sign states, the current one first; by default `MRTR_TOOLS_KEYS`. All processes of a server share them.
        keys_file: a file of keys in place of `keys`, which only its owner may read, see `mrtr_tools.keys`.
        audience: keeps the states of different servers apart; by default the toolbox's name.
        ttl: seconds that a state lives, unless a tool has a `ttl` of its own. A person may take as long to answer.
        max_age: seconds that a call may take in all; by default a day, or the `ttl` that counts when that is longer.
        signer: in place of the five above.
        principal: what of an access token says who is calling, see `principals.Principal`. One without a subject is
            refused unless this says otherwise, for all who share a client would be one person.
        claims: where it is kept that a step with ``single_use=True`` ran, see `http_app`.
        tasks: where calls are kept that go on as tasks, see `http_app`. They are run from the first request on that
            comes to this process.
        task_keys: see `http_app`.
        task_keys_file: see there.
        anonymous_ok: let steps open pages (`ElicitUrl`), and be of single use, for callers over HTTP who are not
            authenticated; else such a call ends with a tool error. Over stdio there is one caller, who started the
            server.

    Raises:
        InvalidKey: there are no keys, one cannot be used, or they are given in two ways.
        OSError: `keys_file` cannot be read.
        TypeError: `anonymous_ok` is neither True nor False.
        ValueError: `ttl` or `max_age` is no positive number, `principal` is none, or something is given beside
            `signer`.
        DefinitionError: a step is of single use, and there are no `claims`; the toolbox carries secrets, and `signer`
            does not seal; or an `MCPServer` has something of the same name. One that comes later, or that another
            server has, is found when it is listed.
    """
    check_principal(principal)
    host = sdk_server(server)
    for method, each in LISTS.items():
        taken = own_names(host, method) if isinstance(host, MCPServer) else set[str]()
        for attached in (getattr(middleware, "__self__", None) for middleware in host.middleware):
            taken |= each.ours(attached.toolbox).keys() if isinstance(attached, Attached) else set()
        for name in each.ours(toolbox):
            if name in taken:
                raise DefinitionError(each.clash(name, host.name))
    if signer is None:
        signer = starting_signer(toolbox, keys, keys_file=keys_file, audience=audience, ttl=ttl, max_age=max_age)
    elif (keys, keys_file, audience, ttl, max_age) != (None, None, None, TTL, None):
        raise ValueError("signer= has keys, an audience and times of its own: give it alone, or these without it")
    else:
        signer = given_signer(toolbox, signer)
    ledger = starting_ledger(toolbox, signer, claims)
    kept = starting_tasks(toolbox, signer, ledger, tasks, task_keys=task_keys, task_keys_file=task_keys_file)
    service = Service(toolbox, signer, ledger, anonymous_ok=anonymous_ok, tasks=kept)
    Attached(service, host, principal, warns=True).install()


@dataclass(slots=True, repr=False)
class _Exchange:
    """What passes the SDK's boundary beside it: the state that came, and the one that goes.

    A step that calls another server in this process takes its context along: `session` tells whose request it is.
    """

    session: object
    came: object
    goes: JsonValue = None


_exchange: ContextVar[_Exchange | None] = ContextVar("mrtr_tools_exchange", default=None)


def _exchange_of(ctx: Request) -> _Exchange | None:
    exchange = _exchange.get()
    return exchange if exchange is not None and exchange.session is ctx.session else None


@dataclass(frozen=True, eq=False)
class Attached:
    """One toolbox in one server.

    Attributes:
        service: what is served.
        server: where.
        principal: what of an access token says who is calling.
        levels: what older clients want to hear.
        warns: whether the log says when the first caller comes over HTTP whom nobody has authenticated.
    """

    service: Service
    server: MCPServer[Any] | Server[Any]
    principal: Principal = "subject"
    levels: Levels = field(default_factory=Levels, repr=False)
    warns: bool = False

    @property
    def toolbox(self) -> Toolbox:
        """Whose tools, prompts and resources are ours."""
        return self.service.toolbox

    def install(self) -> None:
        """Put the two middlewares in their places."""
        chain = self.server.middleware
        boundary = (place for place, each in enumerate(chain) if isinstance(each, RequestStateBoundary))
        chain.insert(next(boundary, len(chain)), self.around_boundary)
        chain.append(self.serve)

    async def around_boundary(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """The middleware that carries our state past the SDK's seal."""
        if not self._is_ours(ctx) or _exchange_of(ctx) is not None:  # or another toolbox's, that stands before
            return await call_next(ctx)
        params = dict(ctx.params or {})
        exchange = _Exchange(ctx.session, params.pop("requestState", None))
        token = _exchange.set(exchange)
        try:
            result = await call_next(replace(ctx, params=params))
        finally:
            _exchange.reset(token)
        if exchange.goes is not None and isinstance(result, dict):
            return {**result, "requestState": exchange.goes}
        return result

    async def serve(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """The middleware that lists what is ours and answers calls to it."""
        if self.service.tasks is not None:
            self.service.tasks.begin(ctx.lifespan_context)  # unless it has, or whoever serves has begun it
        if ctx.method in LISTS and ctx.request_id is not None:
            return self._with_ours(ctx, await call_next(ctx))
        if ctx.method in HELLO:
            return self._about(ctx, await call_next(ctx))
        if ctx.method == "logging/setLevel" and ctx.request_id is not None and not is_modern(ctx):
            return await self._set_level(ctx, call_next)
        tasks = self.service.tasks if ctx.method in TASK_METHODS and is_modern(ctx) else None
        if tasks is None and not self._is_ours(ctx):
            return await call_next(ctx)
        return await self._guarded(self._call(ctx) if tasks is None else self._task(ctx, tasks, call_next))

    async def _guarded(self, answer: Awaitable[HandlerResult]) -> HandlerResult:
        """An answer of ours, or an error that says no more than it should."""
        try:
            return await answer
        except MCPError:
            raise
        except RequestError as error:
            raise MCPError.from_error_data(types.ErrorData.model_validate(wire.error_object(error))) from None
        except Exception:  # noqa: BLE001 - the SDK tells older clients the text of exceptions that it does not know
            _log.exception("a call of %s could not be served", self.toolbox.name)
            raise MCPError(types.INTERNAL_ERROR, "Internal error") from None

    def _about(self, ctx: Request, told: HandlerResult) -> HandlerResult:
        if isinstance(told, dict) and can_log(self.toolbox):
            told = with_logging(told)
        if isinstance(told, dict) and self.service.tasks is not None and ctx.method == "server/discover":
            told = with_extension(told)
        return told

    def _is_ours(self, ctx: Request) -> bool:
        if ctx.request_id is None or ctx.method not in CALLED_BY:
            return False
        target: object = (ctx.params or {}).get(CALLED_BY[ctx.method])  # anything at all: nobody has looked at it yet
        if not isinstance(target, str):
            return False
        if ctx.method == "resources/read":
            return any(resource.uri.match(target) is not None for resource in self.toolbox.resources.values())
        return target in (self.toolbox.tools if ctx.method == "tools/call" else self.toolbox.prompts)

    def _with_ours(self, ctx: Request, listed: HandlerResult) -> HandlerResult:
        if (ctx.params or {}).get("cursor") is not None or not isinstance(listed, dict):
            return listed
        try:
            result = LISTS[ctx.method].merged(self.toolbox, listed, self.server.name)
        except ValueError as clash:
            raise MCPError(types.INTERNAL_ERROR, str(clash)) from None
        return result if is_modern(ctx) else methods.serialize_server_result(ctx.method, ctx.protocol_version, result)

    async def _set_level(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        try:
            result = await call_next(ctx)
        except MCPError as error:
            if error.code != types.METHOD_NOT_FOUND or not can_log(self.toolbox) or not is_initialized(ctx):
                raise
            result = {}
        self.levels.set(ctx, cast("types.LoggingLevel", (ctx.params or {})["level"]))
        return result

    async def _call(self, ctx: Request) -> dict[str, Any]:
        params, target = dict(ctx.params or {}), (ctx.params or {})[CALLED_BY[ctx.method]]
        carrier, _ = self.toolbox.find(ctx.method, target, {})
        self._check(ctx, carrier)
        exchange = _exchange_of(ctx)
        if is_modern(ctx):
            if exchange is None:
                raise RuntimeError(f"a middleware of {self.server.name!r} made another call one of {target!r}")
            params["requestState"] = exchange.came
        else:  # what it does not know is not heard
            params = {name: params[name] for name in ("name", "uri", "arguments") if name in params}
        principal = current_principal(self.principal)
        if principal is None and ctx.request is not None:
            self._anybody  # noqa: B018  says it once
        call = Call.read(
            params,
            client=client_of(ctx),
            principal=principal,
            method=ctx.method,
            channel=RequestChannel(ctx, self.levels),
            lifespan=ctx.lifespan_context,
            anonymous_ok=self.service.anonymous_ok or ctx.request is None,
        )
        if exchange is None or not is_modern(ctx):
            with self.service.load.call(call.principal):
                reply = await handle_legacy_call(self.toolbox, call, pushing(ctx))
            shown = wire.shown(call, carrier, reply)
            return methods.serialize_server_result(ctx.method, ctx.protocol_version, shown)
        result = wire.shown(call, carrier, await self.service.answer(call))
        exchange.goes = result.pop("requestState", None)
        meta = cast("dict[str, JsonValue]", result.get("_meta") or {})
        return {**result, "_meta": {types.SERVER_INFO_META_KEY: self._server_info, **meta}}

    async def _task(self, ctx: Request, tasks: TaskService, call_next: CallNext) -> HandlerResult:
        """The answer to a request for a task; for one that is none of ours, that of whoever has it."""
        params = dict(ctx.params or {})
        if ctx.request is not None:
            check_name("taskId", params.get("taskId"), ctx.request.headers.get("mcp-name"))
        if not fits(ctx.method, params):
            raise MCPError(types.INVALID_PARAMS, "Invalid request parameters", "")
        try:
            result = await answer_for_task(tasks, ctx.method, params, client_of(ctx), current_principal(self.principal))
        except InvalidParams as unknown:
            try:
                return await call_next(ctx)
            except MCPError as error:
                if error.code == types.METHOD_NOT_FOUND:
                    raise unknown from None
                raise
        return {**result, "_meta": {types.SERVER_INFO_META_KEY: self._server_info}}

    def _check(self, ctx: Request, carrier: Carrier) -> None:
        """Refuse what the SDK would refuse before it calls a tool, in its words."""
        params = dict(ctx.params or {})
        refused = MCPError(types.INVALID_PARAMS, "Invalid request parameters", "")
        if not is_initialized(ctx):
            raise refused
        # Not the answers: one that cannot be read is asked again, and does not end the call.
        params.pop("inputResponses", None)
        try:
            methods.validate_client_request(ctx.method, ctx.protocol_version, params)
        except ValidationError:
            raise refused from None
        if is_modern(ctx) and ctx.request is not None and isinstance(carrier, Tool):
            arguments = cast("dict[str, Any]", params.get("arguments") or {})
            mismatch = validate_mcp_param_headers(carrier.input_schema, arguments, ctx.request.headers)
            if mismatch is not None:
                raise MCPError(mismatch.code, mismatch.message, mismatch.data)

    @cached_property
    def _anybody(self) -> None:
        if self.warns:
            _log.warning("%s: %s", self.toolbox.name, ANYBODY)

    @cached_property
    def _server_info(self) -> JsonValue:
        told = types.Implementation(**{name: getattr(self.server, name) for name in IDENTITY})
        return told.model_dump(by_alias=True, mode="json", exclude_none=True)
