"""The tasks of SEP-2322 as it proposed them, for clients that were written by it; off unless a server is told to.

No revision of the protocol was released with this wire. What became of it is the extension ``io.modelcontextprotocol/
tasks`` (see `tasks`), which is what a server advertises and what new clients should speak.

====================================  =========================================================================
the proposal                          as a request of the extension, and its answer
====================================  =========================================================================
``tools/call`` with ``task: {ttl}``   ``tools/call`` that declares the extension; ``{task: {...}}`` around a task
``tasks/get``                         ``tasks/get``; the status alone
``tasks/result``                      ``tasks/get``; what it asks, or what came of it, or an error
``tasks/input_response``              ``tasks/update``; -32602 for a task that asks nothing
``tasks/cancel``                      ``tasks/cancel``, and ``tasks/get``; -32602 for a task that has ended
====================================  =========================================================================

A server of the SDK that a toolbox is attached to reads its requests itself, so there they are not served; `http_app`,
`run_http` and `run_stdio` serve them before it is decided who serves the rest.

Its messages are told by what they lack: they have no envelope (a version in `_meta`), no session and no version header,
unless that says ``DRAFT-2026-v1``. So nothing changes for a request of any released revision. A client that declares
nothing can be shown a form, as in the proposal; the headers that released requests must have may be left out, but what
is sent must be right. Its tasks are kept in the same place, under the same seal and run by the same workers, but apart:
no request of the one wire reaches a task of the other, so that what a proxy does by headers cannot be got around here.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import JsonValue
from pydantic_core import SchemaValidator, core_schema

from mrtr_tools.calls import Call, Client, Created
from mrtr_tools.errors import InvalidParams, RequestError
from mrtr_tools.records import record
from mrtr_tools.server.envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    PROTOCOL_VERSION,
    Answer,
    Rejected,
    Request,
    failed,
    read_request,
)
from mrtr_tools.server.headers import PARAM_PREFIX, Headers, ParamHeaders, check_sent
from mrtr_tools.server.service import Service
from mrtr_tools.server.shapes import OBJECT, TEXT, shape
from mrtr_tools.server.tasks import created_object, read_answers, task_object
from mrtr_tools.server.wire import encoded, shown
from mrtr_tools.task_marks import REQUIRED

if TYPE_CHECKING:
    from mrtr_tools.tasks.service import TaskService

__all__ = ["ProposedTasks"]

Json = dict[str, JsonValue]

RELATED: Final = "io.modelcontextprotocol/related-task"
CLIENT: Final = Client({"elicitation": {"form": {}}, **REQUIRED})
POLL_MS: Final = 100

FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "taskId": "taskId",
        "status": "status",
        "statusMessage": "statusMessage",
        "createdAt": "createdAt",
        "lastUpdatedAt": "lastUpdatedAt",
        "ttl": "ttlMs",
    }
)
"""The members of a task, and what the extension calls them."""
TOLD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "input_required": "Input Required to Proceed call tasks/result",
        "completed": "Task has been completed successfully, call tasks/result",
    }
)
"""What is said of a task in place of what it said itself."""
UNTOLD: Final[Mapping[str, str]] = MappingProxyType(
    {"working": "Task is being worked on.", "cancelled": "Task has been cancelled."}
)
"""What is said of one that said nothing itself."""
WITHOUT_RESULT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "working": "The task has no result yet: call tasks/get until it has ended or asks for something",
        "cancelled": "The task was cancelled and has no result",
    }
)

_log = logging.getLogger("mrtr_tools")


class ProposedTasks:
    """Answers the proposal's messages for one toolbox.

    Args:
        service: what is served.
        tasks: keeps the tasks that are made here.
    """

    def __init__(self, service: Service, tasks: TaskService) -> None:
        self._service = service
        self._tasks = tasks

    def takes(self, request: Request) -> bool:
        """Whether a request is one of these, by its method and by having no envelope."""
        params = request.params or {}
        meta = params.get("_meta")
        if request.method not in _METHODS or (isinstance(meta, dict) and PROTOCOL_VERSION in meta):
            return False
        return request.method != "tools/call" or params.get("task") is not None

    def request_in(self, message: JsonValue) -> Request | None:
        """One of these requests, if a message is one."""
        try:
            request = read_request(message)
        except Rejected:  # as others will tell
            return None
        return request if request is not None and self.takes(request) else None

    async def answer(self, request: Request, headers: Headers, principal: Callable[[], str | None]) -> Answer:
        """Do what one of these requests wants. Nothing is raised but cancellation.

        Args:
            request: what came.
            headers: those of HTTP, or none.
            principal: says who is calling.
        """
        try:
            method, params = _METHODS[request.method], request.params or {}
            if not method.params.isinstance_python(params):
                raise Rejected(INVALID_PARAMS, "Invalid request parameters", "")
            target = _target(request.method, params, method.named)
            check_sent(request, target, headers)
            told = await method.answer(self, target, params, _Caller(headers, principal()))
            return Answer(200, encoded({"jsonrpc": "2.0", "id": request.id, **told}))
        except RequestError as error:
            return failed(request.id, error)
        except Exception:  # noqa: BLE001 - whatever it is, it must not go over the wire
            _log.exception("a request to %s could not be served", self._service.toolbox.name)
            return failed(request.id, Rejected(INTERNAL_ERROR, "Internal error"))

    async def call(self, target: str, params: Mapping[str, Any], caller: _Caller) -> Json:
        """``tools/call``: a task, or what a round of the ordinary workflow ends with."""
        carrier, _ = self._service.toolbox.find("tools/call", target, {})
        if any(name.startswith(PARAM_PREFIX.lower().encode()) for name in caller.headers):
            ParamHeaders(carrier.input_schema).check(params.get("arguments") or {}, caller.headers)
        call = Call.read(params, client=CLIENT, principal=caller.principal, anonymous_ok=self._service.anonymous_ok)
        ttl = params["task"].get("ttl")
        start = partial(self._tasks.start, ttl=None if ttl is None else ttl / 1000)
        reply = await self._service.answer(call, start)
        if not isinstance(reply, Created):
            return {"result": shown(call, carrier, reply)}
        made = f"Task has been created for {target} tool invocation."
        return {"result": {"task": _task({"statusMessage": made, **created_object(reply)})}}

    async def get(self, target: str, _: Mapping[str, Any], caller: _Caller) -> Json:
        """``tasks/get``."""
        return {"result": _task(await self._found(target, caller))}

    async def result(self, target: str, _: Mapping[str, Any], caller: _Caller) -> Json:
        """``tasks/result``: what the task asks, with its id beside the result as the proposal has it; or its end."""
        task = await self._found(target, caller)
        if task["status"] == "input_required":
            asked: Json = {"resultType": "input_required", "inputRequests": task["inputRequests"]}
            return {"result": asked, "_meta": _related(target)}
        if task["status"] == "completed":
            result = cast("Json", task["result"])
            meta = cast("Json", result.get("_meta") or {})
            return {"result": {"resultType": "complete", **result, "_meta": {**meta, **_related(target)}}}
        if task["status"] == "failed":
            error: Any = task["error"]
            raise Rejected(error["code"], error["message"], error.get("data"))
        status = cast("str", task["status"])
        raise InvalidParams(WITHOUT_RESULT[status], {"status": status})

    async def respond(self, target: str, params: Mapping[str, Any], caller: _Caller) -> Json:
        """``tasks/input_response``."""
        status = (await self._tasks.get(target, caller.principal)).status
        if status != "input_required":
            raise InvalidParams("The task asks for nothing", {"status": status})
        await self._tasks.update(target, caller.principal, read_answers(params, CLIENT))
        return {"result": {"_meta": _related(target)}}

    async def cancel(self, target: str, _: Mapping[str, Any], caller: _Caller) -> Json:
        """``tasks/cancel``."""
        if (await self._tasks.get(target, caller.principal)).has_ended:
            raise InvalidParams("The task has ended already")
        await self._tasks.cancel(target, caller.principal)
        return {"result": _task(await self._found(target, caller))}

    async def _found(self, target: str, caller: _Caller) -> Json:
        return task_object(await self._tasks.get(target, caller.principal))


@record
class _Caller:
    """Who sent a request, and with which headers."""

    headers: Headers
    principal: str | None


@record
class _Method:
    """One of the proposal's methods.

    Attributes:
        params: the shape of its parameters.
        named: where they name what it is about, which `Mcp-Name` repeats where it is sent.
        answer: the members of the answer, beside those of every response.
    """

    params: SchemaValidator
    named: tuple[str, ...]
    answer: Callable[[ProposedTasks, str, Mapping[str, Any], _Caller], Awaitable[Json]]


_MILLISECONDS: Final = core_schema.float_schema(gt=0, allow_inf_nan=False, strict=True)
_WITH_ID: Final = shape({"taskId": TEXT}, _meta=shape({}, **{RELATED: shape({"taskId": TEXT})}))
_RESPONSE: Final = shape({"inputResponses": OBJECT, "_meta": shape({RELATED: shape({"taskId": TEXT})})}, taskId=TEXT)
_CALL: Final = shape({"name": TEXT, "task": shape(ttl=_MILLISECONDS)}, arguments=OBJECT, _meta=OBJECT)

_METHODS: Final[Mapping[str, _Method]] = MappingProxyType(
    {
        "tools/call": _Method(SchemaValidator(_CALL), ("name",), ProposedTasks.call),
        "tasks/get": _Method(SchemaValidator(_WITH_ID), ("taskId",), ProposedTasks.get),
        "tasks/result": _Method(SchemaValidator(_WITH_ID), ("taskId",), ProposedTasks.result),
        "tasks/input_response": _Method(
            SchemaValidator(_RESPONSE), ("_meta", RELATED, "taskId"), ProposedTasks.respond
        ),
        "tasks/cancel": _Method(SchemaValidator(_WITH_ID), ("taskId",), ProposedTasks.cancel),
    }
)


def _target(method: str, params: Mapping[str, Any], named: tuple[str, ...]) -> str:
    """What a request is about.

    Raises:
        InvalidParams: it names two tasks.
    """
    target: Any = params
    for name in named:
        target = target[name]
    meta: Any = params.get("_meta") or {}
    related: Any = meta.get(RELATED) or {}
    if method != "tools/call" and not {params.get("taskId"), related.get("taskId")} <= {target, None}:
        raise InvalidParams("taskId and the related task are not the same")
    return target


def _task(released: Json) -> Json:
    """A task of the extension as the proposal writes it."""
    shown = {name: released[member] for name, member in FIELDS.items() if member in released}
    status = cast("str", released["status"])
    told = TOLD.get(status) or released.get("statusMessage") or UNTOLD.get(status)
    message: Json = {} if told is None else {"statusMessage": told}
    return {**shown, **message, "pollInterval": POLL_MS}


def _related(target: str) -> Json:
    return {RELATED: {"taskId": target}}
