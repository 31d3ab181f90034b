"""The signed state. Where a test says Security N, it is row N of the table in `SECURITY.md`."""

import base64
import copy
import os
import random
import time
import traceback
from dataclasses import replace

import pytest
from itsdangerous import Signer
from pydantic_core import from_json, to_json

from mrtr_tools.calls import Call
from mrtr_tools.errors import InvalidParams, InvalidState, StateTooLarge
from mrtr_tools.keys import TESTING_KEY, InvalidKey, generate_key, raw_key, read_key
from mrtr_tools.progress import Progress, Slot
from mrtr_tools.state import (
    LEEWAY,
    MAX_PAYLOAD,
    MAX_TOKEN,
    PLAIN,
    REASONS,
    SEALED,
    StateSigner,
    _principal_digest,
    describe,
)

KEY, OLD, NEW = generate_key(), generate_key(), generate_key()
NOON = 1_000_000_000
CALL = Call("book_flight", {"origin": "FRA", "seats": 2}, principal="alice")
OTHERS = {
    "method": replace(CALL, method="prompts/get"),
    "target": replace(CALL, target="cancel_flight"),
    "arguments": replace(CALL, arguments={"origin": "FRA", "seats": 3}),
    "principal": replace(CALL, principal="mallory"),
}


class Clock:
    """Stands still until it is moved."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def signer(*keys, audience="shop", clock=None, **options):
    return StateSigner(keys or [KEY], audience, clock=clock or Clock(), **options)


def progress(**fields):
    return Progress(
        **{"step": "purchase", "n": 1, "carried": {"price": 120}, "slots": {"seat": Slot("pin", "12A")}, **fields}
    )


def reason(signer, token, call=CALL):
    with pytest.raises(InvalidState) as caught:
        signer.loads(token, call)
    assert caught.value.reason in REASONS
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32602, InvalidState.MESSAGE, None)
    return caught.value.reason


def unsealed(token):
    body = token.split(".")[0]
    return base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))


def signed(signer, raw):
    """A token with a genuine signature over any bytes, as only a holder of the key can make."""
    body = base64.urlsafe_b64encode(raw).rstrip(b"=")
    return (body + b"." + signer._keys[raw[:5]].signature(body)).decode()


def minted(signer, *payload):
    """A genuine token with any payload."""
    return signed(signer, signer._signing.close(to_json(list(payload))))


# What comes back


@pytest.mark.parametrize("seal", [True, False])
def test_a_state_comes_back_as_it_went(seal):
    state, before = signer(seal=seal), progress(born=NOON)
    opened = state.loads(state.dumps(copy.deepcopy(before), CALL), CALL)
    assert opened.progress == before
    assert not opened.expired


def test_nothing_that_a_state_held_stays_behind():
    state = signer()
    token = state.dumps(progress(born=NOON), CALL)
    one, other = (state.loads(token, CALL).progress.call for _ in range(2))

    assert one == other
    assert one is not other, "pydantic has kept it"


def test_an_empty_progress_and_a_call_of_nobody_come_back():
    state, call = signer(), Call("ping")
    token = state.dumps(before := Progress(), call)
    assert state.loads(token, call).progress == before


def test_the_first_state_of_a_call_dates_its_birth_and_later_ones_keep_it():
    """Security 7."""
    clock, p = Clock(NOON + 0.9), Progress()
    state = signer(clock=clock)
    first = state.dumps(p, CALL)
    assert p.born == NOON
    clock.now += 500
    second = state.dumps(p, CALL)
    assert [state.loads(token, CALL).progress.born for token in (first, second)] == [NOON, NOON]


SEALED_TOKEN = (
    "AVutTjNhBnaYn0GiWfMYUCd1kHd32wPlfwdPULaqhiVpu_KHAGsf1EoTAD3FfKUR7Z4al8kPSFgCQHecfNAwT7gexXQncSBSy2qm"
    "4kuF7ldbj-MZ_CZWv3Np5oLUhKdiCIYMiNDfELr_cRVpgJfForPn1P-GvqM5grJ0YHFQsoXIuAiSEIAkHhFvy2mno5Ms0ju3sgBe"
    "b2Bzl5KGWJ3wugBcJJs6dxE-yHQqg9PuLJj1RwI8IcQMvqCPgsP3JvIGfi-rt4hQhcDDoxt7njWvFfJ9d5cbKNRDhfYoQJ6gpOds"
    "WlnSEywd1tB4tMqeA4f64T715Ol9-7UvjoN3t2VhN61WRMXewIQ7QP-CBrmA3ABeRqbjQVOILs6yj-jjso-4.fV0CBWxf6jd2-4h"
    "vlETdIMIyqqCBtYhNOnXzrOhfwqQ"
)
PLAIN_TOKEN = (
    "AlutTjNbMSwxMDAwMDAwMDAwLHsiY2FsbCI6IkFBQUFBQUFBQUFBQUFBQUFBQUFBQUEiLCJzdGVwIjoicHVyY2hhc2UiLCJib3Ju"
    "IjoxMDAwMDAwMDAwLCJuIjoxLCJjYXJyaWVkIjp7InByaWNlIjoxMjB9LCJzbG90cyI6eyJzZWF0IjpbInBpbiIsIjEyw4QiXX19"
    "LCJ0b29scy9jYWxsIiwiYm9va19mbGlnaHQiLCIwYjRiMDg4NDhiODNhNWMyYTNjNjk5YjYyMzU2OTc1MCIsIjBjYTFjZTg2ZDlh"
    "MWQ1YjA0M2E5MTY1MmQzMjQwODA3Il0.D2AiRMbnKSnBN4NoRA6K8-bpyELWVR_vZGmXIsF5Xq0"
)


def pinned():
    p = Progress(
        call="A" * 22, born=NOON, step="purchase", n=1, carried={"price": 120}, slots={"seat": Slot("pin", "12Ä")}
    )
    return p, read_key(TESTING_KEY, allow_testing=True)


@pytest.mark.parametrize("token", [SEALED_TOKEN, PLAIN_TOKEN])
def test_a_recorded_state_keeps_opening(token):
    """Security 15, 16: no key, no digest and no layout changes by itself.

    Whoever changes the format on purpose raises `FORMAT`, says so in the changelog and records these two anew.
    """
    before, key = pinned()
    assert signer(key, accept_unsealed=True).loads(token, CALL).progress == before


def test_what_is_minted_without_sealing_is_pinned_to_the_character():
    before, key = pinned()
    assert signer(key, seal=False).dumps(before, CALL) == PLAIN_TOKEN


# Spelling


@pytest.mark.parametrize("seal", [True, False])
def test_every_change_of_one_character_is_refused(seal):
    """Security 15: all characters of the alphabet and some others at every place of one token."""
    state = signer(seal=seal)
    token = state.dumps(progress(), CALL)
    for at in range(len(token)):
        for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n\0%é":
            if other != token[at]:
                assert reason(state, token[:at] + other + token[at + 1 :]) in {"spelling", "unknown_key", "signature"}


def test_every_flipped_bit_is_refused():
    """Security 15. Reported as pallets/itsdangerous#11."""
    state = signer()
    token = state.dumps(progress(), CALL)
    for at in range(len(token)):
        for bit in range(8):
            reason(state, token[:at] + chr(ord(token[at]) ^ 1 << bit) + token[at + 1 :])


