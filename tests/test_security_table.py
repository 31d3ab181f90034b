"""`SECURITY.md` and the tests hold together: every row has its tests, and every test that names a row has it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text()
ROWS = {
    int(number): (rule, tests)
    for number, rule, tests in re.findall(r"^\| (\d+) \| (.+?) \| (.+) \|$", PAGE, flags=re.MULTILINE)
}
NAMED = re.compile(r"Security (\d+(?:, \d+)*)")
FILES = sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "cookbook").glob("test_*.py")])


@cache
def docstrings(path: Path) -> dict[str, str]:
    """The docstrings of the tests of a file, by name."""
    return {
        node.name: ast.get_docstring(node) or ""
        for node in ast.parse(path.read_text()).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
    }


def numbers(text: str) -> Iterator[int]:
    """The rows that a text names."""
    for found in NAMED.findall(text):
        yield from map(int, found.split(", "))


def test_the_table_is_there_and_in_order():
    assert len(ROWS) == len(re.findall(r"^\| \d+ ", PAGE, flags=re.MULTILINE)) > 15
    assert list(ROWS) == sorted(ROWS)


@pytest.mark.parametrize("number", ROWS)
def test_a_row_is_one_sentence(number: int):
    rule = ROWS[number][0]

    assert rule.endswith(".")
    assert ". " not in rule


@pytest.mark.parametrize("number", ROWS)
def test_the_tests_of_a_row_are_there(number: int):
    tests = re.findall(r"`([^`]+)`", ROWS[number][1])

    assert tests
    assert ROWS[number][1] == ", ".join(f"`{test}`" for test in tests)
    assert len(set(tests)) == len(tests)
    for test in tests:
        file, _, name = test.partition("::")
        assert name in docstrings(ROOT / file), test


@pytest.mark.parametrize("number", ROWS)
def test_the_tests_of_a_row_say_that_they_belong_to_it(number: int):
    for test in re.findall(r"`([^`]+)`", ROWS[number][1]):
        file, _, name = test.partition("::")
        if not file.startswith("tests/server/"):  # they are read by what goes over the wire
            assert number in numbers(docstrings(ROOT / file)[name]), test


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_the_tests_of_a_file_name_is_a_row(path: Path):
    assert set(numbers(path.read_text())) - set(ROWS) == set()


def test_the_other_pages_of_the_repository_are_named_as_they_are():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / target).exists(), target
    assert not re.search(r"\S+@\S+\.\w+", PAGE), "reports go through the repository's host, not to an address"


NOT_HERE = re.compile(r"\b[Rr]ules? \d|[Ss]ecurity rule|[Ff]ield bug|[Dd]esign section|\bB(?!006|008|012|E\d)\d{2,3}\b")


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.parent.name != "server"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_tests_speak_of_what_is_here(path: Path):
    """Not of documents that nobody finds in the repository."""
    if path != Path(__file__):
        assert NOT_HERE.findall(path.read_text()) == []
