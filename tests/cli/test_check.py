"""`mrtr-tools check` as a command."""

import json

import pytest

from mrtr_tools.reading import RULES

ASKS = """from fastmcp import Context, FastMCP

mcp = FastMCP("x")


@mcp.tool
async def do(ctx: Context) -> str:
    answer = await ctx.elicit("Sure?", response_type=bool)
    return answer.action
"""
PORTED = ASKS.replace("@mcp.tool", "@toolbox.tool\n@resumable")


@pytest.fixture
def file(tmp_path):
    def write(text: str, name: str = "tools.py") -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    return write


def test_what_is_found_is_told_with_its_place_its_reason_and_the_way_out(command, file):
    path = file(ASKS)

    done = command("check", path)

    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"{path}:8:20: MRTR001 error: ctx.elicit(...) in do",
        f"    {RULES['MRTR001'].title}; {RULES['MRTR001'].way_out}",
    ]
    assert done.stderr == "Found 1 error.\n"


def test_a_clean_file_is_0_and_notes_fail_nothing(command, file):
    assert command("check", file("x = 1\n")).returncode == 0
    done = command("check", file(PORTED))

    assert (done.returncode, done.stderr) == (0, "Found 1 note.\n")
    assert "MRTR002 note" in done.stdout
    assert command("check", "--no-notes", file(PORTED)).stdout == ""


def test_a_warning_fails(command, file):
    done = command("check", file(PORTED.replace("    answer", "    now = time.time()\n    answer") + "import time\n"))

    assert (done.returncode, done.stderr) == (1, "Found 1 warning, 1 note.\n")


def test_json_has_one_object_with_every_finding(command, file):
    path = file(ASKS)

    done = command("check", "--json", path)

    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["version"] == 1
    assert told["counts"] == {"error": 1, "warning": 0, "note": 0}
    [found] = told["findings"]
    assert found.pop("wayOut").startswith("clients of 2026-07-28")
    assert found == {
        "path": path,
        "line": 8,
        "column": 20,
        "code": "MRTR001",
        "severity": "error",
        "title": "asks in the middle of a function",
        "reason": "ctx.elicit(...) in do",
    }
    assert json.loads(command("check", "--json", file("")).stdout)["findings"] == []


def test_a_file_that_is_no_python_is_a_finding_and_the_others_are_read(command, file):
    broken = file("def broken(:\n", "broken.py")

    done = command("check", broken, file(ASKS))

    assert done.returncode == 1
    assert f"{broken}:1:12: MRTR900 error: " in done.stdout
    assert "MRTR001" in done.stdout
    assert "MRTR900" in command("check", file("a\0b", "null.py")).stdout
    assert "nested more than 250 deep" in command("check", file("x = " + "1 + " * 900 + "1", "deep.py")).stdout


def test_a_file_that_is_not_there_is_2(command, tmp_path):
    done = command("check", str(tmp_path / "nowhere.py"))

    assert (done.returncode, done.stderr) == (2, f"Error: There is no file {tmp_path / 'nowhere.py'}\n")


def test_a_folder_is_all_its_python_files_but_hidden_ones(command, file, tmp_path):
    file(ASKS, "one.py")
    file(ASKS, "inside/two.py")
    file(ASKS, ".hidden/three.py")

    found = json.loads(command("check", "--json", str(tmp_path), str(tmp_path / "one.py")).stdout)["findings"]

    assert [each["path"].removeprefix(f"{tmp_path}/") for each in found] == ["inside/two.py", "one.py"]


def test_a_helper_in_a_file_beside_it_is_followed_and_not_run(command, file):
    file(
        "raise SystemExit('was run')\n\nasync def confirm(ctx):\n    return await ctx.elicit('a', str)\n", "helpers.py"
    )

    done = command(
        "check",
        file(
            ASKS.replace("await ctx.elicit(", "await confirm(ctx, ").replace(
                "mcp =", "from helpers import confirm\nmcp ="
            )
        ),
    )

    assert done.returncode == 1
    assert "MRTR001 error: do asks through confirm" in done.stdout


def test_a_text_in_the_file_cannot_play_with_the_terminal(command, file):
    done = command("check", file(ASKS.replace("ctx.elicit(", "ctx['\\x1b[2J'].elicit(")))

    assert "\x1b" not in done.stdout


def test_it_needs_no_libcst_and_no_sdk(run, tmp_path):
    (tmp_path / "libcst.py").write_text("raise ImportError('libcst')\n")
    (tmp_path / "mcp.py").write_text("raise ImportError('mcp')\n")
    (tmp_path / "tools.py").write_text(ASKS)

    done = run("check", "tools.py", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, "Found 1 error.\n")
