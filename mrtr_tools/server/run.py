"""Serving one toolbox: over stdin and stdout, or over HTTP."""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from mrtr_tools.errors import DefinitionError
from mrtr_tools.server.lines import CHUNK
from mrtr_tools.server.middleware import TooLargeAsJson, TrimmedHeaders
from mrtr_tools.server.opening import read_opening
from mrtr_tools.server.pipes import Pipes, claimed, write_all
from mrtr_tools.server.signing import TTL, Keys, starting_signer
from mrtr_tools.server.stdio import hand_over
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ["MAX_REQUEST", "http_app", "run_http", "run_stdio"]

MAX_REQUEST: Final = 1024 * 1024
"""Bytes that one message of a client may have, over HTTP and stdio alike, unless ``max_request=`` says otherwise."""
GRACE: Final = 10  # seconds that calls under way may take when the server is stopped

_log = logging.getLogger("mrtr_tools")

LOOPBACK_HOSTS: Final = [f"{host}{port}" for host in ("127.0.0.1", "localhost", "[::1]") for port in ("", ":*")]
LOOPBACK_ORIGINS: Final = [f"http://{host}" for host in LOOPBACK_HOSTS]


def run_stdio(
    toolbox: Toolbox,
    *,
    keys: Keys | None = None,
    audience: str | None = None,
    ttl: float = TTL,
    max_request: int = MAX_REQUEST,
    lean: bool = True,
) -> None:
    """Serve one client over stdin and stdout until it closes stdin. What steps print goes to stderr.

    Calls that are under way then have ten seconds to come to their end; after SIGTERM likewise.

    Args:
        toolbox: what to serve.
        keys: sign states, the current one first; by default `MRTR_TOOLS_KEYS`, else a key that ends with this process.
        audience: keeps the states of different servers apart; by default the toolbox's name.
        ttl: seconds that a state lives.
        max_request: bytes that one line may have. A longer one is answered with an error.
        lean: serve clients of 2026-07-28 without the MCP SDK, which is imported for older ones then; or not.

    Raises:
        InvalidKey: a key cannot be used.
    """
    signer = starting_signer(toolbox, keys, audience=audience, ttl=ttl, make_key=True)
    gc.freeze()  # what is there by now stays, and need not be looked at again and again
    try:
        with suppress(KeyboardInterrupt), claimed() as pipes:  # a person at a terminal stops it so
            if lean:
                _serve_stdio(toolbox, signer, pipes, max_request)
            else:
                hand_over(toolbox, signer, pipes, max_request)
    finally:
        gc.unfreeze()


def _serve_stdio(toolbox: Toolbox, signer: StateSigner, pipes: Pipes, limit: int) -> None:
    """Serve a client by what it begins with, and import no more than that takes."""
    from mrtr_tools.server.lean import LeanServer

    lean = LeanServer(toolbox, signer, pages_ok=True)
    write = partial(write_all, pipes.output)
    try:
        opening = read_opening(partial(os.read, pipes.input, CHUNK), write, limit)
        answer = lean.at_once(opening.request) if opening is not None and opening.is_modern else None
        if answer is not None:
            write(answer.body + b"\n")
    except OSError:  # the client has gone
        return
    if opening is None:
        return
    if not opening.is_modern:
        hand_over(toolbox, signer, pipes, limit, opening.read)
        return
    from mrtr_tools.server.loop import serve_modern

    serve_modern(lean, pipes, limit, opening.read if answer is None else opening.before + opening.behind)


def run_http(
    toolbox: Toolbox,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    keys: Keys | None = None,
    audience: str | None = None,
    ttl: float = TTL,
    allowed_hosts: Sequence[str] | None = None,
    allowed_origins: Sequence[str] | None = None,
    max_request: int = MAX_REQUEST,
    anonymous_ok: bool = False,
) -> None:
    """Serve over HTTP, at ``/mcp``, until the process is told to stop. For several processes, use `http_app`.

    Args:
        toolbox: what to serve.
        host: the interface to listen on.
        port: the port.
        keys: see `http_app`, as for all that follows.
        audience: see there.
        ttl: see there.
        allowed_hosts: see there; must be given unless `host` is this machine alone.
        allowed_origins: see there.
        max_request: see there.
        anonymous_ok: see there.

    Raises:
        DefinitionError: a step opens a page, and `anonymous_ok` is not given.
        InvalidKey: there are no keys, or one cannot be used.
        ValueError: `allowed_hosts` is missing.
    """
    if allowed_hosts is None and not _is_loopback(host):
        raise ValueError(
            f"host={host!r} lets other machines in: say by which names they call this one, "
            'allowed_hosts=["mcp.example.com"], or a web page could reach it by a name of its own'
        )
    app = http_app(
        toolbox,
        keys=keys,
        audience=audience,
        ttl=ttl,
        allowed_hosts=allowed_hosts,
        allowed_origins=allowed_origins,
        max_request=max_request,
        anonymous_ok=anonymous_ok,
    )
    import uvicorn

    uvicorn.run(app, host=host, port=port, access_log=False, ws="none", lifespan="on", timeout_graceful_shutdown=GRACE)