def test_every_truncation_is_refused_at_both_ends_and_in_the_middle():
    """Security 15."""
    state = signer()
    token = state.dumps(progress(), CALL)
    for at in range(len(token)):
        reason(state, token[:at])
        reason(state, token[at + 1 :])
        reason(state, token[:at] + token[at + 1 :])
        reason(state, token[:at] + token[at] + token[at:])


@pytest.mark.parametrize(
    "junk", ["!", "\0", " ", "\n", "=", "A", ".", "é", "\u200b", "\ud800", "A" * 4, "!" * 4, " " * 4000]
)
def test_junk_at_any_place_is_refused(junk):
    """Security 15: itsdangerous skips it inside a signature."""
    state = signer()
    token = state.dumps(progress(), CALL)
    places = range(len(token) + 1) if len(junk) < 5 else (0, 5, len(token) - 20, len(token))
    for at in places:
        assert reason(state, token[:at] + junk + token[at:]) in {"spelling", "unknown_key", "signature"}


def test_itsdangerous_would_take_what_is_refused_here():
    """Security 15: why `unsign` is never called."""
    plain = Signer("secret")
    body, signature = plain.sign("body").split(b".")
    assert plain.unsign(body + b"." + signature[:9] + b"!!!!" + signature[9:]) == b"body"
    assert plain.unsign(body + b"." + signature + b"=") == b"body"


