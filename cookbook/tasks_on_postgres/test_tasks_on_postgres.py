"""The script of the recipe, run as a person would run it, with PostgreSQL."""

import re
from pathlib import Path

import pytest

from cookbook.tasks_on_postgres import albums as recipe
from mrtr_tools.testing import Player
from tests.server.nginx import free_ports
from tests.server.processes import script
from tests.tasks.places import Cluster, postgresql

FOLDER = Path(__file__).parent
SECONDS = 120


def started(folder: Path, port: int, cluster: Cluster) -> str:
    """What `start` says until it ends, with an `mrtr-tools` of this Python."""
    with script([FOLDER / "start", str(port)], folder, seconds=SECONDS, TASKS=cluster.url) as process:
        said, _ = process.communicate(timeout=2 * SECONDS)
    assert process.returncode == 0, said
    return said


def test_start_shows_that_another_process_goes_on_with_the_task_of_one_that_was_killed(tmp_path: Path) -> None:
    with postgresql() as cluster:
        said = started(tmp_path, free_ports(), cluster)
    instances = set(re.findall(r"instance \d: process (\d+)", said))
    [killed] = re.findall(r"killed process (\d+) while it printed", said)
    printed = re.findall(r"process (\d+) printed page (\d)", said)

    assert len(instances) == 3
    assert killed in instances
    assert [page for _, page in printed] == ["1", "2", "3"]
    [sent] = re.findall(r"process (\d+) sent it", said)
    assert sent in instances - {killed}


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_: float) -> None:
        return None

    monkeypatch.setattr("anyio.sleep", at_once)


@pytest.mark.usefixtures("no_time")
def test_each_page_is_printed_once() -> None:
    played = Player(recipe.toolbox).play("order_album", {"title": "Iceland"}, cover="paper", ok=True)

    assert [line.split(maxsplit=2)[2] for line in played.text.splitlines()] == [
        "took the order",
        "took 20 EUR",
        "printed page 1",
        "printed page 2",
        "printed page 3",
        "sent it",
    ]
    assert played.ran.count("print_pages") == 3
