"""Requests to compare servers by: right ones, wrong ones, and those that somebody made up to do harm."""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.server.asgi import Sent, message, posted, routing
from tests.server.raw_http import VERSION, accept, envelope

PREFIX = "io.modelcontextprotocol/"
FULL = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {"listChanged": True},
    "extensions": {"example/x": {}},
    "experimental": {"x": {}},
}
ODD = [None, True, 0, -1, 1.5, "", "x", [], {}, [[]], {"x": None}]
MEANT_TO_BE_TEXT = [None, True, 5, 1.5, [], {}]

METHODS = [
    *("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"),
    *("tools/call", "prompts/get", "resources/read", "completion/complete", "subscriptions/listen"),
    *("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"),
    *("tasks/get", "tasks/result", "tasks/list", "notifications/cancelled", "unknown/method", "tools/", "", "Größe"),
]

CALLS: dict[str, dict[str, Any]] = {
    "prefer": {},
    "choose": {},
    "answer_either": {},
    "delete": {},
    "sign_in": {"visit": True},
    "ask_model": {"word": "yes"},
    "ask_model_with_tools": {},
    "folders": {},
    "echo": {"value": 1},
    "fail": {},
    "unmeasurable": {},
    "unreadable": {},
    "fetch": {"region": "eu"},
    "far": {"region": "eu", "count": 42},
    "nobody": {},
}


def call(name: Any, arguments: Any = None, **more: Any) -> dict[str, Any]:
    return message("tools/call", name=name, arguments=arguments, **more)


def corpus() -> dict[str, Sent]:
    """All of them, by name."""
    found: dict[str, Sent] = {}
    frames = (_methods, _envelopes, _versions, _frames, _json)
    calls = (_calls, _arguments, _answers, _targets)
    for part in (*frames, *calls, _headers, _values, _http, _hostile, _older):
        for name, sent in part():
            found[name if name not in found else f"{name} ({len(found)})"] = sent
    return found


def _methods() -> Iterator[tuple[str, Sent]]:
    for method in METHODS:
        told = message(method)
        yield f"method {method}", posted(told, mcp_method=None if method == "Größe" else method)
        yield f"notification {method}", posted({"jsonrpc": "2.0", "method": method})
    for cursor in ODD:
        for method in METHODS[:5]:
            yield f"cursor {cursor!r} of {method}", posted(message(method, cursor=cursor))
    reference = {"type": "ref/prompt", "name": "poem"}
    completed = message("completion/complete", ref=reference, argument={"name": "topic", "value": ""})
    yield "something to complete", posted(completed)
    yield "something to listen to", posted(message("subscriptions/listen", notifications={"toolsListChanged": True}))


def _calls() -> Iterator[tuple[str, Sent]]:
    for capabilities in ({}, FULL, {"elicitation": {}}, {"elicitation": {"url": {}}}, {"sampling": {}}):
        for name, arguments in CALLS.items():
            told = call(name, arguments, meta=envelope(capabilities))
            yield f"call of {name} with {list(capabilities)} {capabilities.get('elicitation')}", posted(told)
    fetch = call("fetch", {"region": "eu"})
    for sent in ("eu", "us", "", "=?base64?ZXU=?=", "=?base64?ZXU?=", "=?base64?dXM=?=", "=?base64?\xe9?="):
        yield f"Mcp-Param {sent!r}", posted(fetch, mcp_param_region=sent)
    yield "Mcp-Param without argument", posted(call("fetch", {}), mcp_param_region="eu")
    yield "Mcp-Param of a null argument", posted(call("fetch", {"region": None}), mcp_param_region="eu")
    yield "Mcp-Param of a list", posted(call("fetch", {"region": ["eu"]}), mcp_param_region="eu")
    yield "Mcp-Param that nobody knows", posted(call("echo", {"value": 1}), mcp_param_region="eu")
    far = {"region": "eu", "count": 42}
    for count in ("42", "42.0", "042", "43", "4.2e1", "true"):
        yield f"Mcp-Param of a number {count}", posted(call("far", far), mcp_param_region="eu", mcp_param_count=count)


def _arguments() -> Iterator[tuple[str, Sent]]:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    for value in [*ODD, "ä" * 1000, 2**80, 1e300, -0.0, deep, list(range(30_000)), "\x00\u202e\n"]:
        yield f"echo of {value!r:.30}", posted(call("echo", {"value": value}))
    for arguments in ODD:
        yield f"arguments {arguments!r}", posted(call("echo", arguments))
        yield f"prompt arguments {arguments!r}", posted(message("prompts/get", name="poem", arguments=arguments))
    for arguments in ({"topic": 1}, {"topic": None}, {"topic": "x", "y": []}, {"topic": "rain"}):
        yield f"poem {arguments}", posted(message("prompts/get", name="poem", arguments=arguments))