def test_two_tokens_do_not_combine():
    """Security 15."""
    state = signer()
    one, two = state.dumps(progress(), CALL), state.dumps(progress(), CALL)
    (body, signature), (other_body, other_signature) = one.split("."), two.split(".")
    for mixed in (
        one + two,
        f"{one}.{two}",
        f"{body}.{other_signature}",
        f"{other_body}.{signature}",
        f"{one}.{signature}",
    ):
        reason(state, mixed)
    for mixed in (f"{signature}.{body}", f"{body}.", f".{signature}", ".", f"{body}.{body}", body + signature):
        reason(state, mixed)


def test_a_token_has_one_spelling():
    """Security 15: the other alphabet, padding, spare bits, cases and escapes all decode alike somewhere."""
    state = signer()
    for _ in range(50):
        token = state.dumps(progress(), CALL)
        body, signature = token.split(".")
        for other in (
            token.replace("-", "+").replace("_", "/"),
            f"{body}{'=' * (-len(body) % 4)}.{signature}",
            f"{body}.{signature}=",
            token.swapcase(),
            token.replace(".", "%2E"),
            token.replace(".", "\uff0e"),
            "".join(chr(0xFEE0 + ord(c)) if c.isalnum() else c for c in token),
        ):
            assert other == token or reason(state, other) in {"spelling", "unknown_key", "signature"}


def test_spare_bits_are_refused_even_under_a_genuine_signature():
    """Security 15: one spelling even for the holder of a key, so that a ledger by token would be sound."""
    state = signer()
    raw = unsealed(state.dumps(progress(), CALL))
    while len(raw) % 3 == 0:
        raw = unsealed(state.dumps(progress(carried={"x": "y" * random.randrange(9)}), CALL))
    body = base64.urlsafe_b64encode(raw).rstrip(b"=")
    alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    sloppy = body[:-1] + alphabet[alphabet.index(body[-1:]) + 1 :][:1]
    assert base64.urlsafe_b64decode(sloppy + b"==") == raw
    token = (sloppy + b"." + state._signing.signature(sloppy)).decode()
    assert reason(state, token) == "spelling"


@pytest.mark.parametrize("token", [None, 5, b"AQ.AQ", ["a"], {}, "", True])
def test_what_is_no_text_is_refused_first(token):
    """Security 8."""
    assert reason(signer(), token) == "length"


def test_what_is_longer_than_any_state_is_refused_before_it_is_decoded():
    """Security 8, 17."""
    assert reason(signer(), "é" * (MAX_TOKEN + 1)) == "length"
    assert reason(signer(), "é" * MAX_TOKEN) == "spelling"


# What it is bound to


@pytest.mark.parametrize("seal", [True, False])
@pytest.mark.parametrize(("what", "other"), OTHERS.items())
def test_a_state_does_not_open_for_another_call(what, other, seal):
    """Security 8: among others, other arguments, another tool, a prompt of the same name.

    Reported as vikshana/vikshana-graft-app#32, cds-snc/notification-api#1782.
    """
    state = signer(seal=seal)
    assert reason(state, state.dumps(progress(), CALL), other) == what
    assert reason(state, state.dumps(progress(), other), CALL) == what


@pytest.mark.parametrize("seal", [True, False])
def test_a_state_does_not_open_for_another_audience_of_the_same_key(seal):
    """Security 8, 16: staging and production with one key."""
    shop, staging = signer(seal=seal), signer(seal=seal, audience="shop-staging")
    assert shop.key_id != staging.key_id
    assert reason(staging, shop.dumps(progress(), CALL)) == "unknown_key"


