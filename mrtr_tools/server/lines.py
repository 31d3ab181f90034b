"""The lines that a client writes over stdio, and whom to tell of one that is too long or cannot be read.

Whoever waits for an answer must hear that there is none. So the two ends of such a line are looked at: every client
writes the ``id`` of a message at one of them. What is between is neither kept nor read; a line may be as long as it
likes, and three bytes of JSON can stand for a hundred of memory.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from pydantic_core import from_json

from mrtr_tools.records import record

__all__ = ["CHUNK", "Addressee", "Line", "Lines", "addressee", "lines_of"]

CHUNK: Final = 64 * 1024  # bytes that are read at a time
EDGE: Final = 4096  # bytes

_TEXT: Final = rb'"(?:[^"\\]|\\.)*+"'
_PLAIN: Final = _TEXT + rb"|[-+.\w]++"  # a text, a number, true, false or null
_MEMBER: Final = rb"(?s)\s*+(" + _TEXT + rb")\s*+:(?:\s*+(" + _PLAIN + rb")\s*+[,}])?+"
_START: Final = rb"\s*+{"
_LAST: Final = rb"(?s),(?:\s*+" + _TEXT + rb"\s*+:\s*+(?:" + _PLAIN + rb")\s*+(?:,|}\s*+\Z))++\Z"


@record
class Line:
    """A line of a client.

    Attributes:
        text: its bytes, without the one that ends it; the first 4096 of them when it is too long.
        end: the last 4096 bytes of one that is too long, else none.
    """

    text: bytes
    end: bytes = b""


class Lines:
    """Cuts bytes into lines as they come. No more than `limit` bytes and a piece are held of a line without end.

    Args:
        limit: bytes that a line may have.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._whole: deque[Line] = deque()
        self._text, self._end = bytearray(), b""

    def feed(self, piece: bytes) -> None:
        """Take what was read."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._join(part)
            self._cut()
        self._join(rest)

    def finish(self) -> None:
        """Take what was begun for a line: nothing else comes."""
        if self._text:
            self._cut()

    def take(self) -> Line | None:
        """The next line, or None until one is whole."""
        return self._whole.popleft() if self._whole else None

    def __bool__(self) -> bool:
        """Whether there is one to take."""
        return bool(self._whole)

    def _join(self, part: bytes) -> None:
        self._end = _joined(self._text, self._end, part, self._limit)

    def _cut(self) -> None:
        self._whole.append(Line(bytes(self._text), self._end))
        self._text, self._end = bytearray(), b""


def lines_of(read: Callable[[], bytes], limit: int) -> Iterator[Line]:
    """The lines of what `read` gives until it gives nothing; see `Lines`."""
    lines = Lines(limit)
    while piece := read():
        lines.feed(piece)
        while line := lines.take():
            yield line
    lines.finish()
    if line := lines.take():
        yield line


def _joined(text: bytearray, end: bytes, part: bytes, limit: int) -> bytes:
    """Put a part behind what is held of a line; gives the new `end`."""
    if end:
        return (end + part)[-EDGE:]
    text += part
    if len(text) <= limit:
        return b""
    end = bytes(text[-EDGE:])
    del text[EDGE:]
    return end


@record
class Addressee:
    """Who waits for what a line should have been.

    Attributes:
        name: the ``id`` of the message, or None when there is none to be found.
        is_response: whether the message is a response, and somebody in here waits for it.
    """

    name: str | int | None
    is_response: bool


def addressee(line: Line) -> Addressee:
    """Whom a line concerns, as far as the scalar members at its two ends tell.

    Of two members of one name the last counts, as in all JSON that is read here; one in the middle is not seen.
    """
    members, rest = dict[object, object](), None
    if start := re.match(_START, line.text):
        members, rest = _members(line.text[:EDGE], start.end())
    tail = (line.end or line.text)[-EDGE:]
    if last := re.search(_LAST, tail):
        members |= _members(tail, last.start() + 1)[0]
    name = members.get("id")
    known = name if isinstance(name, str) or type(name) is int else None
    return Addressee(known, known is not None and "method" not in members and rest in ("result", "error"))


def _members(text: bytes, at: int) -> tuple[dict[object, object], object]:
    """The scalar members of an object from a place on, and the name of the first that is no scalar, or is cut."""
    members: dict[object, object] = {}
    shape = re.compile(_MEMBER)
    while member := shape.match(text, at):
        name, at = _read(member[1]), member.end()
        if member[2] is None:
            return members, name
        members[name] = _read(member[2])
    return members, None


def _read(text: bytes) -> object:
    """A text or number; None for what is none, such as half a surrogate pair, which nobody could be answered with."""
    try:
        return from_json(text, cache_strings="keys")
    except ValueError:
        return None
