"""`mrtr-tools run`."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mrtr_tools.cli.exits import FAILED, INTERRUPTED, Stop
from mrtr_tools.cli.loading import load_toolbox
from mrtr_tools.cli.logs import show_log
from mrtr_tools.cli.workers import Terms, Worker, never
from mrtr_tools.errors import DefinitionError
from mrtr_tools.keys import VARIABLE, InvalidKey, Key, generate_key, keys_from_environment, keys_from_file, read_keys
from mrtr_tools.lifetimes import is_lifetime
from mrtr_tools.server import run_http, run_stdio
from mrtr_tools.server.claiming import claims_at
from mrtr_tools.server.run import is_loopback
from mrtr_tools.server.signing import TTL
from mrtr_tools.server.stopping import GRACE

if TYPE_CHECKING:
    from mrtr_tools.server.claiming import Claims
    from mrtr_tools.server.signing import Keys

__all__ = ["run"]

LOOPBACK = "127.0.0.1"
PORT = 8000


def run(
    target: Annotated[
        str, typer.Argument(metavar="FILE[:NAME]", help="A Python file with a Toolbox; NAME picks one of several.")
    ],
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, at /mcp, instead of stdin and stdout.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(help=f"With --http: the address to listen on.  [default: {LOOPBACK}]")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help=f"With --http: the port; 0 for any free one.  [default: {PORT}]"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --http: a name by which other machines call this one. Repeatable."),
    ] = None,
    anonymous_ok: Annotated[
        bool,
        typer.Option(
            "--anonymous-ok",
            help="With --http: let tools open pages, or be of single use, for callers nobody has identified.",
        ),
    ] = False,
    keys_file: Annotated[
        Path | None, typer.Option(metavar="PATH", help=f"A file of keys, mode 600; goes before {VARIABLE}.")
    ] = None,
    claims: Annotated[
        str | None,
        typer.Option(metavar="PATH|URL", help="Where tools of single use note that they ran: a file, or redis://..."),
    ] = None,
    ttl: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long a person may take to answer; a tool may say otherwise.")
    ] = TTL,
    max_age: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How long a call may take in all.  [default: a day]")
    ] = None,
    audience: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Keeps the states of servers with one key apart.  [default: the toolbox]"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="With --http: how many processes serve; needs keys.  [default: this one]")
    ] = None,
    shed: Annotated[
        bool,
        typer.Option("--shed", help="With --http: when told to stop, let calls go on elsewhere after their next step."),
    ] = False,
) -> None:
    """Serve the tools of a file over stdio or HTTP.

    Over stdio there is one client, which starts this command itself; over HTTP there may be many. States are
    signed with the keys of --keys-file or MRTR_TOOLS_KEYS; `mrtr-tools keygen` makes one.
    """
    if not http and (host or port is not None or allow_host or anonymous_ok or workers or shed):
        raise Stop("--host, --port, --allow-host, --anonymous-ok, --workers and --shed go with --http")
    keys, kept, terms = _keys(keys_file), _claims(claims), _terms(audience, ttl, max_age)
    if not http:
        toolbox = load_toolbox(target)
        hint = f"{toolbox.name} waits for an MCP client on stdin. To call a tool: mrtr-tools call {target} TOOL"
        _run(partial(run_stdio, toolbox, keys=keys, claims=kept, **terms), hint if sys.stdin.isatty() else "")
        return
    host, port = host or LOOPBACK, PORT if port is None else port
    shown = f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp" if port else ""
    if workers is not None:
        shared = _shared(keys)
        _check_names(host, allow_host)
        worker = Worker(target, shared, claims, allow_host, terms, anonymous_ok=anonymous_ok, sheds=shed)
        _run(partial(_serve_workers, worker, host, port, workers), f"{workers} processes will be at {shown}")
        return
    if keys is None:
        keys = _made_key(host)
        kept = kept or _in_memory()
    _check_names(host, allow_host)
    toolbox = load_toolbox(target)
    show_log()
    serve = partial(run_http, toolbox, host=host, port=port, allowed_hosts=allow_host, anonymous_ok=anonymous_ok)
    told = f"{toolbox.name} will be at {shown}" if shown else ""
    _run(partial(serve, keys=keys, claims=kept, **terms, shed_when=never if shed else None), told)


def _serve_workers(worker: Worker, host: str, port: int, workers: int) -> None:
    worker()  # what is wrong with it is told here, and once
    from mrtr_tools.server.web import serve

    serve(worker, host=host, port=port, grace=GRACE, workers=workers)


def _shared(keys: Keys | None) -> tuple[Key, ...]:
    if keys is None:
        raise Stop(
            "Several processes need one key: (umask 077; mrtr-tools keygen > keys), then --workers N --keys-file keys"
        )
    return read_keys(keys)


def _run(serve: Callable[[], None], ready: str) -> None:
    try:
        if ready:
            _say(ready)
        serve()
    except KeyboardInterrupt:
        raise Stop("", INTERRUPTED) from None
    except DefinitionError as error:
        raise Stop(f"{error} (on the command line: --anonymous-ok, --claims)") from None
    except SystemExit as exit_:  # uvicorn has logged why
        if exit_.code:
            raise Stop("Could not serve there; the reason is above", FAILED) from None


def _check_names(host: str, allow_host: list[str] | None) -> None:
    if not allow_host and not is_loopback(host):
        raise Stop(
            f"Serving on {host} lets other machines in: say by which name they call this one, "
            "--allow-host mcp.example.com, or a web page could reach it by a name of its own"
        )


def _in_memory() -> Claims:
    from mrtr_tools.single_use import MemoryClaims

    return MemoryClaims()


def _claims(given: str | None) -> Claims | None:
    if given is None:
        return None
    try:
        return claims_at(given)
    except (ImportError, OSError, ValueError, sqlite3.Error) as error:
        shown = f"{given.partition('://')[0]}://..." if "://" in given else given  # a URL may hold a password
        raise Stop(f"--claims {shown}: {error}") from None


def _terms(audience: str | None, ttl: float, max_age: float | None) -> Terms:
    for name, seconds in {"--ttl": ttl, "--max-age": max_age}.items():
        if seconds is not None and not is_lifetime(seconds):
            raise Stop(f"{name} is a positive number of seconds")
    if audience is not None and not (audience.strip() and audience.isprintable()):
        raise Stop("--audience names the server: the same text, in one line, on all of its machines")
    return {"audience": audience, "ttl": ttl, "max_age": max_age}


def _keys(file: Path | None) -> Keys | None:
    try:
        inherited = keys_from_environment()  # also when it is not used: no step should see it
        return inherited if file is None else keys_from_file(file)
    except InvalidKey as error:
        raise Stop(str(error)) from None
    except OSError as error:
        raise Stop(f"{file} cannot be read: {error.strerror}") from None


def _made_key(host: str) -> Keys:
    """A key for this process alone, which is all that one person's machine needs."""
    if not is_loopback(host):
        raise Stop(
            f"Serving on {host} lets other machines in, and needs a key that outlives this process.\n"
            "Make one with:   (umask 077; mrtr-tools keygen > keys)\n"
            "and give it:     --keys-file keys"
        )
    _say(
        "Warning: no keys given, so one was made for this process alone: calls that are under way end with it. "
        f"For more than trying out: mrtr-tools keygen, then --keys-file or {VARIABLE}."
    )
    return [generate_key()]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
