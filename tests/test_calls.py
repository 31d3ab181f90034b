"""`Call.read`, `Client.supports` and `arguments_digest`."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mrtr_tools.calls import Call, Client, arguments_digest
from mrtr_tools.errors import InvalidParams

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def nested(levels: int, kind: type = list) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if kind is list else {"a": value}
    return value


def as_javascript_writes_it(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: as_javascript_writes_it(item) for key, item in reversed(value.items())}
    return [as_javascript_writes_it(item) for item in value] if isinstance(value, list) else value


# The digest (Security 18)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_the_digest_is_the_same_however_a_client_writes_the_values(arguments):
    assert arguments_digest(arguments) == arguments_digest(as_javascript_writes_it(arguments))
    assert arguments_digest(arguments) == arguments_digest(json.loads(json.dumps(arguments)))


PLAIN = st.none() | st.booleans() | st.integers() | st.text(st.characters(max_codepoint=0xFF)) | st.text()


@given(st.dictionaries(st.text(st.characters(max_codepoint=0xFF)), PLAIN, max_size=5))
def test_arguments_of_any_characters_are_spelled_as_json_spells_them(arguments):
    """Security 18: what is spelled at once and what is spelled with care are the same."""
    text = json.dumps(arguments, sort_keys=True, separators=(",", ":"))
    assert arguments_digest(arguments) == hashlib.sha256(text.encode()).hexdigest()[:32]


@pytest.mark.parametrize("character", [chr(code) for code in range(256)])
def test_every_character_of_one_byte_is_spelled_as_json_spells_it(character):
    """Security 18."""
    text = json.dumps({character: character}, separators=(",", ":"))
    assert arguments_digest({character: character}) == hashlib.sha256(text.encode()).hexdigest()[:32]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": {"x": [{"p": 1, "q": 2}], "y": 2}}, {"a": {"y": 2, "x": [{"q": 2, "p": 1}]}}),
        ({"a": 1.0}, {"a": 1}),
        ({"a": [1e2]}, {"a": [100]}),
        ({"a": -0.0}, {"a": 0}),
        ({"a": float(2**53 - 1)}, {"a": 2**53 - 1}),
    ],
)
def test_different_spellings_of_the_same_arguments_have_one_digest(one, other):
    """Security 18."""
    assert arguments_digest(one) == arguments_digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": 0}, {"a": False}),
        ({"a": None}, {}),
        ({"a": []}, {"a": {}}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": "\u00e9"}, {"a": "e\u0301"}),
        ({"a": 1.5}, {"a": 1}),
        ({"a": {"b": 1}}, {"a.b": 1}),
        ({"id": 7960607143101464576}, {"id": 7960607143101464577}),
        ({"id": 2**53}, {"id": float(2**53)}),
    ],
)
def test_different_arguments_have_different_digests(one, other):
    """Security 18. Reported as anthropics/claude-code#78762; text is taken as it is, without Unicode normalisation."""
    assert arguments_digest(one) != arguments_digest(other)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), json.loads("1e400")])
def test_a_number_that_is_not_finite_is_refused(number):
    """Security 18."""
    shapes: list[Any] = [{"a": number}, {"a": [{"b": number}]}]
    for arguments in shapes:
        with pytest.raises(InvalidParams, match="not finite"):
            arguments_digest(arguments)


@pytest.mark.parametrize("kind", [list, dict])
def test_arguments_may_be_nested_64_deep_and_no_more(kind):
    """Security 21: the arguments object is the first level."""
    assert arguments_digest({"a": nested(63, kind)})
    for levels in (64, 65, 5_000, 100_000):
        with pytest.raises(InvalidParams, match="64 deep"):
            arguments_digest({"a": nested(levels, kind)})


@pytest.mark.parametrize(
    "arguments",
    [
        {"a": [0] * 19_999},
        {str(number): 0 for number in range(20_000)},
        {"a": [[]] * 19_999},
        {"a": {"b": [{}] * 10_000}, "c": [[0]] * 4_998 + [0]},
    ],
    ids=["a list", "an object", "empty lists", "in many places"],
)
def test_arguments_may_hold_20000_values_and_no_more(arguments: dict[str, Any]):
    """Security 21: members of lists and objects, wherever they are."""
    assert arguments_digest(arguments)
    with pytest.raises(InvalidParams, match="more than 20000 values"):
        arguments_digest({**arguments, "one more": 0})


