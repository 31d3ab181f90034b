"""What an HTTP request must be before anything of its body is read.

It comes before the choice of who serves a request: the client makes that choice, and none of them must let in what the
others keep out. Where the official SDK refuses, too, this does it in the same words.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

from mrtr_tools.errors import RequestError
from mrtr_tools.records import record
from mrtr_tools.server.envelope import HEADER_MISMATCH, INVALID_REQUEST, Rejected, failed
from mrtr_tools.server.headers import Headers

__all__ = ["App", "Gate", "Message", "Receive", "Refused", "Response", "Send", "is_loopback"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
"""An ASGI application."""

JSON: Final = b"application/json"
SPACE: Final = b" \t"
ONCE: Final = frozenset(
    {
        b"authorization",
        b"host",
        b"origin",
        b"content-type",
        b"content-length",
        b"content-encoding",
        b"transfer-encoding",
    }
)
"""What may stand there once, as may all that begins with ``mcp-``: of two, each reader would pick another one."""
PORT_DIGITS: Final = 5
LENGTH_DIGITS: Final = 15

_log = logging.getLogger("mrtr_tools")


@record
class Response:
    """A whole response.

    Attributes:
        status: the HTTP status.
        body: its body.
        headers: beside that of its length.
    """

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Refused(Exception):
    """A request that is not served.

    Attributes:
        response: what to answer.
    """

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response

    @classmethod
    def as_json(cls, status: int, error: RequestError, *, close: bool = False) -> Refused:
        """Refuse with a JSON-RPC error, which clients can read, for a request whose id is not known.

        Args:
            status: the HTTP status.
            error: what is wrong.
            close: end the connection, for nobody can tell what would come next.
        """
        ended = ((b"connection", b"close"),) if close else ()
        return cls(Response(status, failed(None, error).body, ((b"content-type", JSON), *ended)))


class Gate:
    """Lets in requests for the right host, from the right pages, of a known form and length.

    Args:
        hosts: values of the `Host` header, exactly; ``:*`` at the end stands for any port.
        origins: values of the `Origin` header, likewise. A program sends none, which is always right.
        limit: bytes that a body may have.

    Raises:
        ValueError: ``null`` is among the origins.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str], limit: int) -> None:
        self.limit = limit
        self._hosts = _Listed(hosts)
        self._origins = _Listed(origins)
        if self._origins.has(b"null"):
            raise ValueError('allowed_origins: every page in a sandbox says it is "null", so that lets in anybody')

    def admit(self, scope: Message) -> Headers:
        """The headers of a request that may come in.

        Raises:
            Refused: it may not.
        """
        sent = scope["headers"]
        # uvicorn leaves the white space behind a value when it parses with httptools, and takes it off with h11. It is
        # no part of it (RFC 9110, 5.5).
        headers = {name: value.strip(SPACE) for name, value in sent}
        if len(headers) < len(sent):
            headers = _combined(sent)
        self._check_body(headers)
        media_type = headers.get(b"content-type", b"")
        if media_type != JSON and scope["method"] == "POST" and not _is_json(media_type):
            raise Refused(Response(400, b"Invalid Content-Type header"))
        host, origin = headers.get(b"host", b""), headers.get(b"origin")
        if not self._hosts.has(host):
            _log.warning("a request for host %a was refused: allowed_hosts does not have it", _short(host))
            raise Refused(Response(421, b"Invalid Host header"))
        if origin is not None and not self._origins.has(origin):
            _log.warning("a page of %a was refused: allowed_origins does not have it", _short(origin))
            raise Refused(Response(403, b"Invalid Origin header"))
        return headers

    def _check_body(self, headers: Headers) -> None:
        """Refuse a body that two readers could take for different ones, or that is too long."""
        if b"content-encoding" in headers:
            raise Refused.as_json(415, Rejected(INVALID_REQUEST, "A body must not have a Content-Encoding"))
        length = headers.get(b"content-length")
        if length is None:
            return
        if b"transfer-encoding" in headers:
            said = Rejected(INVALID_REQUEST, "Content-Length and Transfer-Encoding exclude each other")
            raise Refused.as_json(400, said, close=True)
        if not length.isdigit():
            raise Refused.as_json(400, Rejected(INVALID_REQUEST, "Content-Length must be a number"), close=True)
        if len(length) > LENGTH_DIGITS or int(length) > self.limit:
            raise self.too_long()

    def too_long(self) -> Refused:
        """The refusal of a body that is longer than the limit."""
        return Refused.as_json(413, Rejected(INVALID_REQUEST, f"A message may have {self.limit} bytes"))


class _Listed:
    """What a header may say."""

    __slots__ = ("_exact", "_seen", "_with_port")

    def __init__(self, listed: Iterable[str]) -> None:
        each = [entry.encode() for entry in listed]
        self._with_port = {entry.removesuffix(b":*") for entry in each if entry.endswith(b":*")}
        self._exact = {entry for entry in each if not entry.endswith(b":*")}
        self._seen = b""

    def has(self, value: bytes) -> bool:
        if value in self._exact or (value == self._seen and value):
            return True
        name, _, port = value.rpartition(b":")
        if name in self._with_port and port.isdigit() and len(port) <= PORT_DIGITS:
            self._seen = value
            return True
        return False


def _short(value: bytes) -> str:
    """As much of a value as a line of a log should have."""
    return value[:100].decode("latin-1")


def _combined(sent: list[tuple[bytes, bytes]]) -> Headers:
    """Headers of one name as one, where that is allowed (RFC 9110, 5.2)."""
    found: dict[bytes, bytes] = {}
    for name, value in sent:
        routing = name.startswith(b"mcp-")
        if name in found and (routing or name in ONCE):
            code = HEADER_MISMATCH if routing else INVALID_REQUEST
            raise Refused.as_json(400, Rejected(code, f"{name.decode('latin-1')} header appears more than once"))
        between = b"; " if name == b"cookie" else b", "
        found[name] = found[name] + between + value.strip(SPACE) if name in found else value.strip(SPACE)
    return found


def _is_json(media_type: bytes) -> bool:
    return media_type.partition(b";")[0].strip(SPACE).lower() == JSON


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
