"""Helpers in other files: found by the imports of a file, and read."""

from pathlib import Path

import pytest

from mrtr_tools.reading import check, read_source

ASKS = "async def confirm(ctx):\n    return await ctx.elicit('Sure?', bool)\n"
TOOL = "{line}\n\n@mcp.tool\nasync def do(ctx: Context):\n    return await {call}(ctx)\n"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    files = {
        "shop/__init__.py": "from shop.asking.confirming import confirm\n",
        "shop/asking/__init__.py": "from .confirming import confirm\n",
        "shop/asking/confirming.py": ASKS,
        "shop/broken.py": "def broken(:\n",
        "shop/tools/__init__.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("from shop.asking.confirming import confirm", "confirm"),
        ("from shop.asking.confirming import confirm as sure", "sure"),
        ("from ..asking.confirming import confirm", "confirm"),
        ("from ..asking import confirming", "confirming.confirm"),
        ("from shop.asking import confirm", "confirm"),
        ("from shop import confirm", "confirm"),
        ("import shop.asking.confirming", "shop.asking.confirming.confirm"),
    ],
)
def test_a_helper_is_found_by_its_import(project, line, call):
    path = project / "shop" / "tools" / "selling.py"
    path.write_text(TOOL.format(line=line, call=call))

    [found] = check([read_source(path)])

    assert (found.code, found.line, found.reason) == ("MRTR001", 5, "do asks through confirm")


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("from elsewhere import confirm", "confirm"),
        ("from shop.broken import confirm", "confirm"),
        ("from shop.asking.confirming import unheard", "unheard"),
        ("from json import confirm", "confirm"),
    ],
)
def test_a_helper_that_is_not_there_may_ask(project, line, call):
    path = project / "shop" / "tools" / "selling.py"
    path.write_text(TOOL.format(line=line, call=call))

    assert [found.code for found in check([read_source(path)])] == ["MRTR216"]


def test_nothing_above_the_project_is_read(project):
    (project.parent / "above.py").write_text(ASKS)
    path = project / "selling.py"
    path.write_text(TOOL.format(line="from above import confirm", call="confirm"))

    assert [found.code for found in check([read_source(Path(path))])] == ["MRTR216"]
