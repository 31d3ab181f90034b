"""One client of 2026-07-28 over stdin and stdout, on an event loop and without the SDK.

What comes is begun in the order it came and answered in the order it is done, as many calls at a time as there is room
for; what nothing has to run for is answered at once. `notifications/cancelled` ends the call that it names, which has
no answer then; any other notification, and what is no message at all, is passed over. Nothing piles up: while too many
calls are under way, or too much waits for the client to read it, nothing more is read from the client.

The client ends it by closing stdin, the system by SIGTERM. Nothing new is read after that, and what is under way has
some time to come to its end; a second SIGTERM cuts that short.
See https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio and the page on cancellation.
"""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Final

from pydantic import JsonValue

from mrtr_tools.server.envelope import (
    INTERNAL_ERROR,
    UNSUPPORTED_VERSION,
    VERSION,
    Rejected,
    Request,
    failed,
    is_id,
    wants_stream,
)
from mrtr_tools.server.lean import LeanServer
from mrtr_tools.server.lines import Line, Lines
from mrtr_tools.server.messages import Notification, message_of, refusal
from mrtr_tools.server.notifications import Notifications
from mrtr_tools.server.pipes import Pipes
from mrtr_tools.server.stopping import GRACE
from mrtr_tools.server.streams import Input, Output

__all__ = ["MAX_CALLS", "MAX_LINES", "StdioLoop", "serve_modern"]

CLEANING: Final = 1
"""Seconds that they may take when they are cancelled then."""
MAX_CALLS: Final = 500
"""Calls at a time; a person's client has a handful."""
MAX_LINES: Final = 16
"""Bytes that their messages may have together, in lines of the greatest length; the last may go beyond."""
AT_ONCE: Final = 16
"""Calls that are begun before those begun have their turn."""
CLOSED: Final = Rejected(INTERNAL_ERROR, "Connection closed")
"""What is said of a call that could not come to its end; the SDK has a code for it that the protocol gave up."""


def serve_modern(lean: LeanServer, pipes: Pipes, limit: int, read: bytes = b"") -> None:
    """Serve a client in an event loop of its own; see `StdioLoop`."""
    for name in ("runner", "threads"):  # before a call has to wait for them
        import_module(f"mrtr_tools.{name}")
    gc.freeze()

    async def serve() -> None:
        await lean.service.begin()
        try:
            await StdioLoop(lean, pipes, limit).serve(read)
        finally:
            await lean.service.end()

    asyncio.run(serve())


class _Call:
    """A request under way.

    Attributes:
        request: what is wanted.
        size: bytes of its message.
        task: serves it.
        is_cancelled: whether it is to end without a result.
        is_unwanted: whether that is so because the client said so.
    """

    __slots__ = ("is_cancelled", "is_unwanted", "request", "size", "task")

    def __init__(self, request: Request, size: int) -> None:
        self.request = request
        self.size = size
        self.task: asyncio.Task[None] | None = None
        self.is_cancelled = self.is_unwanted = False

    def cancel(self) -> None:
        """End it, or do not begin it."""
        self.is_cancelled = True
        if self.task is not None:
            self.task.cancel()