@pytest.mark.parametrize(
    ("minted_by", "sent_by"), [(None, "alice"), ("alice", None), ("", None), (None, ""), (None, "None"), ("a", "A")]
)
def test_a_principal_that_appears_or_goes_away_is_refused(minted_by, sent_by):
    """Security 12: drift between nobody and somebody."""
    state = signer()
    token = state.dumps(progress(), replace(CALL, principal=minted_by))
    assert reason(state, token, replace(CALL, principal=sent_by)) == "principal"


def test_the_digest_of_a_principal_differs_from_call_to_call():
    """Security 12: it is salted, so that unsealed states do not tell who is who."""
    state = signer(seal=False)
    one, two, other = (from_json(unsealed(state.dumps(Progress(), CALL))[5:])[-1] for _ in range(3))
    assert len({one, two, other}) == 3
    assert "alice" not in one


@pytest.mark.parametrize(
    ("sent", "sent_again"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 100}, {"a": 1e2}),
        ({"a": 0}, {"a": -0.0}),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}),
    ],
)
def test_arguments_may_be_spelled_anew(sent, sent_again):
    """Security 18: what JavaScript and others do to the same values."""
    state = signer()
    token = state.dumps(progress(), replace(CALL, arguments=sent))
    assert not state.loads(token, replace(CALL, arguments=sent_again)).expired


