"""What a client over stdin and stdout begins with, which says for good which revisions of the protocol it speaks.

The first request decides: with a version in its `_meta` it is one of 2026-07-28, without one, or to `initialize`, the
client is older. This is read without an event loop, for it is not known yet whose loop it will be.
See https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from pydantic_core import to_json

from mrtr_tools.server.envelope import PROTOCOL_VERSION, Rejected, Request, read_request
from mrtr_tools.server.lines import READ_ON, Lines, message_of, too_long

__all__ = ["Opening", "read_opening"]

LEAD: Final = 8
"""Lines before the first request that are kept, such as a notification that came too early. More are forgotten."""


class Opening(NamedTuple):
    """The beginning of a conversation.

    Attributes:
        read: all that was read, for whoever takes over.
        is_modern: whether the client speaks 2026-07-28.
    """

    read: bytes
    is_modern: bool


def read_opening(read: Callable[[], bytes], write: Callable[[bytes], None], limit: int) -> Opening | None:
    """Read until a request has come; None when the client leaves before that.

    Args:
        read: gives the next bytes, and none at the end.
        write: takes the answer to a line that is too long.
        limit: bytes that a line may have.
    """
    lines, lead = Lines(READ_ON * limit), list[bytes]()
    is_at_end = False
    while not is_at_end:
        chunk = read()
        is_at_end = not chunk
        lines.end() if is_at_end else lines.feed(chunk)
        while (line := lines.take()) is not None:
            if len(line) > limit:
                told, is_response = too_long(line, limit)
                if not is_response:
                    write(to_json(told) + b"\n")
                continue
            request = _request(line)
            if request is not None:
                return Opening(b"".join([*lead, line, b"\n", lines.rest()]), _is_modern(request))
            if len(lead) < LEAD:
                lead.append(line + b"\n")
    return None


def _request(line: bytes) -> Request | None:
    try:
        return read_request(message_of(line))
    except Rejected:
        return None


def _is_modern(request: Request) -> bool:
    meta = (request.params or {}).get("_meta")
    return request.method != "initialize" and isinstance(meta, dict) and PROTOCOL_VERSION in meta
