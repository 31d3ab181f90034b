"""Tools in the shapes in which public servers ask, one file for each in `shapes/`.

``# expect: TOOL ported`` or ``# expect: TOOL refused CODE`` says what becomes of a tool, ``# check: CODE`` what is
found in the file, ``# play: {...}`` a conversation with the tool after it was ported, and ``# steps: {...}`` one after
it went on to steps.
"""

import ast
import json
import re
import sys
from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType

import pytest

from mrtr_tools import Toolbox
from mrtr_tools.keys import VARIABLE, generate_key
from mrtr_tools.reading import check, read_source
from mrtr_tools.reading.sources import parse_source
from mrtr_tools.rewriting import Verdict, port
from mrtr_tools.testing import Player

SHAPES = sorted((Path(__file__).parent / "shapes").glob("*.py"))
LINES = {
    path: re.findall(r"^# (expect|check|play|steps): (.*)$", path.read_text(), flags=re.MULTILINE) for path in SHAPES
}
PLAYS = [(path, json.loads(text)) for path, lines in LINES.items() for kind, text in lines if kind == "play"]
STEPS = [(path, json.loads(text)) for path, lines in LINES.items() for kind, text in lines if kind == "steps"]
EDITED = re.compile(
    r"\s*@\w+(\.\w+)*\b.*|\s*from (mcp|fastmcp)\b.*|.*\.run\(.*|.*= FastMCP\(.*|.*\basync def .*|.*\bawait \w+\(.*"
    r"|.* = .*(uuid4|now|get_context)\(.*|.*\basyncio\.gather\(.*|.*\bctx\.fastmcp\b.*|mcp\.(add_)?tool\(.*"
)


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_a_tool_is_ported_or_refused_with_the_right_reason(path):
    done = {each.tool: each for each in port(read_source(path)).outcomes}

    for kind, text in LINES[path]:
        if kind == "expect":
            tool, verdict, *codes = text.split()
            outcome = done.get(tool)
            assert (outcome.verdict.value if outcome else "nothing") == verdict, outcome
            assert set(codes) <= {reason.code for reason in (outcome.reasons if outcome else ())}
    assert len(done) == sum(kind == "expect" and " nothing" not in text for kind, text in LINES[path])


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_what_is_wrong_is_found(path):
    found = {finding.code for finding in check([read_source(path)])}

    for kind, text in LINES[path]:
        if kind == "check":
            assert set(text.split()) <= found


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_a_ported_file_is_python_and_porting_it_again_changes_nothing(path):
    once = port(read_source(path)).text

    again = port(parse_source(once, path))

    assert again.text == once
    assert [each for each in again.outcomes if each.verdict is not Verdict.REFUSED] == []


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_lines_that_are_not_edited_stay_as_they_are(path):
    before = path.read_text()
    after = port(read_source(path)).text

    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    gone = [line for tag, a, z, _, _ in matcher.get_opcodes() if tag != "equal" for line in before.splitlines()[a:z]]
    assert [line for line in gone if not EDITED.fullmatch(line)] == []


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_a_file_whose_tools_are_all_refused_gets_notes_and_nothing_else(path):
    done = port(read_source(path))
    if any(each.verdict is not Verdict.REFUSED for each in done.outcomes):
        assert done.text != path.read_text()
        return

    assert ast.dump(ast.parse(done.text)) == ast.dump(ast.parse(path.read_text()))
    kept = [line for line in done.text.splitlines() if not re.match(r"\s*#( mrtr:|   )", line)]
    assert kept == path.read_text().splitlines()


def test_every_refusal_has_a_reason(capsys):
    outcomes = [each for path in SHAPES for each in port(read_source(path)).outcomes]
    ported = sum(each.verdict is Verdict.PORTED for each in outcomes)
    with capsys.disabled():
        print(f"\n{len(outcomes)} tools of {len(SHAPES)} files: {ported} ported, {len(outcomes) - ported} refused")

    assert ported >= 25
    assert all(each.reasons for each in outcomes if each.verdict is Verdict.REFUSED)


def toolbox_of(text: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolbox:
    """The toolbox of a file that is loaded from its text."""
    monkeypatch.setenv(VARIABLE, generate_key())
    module = ModuleType(f"ported_{path.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(text, str(path), "exec"), module.__dict__)
    return next(each for each in vars(module).values() if isinstance(each, Toolbox))


@pytest.mark.parametrize(
    ("path", "play"), PLAYS, ids=lambda value: value.stem if isinstance(value, Path) else value["tool"]
)
def test_a_ported_tool_runs(path, play, monkeypatch):
    toolbox = toolbox_of(port(read_source(path)).text, path, monkeypatch)

    played = Player(toolbox).play(play["tool"], play["arguments"], **play["answers"])

    assert play["says"] in str(played.text)
    assert played.questions == list(play["answers"])


@pytest.mark.parametrize(
    ("path", "play"), STEPS, ids=lambda value: value.stem if isinstance(value, Path) else value["tool"]
)
def test_a_tool_that_went_on_to_steps_runs(path, play, monkeypatch):
    done = port(read_source(path), steps=True)
    toolbox = toolbox_of(done.text, path, monkeypatch)

    played = Player(toolbox).play(play["tool"], play["arguments"], **play["answers"])

    assert play["says"] in str(played.text)
    assert played.questions == list(play["answers"])


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_going_on_to_steps_twice_changes_nothing(path):
    once = port(read_source(path), steps=True).text

    assert port(parse_source(once, path), steps=True).text == once


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_what_cannot_go_on_to_steps_stays_on_the_bridge_with_a_reason(path):
    bridge, further = port(read_source(path)), port(read_source(path), steps=True)

    for before, after in zip(bridge.outcomes, further.outcomes, strict=True):
        assert (after.verdict is Verdict.REFUSED) == (before.verdict is Verdict.REFUSED)
        assert after.verdict is not Verdict.PORTED or len(after.reasons) > len(before.reasons)
