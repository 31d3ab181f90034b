from pathlib import Path

import pytest

from cookbook.list_the_roots import toolbox
from mrtr_tools import Root
from mrtr_tools.testing import Player


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    opened = tmp_path / "my notes"
    opened.mkdir()
    (opened / "shopping.txt").write_text("milk, tea")
    (opened / "plans.txt").write_text("the sea")
    (tmp_path / "private.txt").write_text("milk, and a secret")
    (opened / "link.txt").symlink_to(tmp_path / "private.txt")
    return opened


def test_it_looks_in_the_roots_and_nowhere_else(folder: Path) -> None:
    played = Player(toolbox).play("find_notes", {"word": "milk"}, roots=[Root(folder.as_uri(), "Notes")])

    assert played.result == [str(folder / "shopping.txt")]


def test_without_a_root_nothing_is_found() -> None:
    assert Player(toolbox).play("find_notes", {"word": "milk"}, roots=[]).result == []


def test_a_client_without_roots_is_not_asked() -> None:
    played = Player(toolbox, capabilities={}).play("find_notes", {"word": "milk"})

    assert played.text == "This client does not say which folders are open."
    assert played.is_error
