"""What holds for every state, every call and every edit of a token."""

import base64
from dataclasses import replace

import pytest
from hypothesis import assume, given, strategies as st
from pydantic_core import to_json

from mrtr_tools.calls import Call, arguments_digest
from mrtr_tools.errors import InvalidState
from mrtr_tools.keys import raw_key
from mrtr_tools.progress import Progress, Slot
from mrtr_tools.state import LEEWAY, REASONS, StateSigner, describe

NOON = 1_000_000_000
KEY = raw_key(b"a key of the properties, nowhere else used")
CALL = Call("book_flight", {"origin": "FRA"}, principal="alice")

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
audiences = text.filter(lambda name: bool(name.strip()) and name.isprintable())
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=10,
)
objects = st.dictionaries(text, json, max_size=4)
calls = st.builds(
    Call,
    target=text,
    arguments=objects,
    principal=st.none() | text,
    method=st.sampled_from(["tools/call", "prompts/get", "resources/read"]),
)
progresses = st.builds(
    Progress,
    n=st.integers(0, 1000),
    ran=st.booleans(),
    step=text,
    carried=objects,
    slots=st.dictionaries(text, st.builds(Slot, text, json), max_size=3),
    used=st.dictionaries(text, st.integers(1, 9), max_size=3),
)
secrets = st.binary(min_size=32, max_size=48)


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def signer(key=KEY, audience="shop", now: float = NOON, **options):
    return StateSigner([key], audience, clock=Clock(now), **options)


SIGNERS = {seal: signer(seal=seal) for seal in (True, False)}
TOKENS = {seal: SIGNERS[seal].dumps(Progress(step="purchase", carried={"price": 120}), CALL) for seal in (True, False)}


def same(one: Call, two: Call):
    bound = [(call.method, call.target, arguments_digest(call.arguments), call.principal) for call in (one, two)]
    return bound[0] == bound[1]


@given(progresses, calls, st.booleans())
def test_whatever_a_call_has_comes_back_equal(progress, call, seal):
    opened = SIGNERS[seal].loads(SIGNERS[seal].dumps(progress, call), call)
    assert opened.progress == progress
    assert to_json(opened.progress.to_json()) == to_json(progress.to_json())  # 1, 1.0 and True are equal
    assert not opened.expired


@given(calls, calls, st.booleans())
def test_a_token_never_opens_for_another_call(call, other, seal):
    assume(not same(call, other))
    token = SIGNERS[seal].dumps(Progress(), call)
    with pytest.raises(InvalidState):
        SIGNERS[seal].loads(token, other)


@given(st.data(), calls, st.booleans())
def test_a_token_never_opens_for_a_call_that_differs_in_one_thing(data, call, seal):
    fields = {"target": text, "method": text, "principal": st.none() | text, "arguments": objects}
    name = data.draw(st.sampled_from(sorted(fields)))
    other = replace(call, **{name: data.draw(fields[name])})
    assume(not same(call, other))
    token = SIGNERS[seal].dumps(Progress(), call)
    with pytest.raises(InvalidState) as caught:
        SIGNERS[seal].loads(token, other)
    assert caught.value.reason == name


@given(audiences, audiences, st.booleans())
def test_a_token_never_opens_for_another_audience(audience, other, seal):
    assume(audience != other)
    token = signer(audience=audience, seal=seal).dumps(Progress(), CALL)
    with pytest.raises(InvalidState) as caught:
        signer(audience=other, seal=seal).loads(token, CALL)
    assert caught.value.reason == "unknown_key"


@given(secrets, secrets, st.booleans())
def test_a_token_never_opens_with_another_key(secret, other, seal):
    assume(secret != other)
    token = signer(raw_key(secret), seal=seal).dumps(Progress(), CALL)
    with pytest.raises(InvalidState):
        signer(raw_key(other), seal=seal).loads(token, CALL)


@given(st.data(), st.booleans())
def test_no_edit_of_a_token_opens(data, seal):
    token = TOKENS[seal]
    start = data.draw(st.integers(0, len(token)))
    end = data.draw(st.integers(start, min(len(token), start + 40)))
    edited = token[:start] + data.draw(st.text(max_size=40)) + token[end:]
    assume(edited != token)
    with pytest.raises(InvalidState) as caught:
        SIGNERS[seal].loads(edited, CALL)
    assert caught.value.reason in {"length", "spelling", "unknown_key", "signature"}


@given(st.text() | st.binary().map(lambda raw: f"{base64.urlsafe_b64encode(raw).decode().rstrip('=')}.{'A' * 43}"))
def test_whatever_is_sent_as_a_token_has_the_one_error(token):
    with pytest.raises(InvalidState) as caught:
        SIGNERS[True].loads(token, CALL)
    assert caught.value.reason in REASONS
    assert str(caught.value) == InvalidState.MESSAGE
    assert describe(token).isascii()


@given(st.one_of(st.none(), st.booleans(), numbers, st.binary(), st.lists(text), objects))
def test_what_is_no_text_has_the_one_error(token):
    with pytest.raises(InvalidState) as caught:
        SIGNERS[True].loads(token, CALL)
    assert caught.value.reason == "length"


@given(
    ttl=st.integers(1, 10_000),
    max_age=st.integers(1, 10_000),
    age=st.integers(0, 20_000),
    passed=st.integers(-100, 20_000),
)
def test_a_state_is_from_the_future_or_expired_or_neither_as_its_two_dates_say(ttl, max_age, age, passed):
    token = signer().dumps(Progress(born=NOON - age), CALL)
    reading = signer(now=NOON + passed, ttl=ttl, max_age=max_age)
    if passed < -LEEWAY:
        with pytest.raises(InvalidState) as caught:
            reading.loads(token, CALL)
        assert caught.value.reason == "future"
    else:
        assert reading.loads(token, CALL).expired == (passed > ttl + LEEWAY or passed + age > max_age + LEEWAY)
