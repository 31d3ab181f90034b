"""`mrtr-tools run`."""

from __future__ import annotations

import ipaddress
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mrtr_tools.cli.exits import FAILED, INTERRUPTED, Stop
from mrtr_tools.cli.loading import load_toolbox
from mrtr_tools.errors import DefinitionError
from mrtr_tools.keys import VARIABLE, InvalidKey, generate_key, keys_from_environment, keys_from_file
from mrtr_tools.server import run_http, run_stdio
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
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
        typer.Option("--anonymous-ok", help="With --http: let tools open pages for callers nobody has identified."),
    ] = False,
    keys_file: Annotated[
        Path | None, typer.Option(metavar="PATH", help=f"A file of keys, mode 600; goes before {VARIABLE}.")
    ] = None,
) -> None:
    """Serve the tools of a file over stdio or HTTP.

    Over stdio there is one client, which starts this command itself; over HTTP there may be many. States are
    signed with the keys of --keys-file or MRTR_TOOLS_KEYS; `mrtr-tools keygen` makes one.
    """
    if not http and (host or port is not None or allow_host or anonymous_ok):
        raise Stop("--host, --port, --allow-host and --anonymous-ok go with --http")
    host = host or LOOPBACK
    keys = _keys(keys_file)
    if http and keys is None:
        keys = _made_key(host)
    if http and not allow_host and not is_loopback(host):
        raise Stop(
            f"Serving on {host} lets other machines in: say by which name they call this one, "
            "--allow-host mcp.example.com, or a web page could reach it by a name of its own"
        )
    toolbox = load_toolbox(target)
    try:
        if http:
            _serve_http(toolbox, host, PORT if port is None else port, keys, allow_host, anonymous_ok=anonymous_ok)
        else:
            _serve_stdio(toolbox, target, keys)
    except KeyboardInterrupt:
        raise Stop("", INTERRUPTED) from None


def _serve_stdio(toolbox: Toolbox, target: str, keys: Keys | None) -> None:
    if sys.stdin.isatty():
        _say(f"{toolbox.name} waits for an MCP client on stdin. To call a tool: mrtr-tools call {target} TOOL")
    run_stdio(toolbox, keys=keys)


def _serve_http(
    toolbox: Toolbox, host: str, port: int, keys: Keys | None, allow_host: list[str] | None, *, anonymous_ok: bool
) -> None:
    _show_log()
    if port:
        _say(f"{toolbox.name} will be at http://{f'[{host}]' if ':' in host else host}:{port}/mcp")
    try:
        run_http(toolbox, host=host, port=port, keys=keys, allowed_hosts=allow_host, anonymous_ok=anonymous_ok)
    except DefinitionError as error:
        raise Stop(f"{error} (on the command line: --anonymous-ok)") from None
    except SystemExit as exit_:  # uvicorn has logged why
        if exit_.code:
            raise Stop(f"Could not serve on {host}, port {port}; the reason is above", FAILED) from None


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


def _show_log() -> None:
    """Say on stderr what a server logs, such as which key signs, unless the file says where logs go."""
    log = logging.getLogger("mrtr_tools")
    if not log.hasHandlers():
        shown = logging.StreamHandler()
        shown.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        log.addHandler(shown)
        log.setLevel(logging.INFO)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
