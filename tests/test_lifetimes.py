"""How long a state and a call live: the rule, and where it is said. The attacks are in `test_security_expiry.py`."""

import math
from decimal import Decimal
from typing import Any

import pytest

from mrtr_tools import DefinitionError, Toolbox
from mrtr_tools.keys import generate_key
from mrtr_tools.lifetimes import DAY, LEEWAY, greatest_age, is_expired, is_lifetime
from mrtr_tools.state import StateSigner

NOON = 1_000_000_000
WAYS = {
    "tool": lambda box, **options: box.tool(**options),
    "prompt": lambda box, **options: box.prompt(**options),
    "resource": lambda box, **options: box.resource("n://x", **options),
}
WRONG: list[Any] = [0, 0.0, -1, -0.5, True, False, math.nan, math.inf, -math.inf, "600", "", [600], Decimal(600)]


def plain() -> str:
    return ""


# Which numbers are a length of time


@pytest.mark.parametrize("seconds", [1, 0.5, 600, 7 * DAY, 10**400, 1e300])
def test_a_positive_number_of_seconds_is_a_lifetime(seconds: float):
    assert is_lifetime(seconds)


@pytest.mark.parametrize("seconds", [*WRONG, None], ids=repr)
def test_what_is_no_positive_finite_number_is_no_lifetime(seconds: object):
    assert not is_lifetime(seconds)


@pytest.mark.parametrize("seconds", WRONG, ids=repr)
@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_ttl_is_refused_at_definition_with_the_name_and_the_way_out(way: str, seconds: Any):
    toolbox = Toolbox("t")

    with pytest.raises(
        DefinitionError, match=r"^plain: ttl= is a positive number of seconds: ttl=600 for ten minutes$"
    ):
        WAYS[way](toolbox, ttl=seconds)(plain)
    assert (list(toolbox.tools), list(toolbox.prompts), list(toolbox.resources)) == ([], [], [])


@pytest.mark.parametrize("seconds", [None, 600, 0.5])
@pytest.mark.parametrize("way", WAYS)
def test_tools_prompts_and_resources_have_a_ttl_of_their_own_or_none(way: str, seconds: float | None):
    toolbox = Toolbox("t")
    WAYS[way](toolbox, ttl=seconds)(plain)

    (made,) = [*toolbox.tools.values(), *toolbox.prompts.values(), *toolbox.resources.values()]
    assert made.ttl == seconds


# The rule


@pytest.mark.parametrize(
    ("passed", "age", "expired"),
    [
        (600 + LEEWAY, 0, False),
        (600 + LEEWAY + 1, 0, True),
        (600 + LEEWAY + 0.25, 0, True),
        (0, 3600 + LEEWAY, False),
        (0, 3600 + LEEWAY + 1, True),
        (-LEEWAY, 0, False),  # made by a machine whose clock is ahead
    ],
)
def test_a_state_expires_a_leeway_after_its_own_time_or_that_of_its_call(passed: float, age: float, expired: bool):
    """Security 7: the boundaries are exact."""
    assert is_expired(NOON, minted=NOON - passed, born=NOON - age, ttl=600, max_age=3600) is expired


@pytest.mark.parametrize(
    ("ttl", "max_age", "greatest"),
    [(600, None, DAY), (DAY, None, DAY), (7 * DAY, None, 7 * DAY), (600, 60, 60), (7 * DAY, 3600, 3600)],
)
def test_the_greatest_age_is_what_was_said_or_a_day_or_a_ttl_that_is_longer(
    ttl: float, max_age: float | None, greatest: float
):
    """Security 7."""
    assert greatest_age(ttl, max_age) == greatest


def test_the_ttl_of_a_tool_goes_before_that_of_the_server_for_the_greatest_age_too():
    def of(**options: Any) -> StateSigner:
        return StateSigner([generate_key()], "shop", **options)

    assert of(ttl=600).greatest_age(7 * DAY) == 7 * DAY
    assert of(ttl=7 * DAY).greatest_age(600) == DAY
    assert of(ttl=7 * DAY).greatest_age() == 7 * DAY
    assert of(ttl=600, max_age=900).greatest_age(7 * DAY) == 900
