from datetime import date

import pytest

from cookbook import nightly_report as recipe
from mrtr_tools.testing import Player


def test_it_counts_each_region_once() -> None:
    played = Player(recipe.toolbox).play("report", {"night": "2026-07-28"})

    assert played.task is not None
    assert played.text == "Orders of 28 July 2026\nnorth: 140\nsouth: 140\neast: 112\nwest: 112\nall: 504"
    assert played.ran == ["report", "count", "count", "count", "count", "summary"]


def test_a_client_that_knows_no_tasks_is_told_what_it_lacks() -> None:
    with pytest.raises(Exception, match=r"extension io\.modelcontextprotocol/tasks"):
        Player(recipe.toolbox, capabilities={}).play("report", {"night": "2026-07-28"})


def test_a_step_is_tested_like_any_function() -> None:
    totals = [recipe.Total(region="north", orders=2), recipe.Total(region="south", orders=3)]

    assert recipe.summary(date(2026, 7, 28), totals).endswith("all: 5")
