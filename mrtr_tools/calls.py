"""A call in, a reply out, and the fingerprint that ties a state to its call.

An adapter turns one request of the wire into a `Call` and one `Reply` back into an answer; nothing in here knows
JSON-RPC.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Protocol

from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools.errors import InvalidParams
from mrtr_tools.records import mutable, record

__all__ = ["Call", "Channel", "Client", "Complete", "Created", "InputRequired", "Reply", "arguments_digest"]

MAX_DEPTH: Final = 64
MAX_VALUES: Final = 20_000
MAX_RESPONSES: Final = 256
MAX_AT_ONCE: Final = 640  # bytes; no integer in so few has too many digits for json
DELETE: Final = b"\x7f"  # which json escapes
MAX_EXACT: Final = 2**53  # beyond this, JavaScript rounds an integer and writes a float without its point


@record
class Client:
    """What the client of one request declared about itself.

    Attributes:
        capabilities: the `ClientCapabilities` object of the request, as sent.
        name: the client's name as it gives it, for display only.
        version: its version likewise.
    """

    capabilities: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    name: str | None = None
    version: str | None = None

    def supports(self, required: Mapping[str, JsonValue]) -> bool:
        """Whether all of `required`, a `ClientCapabilities` object, was declared; a bare ``elicitation: {}`` means
        form."""
        for name, wanted in required.items():  # noqa: SIM110  a generator takes thrice as long
            if not _declared(self.capabilities.get(name), name, wanted):
                return False
        return True


def _declared(declared: JsonValue | None, name: str, wanted: JsonValue) -> bool:
    if not isinstance(declared, dict):
        return False
    if name == "elicitation" and not declared:
        declared = {"form": {}}
    for part in wanted if isinstance(wanted, dict) else ():  # noqa: SIM110  likewise
        if not isinstance(declared.get(part), dict):
            return False
    return True


class Channel(Protocol):
    """The way back to the client while its request is served; what nobody asked for goes nowhere."""

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell how far the request is."""
        ...

    async def log(self, level: str, data: JsonValue, logger: str | None) -> None:
        """Send a log message."""
        ...


@mutable(shown=True)  # to type checkers, which would not have it set its digest
class Call:
    """One request that can ask: all that a round may know. Not to be changed.

    Attributes:
        target: the name of the tool or prompt, or the URI of the resource.
        arguments: the arguments as they arrived; absent, null and ``{}`` are the same.
        responses: ``inputResponses``, unread and untrusted.
        state: ``requestState``, or None.
        principal: who sent it, as the adapter authenticated them; None without authentication.
        client: what the client declared with this request.
        method: the protocol method: ``tools/call``, ``prompts/get`` or ``resources/read``.
        channel: the way back while the request is served, or None.
        lifespan: what the server's lifespan gave, for `Context.lifespan`.
        anonymous_ok: whether somebody who is not authenticated may be sent to a page, or use something once.
        digest: the `arguments_digest` of the arguments.

    Raises:
        InvalidParams: the arguments have no digest.
    """

    target: str
    arguments: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue], repr=False)
    responses: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue], repr=False)
    state: str | None = field(default=None, repr=False)
    principal: str | None = field(default=None, repr=False)
    client: Client = field(default_factory=Client)
    method: str = "tools/call"
    channel: Channel | None = field(default=None, repr=False, compare=False)
    lifespan: Any = field(default=None, repr=False, compare=False)
    anonymous_ok: bool = True
    digest: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.target.isascii() and any("\ud800" <= letter <= "\udfff" for letter in self.target):
            raise InvalidParams("its name is no Unicode text")
        if self.responses:
            _check_size(self.responses, "inputResponses")
        self.digest = arguments_digest(self.arguments)

    @classmethod
    def read(
        cls,
        params: Mapping[str, JsonValue],
        *,
        client: Client,
        principal: str | None = None,
        method: str = "tools/call",
        channel: Channel | None = None,
        lifespan: Any = None,
        anonymous_ok: bool = True,
    ) -> Call:
        """Read the `params` of a request; the rest is as in the attributes.

        Raises:
            InvalidParams: one of its members has the wrong type, there are too many responses, or the arguments have no
                `arguments_digest`.
        """
        named = "uri" if method == "resources/read" else "name"
        target, state = params.get(named), params.get("requestState")
        if not isinstance(target, str):
            raise InvalidParams(f"{named} must be a string")
        if state is not None and not isinstance(state, str):
            raise InvalidParams("requestState must be a string")
        responses = _object(params, "inputResponses")
        if len(responses) > MAX_RESPONSES:
            raise InvalidParams(f"inputResponses holds more than {MAX_RESPONSES} answers")
        arguments: Mapping[str, JsonValue] = {} if method == "resources/read" else _object(params, "arguments")
        return cls(target, arguments, responses, state, principal, client, method, channel, lifespan, anonymous_ok)


