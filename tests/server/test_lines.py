"""Lines of a client, without a process: how they are held, and who is told of one that is no message."""

import json
import tracemalloc
from collections.abc import Iterator
from functools import partial
from typing import Any

import anyio
import pytest
from hypothesis import given, strategies as st
from mcp_types import jsonrpc_message_adapter

from mrtr_tools.server.lines import EDGE, Addressee, Line, addressee, lines_of
from mrtr_tools.server.stdio import Messages

LONG = "x" * EDGE  # what LONG stands for in a text


def pieces(*parts: bytes) -> Iterator[bytes]:
    yield from parts
    yield b""


def read(limit: int, *parts: bytes) -> list[Line]:
    left = pieces(*parts)
    return list(lines_of(lambda: next(left), limit))


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([], []),
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\nc", b"\n"], [b"ab", b"c"]),
        ([b"a end"], [b"a end"]),
        ([b"\n\n"], [b"", b""]),
        ([b"12345\nx\n"], [b"12345", b"x"]),
        ([b"123", b"45\n", b"x"], [b"12345", b"x"]),
    ],
)
def test_lines_come_whole_however_they_are_read(parts, lines):
    assert read(5, *parts) == [Line(line) for line in lines]


@pytest.mark.parametrize("size", [1, 7, EDGE - 1, EDGE, EDGE + 1, 50_000])
def test_of_a_line_that_is_too_long_both_ends_come_and_the_next_one_is_whole(size):
    line = b"".join(b"%06d" % number for number in range(8000))
    sent = line + b"\nnext\n"
    parts = [sent[at : at + size] for at in range(0, len(sent), size)]

    assert read(len(line) - 1, *parts) == [Line(line[:EDGE], line[-EDGE:]), Line(b"next")]
    assert read(len(line), *parts) == [Line(line), Line(b"next")]


def test_of_a_line_without_end_no_more_than_the_limit_and_a_piece_is_held():
    """Security 21."""
    piece, given_out = b"x" * 65_536, 0

    def endless() -> bytes:
        nonlocal given_out
        given_out += 1
        return piece if given_out <= 1000 else b""

    tracemalloc.start()
    try:
        [line] = lines_of(endless, 100_000)
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()
    assert (line.text, line.end) == (b"x" * EDGE, b"x" * EDGE)


# Whom it concerns

PYTHON = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":{"id":8},"requestState":"LONG"}}'
TYPESCRIPT = '{"method":"tools/call","params":{"a":{"id":8},"requestState":"LONG"},"jsonrpc":"2.0","id":7}'


