"""`mrtr-tools port`."""

from __future__ import annotations

import difflib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mrtr_tools.cli.exits import FAILED, Stop
from mrtr_tools.reading import Source, read_source
from mrtr_tools.reading.sources import NotReadable

if TYPE_CHECKING:
    from mrtr_tools.rewriting import Rewritten

__all__ = ["port"]


def port(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Python file with tools that ask in their body.")],
    *,
    write: Annotated[bool, typer.Option("--write", help="Change the file, in place of printing the changes.")] = False,
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Go on to steps, where a function is questions and guards in a straight line."),
    ] = False,
) -> None:
    """Put tools that ask in their body on a toolbox, where they work for clients of 2026-07-28 too.

    Prints a diff, and on stderr what became of each tool. What a person must decide is noted in the file: # mrtr: ...
    Exits with 0, with 1 when a tool was refused, with 2 when the file cannot be read.
    """
    if find_spec("libcst") is None:
        raise Stop('`mrtr-tools port` is not installed. Install it with: pip install "mrtr-tools[port]"')
    from mrtr_tools.rewriting import Verdict, port as rewrite

    try:
        source = read_source(file)
    except NotReadable as error:
        raise Stop(f"{file}:{error.line}:{error.column}: {error}") from None
    done = rewrite(source, steps=steps)
    if write:
        _write(file, source, done.text)
    else:
        typer.echo(_diff(file, source.text, done.text), nl=False)
    _tell(file, done)
    if any(each.verdict is Verdict.REFUSED for each in done.outcomes):
        raise typer.Exit(FAILED)


def _diff(file: Path, before: str, after: str) -> str:
    name = file.as_posix().lstrip("/")
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _write(file: Path, source: Source, text: str) -> None:
    if text != source.text:
        file.write_bytes(text.replace("\n", source.newline).encode(source.encoding))


def _tell(file: Path, done: Rewritten) -> None:
    if not done.outcomes:
        typer.echo(f"{file}: no tool here asks in its body.", err=True)
    for each in done.outcomes:
        typer.echo(f"{file}:{each.line}: {each.tool}: {each.verdict.value}", err=True)
        for reason in each.reasons:
            typer.echo(f"    line {reason.line}: {reason}", err=True)