@pytest.mark.parametrize("arguments", [{"\ud800": 1}, {"a": "\udfff"}, {"a": [{"b\ud800": 1}]}])
def test_half_a_surrogate_pair_is_refused(arguments: Any):
    """Security 18: one of the JSON readers takes it and the other does not; every adapter refuses it alike."""
    with pytest.raises(InvalidParams, match="no Unicode"):
        arguments_digest(arguments)


@pytest.mark.parametrize("digits", [400, 5_000])
def test_a_very_long_integer_has_a_digest_or_is_refused(digits):
    try:
        assert arguments_digest({"a": 10**digits})
    except InvalidParams:
        assert digits > 4_300


# Calls


def read(**params: Any) -> Call:
    return Call.read({"name": "tool"} | params, client=Client())


def test_absent_null_and_empty_arguments_are_the_same():
    """Security 18."""
    assert read() == read(arguments=None) == read(arguments={}) == read(inputResponses=None, requestState=None)
    assert read().arguments == {}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"name": None}, "name must be a string"),
        ({"name": 3}, "name must be a string"),
        ({"arguments": []}, "arguments must be an object"),
        ({"arguments": "{}"}, "arguments must be an object"),
        ({"arguments": {"a": float("nan")}}, "not finite"),
        ({"arguments": {"a": nested(64)}}, "64 deep"),
        ({"inputResponses": []}, "inputResponses must be an object"),
        ({"inputResponses": False}, "inputResponses must be an object"),
        ({"inputResponses": {str(number): {} for number in range(257)}}, "more than 256"),
        ({"requestState": 3}, "requestState must be a string"),
        ({"requestState": {}}, "requestState must be a string"),
    ],
)
def test_params_of_the_wrong_shape_are_invalid_params(params, words):
    with pytest.raises(InvalidParams, match=words) as caught:
        read(**params)

    assert caught.value.code == -32602


def test_256_responses_are_read():
    """Security 21."""
    assert len(read(inputResponses={str(number): {} for number in range(256)}).responses) == 256


def test_an_empty_state_is_a_state():
    """It is checked, and refused, like any other; it does not start a new call."""
    assert read(requestState="").state == ""


def test_a_call_says_what_it_was_read_from():
    client = Client({"roots": {}}, "c", "1")
    params = {"name": "t", "arguments": {"a": 1}, "inputResponses": {"k": 1}, "requestState": "s", "_meta": {}}
    call = Call.read(params, client=client, principal="p", method="prompts/get")

    assert call == Call("t", {"a": 1}, {"k": 1}, "s", "p", client, "prompts/get")


def test_a_call_does_not_show_its_state_or_arguments():
    """Security 23: neither tokens nor answers in a log."""
    shown = repr(read(arguments={"pin": "sekret"}, inputResponses={"k": "sekret"}, requestState="sekret"))

    assert "sekret" not in shown


# Clients


@pytest.mark.parametrize(
    ("capabilities", "form", "url"),
    [
        ({}, False, False),
        ({"elicitation": {}}, True, False),
        ({"elicitation": {"form": {}}}, True, False),
        ({"elicitation": {"url": {}}}, False, True),
        ({"elicitation": {"form": {}, "url": {}}}, True, True),
        ({"elicitation": {"form": {"applyDefaults": True}}}, True, False),
        ({"elicitation": {"other": {}}}, False, False),
        *[({"elicitation": wrong}, False, False) for wrong in (None, True, "form", ["form"], 1)],
        *[({"elicitation": {"form": wrong}}, False, False) for wrong in (None, False, True, 0, "yes", [])],
    ],
)
def test_only_a_mode_that_was_declared_as_an_object_is_supported(capabilities, form, url):
    """Promise 6; a bare ``elicitation: {}`` means form."""
    client = Client(capabilities)

    assert client.supports({"elicitation": {"form": {}}}) is form
    assert client.supports({"elicitation": {"url": {}}}) is url


def test_all_that_is_required_must_be_declared():
    client = Client({"elicitation": {}, "sampling": {}, "roots": {"listChanged": False}})

    assert client.supports({})
    assert client.supports({"roots": {}, "sampling": {}})
    assert client.supports({"elicitation": {"form": {}}, "roots": {}})
    assert not client.supports({"sampling": {"tools": {}}})
    assert not client.supports({"elicitation": {"form": {}, "url": {}}})
    assert Client({"sampling": {"tools": {}}}).supports({"sampling": {"tools": {}}})
