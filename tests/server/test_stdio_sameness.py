"""Whether the SDK serves a client of 2026-07-28 over stdio or we do, it cannot tell: the answers are the same.

Two processes of one toolbox get every message: `lean`, which serves it by itself, and `sdk`, which leaves all of it to
the SDK. What differs is in the table at the end, each with its reason.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mrtr_tools.keys import generate_key
from mrtr_tools.server.envelope import MAX_REQUEST
from tests.server.raw_http import accept, envelope
from tests.server.raw_stdio import Wire, served

TOOLBOX = "tests.server.everything"
PREFIX = "io.modelcontextprotocol/"
ODD = ["null", "true", "1.5", "[]", "{}", '""', "7", '"x"']

Json = dict[str, Any]


@pytest.fixture(scope="module")
def lean() -> Iterator[Wire]:
    with served(TOOLBOX, MRTR_TOOLS_KEYS=KEY) as wire:
        yield opened(wire)


@pytest.fixture(scope="module")
def sdk() -> Iterator[Wire]:
    with served(TOOLBOX, transport="sdk", MRTR_TOOLS_KEYS=KEY) as wire:
        yield opened(wire)


KEY = generate_key()


def opened(wire: Wire) -> Wire:
    """Begin as a client of 2026-07-28."""
    wire.send("server/discover", 0, _meta=envelope())
    wire.receive()
    return wire


def request(method: str, number: str = "1", meta: Any = None, **params: Any) -> bytes:
    """A request whose id is JSON as it is written."""
    told = {"_meta": envelope() if meta is None else meta, **params}
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (
        number.encode(),
        json.dumps(method).encode(),
        json.dumps(told).encode(),
    )


def call(name: Any, arguments: Any = None, **more: Any) -> bytes:
    return request("tools/call", name=name, arguments=arguments, **more)


def answered() -> dict[str, bytes]:
    """What has an answer, by name."""
    found: dict[str, bytes] = {}
    for part in (_methods, _calls, _answers, _envelopes, _frames, _sizes):
        found |= dict(part())
    return found


def _methods() -> Iterator[tuple[str, bytes]]:
    lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]
    gone = ["ping", "logging/setLevel", "resources/subscribe", "tasks/get", "notifications/cancelled", "unknown", ""]
    for method in ["server/discover", *lists, *gone, "initialize"]:
        yield method, request(method)
        yield f"{method} without parameters", b'{"jsonrpc":"2.0","id":1,"method":"%b"}' % method.encode()
    for method in lists:
        for cursor in (None, "2", 7):
            yield f"{method} from {cursor!r}", request(method, cursor=cursor)
    for version in ("2025-11-25", 7):
        yield f"initialize with {version!r}", request("initialize", protocolVersion=version)
    reference = {"type": "ref/prompt", "name": "poem"}
    completed = request("completion/complete", ref=reference, argument={"name": "topic", "value": ""})
    yield "something to complete", completed
    yield "something to listen to", request("subscriptions/listen", notifications={"toolsListChanged": True})


def _calls() -> Iterator[tuple[str, bytes]]:
    for name in ("greet", "echo", "fail", "report", "shout", "nobody", None, 7):
        for meta in ({}, {"progressToken": "t"}, {f"{PREFIX}logLevel": "info"}):
            yield f"tool {name!r} and {list(meta)}", call(name, meta={**envelope(), **meta})
    both = {**envelope(), "progressToken": 7, f"{PREFIX}logLevel": "debug"}
    yield "all that can be told", call("report", meta=both)
    yield "what cannot be asked", call("greet", meta=envelope({}))
    for name in ("poem", "broken", "nobody", 7):
        yield f"prompt {name!r}", request("prompts/get", name=name)
    for uri in ("memo://x", "memo:all", "nope:x", "", 7):
        yield f"resource {uri!r}", request("resources/read", uri=uri)


def _answers() -> Iterator[tuple[str, bytes]]:
    for name, answer in {"none": None, "odd": 7, "right": accept(who="Ada"), "wrong": accept(who=7)}.items():
        yield f"answer {name}", call("greet", inputResponses={"who": answer})
    for value in ("[" * 70 + "]" * 70, "1e400", "NaN", '"é"', '"\\u0000"', '{"a":1,"a":2}'):
        yield f"argument {value[:20]}", call("echo", {"value": "@"}).replace(b'"@"', value.encode())
    for member in ("arguments", "inputResponses", "requestState"):
        for odd in ODD:
            yield f"{member} {odd}", call("greet", **{member: json.loads(odd)})


def _envelopes() -> Iterator[tuple[str, bytes]]:
    for odd in ODD:
        yield f"envelope {odd}", request("tools/list", meta=json.loads(odd) or {})
        for member in ("progressToken", f"{PREFIX}logLevel"):
            yield f"{member} {odd}", call("report", meta={**envelope(), member: json.loads(odd)})
        for member in ("protocolVersion", "clientCapabilities", "clientInfo"):
            meta = {**envelope(), PREFIX + member: json.loads(odd)}
            yield f"{member} {odd}", request("tools/list", meta=meta)
    for member in ("protocolVersion", "clientCapabilities", "clientInfo"):
        meta = {name: value for name, value in envelope().items() if name != PREFIX + member}
        yield f"no {member}", request("tools/list", meta=meta)


def _frames() -> Iterator[tuple[str, bytes]]:
    for number in ('""', '"ä"', '"%s"' % ("x" * 256), "-1", "9" * 30, '"7"', '"\\u0000"'):
        yield f"id {number[:20]}", request("tools/list", number)
    yield "white space", b" \t" + request("tools/list") + b" \r"
    yield "an id twice", request("tools/list").replace(b'"id":1', b'"id":5,"id":1')
    yield "parameters that are a list", b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}'
    yield "another frame", b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}'
    yield "no method", b'{"jsonrpc":"2.0","id":1}'
    yield "a number for a method", b'{"jsonrpc":"2.0","id":1,"method":7}'
    yield "no UTF-8", call("echo", {"value": "@"}).replace(b"@", b"\xe9")
    yield "half a character", call("echo", {"value": "@"}).replace(b"@", b"\\ud800")
    yield "too many digits", call("echo", {"value": 0}).replace(b'"value": 0', b'"value":' + b"9" * 5000)
    yield "too deep", call("echo", {"value": 0}).replace(b'"value": 0', b'"value":' + b"[" * 300 + b"]" * 300)


def _sizes() -> Iterator[tuple[str, bytes]]:
    small = call("echo", more="")
    for name, size in {"as long as can be": MAX_REQUEST, "too long": MAX_REQUEST + 1}.items():
        yield name, small.replace(b'"more": ""', b'"more": "%b"' % (b"x" * (size - len(small))))
    yield "a notification that is too long", b'{"jsonrpc":"2.0","method":"%b"}' % (b"x" * MAX_REQUEST)
    yield "noise that is too long", b"x" * (MAX_REQUEST + 1)


PASSED_OVER = [
    *(b"", b" ", b"\r", b"nonsense", b"\xff\xfe", b"[]", b"7", b"null", b"{}", b"\xef\xbb\xbf{}"),
    b"[%b]" % request("tools/list"),
    b'{"jsonrpc":"2.0","id":1,"result":{}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","method":"notifications/whatever","params":{"_meta":{}}}',
    *(request("tools/list", number) for number in ("null", "true", "1.5", "[]", "{}")),
    b'{"jsonrpc":"2.0","id":1,"result":{"a":"%b"}}' % (b"x" * MAX_REQUEST),
]


def messages(wire: Wire, line: bytes) -> list[Json]:
    """What comes for a request: notifications, and the answer last. A state is never the same."""
    wire.write(line)
    told = [wire.receive()]
    while "method" in told[-1]:
        told.append(wire.receive())
    if "requestState" in told[-1].get("result", {}):
        told[-1]["result"]["requestState"] = "a state"
    return told


@pytest.mark.parametrize("name", answered())
def test_a_message_has_the_same_answers(lean, sdk, name):
    line = answered()[name]

    assert messages(lean, line) == messages(sdk, line)


@pytest.mark.parametrize("line", PASSED_OVER, ids=lambda line: repr(line[:60]))
def test_both_pass_over_the_same(lean, sdk, line):
    for wire in (lean, sdk):
        wire.write(line)
        assert messages(wire, request("tools/list", '"next"'))[0]["id"] == "next"


def test_a_call_goes_on_with_the_other_one(lean, sdk):
    for first, second in ((lean, sdk), (sdk, lean)):
        first.call(1, "greet")
        state = first.receive()["result"]["requestState"]
        second.call(2, "greet", inputResponses={"who": accept(who="Ada")}, requestState=state)
        assert second.receive()["result"]["structuredContent"] == {"result": "Ada"}


# What differs


def error(message: Json) -> Any:
    return message.get("error", {}).get("code")


DIFFERENT: dict[str, tuple[bytes, int | None, int | None]] = {
    # There is no such method here, so nobody looks at its parameters first.
    "nothing to complete": (request("completion/complete"), -32601, -32602),
    "nothing to listen to": (request("subscriptions/listen"), -32601, -32602),
    # An id is no place for a novel: whoever logs ids, or counts by them, is spared.
    "an id of many characters": (request("tools/list", f'"{"x" * 257}"'), -32600, None),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_differs_as_it_is_said(lean, sdk, name):
    line, ours, theirs = DIFFERENT[name]
    found = [messages(wire, line)[-1] for wire in (lean, sdk)]

    assert [error(message) for message in found] == [ours, theirs]
    assert found[0]["id"] == found[1]["id"]
