import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from inspect import signature
from typing import Any, cast, get_type_hints

import pytest

from mrtr_tools import Context, Elicit, ElicitUrl, ListRoots, Refused, Root, Sample, Sampled, confirm
from mrtr_tools.content import Audio, Embedded, Image
from mrtr_tools.events import NeedInput
from mrtr_tools.records import frozen, mutable, record


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


def test_how_a_record_and_what_is_frozen_are_made_can_be_seen_and_goes_wrong_as_with_any_class():
    for made in (Point, Elicit, Secret):
        by_dataclasses = dataclass(type(made.__name__, (), {**made.__dict__, "__slots__": ()}))
        assert signature(made) == signature(by_dataclasses)
    assert get_type_hints(Image.__init__) == {"data": bytes, "mime_type": str, "return": type(None)}
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required positional argument: 'x'"):
        cast("Any", Point)()
    with pytest.raises(TypeError, match=r"Secret\.__init__\(\) takes 1 positional argument but 2 were given"):
        cast("Any", Secret)("a")


@mutable
class Basket:
    """What somebody buys, and how many things that are."""

    who: str
    things: list[str] = field(default_factory=list[str])
    more: dict[str, int] = field(default_factory=dict[str, int], kw_only=True)
    count: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.count = len(self.things)


def test_what_is_mutable_has_a_default_of_its_own_and_goes_on_when_it_is_made():
    one, other = Basket("Ada"), Basket("Ada")
    one.things.append("tea")
    one.more["tea"] = 1

    assert (other.things, other.more, other.count) == ([], {}, 0)
    assert Basket("Ada", ["tea"], more={"tea": 1}) == one != other
    assert Basket("Ada", ["tea"]).count == 1
    assert "Ada" not in repr(one)
    assert str(signature(Basket)).startswith("(who: str, things: list[str] = <factory>, *, more:")


def test_a_record_that_equals_nothing_but_itself_has_a_hash_and_shows_nothing():
    one, other = Secret(text="a"), Secret(text="a")

    assert one != other
    assert len({one, other}) == 2
    assert "text" not in repr(one)


@frozen
class Pair:
    """Two things, one of which nobody looks at."""

    one: object
    other: object = field(default=None, repr=False, compare=False)


def test_a_record_and_what_is_frozen_equal_what_holds_the_same_as_far_as_that_is_compared():
    assert Pair(1, 2) == Pair(1, 3)
    assert Pair(1) != Pair(2)
    assert Pair(1) != Point(1)
    assert len({Pair(1, 2), Pair(1, 3), Pair(2)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1))


def test_an_object_that_holds_itself_can_be_shown():
    held: list[object] = []
    held.append(Pair(held))

    assert repr(held) == "[Pair(one=[...])]"


def test_what_is_frozen_cannot_be_changed_and_can_be_copied():
    pair: Any = Pair([1], 2)

    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'one'"):
        pair.one = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'one'"):
        del pair.one
    with pytest.raises((AttributeError, TypeError)):  # the latter by an oversight of `dataclasses` in Python 3.11
        pair.third = 3
    for other in (copy.copy(pair), copy.deepcopy(pair), pickle.loads(pickle.dumps(pair)), replace(pair)):
        assert other == pair
        assert other.other == 2
        with pytest.raises(FrozenInstanceError):
            other.one = 2


def test_an_author_can_make_a_frozen_dataclass_of_what_is_frozen():
    @dataclass(frozen=True)
    class Triple(Pair):
        """With a third."""

        third: object = None

    assert Triple(1, 2, 3) == Triple(1, 2, 3)
    assert repr(Triple(1, 2, 3)).endswith("Triple(one=1, third=3)")
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclass(type("Loose", (Pair,), {}))


def test_what_is_derived_from_what_is_frozen_may_hold_more_and_is_copied_whole():
    class Named(Pair):
        def __init__(self, name: str) -> None:
            super().__init__(1)
            self.name = name

    made: Any = Named("both")
    for other in (made, copy.copy(made), copy.deepcopy(made)):
        assert (other.one, other.name) == (1, "both")
        with pytest.raises(FrozenInstanceError):
            other.one = 2
        with pytest.raises(FrozenInstanceError):
            del other.one
    del made.name
    assert not hasattr(made, "name")


class Loose:
    """Sets attributes in a way of its own."""

    x: int

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)


@pytest.mark.parametrize("base", [Pair, Point], ids=lambda base: base.__name__)
def test_what_cannot_be_kept_from_being_changed_is_refused(base: type):
    with pytest.raises(TypeError, match="Loose: what is frozen here derives from no dataclass"):
        frozen(Loose)
    with pytest.raises(TypeError, match="More: what is frozen here derives from no dataclass"):
        frozen(type("More", (base,), {}))


def test_fields_that_would_be_mixed_up_or_left_out_are_refused():
    with pytest.raises(TypeError, match="More: a field without a default comes after one that has one"):
        record(type("More", (Point,), {"__annotations__": {"z": int}}))
    with pytest.raises(TypeError, match="Left: a field that is no parameter cannot have a default here"):
        mutable(type("Left", (), {"__annotations__": {"x": int}, "x": field(default=1, init=False)}))


def test_pytest_tells_which_field_differs():
    with pytest.raises(AssertionError, match=r"Differing attributes:\s+\['requests'\]"):
        assert NeedInput({"one": {}}) == NeedInput({"two": {}})


def test_a_class_keeps_the_methods_that_it_has():
    @frozen
    class Shown:
        """Says what it is."""

        what: str

        def __repr__(self) -> str:
            return self.what

    assert repr(Shown("this")) == "this"

    @frozen
    class Kept:
        """Is made and copied in ways of its own."""

        what: str

        def __init__(self) -> None:
            object.__setattr__(self, "what", "own")

        def __getstate__(self) -> object:
            raise TypeError("not to be copied")

    assert Kept().what == "own"
    with pytest.raises(TypeError, match="not to be copied"):
        copy.copy(Kept())


def test_what_authors_make_is_frozen_when_the_code_runs():
    """A record is kept from being changed by type checkers, which do not run with every author."""
    made: list[Any] = [
        *(confirm("?"), Elicit("?"), ElicitUrl("?", "https://example.com"), Refused("decline"), Root("file:///tmp")),
        *(Sample("?"), Sampled({}, "model"), Audio(b""), Embedded("memo:1", ""), Image(b""), Context("id", "key", 1)),
    ]
    for each in made:
        with pytest.raises(FrozenInstanceError):
            setattr(each, fields(each)[0].name, None)
    with pytest.raises((AttributeError, TypeError)):
        cast("Any", ListRoots()).wanted = "all"