@pytest.mark.parametrize(
    ("sent", "sent_again"),
    [
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": 1.5}),
        ({"a": None}, {}),
        ({"a": []}, {"a": {}}),
        ({"a": "é"}, {"a": "e\u0301"}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": 7}, {"b": 7}),
    ],
)
def test_arguments_with_another_meaning_are_refused(sent, sent_again):
    """Security 18. Reported as vikshana/vikshana-graft-app#32."""
    state = signer()
    token = state.dumps(progress(), replace(CALL, arguments=sent))
    assert reason(state, token, replace(CALL, arguments=sent_again)) == "arguments"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_arguments_without_a_digest_make_no_call(number):
    """Security 18."""
    with pytest.raises(InvalidParams, match="not finite"):
        replace(CALL, arguments={"a": [number]})


def test_the_checks_come_in_the_order_of_the_reasons():
    """Security 8: of two things that are wrong, the earlier one is named."""
    clock = Clock(NOON + 2 * LEEWAY)
    ahead, here = signer(KEY, clock=clock), signer(KEY)
    wrong = CALL
    token = ahead.dumps(progress(), CALL)
    found = [reason(here, token)]
    for other in ("principal", "arguments", "target", "method"):
        wrong = replace(wrong, **{other: getattr(OTHERS[other], other)})
        found.append(reason(here, token, wrong))
    found.append(reason(here, minted(here, 2, NOON + 999, {}, "", "", "", ""), wrong))
    raw = unsealed(token)
    found.append(reason(here, signed(here, raw[:-1] + bytes([raw[-1] ^ 1])), wrong))
    found.append(reason(here, token[:-1] + ("A" if token[-1] != "A" else "E"), wrong))
    found.append(reason(signer(OLD), token[:-1] + "!", wrong))
    found.append(reason(signer(OLD), "!" + token, wrong))
    found.append(reason(signer(OLD), "!" * (MAX_TOKEN + 1), wrong))
    assert found == list(REASONS)[::-1]


@pytest.mark.parametrize(
    "payload",
    [
        (),
        (2, NOON, {"call": "c", "step": "s"}, "tools/call", "book_flight", "a", None),
        (1, NOON, {"step": "s"}, "tools/call", "book_flight", "a", None),
        (1, NOON, {"call": 5, "step": "s"}, "tools/call", "book_flight", "a", None),
        (1, NOON, [], "tools/call", "book_flight", "a", None),
        (
            1,
            NOON,
            {"call": "c", "step": "s", "carried": {"price": float("nan")}},
            *("tools/call", "book_flight", "a", None),
        ),
        (1, NOON, {"call": "c", "step": "s"}, "tools/call", "book_flight", "a"),
        (1, NOON, {"call": "c", "step": "s"}, "tools/call", "book_flight", "a", None, 0),
    ],
)
def test_a_genuine_state_in_another_format_is_refused(payload):
    """Security 8."""
    state = signer()
    assert reason(state, minted(state, *payload)) == "format"


def test_a_genuine_state_of_a_time_beyond_all_clocks_is_refused():
    """Security 8: also where a number is too large to reckon with."""
    state = signer(ttl=600.5, max_age=3600.5)
    bound = (CALL.method, CALL.target, CALL.digest, _principal_digest(CALL.principal, "c"))
    for date, born in ((-(10**400), NOON), (NOON, -(10**400)), (10**400, NOON)):
        assert reason(state, minted(state, 1, date, {"call": "c", "step": "s", "born": born}, *bound)) == "future"


@pytest.mark.parametrize("payload", [b"", b"{", b"null", b"NaN", b"\xff", b"[" * 2000, b"[1]x"])
def test_a_genuine_state_that_is_no_json_of_ours_is_refused(payload):
    """Security 8: one error for whatever goes wrong inside."""
    state = signer()
    assert reason(state, signed(state, state._signing.close(payload))) == "format"


# Time


@pytest.mark.parametrize("ahead", [1, 2, LEEWAY])
def test_a_clock_that_is_a_little_ahead_does_no_harm(ahead):
    """Reported as pallets/itsdangerous#400."""
    token = signer(clock=Clock(NOON + ahead)).dumps(progress(), CALL)
    assert not signer().loads(token, CALL).expired


@pytest.mark.parametrize("ahead", [LEEWAY + 1, 24 * 3600, 10**9])
def test_a_state_from_the_future_is_refused(ahead):
    """Reported as pallets/itsdangerous#126."""
    token = signer(clock=Clock(NOON + ahead)).dumps(progress(), CALL)
    assert reason(signer(), token) == "future"


@pytest.mark.parametrize(
    ("age", "expired"), [(0, False), (600 + LEEWAY, False), (600 + LEEWAY + 1, True), (10**9, True)]
)
def test_a_state_expires_a_leeway_after_its_ttl(age, expired):
    """Security 8: clocks may differ in both directions. Reported as pallets/itsdangerous#11."""
    clock = Clock()
    state = signer(ttl=600, clock=clock)
    token = state.dumps(progress(), CALL)
    clock.now += age
    assert state.loads(token, CALL).expired is expired


def test_an_expired_state_still_tells_its_progress():
    """Security 8: a restart keeps the id of the call."""
    clock, before = Clock(), progress()
    state = signer(clock=clock)
    token = state.dumps(before, CALL)
    clock.now += 10**6
    assert state.loads(token, CALL).progress == before


@pytest.mark.parametrize(("what", "other"), OTHERS.items())
def test_a_stolen_expired_state_is_refused_like_a_forged_one(what, other):
    """Security 8: only the call it belongs to learns that it expired. Reported as pallets/itsdangerous#11."""
    clock = Clock()
    state = signer(clock=clock)
    token = state.dumps(progress(), CALL)
    clock.now += 10**6
    assert reason(state, token, other) == what
    assert reason(state, token[:-1] + ("A" if token[-1] != "A" else "E")) == "signature"


def test_a_lowered_ttl_works_at_once():
    """Security 7: the reader's ttl counts."""
    token = signer(ttl=3600).dumps(progress(), CALL)
    assert signer(ttl=60, clock=Clock(NOON + 200)).loads(token, CALL).expired


def test_asking_again_and_again_does_not_prolong_a_call_beyond_its_max_age():
    """Security 7: a ttl of 600 s lived for hours by not answering."""
    clock, p = Clock(), progress()
    state = signer(ttl=600, max_age=3600, clock=clock)
    lives = []
    while clock.now <= NOON + 3600 + LEEWAY + 300:
        opened = state.loads(state.dumps(p, CALL), CALL)
        p = opened.progress
        lives.append((clock.now - NOON, opened.expired))
        clock.now += 300
    assert [at for at, expired in lives if expired] == [3900]


@pytest.mark.parametrize(("ttl", "max_age"), [(600, 24 * 3600), (24 * 3600, 24 * 3600), (7 * 24 * 3600, 7 * 24 * 3600)])
def test_a_call_may_take_a_day_or_the_ttl_when_that_is_longer(ttl, max_age):
    """Security 7."""
    assert signer(ttl=ttl).max_age == max_age


# Keys


@pytest.mark.parametrize("older", [[], [OLD]])
def test_another_process_with_a_key_of_its_own_says_unknown_key_in_the_log(older):
    """Security 14: two replicas without a common key; the wire says the same as for a forged state.

    Reported as overture-stack/arranger#1099, modelcontextprotocol/csharp-sdk#1876.
    """
    token = signer(KEY).dumps(progress(), CALL)
    assert reason(signer(NEW, *older), token) == "unknown_key"
    assert "another process made its own key" in REASONS["unknown_key"]


def test_rotation_in_its_three_phases_refuses_nobody():
    """Security 14: in the middle of each deployment some machines are one phase behind.

    Reported as pallets/werkzeug#31.
    """
    phases = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]]
    for before, after in ((0, 1), (1, 2)):
        one, two = signer(*phases[before]), signer(*phases[after])
        for minting, opening in ((one, two), (two, one)):
            assert not opening.loads(minting.dumps(progress(), CALL), CALL).expired
    assert signer(*phases[3]).loads(signer(*phases[2]).dumps(progress(), CALL), CALL)
    assert [signer(*phase).key_id for phase in phases] == [signer(key).key_id for key in (OLD, OLD, NEW, NEW)]