@pytest.mark.parametrize(
    ("text", "name", "is_response"),
    [
        (PYTHON, 7, False),
        (TYPESCRIPT, 7, False),
        ('{"id":"seven","params":"LONG","method":"x"}', "seven", False),
        (' { "id" : 7 , "method" : "x" , "params" : [ "LONG" ] } \r', 7, False),
        (' { "method" : "x" , "params" : [ "LONG" ] , "id" : -7 } \r', -7, False),
        ('{"jsonrpc":"2.0","id":7,"result":{"a":"LONG"}}', 7, True),
        ('{"jsonrpc":"2.0","id":7,"error":{"a":"LONG"}}', 7, True),
        ('{"result":{"a":"LONG"},"jsonrpc":"2.0","id":7}', 7, True),
        ('{"result":"LONG"}', None, False),
        ('{"id":1,"method":"x","params":{"a":"LONG"},"id":2}', 2, False),
        ('{"id":1,"id":2,"method":"x","params":"LONG"}', 2, False),
        ('{"method":"x","params":{"a":"LONG","id":7}}', None, False),
        ('{"method":"x","params":[{"a":"LONG"},{"b":1,"id":7}]}', None, False),
        ('{"method":"x","params":"LONG,\\"id\\":7}"}', None, False),
        ('{"method":"x","params":"LONG\\\\","id":7}', 7, False),
        ('{"a\\"id":1,"method":"x","params":"LONG"}', None, False),
        ('{"LONG":1,"id":7}', 7, False),
        ('{"method":"x","params":{"a":"LONG"},"id":true}', None, False),
        ('{"method":"x","params":{"a":"LONG"},"id":1.5}', None, False),
        ('{"method":"x","params":{"a":"LONG"},"id":null}', None, False),
        ('{"method":"x","params":{"a":"LONG"},"id":"\\ud800"}', None, False),
        ('{"method":"x","params":{"a":"LONG"},"id":' + "9" * 4097 + "}", None, False),
        ('[{"id":7,"method":"LONG"}]', None, False),
        ('{"id":7LONG', None, False),
        ('"LONG', None, False),
        ("{" * EDGE, None, False),
        ("," * EDGE, None, False),
        (',"a":1' * EDGE, None, False),
        ("", None, False),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_the_id_is_found_at_either_end_and_nowhere_inside(text, name, is_response):
    line = text.replace("LONG", LONG).encode()

    assert addressee(Line(line[:EDGE], line[-EDGE:])) == Addressee(name, is_response)
    assert addressee(Line(line)) == Addressee(name, is_response)


ids = st.integers() | st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(ids, json_values, st.booleans(), st.booleans())
def test_the_id_of_a_message_is_found_whatever_else_is_in_it(name, params, first, response):
    about = {"result": params} if response else {"method": "x", "params": params}
    parts = [{"jsonrpc": "2.0", "id": name}, about]
    merged = parts[0] | parts[1] if first else parts[1] | parts[0]
    line = json.dumps(merged).encode()
    found = addressee(Line(line))

    assert found.name == name
    assert found.is_response <= response


@given(st.binary())
def test_whatever_a_line_is_somebody_or_nobody_is_told(line):
    found = addressee(Line(line))

    assert found.name is None or isinstance(found.name, (str, int))


# What is handed on


async def handed_on(limit: int, *lines: str | bytes) -> tuple[list[Any], list[Any]]:
    """What the SDK gets, and what clients are told."""
    told: list[Any] = []

    async def refuse(error: dict[str, Any]) -> None:
        told.append((error["id"], error["error"]["code"]))

    sent = b"\n".join(line.encode() if isinstance(line, str) else line for line in lines)
    found = read(limit, sent)
    giving, taking = anyio.create_memory_object_stream[Line](len(found))
    async with taking:
        async with giving:
            for line in found:
                await giving.send(line)
        check = partial(jsonrpc_message_adapter.validate_python, by_name=False)
        messages = Messages(taking, limit, check, refuse)
        return [json.loads(message) async for message in messages], told


def request(**more: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **more})


@pytest.mark.anyio
async def test_who_sent_a_message_that_is_too_long_is_told_by_its_id_where_it_can_be_read():
    taken, told = await handed_on(
        80,
        request(id=1, method="m", x=LONG),
        request(method="m", x=LONG),
        request(id=True, method="m", x=LONG),
        json.dumps([LONG]),
        f"{{{LONG}",
        request(id=2, result={"x": LONG}),
        request(method="short"),
    )

    assert told == [(1, -32600), (None, -32600), (None, -32600), (None, -32600), (None, -32600)]
    assert [message.get("id") for message in taken] == [2, None]
    assert taken[0]["error"] == {"code": -32600, "message": "A message may have 80 bytes"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud800"}}', -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":' + "9" * 5000 + "}}", -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":' + "[" * 500 + "]" * 500 + "}}", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\xff"}}', -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,}}', -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":[]}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"m"}', -32600),
        ('{"id":1}', -32600),
    ],
    ids=["half a pair", "5000 digits", "500 deep", "no utf-8", "a comma too many", "a list", "a number", "1.0", "bare"],
)
async def test_a_request_that_cannot_be_read_is_answered_all_the_same(line, code):
    """Or who sent it would wait for ever."""
    assert await handed_on(100_000, line) == ([], [(1, code)])


@pytest.mark.anyio
@pytest.mark.parametrize("answer", ['"\\ud800"', "9" * 5000, "[" * 500 + "]" * 500])
async def test_who_waits_for_a_response_that_cannot_be_read_hears_that(answer):
    [taken], told = await handed_on(100_000, f'{{"jsonrpc":"2.0","id":3,"result":{{"content":{{"who":{answer}}}}}}}')

    assert taken == {"jsonrpc": "2.0", "id": 3, "error": {"code": -32700, "message": "Parse error"}}
    assert told == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    "noise", [b"", b" ", b"not json", b"\xff\xfe", b"[]", b"7", b"null", b'{"a":1}', b'{"method":7}']
)
async def test_what_nobody_waits_for_is_passed_over(noise):
    assert await handed_on(100_000, noise, request(method="heard")) == ([{"jsonrpc": "2.0", "method": "heard"}], [])
