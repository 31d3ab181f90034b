"""`mrtr-tools check`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from mrtr_tools.cli.exits import FAILED, Stop
from mrtr_tools.reading import Finding, Severity, Source, check as findings_in, read_source
from mrtr_tools.reading.sources import NotReadable

__all__ = ["check"]


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Python files, or folders of them.")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with all findings, for programs.")
    ] = False,
    notes: Annotated[bool, typer.Option(help="Show notes too; they fail no check.")] = True,
) -> None:
    """Find what asks in the middle of a function, what runs again in each round, and what is asked wrongly.

    The files are read and never run. Exits with 0, or with 1 when there is an error or a warning, or 2 when a file is
    not there.
    """
    sources, found = _read(files)
    found = sorted([*found, *findings_in(sources)])
    if not notes:
        found = [each for each in found if each.rule.severity is not Severity.NOTE]
    (_show_json if as_json else _show)(found)
    if any(each.rule.severity is not Severity.NOTE for each in found):
        raise typer.Exit(FAILED)


def _read(given: list[Path]) -> tuple[list[Source], list[Finding]]:
    sources: list[Source] = []
    wrong: list[Finding] = []
    for file in _files(given):
        try:
            sources.append(read_source(file))
        except NotReadable as error:
            wrong.append(Finding(str(file), error.line, error.column, "MRTR900", str(error)))
    return sources, wrong


def _files(given: list[Path]) -> list[Path]:
    found: dict[Path, Path] = {}
    for path in given:
        if not path.exists():
            raise Stop(f"There is no file {path}")
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            inside = file.relative_to(path).parts if path.is_dir() else ()
            if not any(part.startswith(".") or part in ("node_modules", "__pycache__") for part in inside):
                found.setdefault(file.resolve(), file)
    return list(found.values())


def _show(found: list[Finding]) -> None:
    for each in found:
        rule = each.rule
        typer.echo(f"{each.path}:{each.line}:{each.column}: {each.code} {rule.severity.value}: {each.reason}")
        typer.echo(f"    {rule.title}; {rule.way_out}")
    typer.echo(_summary(found), err=True)


def _show_json(found: list[Finding]) -> None:
    listed = [
        {
            "path": each.path,
            "line": each.line,
            "column": each.column,
            "code": each.code,
            "severity": each.rule.severity.value,
            "title": each.rule.title,
            "reason": each.reason,
            "wayOut": each.rule.way_out,
        }
        for each in found
    ]
    counts = {severity.value: sum(each.rule.severity is severity for each in found) for severity in Severity}
    typer.echo(json.dumps({"version": 1, "findings": listed, "counts": counts}))


def _summary(found: list[Finding]) -> str:
    counts = Counter(each.rule.severity for each in found)
    told = [f"{counts[each]} {each.value}{'s' if counts[each] > 1 else ''}" for each in Severity if counts[each]]
    return f"Found {', '.join(told)}." if told else "Nothing found."
