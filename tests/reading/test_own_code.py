"""`check` on code that is here, and against the bridge that it knows the names of."""

import importlib
from pathlib import Path

import pytest

from mrtr_tools.reading import Severity, check, read_source
from mrtr_tools.reading.asking import IN_ITS_REQUEST, IN_ITS_SESSION, ON_THE_BRIDGE

ROOT = Path(__file__).parents[2]
MEANT = {("cookbook/get_weather.py", "MRTR301")}  # the example of SEP-2322, word by word


def test_the_recipes_have_nothing_that_fails_a_check():
    sources = [read_source(path) for path in sorted((ROOT / "cookbook").rglob("*.py"))]

    found = [each for each in check(sources) if each.rule.severity is not Severity.NOTE]

    assert {(str(Path(each.path).relative_to(ROOT)), each.code) for each in found} - MEANT == set()


def test_the_library_asks_nobody_in_the_middle_of_a_function():
    sources = [read_source(path) for path in sorted((ROOT / "mrtr_tools").rglob("*.py"))]

    assert [each for each in check(sources) if each.rule.severity is Severity.ERROR] == []


@pytest.mark.parametrize(
    ("module", "name", "known"),
    [
        ("porting", "Context", ON_THE_BRIDGE),
        ("sessions", "Session", IN_ITS_SESSION),
        ("sessions", "RequestContext", IN_ITS_REQUEST),
    ],
)
def test_what_a_resumable_context_has_is_known(module, name, known):
    kind = getattr(importlib.import_module(f"mrtr_tools.{module}"), name)

    assert {each for each in dir(kind) if not each.startswith("_")} == known
