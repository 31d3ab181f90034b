"""`mrtr-tools port` as a command."""

import subprocess

import pytest

ASKS = """# A comment.
from fastmcp import Context, FastMCP

mcp = FastMCP("x")


@mcp.tool
async def do(ctx: Context) -> str:
    answer = await ctx.elicit("Wer?", response_type=bool)  # ä
    return answer.action


if __name__ == "__main__":
    mcp.run()
"""
PORTED = """# A comment.
from fastmcp import FastMCP
from mrtr_tools import Toolbox
from mrtr_tools.porting import Context, resumable
from mrtr_tools.server import attach

mcp = FastMCP("x")
toolbox = Toolbox("x")


@toolbox.tool
@resumable
async def do(ctx: Context) -> str:
    answer = await ctx.elicit("Wer?", response_type=bool)  # ä
    return answer.action


if __name__ == "__main__":
    attach(toolbox, mcp)
    mcp.run()
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tools.py"
    path.write_text(ASKS)
    return path


def test_a_diff_is_printed_and_the_file_stays_as_it_is(command, path):
    done = command("port", "tools.py")

    assert (done.returncode, done.stderr) == (0, "tools.py:8: do: ported\n")
    assert path.read_text() == ASKS
    subprocess.run(["patch", "-s", "-p1"], input=done.stdout.encode(), check=True, cwd=path.parent)
    assert path.read_text() == PORTED


def test_write_changes_the_file_and_doing_it_twice_changes_nothing(command, path):
    assert command("port", "--write", "tools.py").stdout == ""
    assert path.read_text() == PORTED

    again = command("port", "--write", "tools.py")

    assert (again.returncode, again.stderr) == (0, "tools.py: no tool here asks in its body.\n")
    assert path.read_text() == PORTED


@pytest.mark.parametrize(("encoding", "newline"), [("utf-8", "\r\n"), ("latin-1", "\n"), ("utf-8-sig", "\r\n")])
def test_encoding_and_line_ends_are_kept(command, path, encoding, newline):
    def raw(text: str) -> bytes:
        cookie = "# coding: latin-1\n" if encoding == "latin-1" else ""
        return (cookie + text).replace("\n", newline).encode(encoding)

    path.write_bytes(raw(ASKS))

    command("port", "--write", "tools.py")

    assert path.read_bytes() == raw(PORTED)


def test_a_refused_tool_is_1_with_its_reason_and_a_note_in_the_file(command, path):
    path.write_text(ASKS.replace("    answer = ", "    os.remove('a')\n    answer = "))

    done = command("port", "--write", "tools.py")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "tools.py:8: do: refused",
        "    line 9: os.remove(...) would act again in each round, until line 10 is answered (MRTR101)",
    ]
    noted = (
        "# mrtr: not ported: os.remove(...) would act again in each round, until a question below is answered (MRTR101)"
    )
    assert f"\n\n{noted}\n@mcp.tool\n" in path.read_text()


def test_a_file_that_cannot_be_read_is_2(command, path):
    path.write_text("def broken(:\n")

    done = command("port", "tools.py")

    assert done.returncode == 2
    assert done.stderr.startswith("Error: tools.py:1:12: ")
    assert command("port", "nowhere.py").returncode == 2


def test_without_the_extra_it_says_how_to_install_it(command, path, monkeypatch):
    monkeypatch.setattr("mrtr_tools.cli.port.find_spec", lambda name: None)

    done = command("port", "tools.py")

    assert done.returncode == 2
    assert done.stderr.endswith('Install it with: pip install "mrtr-tools[port]"\n')
    assert path.read_text() == ASKS
