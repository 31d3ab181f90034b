"""What a line says, and who hears that it says nothing."""

import json

import pytest

from mrtr_tools.server.envelope import Rejected, Request
from mrtr_tools.server.lines import Line
from mrtr_tools.server.messages import message_of, refusal

LIMIT = 1000


def test_a_request_and_a_notification_are_told_apart_by_their_id():
    told = {"jsonrpc": "2.0", "method": "m", "params": {"a": 1}}

    assert message_of(Line(json.dumps({**told, "id": 7}).encode()), LIMIT) == Request(7, "m", {"a": 1})
    assert message_of(Line(json.dumps(told).encode()), LIMIT) == told


@pytest.mark.parametrize(
    ("line", "code", "message", "name"),
    [
        (Line(b'{"id":1,"method":"m"', b'"}'), -32600, "A message may have 1000 bytes", 1),
        (Line(b"xxx", b"xxx"), -32600, "A message may have 1000 bytes", None),
        (Line(b'{"id":1,}'), -32700, "Parse error", 1),
        (Line(b'{"id":1,"method":"\xff"}'), -32700, "Parse error", 1),
        (Line(b'{"id":1,"method":"\\ud800"}'), -32700, "Parse error", 1),
        (Line(b'{"id":1}'), -32600, "This is no JSON-RPC message", 1),
        (Line(b'{"jsonrpc":"2.0","id":1,"method":7}'), -32600, "This is no JSON-RPC message", 1),
    ],
)
def test_who_waits_for_an_answer_hears_that_there_is_none(line, code, message, name):
    with pytest.raises(Rejected) as rejected:
        message_of(line, LIMIT)
    told = refusal(line, rejected.value)

    assert told
    assert json.loads(told) == {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": message}}


@pytest.mark.parametrize(
    "line",
    [
        Line(b""),
        Line(b"noise"),
        Line(b"[]"),
        Line(b'{"jsonrpc":"2.0","id":1,"result":{}}'),
        Line(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}'),
        Line(b'{"id":1,"result":{"', b'"}}'),
        Line(b'{"jsonrpc":"2.0","id":null,"method":"m"}'),
    ],
)
def test_nobody_hears_what_nobody_waits_for(line):
    with pytest.raises(Rejected) as rejected:
        message_of(line, LIMIT)

    assert refusal(line, rejected.value) is None
