"""The frame of a request, and which error is told for what is wrong with it."""

import json
import math

import pytest
from mcp.shared import inbound
from mcp_types import version
from pydantic import JsonValue

from mrtr_tools.errors import InvalidParams
from mrtr_tools.server.envelope import (
    CALLED_BY,
    HTTP_STATUS,
    VERSION,
    Rejected,
    Request,
    check_meta,
    check_version,
    client_of,
    failed,
    is_id,
    read_json,
    read_request,
    target_of,
    wants_stream,
)
from tests.server.raw_http import envelope

FRAME = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": None}}


def request(method: str = "tools/call", **params: JsonValue) -> Request:
    return Request(1, method, params)


def test_the_protocol_is_that_of_the_official_sdk():
    assert (VERSION,) == version.MODERN_PROTOCOL_VERSIONS
    assert dict(HTTP_STATUS) == dict(inbound.ERROR_CODE_HTTP_STATUS)
    assert dict(CALLED_BY) == dict(inbound.NAME_BEARING_METHODS)


# JSON


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"a":1}{"b":2}',
        b'{"a":1}\x00',
        b"[1,]",
        b"01",
        b'"\x00"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        b"1" * 5000,
        b"[" * 100_000,
        b"[" * 300 + b"]" * 300,
        b'"\\ud800' + b"[" * 100_000,
        b'{"\\ud800":"\xed\xa0\x80"}',
    ],
)
def test_what_is_no_json_in_utf_8_is_a_parse_error(data):
    """Security 21: it is nested too deep, or a number has thousands of digits, and nothing else is wrong."""
    with pytest.raises(Rejected, match="Parse error") as refused:
        read_json(data)

    assert refused.value.code == -32700


def test_json_is_read_as_python_reads_it():
    text = (
        '{"a": [1, -0, 1.5, 1e400, NaN, true, null, "\\u00e9 \\ud83d\\ude00 \\u0000"], "a": {"": 12345678901234567890}}'
    )

    assert read_json(text.encode()) == json.loads(text)
    assert read_json(bytearray(b'{"a": 1e400}')) == {"a": math.inf}


def test_nothing_that_a_message_says_stays_behind():
    one, other = (read_json(b'{"a": "an answer"}') for _ in range(2))

    assert isinstance(one, dict)
    assert isinstance(other, dict)
    assert one["a"] == other["a"]
    assert one["a"] is not other["a"], "pydantic has kept it"


def test_half_a_character_can_be_read_so_that_its_request_can_be_refused_by_name():
    assert read_json(b'{"id": 7, "name": "\\ud83d"}') == {"id": 7, "name": "\ud83d"}
    assert read_json(b'["\\uDC00\\uD800"]') == ["\udc00\ud800"]


# The frame


@pytest.mark.parametrize("name", [0, -1, 2**80, "", "a", "ä" * 256])
def test_the_id_is_a_text_or_a_whole_number(name):
    assert read_request({**FRAME, "id": name}) == Request(name, "tools/list", {"cursor": None})


@pytest.mark.parametrize("name", [None, True, False, 1.0, 1.5, [], {}, "a" * 257, "\ud800", math.nan])
def test_any_other_id_is_refused(name):
    """Security 20: whoever logs ids or counts by them is not told a novel, nor an id that is equal to another."""
    with pytest.raises(Rejected) as refused:
        read_request({**FRAME, "id": name})

    assert refused.value.code == -32600
    assert not is_id(name)


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        [FRAME],
        "tools/list",
        7,
        {},
        {"id": 1},
        {**FRAME, "jsonrpc": "1.0"},
        {**FRAME, "jsonrpc": 2.0},
        {**FRAME, "method": None},
        {**FRAME, "method": 7},
        {**FRAME, "params": []},
        {**FRAME, "params": "name"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "method": 7},
        {"jsonrpc": "2.0", "method": "notifications/x", "params": [1]},
    ],
)
def test_what_is_neither_request_nor_notification_is_refused(message):
    with pytest.raises(Rejected, match="Body must be a single JSON-RPC request") as refused:
        read_request(message)

    assert refused.value.code == -32600


def test_a_notification_has_no_id_and_is_not_answered():
    assert read_request({"jsonrpc": "2.0", "method": "notifications/cancelled"}) is None
    assert read_request({"jsonrpc": "2.0", "method": "anything", "params": {}}) is None


