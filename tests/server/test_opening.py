"""What a client begins with, and whose it is then."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mrtr_tools.server.opening import Opening, read_opening
from tests.server.raw_http import envelope

LIMIT = 1000


def line(method: str, number: Any = None, **params: Any) -> bytes:
    numbered = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **numbered, "method": method, "params": params}).encode() + b"\n"


MODERN = line("tools/list", 1, _meta=envelope())
HELLO = line("initialize", 1, protocolVersion="2025-11-25")
EARLY = line("notifications/initialized")


def opening(*pieces: bytes, written: list[bytes] | None = None) -> Opening | None:
    left: Iterator[bytes] = iter([*pieces, b""])
    return read_opening(lambda: next(left), ([] if written is None else written).append, LIMIT)


@pytest.mark.parametrize(
    ("first", "is_modern"),
    [
        (MODERN, True),
        (line("unknown/method", "a", _meta=envelope()), True),
        (line("tools/list", 1, _meta={"io.modelcontextprotocol/protocolVersion": None}), True),
        (HELLO, False),
        (line("initialize", 1, _meta=envelope()), False),
        (line("tools/list", 1), False),
        (line("tools/list", 1, _meta={"progressToken": 1}), False),
        (line("tools/list", 1, _meta=[]), False),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n', False),
    ],
)
def test_the_first_request_says_whose_the_client_is(first, is_modern):
    found = opening(first)

    assert found is not None
    assert (found.read, found.line, found.is_modern) == (first, first, is_modern)


@pytest.mark.parametrize("first", [MODERN, HELLO])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_is_read_is_handed_on_unchanged(first, size):
    sent = b"noise\r\n" + EARLY + b"\n\xff\n" + first + MODERN + b'{"half a mess'
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    left = iter([*pieces, b""])
    found = read_opening(lambda: next(left), print, LIMIT)

    assert found is not None
    assert found.read + b"".join(left) == sent
    assert found.is_modern == (first is MODERN)


@given(st.lists(st.integers(1, 400), max_size=8), st.booleans())
def test_however_it_comes_in_pieces(sizes, is_modern):
    sent = EARLY + (MODERN if is_modern else HELLO) + b"x" * 3000
    pieces, at = list[bytes](), 0
    for size in [*sizes, len(sent)]:
        pieces.append(sent[at : at + size])
        at += size
    left = iter([piece for piece in pieces if piece] + [b""])
    found = read_opening(lambda: next(left), print, LIMIT)

    assert found is not None
    assert found.is_modern == is_modern
    assert found.read + b"".join(left) == sent


def test_the_last_line_needs_no_end():
    found = opening(MODERN[:-1])

    assert found is not None
    assert (found.read, found.is_modern) == (MODERN, True)


@pytest.mark.parametrize("sent", [b"", b"noise", EARLY, b'{"jsonrpc":"2.0","id":1,"result":{}}\n', b"\n\n"])
def test_a_client_that_asks_for_nothing_is_nobodys(sent):
    assert opening(sent) is None


def test_of_what_comes_before_no_more_is_kept_than_the_sdk_would_take():
    """Security 21."""
    early = [line("notifications/early", number=None, count=count) for count in range(1000)]
    found = opening(*early, HELLO)

    assert found is not None
    assert (found.before, found.line, found.behind) == (b"".join(early[:8]), HELLO, b"")


def test_a_line_that_is_too_long_is_answered_and_decides_nothing():
    written: list[bytes] = []
    long = line("initialize", 7, more="x" * LIMIT)
    found = opening(long, b'{"jsonrpc":"2.0","id":1,"result":{"a":"%b"}}\n' % (b"x" * LIMIT), MODERN, written=written)

    assert found is not None
    assert found.read == MODERN
    assert [json.loads(each) for each in written] == [
        {"jsonrpc": "2.0", "id": 7, "error": {"code": -32600, "message": "A message may have 1000 bytes"}}
    ]