def _answers() -> Iterator[tuple[str, Sent]]:
    for responses in [*ODD, {"answer": accept(answer="x")}, {f"k{number}": {} for number in range(300)}]:
        yield f"responses {responses!r:.30}", posted(call("answer_either", inputResponses=responses))
        yield f"responses to nobody {responses!r:.30}", posted(call("nobody", inputResponses=responses))
    for state in [*ODD, "x" * 300_000, "AAAA.BBBB", "ÄÖ", "\x00"]:
        yield f"state {state!r:.30}", posted(call("answer_either", requestState=state))
        yield f"state for nobody {state!r:.30}", posted(call("nobody", requestState=state))
        yield f"state for a memo {state!r:.30}", posted(message("resources/read", uri="memo://a", requestState=state))


def _targets() -> Iterator[tuple[str, Sent]]:
    for name in [*MEANT_TO_BE_TEXT, "", "ECHO", "echo ", "Größe", "x" * 5000]:
        for method in ("tools/call", "prompts/get"):
            yield f"{method} {name!r:.20}", posted(message(method, name=name), mcp_name="echo")
            coded = "=?base64?R3LDtsOfZQ==?=" if name == "Größe" else str(name)
            yield f"{method} {name!r:.20} by its name", posted(message(method, name=name), mcp_name=coded)
    uris = ["memo:all", "memo://a", "memo://%C3%A4", "memo://%ff", "memo://a/b", "memo://", "memo://..", "file:///etc"]
    for uri in [*MEANT_TO_BE_TEXT, *uris, f"memo://{'a' * 3000}", "", "\x00"]:
        yield (
            f"read {uri!r:.30}",
            posted(message("resources/read", uri=uri), mcp_name=None if uri is None else str(uri)),
        )
    yield "read nothing", posted(message("resources/read"))


def _envelopes() -> Iterator[tuple[str, Sent]]:
    for meta in [*ODD, {f"{PREFIX}protocolVersion": VERSION}, {f"{PREFIX}clientCapabilities": {}}]:
        yield f"meta {meta!r:.60}", posted(message("server/discover") | {"params": {"_meta": meta}})
    members: list[Any] = [VERSION, "2025-11-25", "v999.0.0", "info", {"name": "a", "version": "1"}, {"elicitation": 7}]
    for key, value in product(("protocolVersion", "clientCapabilities", "clientInfo", "logLevel"), [*ODD, *members]):
        for told in (message("tools/list"), call("echo", {"value": 1}), call("nobody")):
            told["params"]["_meta"] = envelope() | {f"{PREFIX}{key}": value}
            yield f"{key} {value!r} for {told['method']} {told['params'].get('name')}", posted(told)
    info = {"name": "a", "version": "1", "icons": [{"src": "x", "theme": "dark"}], "websiteUrl": None, "more": 1}
    for value in ODD:
        meta = envelope() | {f"{PREFIX}clientInfo": info | {"icons": [value]}}
        yield f"icon {value!r}", posted(message("tools/list", meta=meta))
        yield f"progress token {value!r}", posted(message("tools/list", meta=envelope(progressToken=value)))
    for name, value in product(FULL, ODD):
        yield f"capability {name} {value!r}", posted(call("delete", meta=envelope({name: value})))


def _versions() -> Iterator[tuple[str, Sent]]:
    for version in ("v999.0.0", "2027-01-01", "", "2026-07-28 "):
        told = message("tools/list", meta=envelope() | {f"{PREFIX}protocolVersion": version})
        yield f"another version {version!r}", posted(told, mcp_protocol_version=version)
        notified = posted({"jsonrpc": "2.0", "method": "notifications/x"}, mcp_protocol_version=version)
        yield f"a notification of another version {version!r}", notified


def _frames() -> Iterator[tuple[str, Sent]]:
    for number in [*ODD, 2**80, "x" * 256, "x" * 257, "ä"]:
        yield f"id {number!r:.20}", posted(message("tools/list", number))
        yield f"id {number!r:.20} of a call", posted(call("echo", {"value": 1}) | {"id": number})
    for key in ("jsonrpc", "method", "params"):
        for value in [*ODD, "2.0", "1.0", 2.0]:
            told = message("tools/list") | {key: value}
            yield f"{key} {value!r}", Sent(json.dumps(told).encode(), list(routing(message("tools/list")).items()))
            del told["id"]
            sent = Sent(json.dumps(told).encode(), list(routing(message("tools/list")).items()))
            yield f"{key} {value!r} of a notification", sent
    for whole in [*ODD, [message("tools/list")], {"jsonrpc": "2.0", "id": 1, "result": {}}, {"id": 1}]:
        yield f"message {whole!r:.40}", Sent(json.dumps(whole).encode(), list(routing(message("tools/list")).items()))
    yield "no params", posted({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})


