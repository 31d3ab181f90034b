"""What a client over stdin and stdout begins with, which says for good which revisions of the protocol it speaks.

The first request decides: with a version in its `_meta` it is one of 2026-07-28; without one, or to `initialize`, the
client is older. This is read without an event loop, for nobody knows yet whose loop it will be.
See https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from mrtr_tools.records import record
from mrtr_tools.server.envelope import PROTOCOL_VERSION, Rejected, Request
from mrtr_tools.server.lines import Line, Lines
from mrtr_tools.server.messages import message_of, refusal

__all__ = ["Opening", "read_opening"]

LEAD: Final = 8
"""Lines before the first request that are kept, as the SDK does. More are forgotten."""


@record
class Opening:
    """The beginning of a conversation.

    Attributes:
        before: what was read before the first request, as far as it is kept.
        line: the first request as it came.
        behind: what was read behind it.
        request: what it says.
    """

    before: bytes
    line: bytes
    behind: bytes
    request: Request

    @property
    def read(self) -> bytes:
        """All of it, for whoever takes over."""
        return self.before + self.line + self.behind

    @property
    def is_modern(self) -> bool:
        """Whether the client speaks 2026-07-28."""
        meta = (self.request.params or {}).get("_meta")
        return self.request.method != "initialize" and isinstance(meta, dict) and PROTOCOL_VERSION in meta


def read_opening(read: Callable[[], bytes], write: Callable[[bytes], None], limit: int) -> Opening | None:
    """Read until a request has come; None when the client leaves before that.

    Args:
        read: gives the next bytes, and none at the end.
        write: takes the answer to a line that is too long, which nobody could take over.
        limit: bytes that a line may have.
    """
    lead: list[bytes] = []
    for line, behind in _lines(read, limit):
        try:
            message = message_of(line, limit)
        except Rejected as error:
            message = error
        if isinstance(message, Request):
            return Opening(b"".join(lead), line.text + b"\n", b"\n".join(behind), message)
        if not line.end:
            lead = [*lead, line.text + b"\n"][:LEAD]
        elif isinstance(message, Rejected) and (told := refusal(line, message)):
            write(told + b"\n")
    return None


def _lines(read: Callable[[], bytes], limit: int) -> Iterator[tuple[Line, list[bytes]]]:
    """The lines of a client, each with what was read behind it, cut at its newlines."""
    lines = Lines(limit)
    while piece := read():
        parts = piece.split(b"\n")
        for place, part in enumerate(parts, 1):
            lines.feed(part + b"\n" if place < len(parts) else part)
            if line := lines.take():
                yield line, parts[place:]
    lines.finish()
    if line := lines.take():
        yield line, [b""]