# The envelope


def test_the_envelope_has_a_version_and_what_the_client_can_do():
    meta = envelope({"elicitation": {}})

    assert check_meta(request(_meta=meta)) == meta
    client = client_of(meta)
    assert (client.capabilities, client.name, client.version) == ({"elicitation": {}}, "raw", "0")


def test_a_client_need_not_say_who_it_is():
    meta: dict[str, JsonValue] = {"io.modelcontextprotocol/clientCapabilities": {}}

    assert client_of(meta).name is None
    assert client_of({**meta, "io.modelcontextprotocol/clientInfo": None}).name is None


@pytest.mark.parametrize("params", [None, {}, {"_meta": None}, {"_meta": []}, {"_meta": "x"}])
def test_a_request_without_envelope_is_refused(params):
    with pytest.raises(
        Rejected, match=r"must be an object carrying the required 'io\.modelcontextprotocol/"
    ) as refused:
        check_meta(Request(1, "tools/list", params))

    assert refused.value.code == -32602


@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities"])
def test_an_envelope_that_lacks_something_is_told_what(missing):
    meta = envelope()
    del meta[f"io.modelcontextprotocol/{missing}"]

    with pytest.raises(Rejected, match=rf"missing the required envelope key\(s\): io.modelcontextprotocol/{missing}$"):
        check_meta(request(_meta=meta))


def test_another_version_is_told_which_there_are():
    check_version(VERSION)

    with pytest.raises(Rejected) as refused:
        check_version("v999.0.0")

    assert (refused.value.code, refused.value.data) == (-32022, {"supported": [VERSION], "requested": "v999.0.0"})


@pytest.mark.parametrize("requested", [None, 20260728, [], {}])
def test_a_version_that_is_no_text_is_another_mistake(requested):
    with pytest.raises(Rejected, match="must be a string") as refused:
        check_version(requested)

    assert refused.value.code == -32602


# What is called


def test_what_is_called_is_named_by_name_or_uri():
    assert target_of("tools/call", {"name": "greet"}) == "greet"
    assert target_of("prompts/get", {"name": "poem", "uri": "memo:1"}) == "poem"
    assert target_of("resources/read", {"name": "greet", "uri": "memo:1"}) == "memo:1"


@pytest.mark.parametrize(
    ("method", "params"),
    [("tools/list", {"name": "greet"}), ("tools/call", None), ("tools/call", {}), ("tools/call", {"name": ["greet"]})],
)
def test_whatever_else_calls_nothing(method, params):
    assert target_of(method, params) is None


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({}, False),
        ({"progressToken": None}, False),
        ({"progressToken": 0}, True),
        ({"progressToken": "t"}, True),
        ({"io.modelcontextprotocol/logLevel": "info"}, True),
        ({"io.modelcontextprotocol/logLevel": None}, False),
    ],
)
def test_a_call_says_whether_it_wants_to_hear_how_it_is_served(more, wanted):
    meta = envelope(**more)

    assert [wants_stream(request(method, _meta=meta)) for method in CALLED_BY] == [wanted] * 3
    assert not wants_stream(request("tools/list", _meta=meta)), "there is nothing to be told of"


@pytest.mark.parametrize("params", [None, {}, {"_meta": ["progressToken"]}])
def test_a_call_without_envelope_wants_nothing(params):
    assert not wants_stream(Request(1, "tools/call", params))


# Errors


@pytest.mark.parametrize("name", [None, 0, "seven", 2**70])
def test_an_error_names_the_request_and_has_a_status(name):
    answer = failed(name, InvalidParams("Unknown tool"))

    error = {"code": -32602, "message": "Unknown tool"}
    assert answer.status == 400
    assert json.loads(answer.body) == {"jsonrpc": "2.0", "id": name, "error": error}


def test_an_error_with_half_a_character_in_it_can_be_sent():
    answer = failed(1, InvalidParams("Unknown resource", {"uri": "memo:\ud800"}))

    assert answer.status == 400
    assert json.loads(answer.body)["error"]["data"] == {"uri": "memo:\\ud800"}


def test_the_protocol_gives_an_internal_error_no_status_of_its_own():
    assert failed(1, Rejected(-32603, "Internal error")).status == 200
