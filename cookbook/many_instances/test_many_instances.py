"""The script of the recipe, run as a person would run it, with nginx."""

import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cookbook.many_instances import prints as recipe
from mrtr_tools.testing import Player
from tests.server.nginx import FOLDER, INSTANCES, NGINX, PATH, conf, free_ports, is_taken
from tests.server.processes import script
from tests.server.raw_http import call

SECONDS = 60


@contextmanager
def started(folder: Path, port: int) -> Generator[subprocess.Popen[str]]:
    """`start`, with an `mrtr-tools` of this Python; in any case it is ended as by Ctrl-C."""
    if NGINX is None:
        pytest.skip("there is no nginx")
    with script([FOLDER / "start", str(port)], folder, seconds=SECONDS, PATH=PATH, TMPDIR=str(folder)) as process:
        yield process


def test_start_shows_that_each_round_is_served_by_another_process_and_ends_all_of_them(tmp_path: Path) -> None:
    port = free_ports()
    with started(tmp_path, port) as process:
        assert process.stdout
        told: list[str] = []
        for line in process.stdout:
            told.append(line)
            if line.startswith("Ctrl-C"):
                break
        elsewhere = call(f"http://127.0.0.1:{port}/mcp", "order_prints", {"album": "Faroe"}).result
    said = "".join(told)
    instances = re.findall(r"instance \d: process (\d+)", said)
    rounds = [set(re.findall(rf"round {number}: process (\d+)", said)) for number in (1, 2, 3)]

    assert len(instances) == INSTANCES
    assert [len(served) for served in rounds] == [1, 1, 1]
    assert {pid for served in rounds for pid in served} == set(instances)
    assert list(elsewhere["inputRequests"]) == ["size"]
    assert process.returncode == 130
    assert not any(is_taken(port + n) for n in range(INSTANCES + 1))
    assert not list(tmp_path.glob("tmp*"))


def test_nginx_sends_no_request_that_may_have_been_begun_to_another_instance_and_none_sticks_to_one() -> None:
    """Security 20: what was sent once is sent again by its client, if at all."""
    directives = re.sub(r"#.*", "", conf())

    assert "proxy_next_upstream error timeout;" in directives
    assert not re.search("non_idempotent|ip_hash|sticky|hash |cookie", directives)


def test_the_tool_is_tested_without_processes() -> None:
    played = Player(recipe.toolbox).play("order_prints", {"album": "Iceland"}, size="small", ok=True)

    assert [line.partition(":")[0] for line in played.text.splitlines()] == [
        "round 1", "round 2", "round 3", "round 3", "round 3",
    ]  # fmt: skip
    assert played.messages["ok"] == "12 prints for 12 EUR?"