def test_rotation_without_its_first_phase_says_unknown_key():
    """Reported as pallets/werkzeug#31: A signs with the new key, B does not have it yet."""
    assert reason(signer(OLD), signer(NEW, OLD).dumps(progress(), CALL)) == "unknown_key"


def test_the_first_key_signs():
    """Security 14: itsdangerous signs with the last of a list."""
    token = signer(NEW, OLD).dumps(progress(), CALL)
    assert signer(NEW).loads(token, CALL)
    assert reason(signer(OLD), token) == "unknown_key"
    assert bytes.fromhex(signer(NEW, OLD).key_id) == unsealed(token)[1:5]


def test_nothing_signed_by_a_retired_key_is_taken_however_it_is_dated():
    """Security 14: whoever has a leaked key can date a state as they like."""
    clock = Clock()
    token = signer(OLD, clock=Clock(NOON + LEEWAY)).dumps(progress(), CALL)
    state = signer(NEW, read_key(OLD, accept_until=NOON), clock=clock)
    assert not state.loads(token, CALL).expired
    clock.now += 1
    assert reason(state, token) == "unknown_key"


def test_the_key_that_signs_cannot_be_retired():
    """Security 14."""
    with pytest.raises(InvalidKey, match="put the new key before it"):
        signer(read_key(KEY, accept_until=NOON), NEW)


def test_two_keys_with_one_id_are_refused():
    """Security 14: the id finds one key. These two were searched for."""
    one, two = (raw_key(b"key of the id test, number " + number) for number in (b"00014226", b"00087659"))
    assert signer(one).key_id == signer(two).key_id
    with pytest.raises(InvalidKey, match="key 2 of keys has the id of another one"):
        signer(one, two)


@pytest.mark.parametrize("keys", [KEY, [], [""], [KEY, KEY], [TESTING_KEY], None])
def test_bad_keys_are_refused_when_the_signer_is_made(keys):
    """Security 13, 14."""
    with pytest.raises(InvalidKey):
        StateSigner(keys, "shop")


@pytest.mark.parametrize("audience", ["", " ", None, 5, b"shop", "shop\n", "\ud800"])
def test_an_audience_is_a_name(audience):
    """Security 16."""
    with pytest.raises(ValueError, match="audience must name the server"):
        StateSigner([KEY], audience)


@pytest.mark.parametrize("name", ["ttl", "max_age"])
@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), True, "600"])
def test_lifetimes_are_positive_numbers_of_seconds(name, seconds):
    """Security 7."""
    with pytest.raises(ValueError, match=f"{name} must be a positive number of seconds"):
        signer(**{name: seconds})