def http_app(
    toolbox: Toolbox,
    *,
    keys: Keys | None = None,
    audience: str | None = None,
    ttl: float = TTL,
    allowed_hosts: Sequence[str] | None = None,
    allowed_origins: Sequence[str] | None = None,
    max_request: int = MAX_REQUEST,
    anonymous_ok: bool = False,
) -> Starlette:
    """An ASGI application that serves a toolbox at ``/mcp``, to clients of 2026-07-28 and of older revisions.

    A call of 2026-07-28 needs no memory: any process that has the keys can serve any of its rounds. An older client has
    a session with one process. The application has a lifespan; whoever mounts it in another one must run it as well.

    Args:
        toolbox: what to serve.
        keys: sign states, the current one first; by default `MRTR_TOOLS_KEYS`. All processes of a server share them.
        audience: keeps the states of different servers apart; by default the toolbox's name.
        ttl: seconds that a state lives.
        allowed_hosts: the values of the `Host` header to serve, such as ``mcp.example.com``, with ``:*`` for any port;
            by default those of this machine.
        allowed_origins: the values of the `Origin` header to serve, such as ``https://example.com``; by default those
            of this machine, or none when there are `allowed_hosts`. Programs send no such header and are served.
        max_request: bytes that the body of a request may have. A larger one gets 413.
        anonymous_ok: let steps open pages (`ElicitUrl`) although callers are not authenticated here. Whoever is sent
            the link then acts in the call of whoever sent it; so only where all who reach the server are one person.
            To authenticate callers, `attach` the toolbox to an `MCPServer` with ``auth=``.

    Raises:
        DefinitionError: a step opens a page, and `anonymous_ok` is not given.
        InvalidKey: there are no keys, or one cannot be used.
        TypeError: one text was given in place of a list.
    """
    hosts = _listed("allowed_hosts", allowed_hosts, LOOPBACK_HOSTS)
    origins = _listed("allowed_origins", allowed_origins, LOOPBACK_ORIGINS if allowed_hosts is None else ())
    _check_pages(toolbox, anonymous_ok=anonymous_ok)
    signer = starting_signer(toolbox, keys, audience=audience, ttl=ttl)
    _log.warning(
        "%s: callers over HTTP are not authenticated; whoever has a state and its arguments can go on with the call",
        toolbox.name,
    )
    from mcp.server.transport_security import TransportSecuritySettings

    from mrtr_tools.server.alone import server_for

    allowed = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
    app = server_for(toolbox, signer, anonymous_ok=anonymous_ok).streamable_http_app(
        transport_security=allowed, max_request_body_size=max_request
    )
    app.add_middleware(TooLargeAsJson, limit=max_request)
    app.add_middleware(TrimmedHeaders)
    return app


def _check_pages(toolbox: Toolbox, *, anonymous_ok: bool) -> None:
    """Refuse to open pages for nobody in particular: somebody else may be sent the link, and sign in for the caller."""
    steps = dict.fromkeys(toolbox.asking("url"))
    if steps and not anonymous_ok:
        raise DefinitionError(
            f"{toolbox.name}: {', '.join(steps)} ask to open a page, and over HTTP nobody knows for whom: attach the "
            "toolbox to an MCPServer with auth=, or give anonymous_ok=True where all callers are one person"
        )


def _listed(name: str, given: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    if isinstance(cast("object", given), str):
        raise TypeError(f"{name} must be a list, not one text: {name}=[{given!r}]")
    return list(default if given is None else given)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
