"""JSON that its readers take differently: over HTTP and over stdio the same comes of it, and it is never another call.

Two readers are at work: `json` takes half a surrogate pair and 900 levels, `pydantic_core` neither. Of two members of
one name both take the last, and so does all that is bound, compared with headers, and answered.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from mcp_types import jsonrpc_message_adapter
from pydantic_core import from_json

from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.raw_http import VERSION, accept, envelope, send, serving
from tests.server.raw_stdio import Wire, served, told
from tests.server.talker import toolbox

FROZEN = {"code": -32602, "message": "Invalid or expired requestState"}
Way = Callable[[str, str], Any]
"""Sends a message as it is, which calls a tool of this name; gives the response."""


def over_http(url: str, message: str, tool: str) -> Any:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    return send(url, message, headers).body


def over_stdio(wire: Wire, message: str, tool: str) -> Any:
    wire.write(message.encode())
    return wire.receive()


@pytest.fixture(scope="module", params=["http", "stdio"])
def way(request: pytest.FixtureRequest) -> Iterator[Way]:
    key = generate_key()
    with ExitStack() as stack:
        if request.param == "http":
            yield partial(over_http, stack.enter_context(serving(http_app(toolbox, keys=[key]))))
        else:
            yield partial(over_stdio, stack.enter_context(served(MRTR_TOOLS_KEYS=key)))


def calling(tool: str, **params: Any) -> str:
    known = {"_meta": envelope(), "name": tool, **params}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": known}, separators=(",", ":"))


def first_state(way: Way) -> str:
    return way(calling("greet"), "greet")["result"]["requestState"]


# Texts and numbers


@pytest.mark.parametrize(
    "value",
    [
        "NaN",
        "-Infinity",
        "1e400",
        "-1e400",
        r'"\ud800"',
        r'"\udc00\ud800"',
        r'{"\ud800":1}',
        "9" * 1_000_000,
        "[" * 64 + "]" * 64,
        "[" * 500 + "]" * 500,
        '{"a":' * 150_000 + "1" + "}" * 150_000,
        "[" * 500_000 + "]" * 500_000,
    ],
    ids=lambda value: f"{value[:14]} {len(value)}",
)
@pytest.mark.parametrize("member", ["arguments", "inputResponses", "_meta"])
def test_numbers_texts_and_depths_that_are_too_much_are_refused_or_of_no_effect(way: Way, value: str, member: str):
    """Security 21: never an internal error, never no answer; and the next call is served."""
    given: dict[str, Any] = {"arguments": {"text": "x"}, "inputResponses": {}, "_meta": envelope()}
    given[member] = {**given[member], "more": "VALUE"}

    response = way(calling("echo", **given).replace('"VALUE"', value), "echo")

    if "error" in response:
        assert response["error"]["code"] in (-32602, -32700)
    else:
        assert member != "arguments"
        assert told(response) == "x"
    assert told(way(calling("echo", arguments={"text": "next"}), "echo")) == "next"


@pytest.mark.parametrize("value", [r'"\ud800"', r'"\u0000"', "1e400", "NaN", "[[[[1]]]]", "null", "9" * 400])
def test_an_odd_answer_is_asked_again_or_refused_and_never_taken(way: Way, value: str):
    """Security 21."""
    message = calling("greet", requestState=first_state(way), inputResponses={"who": accept(who="VALUE")})

    response = way(message.replace('"VALUE"', value), "greet")

    if value == r'"\u0000"':  # a character like any other
        assert told(response) == "Hello \0"
    elif "error" in response:
        assert response["error"]["code"] == -32700
    else:
        assert list(response["result"]["inputRequests"]) == ["who"]


@pytest.mark.parametrize("value", [r'"\ud800"', r'"\u0000"', '""', '"[[[["', '"1e400"'])
def test_an_odd_text_as_a_state_is_refused_like_any_other(way: Way, value: str):
    """Security 15, 21: with the frozen message, where the message can be read at all."""
    response = way(calling("greet", requestState="VALUE").replace('"VALUE"', value), "greet")

    assert response["error"] in (FROZEN, {"code": -32700, "message": "Parse error"})


# Two members of one name


def test_every_reader_takes_the_last_of_two_members():
    params = '"params":{"a":1},"params":{"b":{"c":1},"b":{"c":2,"c":3}}'
    text = '{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b",' + params + "}"
    last = {"jsonrpc": "2.0", "id": 2, "method": "b", "params": {"b": {"c": 3}}}

    assert json.loads(text) == last
    assert from_json(text) == last
    assert jsonrpc_message_adapter.validate_json(text).model_dump(exclude_unset=True) == last


STATE = '"requestState":"STATE"'
MEMBERS = [
    ('"name":"greet"', '"name":"echo"'),
    ('"arguments":{"text":"right"}', '"arguments":{"text":"wrong"}'),
    ('"text":"right"', '"text":"wrong"'),
    ('"text":"right"', '"\\u0074ext":"wrong"'),
    (STATE, '"requestState":"forged"'),
    (STATE, '"requestState":null'),
    ('"inputResponses":{"who":WHO}', '"inputResponses":{}'),
    ('"who":WHO', '"who":{"action":"decline"}'),
    ('"action":"accept"', '"action":"decline"'),
    ('"who":"Ada"', '"who":"Eve"'),
    ('"id":1', '"id":2'),
    ('"method":"tools/call"', '"method":"tools/list"'),
]
"""A member of the message, and another of the same name."""


def answered(way: Way) -> str:
    """A call that is answered, all of it right."""
    who = json.dumps(accept(who="Ada"), separators=(",", ":"))
    text = calling("greet", arguments={"text": "right"}, inputResponses={"who": "WHO"}, requestState="STATE")
    return text.replace('"WHO"', who)


@pytest.mark.parametrize(("right", "wrong"), MEMBERS, ids=lambda member: member[:30])
def test_of_two_members_of_one_name_the_last_one_counts(way: Way, right: str, wrong: str):
    """Security 2, 8, 21: for the state, for what it is bound to, for answers and for the headers alike."""
    who = json.dumps(accept(who="Ada"), separators=(",", ":"))
    asked = way(calling("greet", arguments={"text": "right"}), "greet")["result"]
    right = right.replace("WHO", who)
    text = answered(way)
    assert text.count(right) == 1, right

    def sent(members: str) -> Any:
        return way(text.replace(right, members).replace("STATE", asked["requestState"]), "greet")

    only_right, only_wrong = sent(right), sent(wrong)

    assert told(only_right) == "Hello Ada"
    assert _whole(only_wrong) != _whole(only_right)
    assert _whole(sent(f"{wrong},{right}")) == _whole(only_right)
    assert _whole(sent(f"{right},{wrong}")) == _whole(only_wrong)


def _whole(response: dict[str, Any]) -> Any:
    """A response to compare, but for the state, which is new each time."""
    result = {key: value for key, value in response.get("result", {}).items() if key != "requestState"}
    return response.get("id"), response.get("error"), result