class StdioLoop:
    """Serves one client, in the asyncio loop in which it is made.

    Args:
        lean: knows the answers.
        pipes: lead to the client.
        limit: bytes that a line may have. A longer one is answered with an error, and the next one is read.
        grace: seconds that calls under way may take when the client or the system ends it.
        max_calls: calls at a time.
    """

    def __init__(
        self, lean: LeanServer, pipes: Pipes, limit: int, *, grace: float = GRACE, max_calls: int = MAX_CALLS
    ) -> None:
        self._lean = lean
        self._limit = limit
        self._grace = grace
        self._max_calls = max_calls
        self._lines = Lines(limit)
        self._under_way: dict[_Call, asyncio.Task[None]] = {}
        self._calls: dict[str | int, _Call] = {}  # the newest of each id
        self._size = 0
        self._is_held_up = self._is_at_end = self._is_stopped = self._is_terminated = False
        self._failure: BaseException | None = None
        self._loop = asyncio.get_running_loop()
        self._over, self._idle = asyncio.Event(), asyncio.Event()
        self._input = Input(pipes.input, self._receive)
        self._output = Output(pipes.output, wrote=self._go_on, broken=self._hurry)

    async def serve(self, read: bytes = b"") -> None:
        """Serve until the client closes stdin or reads no more, or the system sends SIGTERM.

        Args:
            read: what has been read from the client already.

        Raises:
            BaseException: a step raised it, and it is no `Exception`.
        """
        try:
            with self._sigterm():
                self._lines.feed(read)
                self._begin_more()
                await self._over.wait()
                await self._finish()
        finally:
            self._input.close()
            self._output.close()
        if self._failure is not None:
            raise self._failure
        if self._is_terminated:
            signal.raise_signal(signal.SIGTERM)  # and now it does what it would have done before

    # What comes

    def _receive(self, chunk: bytes) -> None:
        if chunk:
            self._lines.feed(chunk)
        else:
            self._lines.finish()
            self._is_at_end = True
            self._over.set()
        self._begin_more()

    def _begin_more(self) -> None:
        """Begin what has come, as far as there is room."""
        for _ in range(AT_ONCE):
            if self._is_stopped or not self._has_room():
                self._is_held_up = True
                self._input.pause()
                return
            line = self._lines.take()
            if line is None:
                self._input.resume()
                self._settle()
                return
            self._begin(line)
        self._input.pause()
        self._loop.call_soon(self._begin_more)

    def _has_room(self) -> bool:
        return (
            len(self._under_way) < self._max_calls and self._size < MAX_LINES * self._limit and not self._output.is_full
        )

    def _go_on(self) -> None:
        """Begin more if that waits for room, and see whether all is done."""
        if self._is_held_up:
            self._is_held_up = False
            self._begin_more()
        self._settle()

    def _begin(self, line: Line) -> None:
        try:
            message = message_of(line, self._limit)
        except Rejected as error:
            if told := refusal(line, error):
                self._write(told)
            return
        if not isinstance(message, Request):
            self._notice(message)
        elif message.method == "initialize":
            self._write(failed(message.id, _too_late(message)).body)
        elif (answer := self._lean.at_once(message)) is not None:
            self._write(answer.body)
        else:
            call = self._calls[message.id] = _Call(message, len(line.text))
            self._size += call.size
            self._under_way[call] = self._loop.create_task(self._serve(call))

    def _notice(self, message: Notification) -> None:
        params = message.get("params")
        if message["method"] == "notifications/cancelled" and isinstance(params, dict):
            call = self._find(params.get("requestId"))
            if call is not None:
                call.is_unwanted = True
                call.cancel()

    def _find(self, name: JsonValue) -> _Call | None:
        """The call of an id, which the SDK also takes for a number when it is the text of one."""
        if not is_id(name):
            return None
        with suppress(ValueError):
            return self._calls.get(name) or self._calls.get(str(name) if isinstance(name, int) else int(name))
        return None

    # Calls

    async def _serve(self, call: _Call) -> None:
        request, answer = call.request, None
        notices = Notifications(request, self._send) if wants_stream(request) else None
        try:
            if not call.is_cancelled:
                call.task = asyncio.current_task()
                answer = await self._lean.answer(request, channel=notices)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - it ends the server, and not just this task
            self._failure = error
            self._hurry()
        finally:
            if notices is not None:
                notices.close()
            if not call.is_unwanted:
                self._write((failed(request.id, CLOSED) if answer is None else answer).body)
            self._forget(call)

    def _forget(self, call: _Call) -> None:
        del self._under_way[call]
        self._size -= call.size
        if self._calls.get(call.request.id) is call:
            del self._calls[call.request.id]
        self._go_on()

    async def _send(self, message: bytes) -> None:
        await self._output.room()
        self._write(message)

    def _write(self, message: bytes) -> None:
        self._output.write(message + b"\n", more=len(self._under_way) > 1)

    # The end

    @contextmanager
    def _sigterm(self) -> Generator[None]:
        before = signal.getsignal(signal.SIGTERM)
        try:
            self._loop.add_signal_handler(signal.SIGTERM, self._terminate)
        except (NotImplementedError, RuntimeError, ValueError):  # on Windows, or not in the main thread
            yield
            return
        try:
            yield
        finally:
            self._loop.remove_signal_handler(signal.SIGTERM)
            signal.signal(signal.SIGTERM, before)

    def _terminate(self) -> None:
        if self._over.is_set():
            self._hurry()
        self._is_terminated = self._is_stopped = True
        self._over.set()
        self._settle()

    def _hurry(self) -> None:
        """End without waiting for anything."""
        self._is_stopped = True
        self._over.set()
        self._idle.set()

    def _settle(self) -> None:
        is_all = self._is_stopped or (self._is_at_end and not self._lines)
        if is_all and not self._under_way and self._output.is_empty:
            self._idle.set()

    async def _finish(self) -> None:
        """Wait until all is done, and cancel what takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._grace):
                await self._idle.wait()
        self._is_stopped = True
        self._idle.clear()
        for call in self._under_way:
            call.cancel()
        self._settle()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLEANING):
                await self._idle.wait()


def _too_late(request: Request) -> Rejected:
    """What is said to `initialize` from a client that has begun without it."""
    requested = (request.params or {}).get("protocolVersion")
    told: dict[str, JsonValue] = {"requested": requested} if isinstance(requested, str) else {}
    return Rejected(
        UNSUPPORTED_VERSION,
        f"connection is serving the {VERSION} protocol; the initialize handshake is not accepted",
        {"supported": [VERSION], **told},
    )
