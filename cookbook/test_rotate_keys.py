"""The commands of the recipe, as they stand there, and the processes that serve with what they make."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cookbook import rotate_keys as recipe
from mrtr_tools.keys import keys_from_file
from mrtr_tools.testing import Player
from tests.server.processes import ROOT, serving
from tests.server.raw_http import Answer, accept, call

BASH = shutil.which("bash")
COMMANDS = re.findall(r"^    (.*keys.*)$", str(recipe.__doc__), re.MULTILINE)
MAKE, SERVE, LEARN, TURN, DROP = COMMANDS
FROZEN = {"code": -32602, "message": "Invalid or expired requestState"}
ROW, YES = {"row": accept(row=7)}, {"ok": accept(ok=True)}


def run(command: str, folder: Path) -> None:
    """One line of the recipe, in a shell."""
    if BASH is None:
        pytest.skip("there is no bash to run the commands with")
    shell = f'mrtr-tools() {{ "{sys.executable}" -m mrtr_tools.cli "$@"; }}; {command}'
    subprocess.run(  # noqa: S603
        [BASH, "-euc", shell],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def phases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files of keys as they are before the change and in its three phases."""
    folder, found = tmp_path_factory.mktemp("server"), list[Path]()
    for phase, command in enumerate((MAKE, LEARN, TURN, DROP)):
        run(command, folder)
        found.append(Path(shutil.copy(folder / "keys", folder / f"keys-{phase}")))  # with its mode
    return found


def reserve(url: str, state: str | None = None, responses: object = None) -> Answer:
    return call(url, "reserve_seat", {"play": "Faust"}, requestState=state, inputResponses=responses)


def begin(url: str) -> str:
    state: str = reserve(url).result["requestState"]
    return state


@pytest.fixture(scope="module")
def urls(phases: list[Path]) -> Iterator[list[str]]:
    """The server as the recipe says to start it, once for each file of keys, all at the same time."""
    program = ["-m", "mrtr_tools.cli", *SERVE.removesuffix("keys").split()[1:]]
    program[program.index("cookbook/rotate_keys.py")] = str(recipe.__file__)
    with ExitStack() as started:
        yield [started.enter_context(serving([*program, str(keys), "--port", "0"])).url for keys in phases]


def test_the_commands_make_the_rings_of_the_three_phases(phases: list[Path]) -> None:
    before, learned, turned, dropped = ([key.secret for key in keys_from_file(path)] for path in phases)

    assert len(before) == len(dropped) == 1
    assert learned == [*before, *dropped]
    assert turned == [*dropped, *before]
    assert before != dropped


def test_a_call_goes_on_through_all_phases(urls: list[str]) -> None:
    """Security 14: its three requests come to three processes, each of the next phase."""
    _, one, two, three = urls
    asked = reserve(one).result
    sure = reserve(two, asked["requestState"], ROW).result
    done = reserve(three, sure["requestState"], YES).result

    assert list(asked["inputRequests"]) == ["row"]
    assert list(sure["inputRequests"]) == ["ok"]
    assert done["content"][0]["text"] == "A seat for Faust in row 7 is yours."


@pytest.mark.parametrize("phase", [1, 2])
def test_in_the_middle_of_a_deployment_each_process_takes_what_the_other_signs(urls: list[str], phase: int) -> None:
    """Security 14: a call goes to and fro between two that are a phase apart."""
    earlier, later = urls[phase - 1 : phase + 1]
    for first, second in ((earlier, later), (later, earlier)):
        sure = reserve(second, begin(first), ROW).result
        assert reserve(first, sure["requestState"], YES).result["resultType"] == "complete"


def test_what_the_old_key_has_signed_is_taken_until_the_third_phase(urls: list[str]) -> None:
    """Security 14."""
    _, one, two, three = urls
    state = begin(one)

    assert reserve(three, state, ROW).error == FROZEN
    assert reserve(two, state, ROW).result["resultType"] == "input_required"


def test_without_the_first_phase_calls_are_refused(urls: list[str]) -> None:
    """Security 14: some sign with a key that others do not have yet."""
    before, _, two, _ = urls

    assert reserve(before, begin(two), ROW).error == FROZEN


def test_the_file_starts_by_itself_with_the_keys_that_lie_beside(
    phases: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(phases[1], tmp_path / "keys")
    monkeypatch.chdir(tmp_path)
    with serving([str(recipe.__file__)], PORT="0") as server:
        asked = reserve(server.url).result

    assert asked["inputRequests"]["row"]["params"]["message"] == "Which row for Faust?"


def test_its_tool_is_tested_without_keys() -> None:
    played = Player(recipe.toolbox).play("reserve_seat", {"play": "Faust"}, row=7, ok=True)

    assert played.text == "A seat for Faust in row 7 is yours."
