"""The cookbook and the README: recipes that run, of public names only, each with its test and in both tables."""

import ast
import importlib
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mrtr_tools
from mrtr_tools import Toolbox
from mrtr_tools.testing import Player

ROOT = Path(__file__).parents[1]
COOKBOOK = ROOT / "cookbook"
README = (ROOT / "README.md").read_text()
FILES = {path.stem: path for path in sorted(COOKBOOK.glob("*.py")) if path.stem != "__init__"}
RECIPES = [name for name in FILES if not name.startswith("test_")]
FOLDERS = {path.parent.name: path.parent for path in sorted(COOKBOOK.glob("*/README.md"))}
INSIDE = {f"{name}/{path.stem}": path for name, folder in FOLDERS.items() for path in sorted(folder.glob("*.py"))}
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
PROGRAMS = [code for code in PYTHON if "Toolbox(" in code]  # the others go on with what stands before them
FRAGMENTS = [code for code in PYTHON if code not in PROGRAMS]

WITH_THE_SDK = {"add_to_your_server", "bind_to_the_user"}  # these are about a server of the SDK
STARTS = {  # the others serve over stdio
    "nightly_report": 'run_stdio(toolbox, tasks="reports.sqlite3")',
    "start_a_vm": 'run_stdio(toolbox, tasks="machines.sqlite3")',
    "add_to_your_server": "server.run()",
    "echo_task": 'run_stdio(toolbox, tasks="echo_tasks.sqlite3")',
    "bind_to_the_user": 'server.run("streamable-http", port=int(os.environ.get("PORT", "8000")))',
    "rotate_keys": 'run_http(toolbox, port=int(os.environ.get("PORT", "8000")), keys_file="keys")',
}

PUBLIC = {
    "mrtr_tools": set(mrtr_tools.__all__),
    "mrtr_tools.content": {"Audio", "Embedded", "Image"},
    "mrtr_tools.keys": {"generate_key", "keys_from_file"},  # a recipe's test makes its own keys
    "mrtr_tools.porting": {"Context", "resumable"},
    "mrtr_tools.server": {"run_stdio", "run_http", "http_app", "attach"},
    "mrtr_tools.testing": {"Conversation", "Player", "in_turn"},
}