def _headers() -> Iterator[tuple[str, Sent]]:
    told = call("echo", {"value": 1})
    for header in ("mcp-method", "mcp-name", "mcp-protocol-version", "accept", "content-type"):
        if header != "mcp-protocol-version":
            yield f"{header} missing", posted(told, **{header: None})
        for value in ("", "x", "TOOLS/CALL", " echo ", "echo, echo", "=?base64?ZWNobw==?=", "\xe9", "*/*"):
            yield f"{header} {value!r}", posted(told, **{header: value})


def _values() -> Iterator[tuple[str, Sent]]:
    told = call("echo", {"value": 1})
    accepts = ["application/json", "text/event-stream", "*/*", "application/*, text/*", "text/html, application/json"]
    for value in [
        *accepts,
        "APPLICATION/JSON;q=0.1 , Text/Event-Stream;x=y",
        "application/json;text/event-stream",
        ",",
    ]:
        yield f"accept {value}", posted(told, accept=value)
    for value in ("application/json; charset=utf-8", "Application/JSON", "text/plain", "application/json ;x"):
        yield f"content-type {value}", posted(told, content_type=value)
    for value in ("http://localhost:3000", "http://127.0.0.1", "http://evil.example", "https://localhost"):
        yield f"origin {value}", posted(told, origin=value)
    for value in ("localhost", "localhost:1", "[::1]:8000", "evil.example", "127.0.0.1.evil.example", "", "LOCALHOST"):
        yield f"host {value}", posted(told, host=value)
    for extra in ("mcp-session-id", "last-event-id", "authorization", "x-forwarded-for", "cookie"):
        yield f"with {extra}", posted(told, **{extra: "x"})


def _json() -> Iterator[tuple[str, Sent]]:
    told = json.dumps(call("echo", {"value": "VALUE"}))
    headers = list(routing(call("echo")).items())
    for value in (
        "NaN",
        "-Infinity",
        "1e400",
        "-1e400",
        "1E2",
        "-0",
        "01",
        "1.",
        "+1",
        "0x1",
        "'x'",
        "tru",
        "undefined",
    ):
        yield f"value {value}", Sent(told.replace('"VALUE"', value).encode(), headers)
    for value in (r"\u0000", r"\ud83d\ude00", r"\ud800", r"\udc00\ud800", r"\x", r"\u12", "\t", "\x7f", r"\/"):
        yield f"text {value!r}", Sent(told.replace("VALUE", value).encode(), headers)
    for old, new in (('"id": 1', '"id": 1, "id": 2'), ('"name": "echo"', '"name": "fail", "name": "echo"')):
        yield f"twice {old}", Sent(told.replace(old, new).encode(), headers)
    yield "a number of many digits", Sent(told.replace('"VALUE"', "1" * 4000).encode(), headers)
    yield "a number of too many digits", Sent(told.replace('"VALUE"', "1" * 5000).encode(), headers)
    yield "half a character in the id", Sent(told.replace('"id": 1', r'"id": "\ud800"').encode(), headers)
    yield "half a character in the method", Sent(told.replace("tools/call", r"tools/\ud800").encode(), headers)
    yield "half a character in the name", Sent(told.replace('"echo"', r'"\ud800"').encode(), headers)
    yield "half a character in the key of an argument", Sent(told.replace('"value"', r'"\ud800"').encode(), headers)
    uri = json.dumps(message("resources/read", uri="URI")).replace("URI", r"memo://\ud800")
    yield "half a character in a URI", Sent(uri.encode(), list(routing(message("resources/read")).items()))
    for body in (b"", b"{", b"\xff", b"null", told.encode() + b"x", told.encode()[:-1], b" " * 1000 + told.encode()):
        yield f"body {body[:20]!r} of {len(body)}", Sent(body, headers)


def _http() -> Iterator[tuple[str, Sent]]:
    headers = list(routing(message("tools/list")).items())
    for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"):
        yield f"{method} of 2026-07-28", Sent(method=method, headers=headers)
    for path in ("/", "/mcp2", "/MCP", "//mcp", "/mcp/x", "/.well-known/oauth-protected-resource"):
        yield f"path {path}", Sent(path=path, headers=headers)


