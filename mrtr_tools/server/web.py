"""Serving an application of ours with uvicorn: in this process, or in several that share one port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import uvicorn
from uvicorn.supervisors import Multiprocess

from mrtr_tools.server.gate import App

__all__ = ["serve"]

KEEP_ALIVE: Final = 75  # seconds; longer than proxies keep a connection, or they would send into one that is closing
MAX_HEAD: Final = 64 * 1024  # bytes of request line and headers, where uvicorn has h11


def serve(app: App | Callable[[], App], *, host: str, port: int, grace: float, workers: int | None = None) -> None:
    """Serve until the process is told to stop.

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
        h11_max_incomplete_event_size=MAX_HEAD,
    )
    if workers is None:
        uvicorn.Server(config).run()
    else:
        Multiprocess(config, sockets=[config.bind_socket()]).run()
