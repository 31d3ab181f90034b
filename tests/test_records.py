from dataclasses import replace

from mrtr_tools.records import record


@record
class Point:
    """Where something is."""

    x: int
    y: int = 0


@record(eq=False, shown=False, kw_only=True)
class Secret:
    """What is in no log."""

    text: str


def test_a_record_is_a_dataclass_with_slots():
    assert replace(Point(1), y=2) == Point(1, 2)
    assert repr(Point(1)) == "Point(x=1, y=0)"
    assert not hasattr(Point(1), "__dict__")


def test_a_record_that_equals_nothing_but_itself_has_a_hash_and_shows_nothing():
    one, other = Secret(text="a"), Secret(text="a")

    assert one != other
    assert len({one, other}) == 2
    assert "text" not in repr(one)


def test_what_authors_make_is_frozen_when_the_code_runs():
    """A record is kept from being changed by type checkers, which do not run with every author."""
    from mrtr_tools import Elicit, ElicitUrl, ListRoots, Refused, Root, Sample, Sampled, confirm
    from mrtr_tools.content import Audio, Embedded, Image
    from mrtr_tools.context import Context

    made = [type(confirm("?")), Elicit, ElicitUrl, ListRoots, Refused, Root, Sample, Sampled]
    for kind in [*made, Audio, Embedded, Image, Context]:
        assert kind.__dataclass_params__.frozen, kind
