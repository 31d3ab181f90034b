"""The lines of a byte stream, what they say, and what is said about one that is too long."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, cast

from pydantic import JsonValue
from pydantic_core import from_json

from mrtr_tools.server.envelope import INVALID_REQUEST, Rejected, is_id, read_json

__all__ = ["CHUNK", "READ_ON", "Lines", "lines_of", "message_of", "too_long"]

CHUNK: Final = 64 * 1024
"""Bytes that are read at a time."""
READ_ON: Final = 16
"""A line that is too long is read up to this many times the limit, to learn whom to tell."""


class Lines:
    """Cuts bytes into lines as they come.

    Args:
        longest: bytes that are kept of a line; more are read and forgotten.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._whole: deque[bytes] = deque()
        self._begun = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take what was read."""
        begun, longest = self._begun, self._longest
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            begun += part[: longest - len(begun)]
            self._whole.append(bytes(begun))
            begun.clear()
        begun += rest[: longest - len(begun)]

    def end(self) -> None:
        """Take what was begun for a line: nothing else comes."""
        if self._begun:
            self.feed(b"\n")

    @property
    def has_line(self) -> bool:
        """Whether there is one to take."""
        return bool(self._whole)

    def take(self) -> bytes | None:
        """The next line without its end, or None until one is whole."""
        return self._whole.popleft() if self._whole else None

    def rest(self) -> bytes:
        """What was fed and not taken."""
        return b"".join([*(line + b"\n" for line in self._whole), self._begun])


def lines_of(read: Callable[[], bytes], longest: int) -> Iterator[bytes]:
    """The lines of what `read` gives until it gives nothing; of a longer line only the first `longest` bytes."""
    lines = Lines(longest)
    while chunk := read():
        lines.feed(chunk)
        while (line := lines.take()) is not None:
            yield line
    lines.end()
    if (line := lines.take()) is not None:
        yield line


def message_of(line: bytes) -> object:
    """What a line says. What is no UTF-8 in it is replaced, as the SDK does.

    Raises:
        Rejected: it is no JSON.
    """
    try:
        return read_json(line)
    except Rejected:
        return read_json(line.decode("utf-8", "replace").encode())


def too_long(line: bytes, limit: int) -> tuple[dict[str, JsonValue], bool]:
    """The JSON-RPC error in place of a line, and whether the line is a response.

    Args:
        line: what was read of it.
        limit: bytes that it may have.
    """
    try:
        read: object = from_json(line)
    except ValueError:
        read = None
    message = cast("dict[str, object]", read) if isinstance(read, dict) else {}
    name = message.get("id")
    known = cast("str | int", name) if is_id(name) else None
    error: JsonValue = {"code": INVALID_REQUEST, "message": f"A message may have {limit} bytes"}
    return {"jsonrpc": "2.0", "id": known, "error": error}, known is not None and "method" not in message
