"""What stands in the tables of DBOS."""

import base64
import pickle

import pytest
from dbos import _serialization

from mrtr_tools.sealing import Sealer
from mrtr_tools.tasks.sealed_json import SealedJson, refuse_others
from mrtr_tools.testing import TESTING_KEYS
from tests.tasks.places import SEALER

OURS = SealedJson(SEALER)


@pytest.fixture(autouse=True)
def as_dbos_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own serializers, before each test and after."""
    monkeypatch.setattr(_serialization, "DBOSDefaultSerializer", _serialization.DefaultSerializer())
    monkeypatch.setattr(_serialization, "DBOSPortableJSON", _serialization.DBOSPortableJSONSerializer())


class Bomb:
    def __reduce__(self):
        return print, ("boom",)


@pytest.mark.parametrize("kept", [{"args": ("task", "owner"), "kwargs": {}}, True, False, None])
def test_what_a_workflow_keeps_comes_back(kept: object):
    assert OURS.deserialize(OURS.serialize(kept)) == kept


def test_an_error_is_kept_by_its_name_alone():
    kept = OURS.deserialize(OURS.serialize(KeyError("a secret")))

    assert (type(kept), str(kept)) == (RuntimeError, "KeyError")


def test_what_is_kept_shows_nothing():
    """Security 19"""
    kept = base64.b64decode(OURS.serialize({"args": ("task", "owner"), "kwargs": {}}))

    assert b"task" not in kept


@pytest.mark.parametrize(
    "kept",
    [
        {"args": ["task"], "kwargs": {}},
        {"args": ["task", 1], "kwargs": {}},
        {"args": ["task", "owner"], "kwargs": {"a": 1}},
        {"error": 1},
        [1],
        "text",
        7,
    ],
)
def test_other_shapes_are_refused_though_they_are_sealed(kept: object):
    with pytest.raises(ValueError, match="nothing that is kept there"):
        OURS.deserialize(OURS.serialize(kept))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        base64.b64encode(pickle.dumps(Bomb())).decode(),
        base64.b64encode(b'{"args":["task","owner"],"kwargs":{}}').decode(),
        SealedJson(Sealer(TESTING_KEYS, "another server", "task/queue")).serialize(True),
        SealedJson(Sealer(TESTING_KEYS, "test", "task/other")).serialize(True),
    ],
)
def test_what_nobody_here_sealed_is_refused(text: str, monkeypatch: pytest.MonkeyPatch):
    """Security 10"""
    monkeypatch.setattr(pickle, "loads", refused)

    with pytest.raises(ValueError, match="sealed"):
        OURS.deserialize(text)


@pytest.mark.parametrize("read", ["value", "args", "exception"])
@pytest.mark.parametrize("name", ["py_pickle", "portable_json"])
def test_what_says_that_another_wrote_it_is_refused(read: str, name: str, monkeypatch: pytest.MonkeyPatch):
    """Security 10: DBOS goes by what stands beside a text."""
    monkeypatch.setattr(pickle, "loads", refused)
    refuse_others(OURS)
    refuse_others(OURS)

    for text in (base64.b64encode(pickle.dumps(Bomb())).decode(), '{"name":"","message":""}', "null"):
        with pytest.raises(ValueError, match=f"{name} is not read"):
            getattr(_serialization, f"deserialize_{read}")(text, name, OURS)


def test_a_dbos_that_reads_them_all_the_same_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Security 10: nothing begins with a release that does it in some other way."""
    monkeypatch.setattr(_serialization, "deserialize_args", lambda *_: {"args": (), "kwargs": {}})

    with pytest.raises(RuntimeError, match="this release of DBOS reads py_pickle"):
        refuse_others(OURS)
    assert _serialization.deserialize_value("null", "portable_json", OURS) is None


def refused(*_args: object) -> object:
    raise AssertionError("a pickle was read")