def test_a_signer_reads_the_time_of_the_system_by_default():
    state, before = StateSigner([KEY], "shop"), Progress()
    assert not state.loads(state.dumps(before, CALL), CALL).expired
    assert before.born <= time.time()


# Sealing


def test_a_sealed_state_shows_nothing_and_is_never_the_same():
    """Security 16."""
    state, p = signer(), progress(carried={"secret": "needle-in-the-hay"})
    tokens = [state.dumps(p, CALL) for _ in range(20)]
    raws = [unsealed(token) for token in tokens]
    assert len({raw[5:29] for raw in raws}) == len({raw[29:45] for raw in raws}) == 20
    assert not any(word in raw for raw in raws for word in (b"needle", b"purchase", b"book_flight", b"tools", b"call"))


def test_a_token_is_laid_out_as_documented():
    """Security 16: format and key id in front, no names of algorithms."""
    state = signer()
    p = progress()
    sealed, plain = state.dumps(p, CALL), signer(seal=False).dumps(p, CALL)
    assert (unsealed(sealed)[:1], unsealed(plain)[:1]) == (SEALED, PLAIN)
    assert unsealed(sealed)[1:5] == unsealed(plain)[1:5] == bytes.fromhex(state.key_id)
    assert len(unsealed(sealed)) == len(unsealed(plain)) + 24 + 16
    assert from_json(unsealed(plain)[5:])[:2] == [1, NOON]


def test_format_key_id_and_salt_are_under_the_seal_as_well():
    """Security 16: even the holder of a signing key cannot move a ciphertext."""
    state = signer(KEY, OLD, accept_unsealed=True)
    raw = unsealed(state.dumps(progress(), CALL))
    other = bytes.fromhex(signer(OLD).key_id)
    assert reason(state, signed(state, SEALED + other + raw[5:])) == "seal"
    assert reason(state, signed(state, raw[:5] + os.urandom(24) + raw[29:])) == "seal"
    assert reason(state, signed(state, raw[:29])) == "seal"
    assert reason(state, signed(state, raw[:9])) == "seal"
    assert reason(state, signed(state, PLAIN + raw[1:])) == "format"


def test_sealed_and_unsealed_states_are_signed_by_different_keys():
    """Security 16: whoever gets the key of one form cannot sign the other."""
    state = signer(accept_unsealed=True)
    for token, form in ((state.dumps(progress(), CALL), PLAIN), (signer(seal=False).dumps(progress(), CALL), SEALED)):
        body = token.split(".")[0]
        signature = state._keys[form + bytes.fromhex(state.key_id)].signature(body.encode()).decode()
        assert reason(state, f"{body}.{signature}") == "signature"


def test_relabelling_a_sealed_state_breaks_its_signature():
    """Security 16: and an unsealed one as well."""
    state = signer(accept_unsealed=True)
    for token, form in ((state.dumps(progress(), CALL), PLAIN), (signer(seal=False).dumps(progress(), CALL), SEALED)):
        body = base64.urlsafe_b64encode(form + unsealed(token)[1:]).rstrip(b"=").decode()
        assert reason(state, f"{body}.{token.split('.')[1]}") == "signature"


def test_an_unknown_format_is_refused():
    """Security 16."""
    state = signer()
    raw = unsealed(state.dumps(progress(), CALL))
    for form in [0, *range(3, 256)]:
        body = base64.urlsafe_b64encode(bytes([form]) + raw[1:]).rstrip(b"=").decode()
        assert reason(state, f"{body}.{'A' * 43}") == "unknown_key"


def test_a_sealing_server_takes_unsealed_states_only_when_told_to():
    """Security 16: the change-over."""
    token = signer(seal=False).dumps(progress(), CALL)
    assert reason(signer(), token) == "seal"
    assert not signer(accept_unsealed=True).loads(token, CALL).expired


def test_a_server_that_does_not_seal_takes_sealed_states():
    """Security 16: the change-over in the other direction."""
    assert not signer(seal=False).loads(signer().dumps(progress(), CALL), CALL).expired