def _hostile() -> Iterator[tuple[str, Sent]]:
    """What a server in front, or a reader of another kind, could take for another request."""
    told = call("echo", {"value": 1})
    right = posted(told)
    for name in ("Host", "Origin", "Content-Type", "Content-Length", "Authorization", "Mcp-Name", "Mcp-Method"):
        values = dict(right.headers) | {"host": "localhost", "origin": "http://localhost", "content-length": "99"}
        twice = [(name, values.get(name.lower(), "x")), (name, "other")]
        yield f"{name} twice", Sent(right.body, [*[each for each in right.headers if each[0] != name.lower()], *twice])
    yield "MCP-Protocol-Version twice", Sent(right.body, [*right.headers, ("mcp-protocol-version", "2025-11-25")])
    yield "Mcp-Session-Id twice", Sent(right.body, [*right.headers, *[("mcp-session-id", "x")] * 2])
    region = [("mcp-param-region", "eu"), ("mcp-param-region", "us")]
    yield "Mcp-Param twice", Sent(*_parts(call("fetch", {"region": "eu"}), *region))
    yield "Accept in two lines", Sent(*_parts({**told}, ("accept", "text/event-stream"), accept="application/json"))
    yield "Transfer-Encoding beside Content-Length", posted(told, transfer_encoding="chunked")
    yield "Content-Length of no number", posted(told, content_length="1_000")
    yield "Content-Length beyond the limit", posted(told, content_length="1048577")
    yield "Content-Length of many digits", posted(told, content_length="9" * 5000)
    yield "a body beyond the limit", posted(call("echo", {"value": "x" * 1_100_000}), content_length="100")
    for encoding in ("gzip", "identity", ""):
        yield f"Content-Encoding {encoding!r}", posted(told, content_encoding=encoding)
    for kind in ("application/jsonx", "application/json, text/plain", "application/json-patch+json"):
        yield f"Content-Type {kind!r}", posted(told, content_type=kind)
    for origin in ("null", "", "http://localhost:evil", "http://localhost:3000.evil.example", "http://localhost:"):
        yield f"Origin {origin!r}", posted(told, origin=origin)
    for host in ("localhost:evil", "localhost:80@evil.example", "localhost:", "localhost:123456", "localhost:*"):
        yield f"Host {host!r}", posted(told, host=host)
    text = json.dumps(told)
    for coding in ("utf-16", "utf-32", "utf-8-sig"):
        yield f"in {coding}", Sent(text.encode(coding), right.headers)
    yield (
        "half a character in raw bytes",
        Sent(text.replace("echo", "ec\ud800").encode("utf-8", "surrogatepass"), right.headers),
    )
    yield (
        "nested 400 deep",
        Sent(text.replace('"value": 1', f'"value": {"[" * 400}{"]" * 400}').encode(), right.headers),
    )
    yield "nested without end", Sent(b"[" * 1_000_000, right.headers)


def _parts(told: dict[str, Any], *more: tuple[str, str], **headers: str) -> tuple[bytes, list[tuple[str, str]]]:
    sent = posted(told, **headers)
    return sent.body, [*sent.headers, *more]


def _older() -> Iterator[tuple[str, Sent]]:
    """Clients that begin with `initialize`, or get it wrong."""
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    plain = {"mcp_protocol_version": None, "mcp_method": None, "mcp_name": None}
    yield "initialize", posted(hello, **plain)
    yield "initialize with the header of 2026-07-28", posted(hello)
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for version in (None, "2024-11-05", "2025-11-25"):
        yield f"tools/list of {version} without session", posted(listing, **{**plain, "mcp_protocol_version": version})
        for method in ("POST", "GET", "DELETE"):
            headers = [*posted(listing, **{**plain, "mcp_protocol_version": version}).headers, ("mcp-session-id", "x")]
            yield f"{method} of {version} with a session that nobody has", Sent(b"{}", headers, method)
            yield f"{method} of {version} without session", Sent(b"", headers[:-1], method)
    yield "no version header with the envelope of 2026-07-28", posted(message("tools/list"), mcp_protocol_version=None)
    for number in (None, True, 1.5, "x" * 257):
        yield f"initialize with the id {number!r:.10}", posted(hello | {"id": number}, **plain)
    for body in (b"", b"{", b"[]", b"[" * 100_000, json.dumps(hello).encode("utf-16")):
        yield f"initialize as {body[:9]!r} of {len(body)}", Sent(body, posted(hello, **plain).headers)
    for method in ("PUT", "OPTIONS", "HEAD", "PATCH"):
        yield f"{method} by nobody in particular", Sent(method=method)
    yield "GET by a browser", Sent(method="GET", headers=[("accept", "text/html")])
    yield "path with a slash at its end", Sent(b"{}", list(routing(listing).items()), path="/mcp/")
