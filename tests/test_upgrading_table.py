"""`cookbook/UPGRADING.md` and the tests hold together: a row has its tests, and a test of an upgrade has its row."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from mrtr_tools.endings import TOLD_ANEW

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "cookbook" / "UPGRADING.md").read_text()
ROWS = {
    change: (outcome, re.findall(r"`(tests/[^`]+)`", tests))
    for change, outcome, tests in re.findall(r"^\| (.+?) \| (.+?) \| (`tests/.+`) \|$", PAGE, flags=re.MULTILINE)
}
NAMED = {test for _, tests in ROWS.values() for test in tests}
UPGRADES = [*sorted((ROOT / "tests").glob("test_upgrades_*.py")), ROOT / "tests" / "test_rounds_redeploy.py"]


@cache
def named_in(path: Path) -> set[str]:
    """The names of the tests of a file."""
    return {
        node.name
        for node in ast.parse(path.read_text()).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
    }


def test_every_line_of_the_tables_is_a_row():
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]

    assert len(ROWS) == len([line for line in lines if not line.endswith("| Tests |")]) > 50


@pytest.mark.parametrize("change", ROWS)
def test_a_row_says_what_happens_and_names_tests_that_are_there(change: str):
    outcome, tests = ROWS[change]

    assert outcome.endswith((".", '."'))
    assert tests
    assert len(set(tests)) == len(tests)
    for test in tests:
        file, _, name = test.partition("::")
        assert name in named_in(ROOT / file), test


@pytest.mark.parametrize("path", UPGRADES, ids=lambda path: path.name)
def test_every_test_of_an_upgrade_is_named_by_a_row(path: Path):
    assert {f"tests/{path.name}::{name}" for name in named_in(path)} - NAMED == set()


def test_the_page_is_linked_from_the_pages_that_lead_to_it():
    for page in ("README.md", "SECURITY.md", "cookbook/README.md"):
        assert re.search(r"\]\((?:cookbook/)?UPGRADING\.md\)", (ROOT / page).read_text()), page


def test_the_page_links_to_nothing_that_is_not_there():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "cookbook" / target).exists(), target


def test_the_texts_that_the_page_quotes_are_those_that_are_shown():
    for told in filter(None, TOLD_ANEW.values()):
        assert f'"{told}"' in PAGE