def test_a_server_that_accepts_unsealed_states_seals_its_own():
    """Security 16."""
    assert unsealed(signer(accept_unsealed=True).dumps(progress(), CALL))[:1] == SEALED


# Size


@pytest.mark.parametrize("seal", [True, False])
def test_the_length_of_a_state_tells_nothing_but_the_length_of_its_content(seal):
    """Security 17: no compression, so guessing a secret byte by byte shows nothing."""
    state = signer(seal=seal)
    secret = os.urandom(8).hex()
    lengths = {
        len(state.dumps(progress(carried={"key": secret, "note": note}), CALL))
        for note in (secret, "0" * 16, os.urandom(8).hex())
    }
    assert len(lengths) == 1


def test_a_state_too_large_names_size_limit_and_the_largest_values():
    """Security 23: never what they hold. Reported as agentgateway/agentgateway#3578."""
    p = progress(
        carried={"report": "r" * 3 * 2**20, "tiny": 1},
        defaults={"template": "t" * 2000},
        slots={"photo": Slot("pin", "p" * 100_000)},
    )
    with pytest.raises(StateTooLarge) as caught:
        signer().dumps(p, CALL)
    text = str(caught.value)
    assert f"may carry {MAX_PAYLOAD}" in text
    assert "the largest: value report (3145730 bytes), answer photo (" in text
    assert text.endswith("default template (2002 bytes)")
    assert not any(letters in text for letters in ("rrr", "ttt", "ppp"))


def test_a_state_too_large_for_other_reasons_says_so():
    with pytest.raises(StateTooLarge, match="the largest: nothing"):
        signer().dumps(Progress(given="x" * MAX_PAYLOAD), CALL)


@pytest.mark.parametrize("seal", [True, False])
def test_the_budget_is_of_uncompressed_bytes_and_the_longest_state_opens(seal):
    """Security 17: at the limit to the byte; letters outside ASCII count as they are encoded."""
    state = signer(seal=seal)
    room = MAX_PAYLOAD - len(unsealed(signer(seal=False).dumps(progress(carried={"x": ""}), CALL))) + 5
    fits = progress(carried={"x": "é" * (room // 2) + "e" * (room % 2)})
    token = state.dumps(fits, CALL)
    assert len(token) <= MAX_TOKEN
    assert len(token) == MAX_TOKEN or not seal
    assert state.loads(token, CALL).progress == fits
    for letters in ("e" * (room + 1), "é" * (room // 2) + "e" * (room % 2 + 1)):
        with pytest.raises(StateTooLarge, match=f"has to carry {MAX_PAYLOAD + 1} bytes"):
            state.dumps(progress(carried={"x": letters}), CALL)


# What is shown


def test_no_repr_and_no_error_shows_a_token_or_what_is_in_it():
    """Security 11, 23."""
    state = signer()
    token = state.dumps(progress(carried={"card": "needle"}), CALL)
    assert repr(state) == f"StateSigner(audience='shop', key_id={state.key_id!r})"
    assert "needle" not in repr(state.loads(token, CALL))
    for other in OTHERS.values():
        with pytest.raises(InvalidState) as caught:
            state.loads(token, other)
        shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(vars(caught.value))
        assert not any(word in shown for word in ("needle", token[:20], token[-20:], "alice", "mallory"))
        assert caught.value.__suppress_context__


def test_a_log_line_has_key_length_and_digest_of_a_token_and_no_more():
    """Security 23."""
    state = signer()
    token = state.dumps(progress(), CALL)
    line = describe(token)
    assert line.startswith(f"key={state.key_id} length={len(token)} sha256=")
    assert len(line.split("sha256=")[1]) == 8
    assert describe(token) == line != describe(state.dumps(progress(), CALL))


@pytest.mark.parametrize("token", ["", "!", "é", "\ud800" * 9, "AAAA", ".", "a\n" * 9])
def test_a_log_line_is_made_of_anything_and_quotes_nothing(token):
    """Security 23."""
    line = describe(token)
    assert line.isascii()
    assert line.isprintable()
    assert describe(None) == describe(5) == "no text"
    assert describe("") == "key=none length=0 sha256=e3b0c442"
