"""What is public: the `__all__` of every module, and a docstring on each of its names."""

import importlib
import inspect
import pkgutil
import re
from itertools import pairwise
from pathlib import Path, PurePosixPath

import pytest

import mrtr_tools

NAMES = ["mrtr_tools", *(found.name for found in pkgutil.walk_packages(mrtr_tools.__path__, "mrtr_tools."))]
MODULES = [name for name in NAMES if not name.endswith("__main__")]


def public(name: str) -> list[tuple[str, object]]:
    module = importlib.import_module(name)
    return [(member, getattr(module, member)) for member in module.__all__]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_is_public(name):
    module = importlib.import_module(name)

    assert module.__doc__
    assert sorted(module.__all__) == sorted(set(module.__all__))
    assert [member for member in module.__all__ if not hasattr(module, member)] == []
    assert [member for member in module.__all__ if member.startswith("_")] == []


def test_the_package_exports_the_authors_names_and_no_more():
    assert mrtr_tools.__all__ == sorted(mrtr_tools.__all__)
    assert len(mrtr_tools.__all__) <= 24
    assert {"AskAgain", "Context", "DefinitionError", "Elicit", "Refused", "ToolError", "Toolbox"} <= set(
        mrtr_tools.__all__
    )
    assert {"confirm", "needs_input", "then"} <= set(mrtr_tools.__all__)


def test_a_star_import_brings_the_names_of_all():
    scope: dict[str, object] = {}
    exec("from mrtr_tools import *", scope)

    assert set(scope) - {"__builtins__"} == set(mrtr_tools.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_class_and_function_has_a_docstring(name):
    for member, value in public(name):
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{name}.{member}"
            assert not value.__doc__ or not value.__doc__.startswith(f"{member}("), (
                f"{name}.{member}: made by a machine"
            )


@pytest.mark.parametrize("name", MODULES)
def test_every_public_method_has_a_docstring(name):
    for member, value in public(name):
        if not inspect.isclass(value) or not value.__module__.startswith("mrtr_tools"):
            continue
        for method, function in vars(value).items():
            if not method.startswith("_") and isinstance(function, (property, staticmethod, classmethod)):
                function = getattr(function, "fget", None) or getattr(function, "__func__", None)  # noqa: PLW2901
            if not method.startswith("_") and inspect.isfunction(function) and not _is_plain_property(value, method):
                assert inspect.getdoc(function), f"{name}.{member}.{method}"


def _is_plain_property(owner: type, name: str) -> bool:
    """A property whose name says it all, such as ``required``."""
    return isinstance(vars(owner).get(name), property)


def test_errors_of_the_library_are_defined_in_one_place():
    """But for those that never reach an author or an adapter: they are of the module that raises and catches them."""
    inner = {"FormError", "Misfit", "NotCarriable", "TemplateError", "AskAgain"}
    for name in MODULES:
        for member, value in public(name):
            if inspect.isclass(value) and issubclass(value, Exception) and member not in inner:
                homes = ("mrtr_tools.errors", "mrtr_tools.keys", name)
                assert value.__module__ in homes or value.__module__.startswith(f"{name}."), f"{name}.{member}"


# Where each module is explained

ROOT = Path(mrtr_tools.__file__).parents[1]


def named(column: int) -> set[str]:
    """The files in a column of CONTRIBUTING's tables; a bare name is in the folder of the one before it."""
    found: set[str] = set()
    for row in re.findall(r"^\|(.+)\|$", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE):
        folder = PurePosixPath()
        for name in re.findall(r"`([\w./*]+\.py)`", [*row.split("|"), ""][column]):
            path = PurePosixPath(name) if name.startswith(("mrtr_tools/", "tests/")) else folder / name
            folder = path.parent
            found.add(str(path))
    return found


def test_contributing_says_of_every_module_what_to_change_in_it():
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "mrtr_tools").rglob("*.py")}

    assert sorted(files - named(1)) == []


@pytest.mark.parametrize("column", [1, 2])
def test_contributing_names_no_file_that_is_not_there(column):
    assert [name for name in sorted(named(column)) if not list(ROOT.glob(name))] == []


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "cookbook/UPGRADING.md", "README.md"]
)
def test_no_page_says_a_thing_twice(page):
    """As when two changes of one line are both kept."""
    lines = (ROOT / page).read_text().splitlines()
    heads = [line for line, after in pairwise(lines) if after.startswith("|---")]
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("| ") and line not in heads]
    told = [*rows, *(line[:60] for line in lines if line.startswith("- "))]

    assert sorted(each for each in set(told) if told.count(each) > 1) == []
