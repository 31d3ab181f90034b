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
from mrtr_tools.cli.rings import given_keys
from mrtr_tools.cli.workers import Access, Kept, Terms, Worker
from mrtr_tools.errors import DefinitionError
from mrtr_tools.keys import VARIABLE, InvalidKey, Key, generate_key, read_keys
from mrtr_tools.lifetimes import is_lifetime
from mrtr_tools.server import run_stdio
from mrtr_tools.server.claiming import claims_at
from mrtr_tools.server.envelope import MAX_REQUEST
from mrtr_tools.server.gate import is_loopback
from mrtr_tools.server.load import MAX_CALLS
from mrtr_tools.server.signing import TTL
from mrtr_tools.server.stopping import GRACE
from mrtr_tools.server.tasking import TASK_VARIABLE

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
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="With --http: a web site whose pages may call, such as https://example.com. Repeatable.",
        ),
    ] = None,
    anonymous_ok: Annotated[
        bool,
        typer.Option(
            "--anonymous-ok",
            help="With --http: let tools open pages, be of single use or need tasks for callers nobody has identified.",
        ),
    ] = False,
    keys_file: Annotated[
        Path | None, typer.Option(metavar="PATH", help=f"A file of keys, mode 600; goes before {VARIABLE}.")
    ] = None,
    claims: Annotated[
        str | None,
        typer.Option(metavar="PATH|URL", help="Where tools of single use note that they ran: a file, or redis://..."),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(metavar="PATH|URL", help="Where calls are kept that go on as tasks: a file, or postgresql://..."),
    ] = None,
    task_keys_file: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help=f"A file of keys that seal tasks; goes before {TASK_VARIABLE}.  [default: one beside a file of tasks]",
        ),
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
    max_request: Annotated[
        int, typer.Option(metavar="BYTES", min=1, help="How long a message of a client may be.")
    ] = MAX_REQUEST,
    max_calls: Annotated[
        int | None,
        typer.Option(min=1, help=f"With --http: how many calls a process serves at a time.  [default: {MAX_CALLS}]"),
    ] = None,
    grace: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help=f"With --http: how long calls may take when the server is told to stop.  [default: {GRACE}]",
        ),
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
    only = (host, port, allow_host, allow_origin, anonymous_ok or None, max_calls, grace, workers, shed or None)
    if not http and any(option is not None for option in only):
        raise Stop(
            "--host, --port, --allow-host, --allow-origin, --anonymous-ok, --max-calls, --grace, --workers and --shed "
            "go with --http"
        )
    keys, where, terms = given_keys(keys_file), _claims(claims), _terms(audience, ttl, max_age)
    kept: Kept = {"tasks": _place(tasks), "task_keys": given_keys(task_keys_file, TASK_VARIABLE)}
    if not http:
        toolbox = load_toolbox(target)
        hint = f"{toolbox.name} waits for an MCP client on stdin. To call a tool: mrtr-tools call {target} TOOL"
        if keys is None and toolbox.steps.as_tasks:
            kept = _at_least_in_memory(kept)
        serve = partial(run_stdio, toolbox, keys=keys, claims=where, **terms, **kept, max_request=max_request)
        _run(serve, hint if sys.stdin.isatty() else "")
        return
    host, port = host or LOOPBACK, PORT if port is None else port
    shared = _shared(keys if keys is not None or workers is not None else _made_key(host))
    _check_names(host, allow_host, allow_origin)
    access: Access = {
        "allowed_hosts": allow_host,
        "allowed_origins": allow_origin,
        "anonymous_ok": anonymous_ok,
        "max_request": max_request,
        "max_calls": MAX_CALLS if max_calls is None else max_calls,
        "grace": GRACE if grace is None else grace,
    }
    if keys is None:
        where, kept = where or _in_memory(), _at_least_in_memory(kept)
    worker = Worker(target, shared, where if workers is None else claims, terms, access, kept, sheds=shed)
    who = "this process" if workers is None else f"{workers} processes"
    shown = f"{who} will be at http://{f'[{host}]' if ':' in host else host}:{port}/mcp" if port else ""
    _run(partial(_serve_http, worker, host, port, workers), shown)


def _serve_http(worker: Worker, host: str, port: int, workers: int | None) -> None:
    app = worker()  # what is wrong with it is told here, and once
    from mrtr_tools.server.web import serve

    serve(app if workers is None else worker, host=host, port=port, grace=worker.access["grace"], workers=workers)


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
        raise Stop(f"{error} (on the command line: --anonymous-ok, --claims, --tasks)") from None
    except InvalidKey as error:
        raise Stop(f"{error} (on the command line: --keys-file, --task-keys-file)") from None
    except (ImportError, OSError, ValueError) as error:  # of what has to be there, or of an option
        raise Stop(str(error)) from error
    except SystemExit as exit_:  # uvicorn has logged why
        if exit_.code:
            raise Stop("Could not serve there; the reason is above", FAILED) from None


def _check_names(host: str, allow_host: list[str] | None, allow_origin: list[str] | None) -> None:
    if "null" in (allow_origin or ()):
        raise Stop('--allow-origin null: every page in a sandbox says it is "null", so that lets in anybody')
    if not allow_host and not is_loopback(host):
        raise Stop(
            f"Serving on {host} lets other machines in: say by which name they call this one, "
            "--allow-host mcp.example.com, or a web page could reach it by a name of its own"
        )


def _in_memory() -> Claims:
    from mrtr_tools.single_use import MemoryClaims

    return MemoryClaims()


def _at_least_in_memory(kept: Kept) -> Kept:
    """Where no key outlives the process, tasks need not either."""
    if kept["tasks"] is not None:
        return kept
    from mrtr_tools.tasks import MemoryEngine

    return {"tasks": MemoryEngine(), "task_keys": None}


def _place(tasks: str | None) -> str | None:
    path = None if tasks is None or "://" in tasks else Path(tasks).absolute()
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise Stop(f"--tasks {tasks}: give a file, in a folder that is there")
    return tasks


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
