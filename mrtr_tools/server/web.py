"""Serving an application of ours with uvicorn: in this process, or in several that share one port."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from types import FrameType
from typing import Final

import uvicorn
from uvicorn.supervisors import Multiprocess

from mrtr_tools.server.gate import App
from mrtr_tools.server.stopping import Stop, until_told

__all__ = ["serve"]

KEEP_ALIVE: Final = 75  # seconds; longer than proxies keep a connection, or they would send into one that is closing
ALIVE: Final = 20  # seconds in which a worker has to say that it is there; a busy machine takes some to start one
LAST_WORD: Final = 0.01  # seconds in which the request on a new connection comes
MAX_HEAD: Final = 32 * 1024  # bytes of request line and headers, where uvicorn has h11

_log = logging.getLogger("mrtr_tools")


def serve(app: App | Callable[[], App], *, host: str, port: int, grace: float, workers: int | None = None) -> None:
    """Serve until the process is told to stop, by SIGTERM or SIGINT, and return then.

    Args:
        app: the application; with `workers` a function that makes it, which goes to them by pickle.
        host: the interface to listen on.
        port: the port.
        grace: seconds that calls under way may take then.
        workers: how many processes serve; None for this one alone. One that ends is started again.
    """
    config = uvicorn.Config(
        app,
        factory=workers is not None,
        workers=workers or 1,
        host=host,
        port=port,
        access_log=False,
        ws="none",
        lifespan="on",
        proxy_headers=False,  # nothing here asks where a request came from
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(grace)),
        timeout_worker_healthcheck=ALIVE,
        h11_max_incomplete_event_size=MAX_HEAD,
    )
    with until_told() as stop:
        if workers is None:
            _Server(config, stop).run()
        else:
            _Workers(config, [_listening(host, port, config.backlog)], stop).run()


def _listening(host: str, port: int, backlog: int) -> socket.socket:
    """A socket that connections come to from now on: who is earlier than the first worker waits for it.

    Raises:
        SystemExit: there is none to be had.
    """
    is_v6 = ":" in host
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if is_v6 else socket.AF_INET, backlog=backlog
        )
    except OSError as error:
        _log.error("%s port %d cannot be served: %s", host, port, error.strerror)
        raise SystemExit(1) from None
    _log.info("running on http://%s:%d", f"[{host}]" if is_v6 else host, listening.getsockname()[1])
    return listening


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, stop: Stop) -> None:
        super().__init__(config)
        self._stop = stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Be told to stop. uvicorn would take connections until it looks next; here a proxy soon sends to another
        instance what would only be refused, and little of what it has sent already is cut off."""
        self._stop.is_heard = True
        super().handle_exit(sig, frame)
        if self.started:
            asyncio.get_running_loop().call_soon_threadsafe(self._take_no_more)

    def _take_no_more(self) -> None:
        # A timer comes right after what was there to be read has been read.
        loop = asyncio.get_running_loop()
        for server in self.servers:
            loop.call_later(0.001, server.close)
        loop.call_later(LAST_WORD, self._close_idle)

    def _close_idle(self) -> None:
        for connection in list(self.server_state.connections):
            connection.shutdown()  # which ends it after the answer where there is one to come


class _Workers(Multiprocess):
    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], stop: Stop) -> None:
        super().__init__(config, sockets)
        self._stop = stop

    def terminate_all(self) -> None:
        """Tell all to stop, and take no more connections: none of them would be served."""
        self._stop.is_heard = True
        super().terminate_all()
        for listening in self.sockets:
            listening.close()