def _object(params: Mapping[str, JsonValue], name: str) -> Mapping[str, JsonValue]:
    value = params.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidParams(f"{name} must be an object")
    return value


def arguments_digest(arguments: Mapping[str, JsonValue]) -> str:
    """A digest of raw arguments that does not change when a client writes the same values in another way.

    Keys are sorted, an integral float counts as the integer (JavaScript writes ``1.0`` as ``1``), and text is taken as
    it is, without Unicode normalisation.

    Raises:
        InvalidParams: a number is not finite or has thousands of digits, text holds half a surrogate pair, or the
            arguments hold more than 20,000 values or are nested more than 64 deep.
    """
    text = _spelled_at_once(arguments)
    if text is None:
        _check_size(arguments, "arguments")
        text = _spelled_with_care(arguments)
    return hashlib.sha256(text).hexdigest()[:32]


def _spelled_at_once(arguments: Mapping[str, JsonValue]) -> bytes | None:
    """What `_spelled_with_care` gives, for arguments that are texts of ASCII and small numbers, as most are.

    Those json and pydantic spell alike, but for one character.
    """
    if len(arguments) > MAX_VALUES or not _AT_ONCE.issuperset(map(type, arguments.values())):
        return None
    try:
        text = to_json(dict(sorted(arguments.items())) if len(arguments) > 1 else arguments)
    except ValueError:
        return None
    # Not `in`, for which bytes first make an exception of what is no number.
    return text if text.isascii() and text.find(DELETE) < 0 and len(text) < MAX_AT_ONCE else None


def _spelled_with_care(arguments: Mapping[str, JsonValue]) -> bytes:
    try:
        text = _spelled({name: _canonical(value) for name, value in arguments.items()})
        if "\\ud" in text:
            _halves(dict(arguments))
    except ValueError:
        raise InvalidParams(
            "arguments hold a number that is not finite or too long, or text that is no Unicode"
        ) from None
    return text.encode()


def _is_small(sent: Mapping[str, JsonValue]) -> bool:
    """Whether there is no need to count: each value takes a byte, and each level a bracket."""
    try:
        text = to_json(sent)
    except ValueError:
        return False
    return len(text) <= MAX_VALUES and text.count(b"[") + text.count(b"{") <= MAX_DEPTH


def _check_size(sent: Mapping[str, JsonValue], what: str) -> None:
    if _is_small(sent):  # as in most calls
        return
    left = MAX_VALUES - len(sent)
    level = [inner for inner in sent.values() if isinstance(inner, (dict, list))]
    for _ in range(1, MAX_DEPTH):
        left -= sum(map(len, level))
        if left < 0:
            raise InvalidParams(f"{what} hold more than {MAX_VALUES} values")
        if not level:
            return
        held = [each if isinstance(each, list) else each.values() for each in level]
        level = [inner for values in held for inner in values if isinstance(inner, (dict, list))]
    if not level:
        return
    raise InvalidParams(f"{what} are nested more than {MAX_DEPTH} deep")


def _halves(value: JsonValue) -> None:
    """Raises ValueError where a text holds half a surrogate pair: JSON spells halves and pairs alike."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        for key, item in value.items():
            _halves(key)
            _halves(item)
    elif isinstance(value, list):
        for item in value:
            _halves(item)


_AT_ONCE: Final = frozenset({str, int, bool, type(None)})
_spelled: Final = json.JSONEncoder(sort_keys=True, allow_nan=False, separators=(",", ":")).encode


def _canonical(value: JsonValue) -> JsonValue:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < MAX_EXACT else value
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    return [_canonical(item) for item in value] if isinstance(value, list) else value


@record
class InputRequired:
    """The call cannot go on without answers.

    Attributes:
        requests: the questions by wire key, each ``{"method": ..., "params": ...}``.
        state: the ``requestState`` to send along, or None when there is nothing to keep.
    """

    requests: Mapping[str, Mapping[str, JsonValue]] = field(repr=False)
    state: str | None = field(repr=False)


@record
class Complete:
    """The call is over.

    Attributes:
        value: what the last step returned, or the text of a tool error.
        structured: the same as a JSON object that fits the tool's output schema, or None without one.
        is_error: whether this is a tool error.
    """

    value: object = field(repr=False)
    structured: Mapping[str, JsonValue] | None = field(default=None, repr=False)
    is_error: bool = False


@record
class Created:
    """The call goes on as a durable task.

    Attributes:
        task: its id, by which the client asks how it is.
        status: ``working``, ``input_required``, ``completed``, ``failed`` or ``cancelled``.
        message: what it is doing, for people; or None.
        created: when it began, in seconds since 1970.
        updated: when it last changed.
        ttl: seconds from its beginning on that it is kept; None for ever.
    """

    task: str
    status: str
    message: str | None
    created: float
    updated: float
    ttl: float | None


Reply = InputRequired | Complete | Created
