"""How much a server does at a time."""

from contextlib import ExitStack
from typing import cast

import pytest

from mrtr_tools.errors import Busy
from mrtr_tools.server.load import Load


def reason(load: Load, principal: str | None = None) -> str | None:
    """Why one more call is refused, if it is."""
    try:
        with load.call(principal):
            return None
    except Busy as busy:
        assert (busy.code, isinstance(busy.data, dict)) == (-31001, True)  # noqa: PT017  where it is raised, it counts
        return str(cast("dict[str, str]", busy.data)["reason"])


def test_a_call_too_many_is_refused_until_one_has_ended():
    """Security 21."""
    load = Load(max_calls=2)
    with load.call(None):
        with load.call(None):
            assert reason(load) == "overloaded"
            assert load.in_flight == 2
        assert reason(load) is None
    assert load.in_flight == 0


def test_one_principal_cannot_take_all_the_room():
    """Security 21: work is counted for each principal."""
    load = Load(max_calls=3, max_calls_each=2)
    with ExitStack() as calls:
        for _ in range(2):
            calls.enter_context(load.call("alice"))
        assert reason(load, "alice") == "overloaded"
        assert reason(load, "bob") is None
        assert reason(load) is None
    assert reason(load, "alice") is None


def test_a_call_that_fails_is_counted_no_longer():
    load = Load(max_calls=1)
    with pytest.raises(KeyError), load.call("alice"):
        raise KeyError
    assert reason(load, "alice") is None


def test_who_was_here_is_not_remembered():
    load = Load()
    for name in range(100):
        assert reason(load, str(name)) is None
    assert not load._each


def test_while_it_stops_nothing_new_begins_and_calls_go_on_elsewhere_where_that_was_wished():
    plain, shedding = Load(), Load(shed_when=lambda: False)
    assert plain.is_busy is None
    assert shedding.is_busy is not None
    assert not shedding.is_busy()
    for load in (plain, shedding):
        load.stop()
        assert reason(load) == "stopping"
    assert plain.is_busy is None
    assert shedding.is_busy()


def test_a_server_sheds_while_it_says_so():
    busy = [True]
    load = Load(shed_when=lambda: busy[0])
    assert load.is_busy is not None
    assert load.is_busy()
    busy[0] = False
    assert not load.is_busy()


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "10"])
def test_a_limit_is_a_number_from_1(wrong: int):
    with pytest.raises(ValueError, match="max_calls must be"):
        Load(max_calls=wrong)
    with pytest.raises(ValueError, match="max_calls_each must be"):
        Load(max_calls_each=wrong)
