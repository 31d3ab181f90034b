"""The commands, put together."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from mrtr_tools.cli.call import call
from mrtr_tools.cli.check import check
from mrtr_tools.cli.keygen import keygen
from mrtr_tools.cli.port import port
from mrtr_tools.cli.run import run

__all__ = ["app"]

app = typer.Typer(
    help="MCP tools that ask before they can finish: serve them, call them, check them, make keys for them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # square brackets in help are what a user may leave out
    pretty_exceptions_show_locals=False,  # locals hold keys and answers
)
app.command()(run)
app.command()(call)
app.command()(keygen)
app.command()(check)
app.command()(port)


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        typer.echo(f"mrtr-tools {version('mrtr-tools')}")
    except PackageNotFoundError:
        typer.echo("mrtr-tools, not installed")
    raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """MCP tools that ask before they can finish: serve them, call them, check them, make keys for them."""
