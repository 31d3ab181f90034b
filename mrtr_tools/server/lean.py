"""A toolbox as a server of 2026-07-28 without the SDK: one request in, one answer out, and nothing kept between them.

What never changes is computed once: what the server lists and says about itself are bytes that wait to be sent. A call
is read, played by the `Service` and written, each in one pass.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools.calls import Call, Channel, InputRequired, Reply
from mrtr_tools.carriers import Carrier
from mrtr_tools.errors import InvalidParams, RequestError
from mrtr_tools.events import NeedInput
from mrtr_tools.rounds import Round
from mrtr_tools.server.envelope import (
    CALLED_BY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PROTOCOL_VERSION,
    SERVER_INFO,
    VERSION,
    Answer,
    Rejected,
    Request,
    check_meta,
    check_version,
    client_of,
    failed,
    target_of,
)
from mrtr_tools.server.headers import Headers, ParamHeaders, check_routing
from mrtr_tools.server.listing import LISTS, can_log, kinds
from mrtr_tools.server.service import Service
from mrtr_tools.server.shapes import METHODS, TASK_METHODS, fits
from mrtr_tools.server.wire import NOT_CACHED, encoded, not_shown, unchecked_result, written_result
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mrtr_tools.server.proposed_tasks import ProposedTasks
    from mrtr_tools.tasks.service import TaskService

__all__ = ["LeanServer", "nobody"]

Json = dict[str, JsonValue]

_log = logging.getLogger("mrtr_tools")


def nobody() -> None:
    """The principal of a caller who is not authenticated."""


class LeanServer:
    """Answers the requests for one toolbox.

    Args:
        service: what to serve.
        identity: how the server names itself, an `Implementation` object; by default as the toolbox does.
        alone: whether there is nothing else on the server. If there is, it is for others to say what, and `serves` is
            true of calls to what is in the toolbox only.
        proposed: answers what it `takes`, in place of this.
    """

    def __init__(
        self,
        service: Service,
        *,
        identity: Mapping[str, JsonValue] | None = None,
        alone: bool = True,
        proposed: ProposedTasks | None = None,
    ) -> None:
        self._service = service
        self._proposed = proposed
        self._toolbox = toolbox = service.toolbox
        self._alone = alone
        self._meta: Json = {SERVER_INFO: dict(_identity(toolbox) if identity is None else identity)}
        self._meta_text = encoded(self._meta)
        self._served = _methods(service)
        self._told: dict[tuple[str, bool], tuple[int, bytes]] = {}
        self._param_headers: dict[str, ParamHeaders] = {}

    @property
    def service(self) -> Service:
        """What is served."""
        return self._service

    def serves(self, request: Request) -> bool:
        """Whether `answer` has the answer to a request."""
        if self._alone:
            return True
        target = target_of(request.method, request.params)
        try:
            return target is not None and bool(self._toolbox.find(request.method, target, {}))
        except InvalidParams:
            return False

    async def answer(
        self,
        request: Request,
        *,
        headers: Headers | None = None,
        channel: Channel | None = None,
        principal: Callable[[], str | None] = nobody,
    ) -> Answer:
        """Check a request, do what it wants and say how that went. Nothing is raised but cancellation.

        Args:
            request: what came, see `read_request`.
            headers: those of HTTP, to be compared with it; None where there are none.
            channel: the way back while it is served, for progress and log messages.
            principal: says who is calling. It is asked when that matters, and what it raises refuses the call.
        """
        if self._proposed is not None and self._proposed.takes(request):
            return await self._proposed.answer(request, headers or {}, principal)
        try:
            meta = check_meta(request)
            if headers is not None:
                check_routing(request, meta, headers)
            check_version(meta[PROTOCOL_VERSION])
            params = self._checked(request)
            if request.method in CALLED_BY:
                return Answer(200, await self._called(request, params, headers, channel, principal))
            if request.method in TASK_METHODS:
                return Answer(200, await self._task(request, params, principal))
            return Answer(200, self._tell(request, params))
        except RequestError as error:
            return failed(request.id, error)
        except Exception:  # noqa: BLE001 - whatever it is, it must not go over the wire
            _log.exception("a request to %s could not be served", self._toolbox.name)
            return failed(request.id, Rejected(INTERNAL_ERROR, "Internal error"))

    def at_once(self, request: Request) -> Answer | None:
        """The answer to a request for which nothing has to run: what there is, or the first questions of a call.

        It needs no event loop, no task in one, and nothing that it would take to run something is imported for it. None
        leaves the request to `answer`, as if nothing had been.
        """
        try:
            if request.method in CALLED_BY and not self._begins_with_questions(request):
                return None
            check_version(check_meta(request)[PROTOCOL_VERSION])
            params = self._checked(request)
            if request.method in CALLED_BY:
                return self._first_questions(request, params)
            return None if request.method in TASK_METHODS else Answer(200, self._tell(request, params))
        except Exception:  # noqa: BLE001 - whatever it is, it will be there again
            return None

    def _checked(self, request: Request) -> Mapping[str, JsonValue]:
        method, params = request.method, request.params or {}
        if method in METHODS and not fits(method, params):
            raise Rejected(INVALID_PARAMS, "Invalid request parameters", "")
        if method not in self._served:
            self._served = _methods(self._service)  # something may have been added meanwhile
            if method not in self._served:
                raise Rejected(METHOD_NOT_FOUND, "Method not found", method)
        if method in TASK_METHODS and not fits(method, params):
            raise Rejected(INVALID_PARAMS, "Invalid request parameters", "")
        return params

    # Calls

    async def _called(
        self,
        request: Request,
        params: Mapping[str, Any],
        headers: Headers | None,
        channel: Channel | None,
        principal: Callable[[], str | None],
    ) -> bytes:
        method: str = request.method
        target: str = params[CALLED_BY[method]]
        carrier, _ = self._toolbox.find(method, target, {})
        if headers is not None and method == "tools/call":
            in_headers = self._param_headers.get(target)
            if in_headers is None:
                in_headers = self._param_headers[target] = ParamHeaders(carrier.input_schema)
            if in_headers.annotated:
                in_headers.check(params.get("arguments") or {}, headers)
        call = self._call_of(request, params, principal(), channel)
        reply = await self._service.answer(call)
        try:
            return self._written(request, call, carrier, reply)
        except ValueError:
            return self._written(request, call, carrier, not_shown(carrier))

    async def _task(self, request: Request, params: Mapping[str, Any], principal: Callable[[], str | None]) -> bytes:
        from mrtr_tools.server.tasks import answer as answer_for_task

        tasks = cast("TaskService", self._service.tasks)
        result = await answer_for_task(tasks, request.method, params, client_of(params["_meta"]), principal())
        return encoded({"jsonrpc": "2.0", "id": request.id, "result": {**result, "_meta": self._meta}})

    def _begins_with_questions(self, request: Request) -> bool:
        """Whether a call begins, with what asks before it runs: nothing else is worth a look before it has its turn."""
        target = target_of(request.method, request.params)
        if target is None or request.params is None or request.params.get("requestState") is not None:
            return False
        return bool(self._toolbox.find(request.method, target, {})[0].step.groups)

    def _first_questions(self, request: Request, params: Mapping[str, JsonValue]) -> Answer | None:
        call = self._call_of(request, params, None, None)
        machine = Round(self._toolbox, call)
        event = machine.next_event()
        if not isinstance(event, NeedInput):
            return None
        state = self._service.signer.dumps(machine.progress, call) if event.keep else None
        asked = InputRequired(event.requests, state)
        return Answer(200, self._written(request, call, machine.carrier, asked))

    def _call_of(
        self, request: Request, params: Mapping[str, JsonValue], principal: str | None, channel: Channel | None
    ) -> Call:
        return Call.read(
            params,
            client=client_of(cast("Json", params["_meta"])),
            principal=principal,
            method=request.method,
            channel=channel,
            anonymous_ok=self._service.anonymous_ok,
        )

    def _written(self, request: Request, call: Call, carrier: Carrier, reply: Reply) -> bytes:
        written = written_result(carrier, reply, self._meta_text)
        if written is not None:
            return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(request.id), written)
        result = unchecked_result(call, carrier, reply)
        result["_meta"] = {**self._meta, **cast("Json", result["_meta"])} if result.get("_meta") else self._meta
        return encoded({"jsonrpc": "2.0", "id": request.id, "result": result})

    # What there is

    def _tell(self, request: Request, params: Mapping[str, JsonValue]) -> bytes:
        """The answer to a request that nobody has to be asked for."""
        key = request.method, params.get("cursor") is None or request.method not in LISTS
        size = len(self._toolbox.tools) + len(self._toolbox.prompts) + len(self._toolbox.resources)
        if self._told.get(key, (-1, b""))[0] != size:  # as above
            result = self._page(*key) if request.method in LISTS else self._discovered()
            self._told[key] = size, encoded({"resultType": "complete", **result, **NOT_CACHED, "_meta": self._meta})
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(request.id), self._told[key][1])

    def _page(self, method: str, first: bool) -> Json:  # noqa: FBT001 - which page, and not a switch
        """One page of a list; all of it is on the first."""
        listed = LISTS[method]
        return {listed.member: cast("list[JsonValue]", [*listed.ours(self._toolbox).values()] if first else [])}

    def _discovered(self) -> Json:
        capabilities: Json = {kind: {"listChanged": False} for kind in kinds(self._toolbox)}
        if "resources" in capabilities:
            capabilities["resources"] = {"subscribe": False, "listChanged": False}
        if can_log(self._toolbox):
            capabilities["logging"] = {}
        told: Json = {"supportedVersions": [VERSION], "capabilities": capabilities}
        if self._toolbox.instructions is not None:
            told["instructions"] = self._toolbox.instructions
        if self._service.tasks is None:
            return told
        from mrtr_tools.server.tasks import with_extension

        return with_extension(told)


def _methods(service: Service) -> frozenset[str]:
    """The methods that there is something behind."""
    served = ["server", *kinds(service.toolbox), *([] if service.tasks is None else ["tasks"])]
    return frozenset(method for method in (*METHODS, *TASK_METHODS) if method.partition("/")[0] in served)


def _identity(toolbox: Toolbox) -> Json:
    title: Json = {} if toolbox.title is None else {"title": toolbox.title}
    return {"name": toolbox.name, **title, "version": toolbox.version or ""}
