"""The duties of one request of 2026-07-28, whatever it came over: JSON-RPC, its `_meta`, versions, error codes.

Nothing in here waits, knows HTTP or belongs to the SDK. A transport serves one message like this:

    message = read_json(data)          # Rejected: it is no JSON
    request = read_request(message)    # Rejected: it is no request; None: a notification, which nobody answers
    answer = await lean.answer(request)

where `lean` is a `mrtr_tools.server.lean.LeanServer`, which does the rest: `check_meta`, over HTTP the headers,
`check_version`, the parameters, and the call itself. `answer` is a status, which only HTTP has a use for, and the bytes
of the response. What is `Rejected` before there is a request is answered with `failed(None, error)`.

Codes and texts are those of the official SDK, so that a client cannot tell which of the two serves it.
See https://modelcontextprotocol.io/specification/2026-07-28/basic and its page on versioning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TypeGuard

from pydantic import JsonValue
from pydantic_core import from_json

from mrtr_tools.calls import Client
from mrtr_tools.errors import RequestError
from mrtr_tools.records import record
from mrtr_tools.server.wire import encoded, error_object

__all__ = [
    "CALLED_BY",
    "HEADER_MISMATCH",
    "HTTP_STATUS",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "MAX_REQUEST",
    "METHOD_NOT_FOUND",
    "NAMED_BY",
    "NO_MESSAGE",
    "SERVER_INFO",
    "VERSION",
    "Answer",
    "Rejected",
    "Request",
    "check_meta",
    "check_version",
    "client_of",
    "failed",
    "is_id",
    "read_json",
    "read_request",
    "target_of",
    "wants_stream",
]

Json = dict[str, JsonValue]

VERSION: Final = "2026-07-28"
PREFIX: Final = "io.modelcontextprotocol/"
PROTOCOL_VERSION: Final = f"{PREFIX}protocolVersion"
CAPABILITIES: Final = f"{PREFIX}clientCapabilities"
CLIENT_INFO: Final = f"{PREFIX}clientInfo"
LOG_LEVEL: Final = f"{PREFIX}logLevel"
SERVER_INFO: Final = f"{PREFIX}serverInfo"

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022

HTTP_STATUS: Final[Mapping[int, int]] = MappingProxyType(
    {
        PARSE_ERROR: 400,
        INVALID_REQUEST: 400,
        METHOD_NOT_FOUND: 404,
        INVALID_PARAMS: 400,
        HEADER_MISMATCH: 400,
        MISSING_CAPABILITY: 400,
        UNSUPPORTED_VERSION: 400,
    }
)
"""The HTTP status of an error by its code; 200 for those that the protocol gives none."""

CALLED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
)
"""The methods that can ask, and the parameter that says what is called."""

NAMED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {**CALLED_BY, "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}
)
"""The methods whose target stands in the `Mcp-Name` header too, and the parameter that it is."""

NO_MESSAGE: Final = "Body must be a single JSON-RPC request or notification object"
"""What is told of a message that is none."""
MAX_REQUEST: Final = 1024 * 1024
"""Bytes that one message of a client may have, over HTTP and stdio alike, unless ``max_request=`` says otherwise."""
MAX_ID: Final = 256
"""Characters that the id of a request may have."""

_HALF: Final = rb"\\u[dD][89a-fA-F]"


class Rejected(RequestError):
    """A message that breaks the protocol.

    Args:
        code: the JSON-RPC error code.
        message: the text on the wire.
        data: what goes beside it.
    """

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message, data)
        self.code = code


@record
class Request:
    """One JSON-RPC request, of which nothing but its frame was checked.

    Attributes:
        id: goes back with the answer.
        method: what is wanted.
        params: the parameters, `_meta` among them.
    """

    id: str | int
    method: str
    params: Mapping[str, JsonValue] | None


@record
class Answer:
    """What goes back for one request.

    Attributes:
        status: the HTTP status.
        body: a JSON-RPC response.
    """

    status: int
    body: bytes


def read_json(data: bytes | bytearray) -> JsonValue:
    """What a message says, in UTF-8.

    None of its values stays behind: pydantic would keep thousands of short texts, answers among them.

    NaN and numbers beyond all floats pass, as do halves of surrogate pairs: whoever takes a value refuses them, and can
    then name the request.

    Raises:
        Rejected: it is no JSON, or nested about 200 deep.
    """
    try:
        return from_json(data, cache_strings="keys")
    except ValueError:
        pass
    try:
        if re.search(_HALF, data):  # the one thing in JSON that pydantic does not read
            return json.loads(data.decode())
    except (ValueError, RecursionError):
        pass
    raise Rejected(PARSE_ERROR, "Parse error")


def read_request(message: JsonValue) -> Request | None:
    """The request that a message is, or None when it is a notification.

    Raises:
        Rejected: it is neither.
    """
    if isinstance(message, dict):
        method, params = message.get("method"), message.get("params")
        if message.get("jsonrpc") == "2.0" and isinstance(method, str) and (params is None or isinstance(params, dict)):
            if "id" not in message:
                return None
            if is_id(name := message["id"]):
                return Request(name, method, params)
    raise Rejected(INVALID_REQUEST, NO_MESSAGE)


def is_id(value: object) -> TypeGuard[str | int]:
    """Whether this can be the id of a request: a whole number, or a text of up to `MAX_ID` whole characters."""
    if type(value) is int:
        return True
    return (
        isinstance(value, str)
        and len(value) <= MAX_ID
        and (value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value))
    )


def check_meta(request: Request) -> Mapping[str, JsonValue]:
    """The `_meta` of a request, with all that is required in it; what the members are is not looked at.

    Raises:
        Rejected: something is missing (-32602).
    """
    meta = None if request.params is None else request.params.get("_meta")
    if not isinstance(meta, dict):
        raise Rejected(
            INVALID_PARAMS,
            "params._meta must be an object carrying the required "
            f"{PROTOCOL_VERSION!r} and {CAPABILITIES!r} envelope keys",
        )
    if PROTOCOL_VERSION not in meta or CAPABILITIES not in meta:
        missing = ", ".join(key for key in (PROTOCOL_VERSION, CAPABILITIES) if key not in meta)
        raise Rejected(INVALID_PARAMS, f"params._meta is missing the required envelope key(s): {missing}")
    return meta


def check_version(requested: JsonValue) -> None:
    """Refuse a request, or over HTTP a notification, of another revision of the protocol.

    Raises:
        Rejected: it is of another one (-32022), or says it with something that is no text (-32602).
    """
    if not isinstance(requested, str):
        raise Rejected(INVALID_PARAMS, "the protocol-version envelope value must be a string")
    if requested != VERSION:
        told: Json = {"supported": [VERSION], "requested": requested}
        raise Rejected(UNSUPPORTED_VERSION, "Unsupported protocol version", told)


def client_of(meta: Mapping[str, JsonValue]) -> Client:
    """What a client says about itself in a `_meta` that `fits`."""
    capabilities: Any = meta[CAPABILITIES]
    info: Any = meta.get(CLIENT_INFO) or {}
    return Client(capabilities, info.get("name"), info.get("version"))


def target_of(method: str, params: Mapping[str, object] | None) -> str | None:
    """What a request of `CALLED_BY` calls; None when it is another one, or names nothing that could be there."""
    named = CALLED_BY.get(method)
    target = None if named is None or params is None else params.get(named)
    return target if isinstance(target, str) else None


def wants_stream(request: Request) -> bool:
    """Whether a call asks to hear of its progress, or for log messages, as long as it is served."""
    meta = request.params.get("_meta") if request.params is not None and request.method in CALLED_BY else None
    return isinstance(meta, dict) and (meta.get("progressToken") is not None or meta.get(LOG_LEVEL) is not None)


def failed(name: str | int | None, error: RequestError) -> Answer:
    """The answer to a request that cannot be served.

    Args:
        name: its id, or None when it has none that can be read.
        error: why.
    """
    return Answer(
        HTTP_STATUS.get(error.code, 200), encoded({"jsonrpc": "2.0", "id": name, "error": error_object(error)})
    )