def imports(path: Path) -> list[tuple[str, str]]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    plain = [(alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [
        (node.module or "", alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ]


def test_there_are_recipes():
    assert {"get_weather", "update_work_item", "book_flight"} <= set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_each_recipe_has_its_test_beside_it(name):
    assert f"test_{name}" in FILES
    assert "def test_" in FILES[f"test_{name}"].read_text()


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("test_")])
def test_each_test_has_its_recipe(name):
    assert name.removeprefix("test_") in RECIPES


@pytest.mark.parametrize("name", RECIPES)
def test_each_recipe_is_listed_in_the_cookbook_and_in_the_readme(name):
    assert re.search(rf"^\|.+\| \[`{name}\.py`\]\({name}\.py\) \|$", (COOKBOOK / "README.md").read_text(), re.MULTILINE)
    assert re.search(rf"^\|.+\| \[`{name}\.py`\]\(cookbook/{name}\.py\) \|$", README, re.MULTILINE)


def test_the_tables_list_no_recipe_that_is_not_there():
    listed = re.findall(r"\]\((?:cookbook/)?(\w+)\.py\)", README + (COOKBOOK / "README.md").read_text())

    assert set(listed) == set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_each_recipe_is_at_most_80_lines(name):
    assert len(FILES[name].read_text().splitlines()) <= 80


@pytest.mark.parametrize("name", [*FILES, *INSIDE])
def test_a_recipe_uses_public_names_only(name):
    for module, member in imports((FILES | INSIDE)[name]):
        if module.partition(".")[0] == "mrtr_tools":
            assert member in PUBLIC[module], f"{module}.{member}"
        if "test_" not in name and name not in WITH_THE_SDK:
            assert module.partition(".")[0] not in ("mcp", "mcp_types", "cookbook", "tests")


@pytest.mark.parametrize("name", RECIPES)
def test_each_recipe_says_what_it_shows_how_to_run_it_and_starts_by_itself(name):
    module: Any = importlib.import_module(f"cookbook.{name}")
    source = FILES[name].read_text()

    assert re.search(rf"mrtr-tools \w+ cookbook/{name}\.py", module.__doc__)
    assert isinstance(module.toolbox, Toolbox)
    last = source.rstrip().partition('if __name__ == "__main__":\n')[2].splitlines()
    assert last[-1] == f"    {STARTS.get(name, 'run_stdio(toolbox)')}"


# A recipe that takes several files is a folder of them


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_has_its_test_and_a_page_that_names_each_of_its_files(name):
    page, there = (FOLDERS[name] / "README.md").read_text(), {path.name for path in FOLDERS[name].glob("[!_]*")}
    test = f"test_{name}.py"

    assert "def test_" in (FOLDERS[name] / test).read_text()
    assert set(re.findall(r"^\| \[`\S+`\]\(([^/)]+)\) \|", page, re.MULTILINE)) == there - {"README.md", test}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_listed_in_the_cookbook_and_in_the_readme(name):
    listed = r"^\|.+\| \[`{0}/`\]\({1}{0}/README.md\) \|$"

    assert re.search(listed.format(name, ""), (COOKBOOK / "README.md").read_text(), re.MULTILINE)
    assert re.search(listed.format(name, "cookbook/"), README, re.MULTILINE)


@pytest.mark.parametrize("name", INSIDE)
def test_a_file_of_a_folder_is_at_most_80_lines(name):
    assert "test_" in name or len(INSIDE[name].read_text().splitlines()) <= 80


@pytest.mark.parametrize("path", [path for folder in FOLDERS.values() for path in folder.glob("start")], ids=str)
def test_a_script_of_a_folder_can_be_run(path):
    assert path.stat().st_mode & stat.S_IXUSR
    assert path.read_text().startswith("#!/usr/bin/env bash\n")
    subprocess.run(["bash", "-n", path], check=True, timeout=20)


# The README


def test_the_first_block_of_the_readme_runs_and_asks_its_question():
    language, code = BLOCKS[0]
    scope: dict[str, Any] = {"__name__": "readme"}
    exec(compile(code, "README.md", "exec"), scope)

    played = Player(scope["toolbox"]).play("get_weather", {"location": "Oslo"}, github_login="octocat")

    assert language == "python"
    assert played.text == "Sunny in Oslo, octocat"
    assert played.messages == {"github_login": "Please provide your GitHub username"}


def test_the_first_tool_of_the_readme_stands_in_the_first_screen_and_has_under_ten_lines():
    tool = BLOCKS[0][1].partition("@toolbox.tool")[2].partition("if __name__")[0]

    assert README.index("```python") < README.index("```sh") < README.index("\n## ")
    assert README[: README.index("```sh")].count("\n") <= 40
    assert len([line for line in tool.splitlines() if line]) < 10


@pytest.mark.parametrize("code", PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_program_of_the_readme_runs_as_it_stands(code: str, tmp_path: Path):
    """Started with nobody at the other end, a server of the README ends at once and says nothing."""
    scope: dict[str, Any] = {"__name__": "readme"}
    exec(compile(code, "README.md", "exec"), scope)
    (tmp_path / "server.py").write_text(code)
    done = subprocess.run(
        [sys.executable, tmp_path / "server.py"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert [len(value.tools) > 0 for value in scope.values() if isinstance(value, Toolbox)] == [True]
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_two_commands_of_the_readme_are_there_and_can_be_run():
    language, code = BLOCKS[1]
    commands = [line.split()[0] for line in code.splitlines() if line]

    assert language == "sh"
    assert commands == ["./scripts/demo", "./scripts/test"]
    for command in commands:
        path = ROOT / command
        assert path.stat().st_mode & stat.S_IXUSR
        assert path.read_text().startswith("#!/usr/bin/env bash\n")
        subprocess.run(["bash", "-n", path], check=True, timeout=20)


def test_every_path_that_the_readmes_link_to_is_there():
    pages = [folder / "README.md" for folder in (ROOT, COOKBOOK, *FOLDERS.values())]
    for page in (*pages, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_name_that_the_readme_imports_is_public():
    for language, code in BLOCKS:
        if language == "python":
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mrtr_tools"):
                    assert {alias.name for alias in node.names} <= PUBLIC[node.module or ""]


def test_the_readme_examples_of_how_it_works_define_tools():
    """The blocks below the first screen are fragments; with their imports they are real tools."""
    code = "\n".join(FRAGMENTS).replace("-> str: ...", "-> str: return room")
    prelude = (
        "from typing import Literal\nfrom mrtr_tools import *\nfrom pydantic import BaseModel\n"
        "toolbox = Toolbox('readme')\nclass Flight(BaseModel):\n    price: int\n"
        "async def cheapest(origin, destination): return Flight(price=120)\n"
        "async def rooms_on(night): return ['Sea', 'Garden']\n"
        "async def buy(flight, idempotency_key): return f'paid {flight.price}'\n"
    )
    scope: dict[str, Any] = {"__name__": "readme"}
    exec(compile(prelude + code, "README.md", "exec"), scope)

    assert list(scope["toolbox"].tools) == ["paint", "book_room", "book_flight", "book_table"]
    assert Player(scope["toolbox"]).play("book_room", {"night": "Monday"}, room="Sea").text == "Sea is yours on Monday"
    trip = {"origin": "OSL", "destination": "LIS"}
    assert Player(scope["toolbox"]).play("book_flight", trip, ok=True).text == "paid 120"
    assert Player(scope["toolbox"]).play("book_table", {"day": "Monday"}, ask=4).text == "4 on Monday"


@pytest.mark.parametrize("name", [name for name in RECIPES if name not in WITH_THE_SDK])
def test_importing_a_recipe_does_not_import_the_sdk(name):
    """A server of one file starts quickly."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_PROCESS_")}
    code = f"import sys, cookbook.{name}; sys.exit('mcp' in sys.modules)"
    environment["PYTHONPATH"] = str(ROOT)

    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False, timeout=60).returncode == 0
