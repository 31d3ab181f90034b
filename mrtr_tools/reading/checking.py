"""`check`: all findings in some files, and the comments that silence them.

``# mrtr: ignore[MRTR103] the stock never shrinks`` silences a code in its line; alone in a line, in the next one.
Several codes are separated by commas. Without a reason it silences nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from mrtr_tools.reading.asked_fields import check_fields
from mrtr_tools.reading.asked_secrets import check_secrets
from mrtr_tools.reading.asking import check_asking
from mrtr_tools.reading.functions import Module
from mrtr_tools.reading.own_steps import check_steps
from mrtr_tools.reading.projects import Project
from mrtr_tools.reading.reruns import check_reruns
from mrtr_tools.reading.rules import Finding
from mrtr_tools.reading.sharing import check_sharing
from mrtr_tools.reading.sources import Source
from mrtr_tools.reading.surroundings import check_surroundings

__all__ = ["check"]

_IGNORE: Final = re.compile(r"#\s*mrtr:\s*ignore\[([^\]]*)\]\s*(.*)")
_CHECKS: Final[tuple[Callable[[Project, Module], Iterator[Finding]], ...]] = (
    check_asking,
    check_reruns,
    check_surroundings,
    check_sharing,
    check_secrets,
    check_fields,
    check_steps,
)


@dataclass(frozen=True, slots=True)
class _Ignore:
    line: int
    column: int
    covers: int
    codes: frozenset[str]
    reason: str


def check(sources: Iterable[Source]) -> list[Finding]:
    """All findings in some files, in the order of their lines.

    Files beside them that they import from are read too, to know what is called; what is found in those is left out.
    """
    project = Project(sources)
    findings: list[Finding] = []
    for module in project.given:
        raw = {finding for each in _CHECKS for finding in each(project, module)}
        findings += _without_ignored(module.source, raw)
    return sorted(findings)


def _without_ignored(source: Source, findings: Iterable[Finding]) -> Iterator[Finding]:
    ignores = [*_ignores(source)]
    used: set[tuple[int, str]] = set()
    for finding in findings:
        by = [each for each in ignores if finding.line == each.covers and finding.code in each.codes and each.reason]
        used |= {(each.line, finding.code) for each in by}
        if not by:
            yield finding
    for each in ignores:
        if not each.reason:
            yield Finding(
                str(source.path),
                each.line,
                each.column,
                "MRTR901",
                f"{', '.join(sorted(each.codes))} is ignored, and nobody knows why",
            )
            continue
        for code in sorted(each.codes):
            if (each.line, code) not in used:
                yield Finding(str(source.path), each.line, each.column, "MRTR902", f"there is no {code} here")


def _ignores(source: Source) -> Iterator[_Ignore]:
    lines = source.text.splitlines()
    for line, comment in source.comments.items():
        if (match := _IGNORE.search(comment)) is None:
            continue
        covers = line
        while covers < len(lines) and lines[covers - 1].lstrip().startswith("#"):
            covers += 1
        codes = frozenset(code.strip() for code in match[1].split(",") if code.strip())
        yield _Ignore(line, lines[line - 1].rindex(comment) + 1, covers, codes, match[2].strip())
