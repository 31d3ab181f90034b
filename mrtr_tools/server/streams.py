"""File descriptors that an asyncio loop reads and writes without ever being held up, and without piling anything up.

Pipes and sockets are watched by the loop. What it cannot watch, a file or a terminal, and everything on Windows, has a
thread of its own: one for the whole stream and not one for each message.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread
from typing import Final

from mrtr_tools.server.lines import CHUNK

__all__ = ["FULL", "Input", "Output"]

FULL: Final = 64 * 1024
"""Bytes that may wait to be written before whoever makes them should stop."""


def _is_watchable(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


class Input:
    """What comes in, chunk by chunk. Nothing is read before `resume`.

    Args:
        number: the file descriptor.
        received: is called with each chunk, and with an empty one at the end.
    """

    def __init__(self, number: int, received: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._number = number
        self._received = received
        self._is_watched = _is_watchable(number)
        self._is_open = True
        self._goes_on = Event()
        if not self._is_watched:
            # A daemon: nothing can wake it while it waits for bytes, so the end of the process must not wait for it.
            Thread(target=self._read_in_thread, name="mrtr_tools stdin", daemon=True).start()

    def resume(self) -> None:
        """Read on, or begin to."""
        if self._is_open and not self._goes_on.is_set():
            self._goes_on.set()
            if self._is_watched:
                self._loop.add_reader(self._number, self._read)

    def pause(self) -> None:
        """Leave what comes where it is. A chunk that was under way may still be received."""
        if self._goes_on.is_set():
            self._goes_on.clear()
            if self._is_watched:
                self._loop.remove_reader(self._number)

    def close(self) -> None:
        """Receive nothing any more."""
        self.pause()
        self._is_open = False

    def _read(self) -> None:
        with suppress(BlockingIOError):  # it was said to be there, and is not
            self._take(_read(self._number))

    def _read_in_thread(self) -> None:
        chunk = b"?"
        with suppress(RuntimeError):  # the loop has ended
            while chunk:
                self._goes_on.wait()
                chunk = _read(self._number)
                self._loop.call_soon_threadsafe(self._take, chunk)

    def _take(self, chunk: bytes) -> None:
        if self._is_open:
            if not chunk:
                self.close()
            self._received(chunk)


def _read(number: int) -> bytes:
    try:
        return os.read(number, CHUNK)
    except BlockingIOError:
        raise
    except OSError:  # a client that left in a bad way has left
        return b""


class Output:
    """What goes out.

    Args:
        number: the file descriptor.
        wrote: is called when something has been written.
        broken: is called, once, when nobody reads any more.
    """

    def __init__(self, number: int, wrote: Callable[[], None], broken: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._number = number
        self._report = wrote
        self._broken = broken
        self._left = bytearray()
        self._is_open = True
        self._is_watched = _is_watchable(number)
        self._is_waiting = False
        self._is_flushing = False
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._chunks: SimpleQueue[bytes] = SimpleQueue()
        if self._is_watched:
            os.set_blocking(number, False)
        else:
            Thread(target=self._write_in_thread, name="mrtr_tools stdout", daemon=True).start()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits to be written."""
        return not self._is_flushing

    @property
    def is_full(self) -> bool:
        """Whether so much waits to be written that no more should be made."""
        return not self._has_room.is_set()

    def write(self, data: bytes, *, more: bool = False) -> None:
        """Write as soon as it can be. When nobody reads any more, it goes nowhere.

        Args:
            data: what to write.
            more: whether more is about to come, which should go out together with it.
        """
        if not self._is_open:
            return
        self._left += data
        if len(self._left) > FULL:
            self._has_room.clear()
        if not self._is_flushing:
            self._is_flushing = True
            if more:
                self._loop.call_soon(self._flush)
            else:
                self._flush()

    async def room(self) -> None:
        """Wait while it is full."""
        await self._has_room.wait()

    def close(self) -> None:
        """Write nothing more."""
        self._end()
        if self._is_watched:
            os.set_blocking(self._number, True)
        self._chunks.put(b"")

    def _flush(self) -> None:
        if not self._left:  # it has ended meanwhile
            return
        if not self._is_watched:
            self._chunks.put(bytes(self._left[:CHUNK]))
            return
        try:
            written = os.write(self._number, self._left)
        except BlockingIOError:
            written = 0
        except OSError:
            self._break()
            return
        self._wrote(written)

    def _write_in_thread(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            while chunk := self._chunks.get():
                try:
                    written = os.write(self._number, chunk)
                except OSError:
                    self._loop.call_soon_threadsafe(self._break)
                else:
                    self._loop.call_soon_threadsafe(self._wrote, written)

    def _wrote(self, size: int) -> None:
        del self._left[:size]
        if not self._left:
            self._is_flushing = False
        elif not self._is_watched:
            self._flush()
        self._watch()
        if len(self._left) <= FULL:
            self._has_room.set()
        self._report()

    def _watch(self) -> None:
        """Be called again when there is room for what is left, and only then."""
        is_left = self._is_watched and bool(self._left)
        if is_left and not self._is_waiting:
            self._loop.add_writer(self._number, self._flush)
        elif self._is_waiting and not is_left:
            self._loop.remove_writer(self._number)
        self._is_waiting = is_left

    def _end(self) -> None:
        self._is_open = False
        self._left.clear()
        self._watch()
        self._is_flushing = False
        self._has_room.set()

    def _break(self) -> None:
        if self._is_open:
            self._end()
            self._broken()
