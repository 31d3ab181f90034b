"""Whether the SDK serves a request or we do, a client cannot tell: status, headers and JSON are the same.

Three applications of one toolbox get every request: `lean`, which serves what it can by itself; `handed`, which stands
behind the same gate and leaves everything to the SDK; and `bare`, the SDK's application as it comes. What differs is in
the two tables below, each with its reason, and every line of them is used.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any

import pytest
from hypothesis import given, settings, strategies as st
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field

from mrtr_tools import Context, Toolbox
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from mrtr_tools.server.alone import server_for
from mrtr_tools.server.envelope import CALLED_BY, MAX_REQUEST
from mrtr_tools.server.over_http import LOOPBACK_HOSTS, LOOPBACK_ORIGINS
from mrtr_tools.server.service import Service
from mrtr_tools.server.signing import starting_signer
from tests.server import kinds
from tests.server.asgi import Came, Sent, exchange, message, posted, running
from tests.server.corpus import FULL, METHODS, call, corpus
from tests.server.raw_http import accept, envelope

toolbox = Toolbox("same", title="The same", version="3.1", instructions="Ask.")
for ask in (
    *(kinds.prefer, kinds.choose, kinds.answer_either, kinds.delete, kinds.sign_in, kinds.ask_model),
    *(kinds.ask_model_with_tools, kinds.folders),
):
    toolbox.tool(ask)
toolbox.step(kinds.told_model)
for prompt in (kinds.poem, kinds.picture, kinds.broken):
    toolbox.prompt(prompt)
toolbox.resource("memo://{name}")(kinds.memo)
toolbox.resource("memo:all", mime_type="text/markdown")(kinds.memos)


@toolbox.tool(title="Echo", annotations={"readOnlyHint": True})
def echo(value: Any = None) -> dict[str, Any]:
    """Gives back what it got."""
    return {"value": value}


@toolbox.tool
async def fail() -> str:
    raise RuntimeError("postgres://secret")


@toolbox.tool
def unmeasurable() -> float:
    return math.nan


@toolbox.tool
def unreadable() -> Any:
    return b"\xff"


def in_header(name: str, **more: Any) -> Any:
    return Field(json_schema_extra={"x-mcp-header": name, **more})


@toolbox.tool
def fetch(region: Annotated[Any, in_header("Region", type="string")] = None) -> Any:
    return region


@toolbox.tool
def far(region: Annotated[str, in_header("Region")], count: Annotated[int, in_header("Count")]) -> Any:
    return [region, count]


@toolbox.tool
async def report(ctx: Context) -> str:
    await ctx.report_progress(1, 2, "half")
    await ctx.log("info", "halfway")
    return "reported"


KEYS = [generate_key()]
TOLD = ("content-type", "allow", "connection", "mcp-session-id", "content-encoding", "www-authenticate", "location")


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[[str, Sent], Came]]:
    signer = starting_signer(toolbox, KEYS, audience=None, ttl=3600)
    allowed = TransportSecuritySettings(allowed_hosts=LOOPBACK_HOSTS, allowed_origins=LOOPBACK_ORIGINS)
    bare = server_for(Service(toolbox, signer, anonymous_ok=True))
    apps = {
        "lean": http_app(toolbox, keys=KEYS, anonymous_ok=True),
        "handed": http_app(toolbox, keys=KEYS, anonymous_ok=True, lean=False),
        "bare": bare.streamable_http_app(transport_security=allowed, max_request_body_size=MAX_REQUEST),
    }
    with running(*apps.values()) as portal:
        yield lambda name, sent: portal.call(exchange, apps[name], sent)


def told(came: Came) -> Any:
    """What a client can tell of a response; a state is never the same, nor is the name of a session."""
    headers = {name: came.headers[name] for name in TOLD if name in came.headers}
    if "mcp-session-id" in headers:
        headers["mcp-session-id"] = "a session"
    body = came.body
    if isinstance(body, dict) and "requestState" in body.get("result", {}):
        body = {**body, "result": {**body["result"], "requestState": "a state"}}
    return came.status, headers, body


# What differs: the one who serves

Differs = Callable[[Came, Came], bool]


def codes(ours: int, theirs: int) -> Differs:
    return lambda lean, handed: (lean.code, handed.code) == (ours, theirs)


SERVED_OTHERWISE: dict[str, tuple[str, Differs]] = {
    "nothing to complete or to listen to": (
        "there is no such method here, so nobody looks at its parameters first",
        lambda lean, handed: (
            codes(-32601, -32602)(lean, handed)
            and lean.body["error"]["data"] in ("completion/complete", "subscriptions/listen")
        ),
    ),
    "a name that nobody has": (
        "that there is no such thing is said before its answers and state, which nobody needs, are looked at",
        lambda lean, handed: (
            codes(-32602, -32602)(lean, handed)
            and lean.body["error"]["message"] in ("Unknown tool", "Unknown prompt", "Unknown resource")
            and handed.body["error"]["message"] == "Invalid request parameters"
        ),
    ),
    "base64 that is not even ASCII": (
        "the SDK does not expect it and fails; to us it is as wrong as any other",
        lambda lean, handed: lean.code == -32020 and (handed.status == 500 or handed.code == -32603),
    ),
    "a progress token of null": (
        "null stands for what is not there, in lists as everywhere else; the SDK takes it in calls alone",
        lambda lean, handed: lean.status == 200 and "result" in lean.body and handed.code == -32602,
    ),
}

# What differs: the gate that both stand behind, from the SDK as it comes

STRICTER = {
    r"(tools/call|prompts/get) 'echo ' by its name|mcp-name ' echo '|.*another version '2026-07-28 '": (
        "white space around a value is no part of it, whichever parser the server has"
    ),
    r"id 'x+.*|half a character in the id|initialize with the id .*": "an id is a whole number or 256 characters",
    r"(Host|Origin|Content-Type|Content-Length|Authorization) twice": "each reader would pick another one",
    r"(Mcp-Name|Mcp-Method|MCP-Protocol-Version|Mcp-Param|Mcp-Session-Id) twice": (
        "likewise, and it is said before the body is read, so that the id is not known"
    ),
    r"Accept in two lines": "two lines are one list",
    r"Transfer-Encoding beside Content-Length": "a second request could be hidden behind the first",
    r"Content-Length (of|beyond).*|a body beyond the limit": "a body that is too long is told in JSON, and unread",
    r"Content-Encoding .*": "what a reader in front cannot read is not read",
    r"Content-Type '.*": "the whole media type counts and not its beginning",
    r"Origin '.*|Host '.*": "the whole value counts, and a port is a number; an empty origin is none that was allowed",
    r"in utf-.*|half a character in raw bytes": "JSON is UTF-8",
    r"nested 400 deep": "nested deeper than 200 is no JSON to us",
    r"POST of .* without session|initialize as .*": "JSON is read before it is handed on, and pydantic's words are not",
    r"(GET|DELETE) of .* without session|.* by nobody in particular|GET by a browser": (
        "whoever has no session gets 405 from us, and the SDK need not be imported for it"
    ),
    r"path with a slash at its end": "there is one endpoint, and no redirect",
}


def explained(lean: Came, handed: Came) -> str | None:
    """The line of the table that says why these two differ; None when they do not."""
    if told(lean) == told(handed):
        return None
    [name] = [name for name, (_, differs) in SERVED_OTHERWISE.items() if differs(lean, handed)] or [None]
    assert name is not None, f"ours: {told(lean)}\nthe SDK's: {told(handed)}"
    return name


CORPUS = corpus()


def test_whoever_serves_a_request_answers_it_in_the_same_way(serve):
    used = {explained(serve("lean", sent), serve("handed", sent)) for sent in CORPUS.values()}

    assert used - {None} == set(SERVED_OTHERWISE)


def test_the_gate_lets_in_less_than_the_sdk_and_changes_nothing_else(serve):
    """Security 20: what is stricter is stricter whoever serves."""
    used = set()
    for name, sent in CORPUS.items():
        lines = [line for line in STRICTER if re.fullmatch(line, name)]
        handed, bare = serve("handed", sent), serve("bare", sent)
        if told(handed) != told(bare):
            assert len(lines) == 1, f"{name}\n{told(handed)}\n{told(bare)}"
            used.add(lines[0])
    assert used == set(STRICTER)


def with_token(sent: Sent) -> Sent | None:
    """The same call by a client that wants to hear of its progress, which takes an event stream."""
    try:
        read = json.loads(sent.body.decode())
        meta = read["params"]["_meta"]
        wanted = read["method"] in CALLED_BY and isinstance(meta, dict)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (
        replace(
            sent,
            body=json.dumps({**read, "params": {**read["params"], "_meta": {**meta, "progressToken": 7}}}).encode(),
        )
        if wanted
        else None
    )


def test_a_progress_token_changes_who_serves_and_nothing_else(serve):
    """Security 20: the client chooses, and gains nothing by it."""
    twice = [(sent, again) for sent in CORPUS.values() if (again := with_token(sent)) is not None]
    assert len(twice) > 400

    for sent, again in twice:
        explained(serve("lean", sent), serve("lean", again))


def test_calls_that_tell_of_their_progress_go_to_the_sdk(serve):
    plain = serve("lean", posted(call("report")))
    wishes: list[Any] = [{"progressToken": "t"}, {"io.modelcontextprotocol/logLevel": "debug"}]
    for more in wishes:
        streamed = serve("lean", posted(call("report", meta=envelope(**more))))
        assert streamed.headers["content-type"] == "text/event-stream"
        assert streamed.body == plain.body


# Whole conversations

CHOSEN = {"string": "Ada", "number": 1.5, "integer": 1, "boolean": True}


def answer(question: Any) -> Any:
    """What a willing client answers."""
    params = question.get("params", {})
    match question["method"], params:
        case "roots/list", _:
            return {"roots": [{"uri": "file:///home"}]}
        case "sampling/createMessage", {"tools": _, "messages": [_]}:
            use = {"type": "tool_use", "id": "u", "name": "clock", "input": {}}
            return {"role": "assistant", "content": [use], "model": "m", "stopReason": "toolUse"}
        case "sampling/createMessage", _:
            return {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"}
        case _, {"mode": "url"}:
            return {"action": "accept"}
        case _:
            properties = params["requestedSchema"]["properties"]
            return accept(**{name: filled(field) for name, field in properties.items()})


def filled(field: Any) -> Any:
    if field["type"] == "array":
        return [filled({"type": "string", **field["items"]})]
    choices = [choice["const"] for choice in field.get("oneOf", field.get("anyOf", []))] + field.get("enum", [])
    return choices[0] if choices else CHOSEN[field["type"]]


ASKING = [
    *(("tools/call", {"name": name}) for name in ("prefer", "choose", "answer_either", "delete", "folders")),
    ("tools/call", {"name": "ask_model_with_tools"}),
    ("tools/call", {"name": "ask_model", "arguments": {"word": "yes"}}),
    ("tools/call", {"name": "sign_in", "arguments": {"visit": True}}),
    ("prompts/get", {"name": "poem", "arguments": {"topic": "rain"}}),
    ("prompts/get", {"name": "picture"}),
    ("resources/read", {"uri": "memo://a"}),
]


def played(serve, method: str, params: Any, order: list[bool]) -> tuple[list[Any], Any]:
    """The rounds of a call, each served by us or, where `order` says so, by the SDK; and the result."""
    asked: list[Any] = []
    more: dict[str, Any] = {}
    for by_the_sdk in order:
        meta = envelope(FULL, **({"progressToken": "t"} if by_the_sdk else {}))
        result = serve("lean", posted(message(method, meta=meta, **params, **more))).result
        if result["resultType"] == "complete":
            return asked, result
        asked.append(result["inputRequests"])
        more = {
            "inputResponses": {key: answer(each) for key, each in result["inputRequests"].items()},
            "requestState": result["requestState"],
        }
    raise AssertionError(asked)


@pytest.mark.parametrize(("method", "params"), ASKING, ids=lambda value: str(value)[:40])
def test_a_call_goes_on_at_the_other_one(serve, method, params):
    """Security 20: one seal, whoever serves a round."""
    ours, theirs = [False] * 4, [True] * 4
    first = played(serve, method, params, ours)

    assert len(first[0]) == (2 if params.get("name") == "ask_model_with_tools" else 1)
    for order in (theirs, [False, True] * 2, [True, False] * 2):
        assert played(serve, method, params, order) == first


# Whatever may come

WHATEVER = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
BASES = [name for name, sent in CORPUS.items() if len(sent.body) < 3000]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from places(each, (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = put(value[path[0]], path[1:], new)
    return changed


@st.composite
def mutations(draw: st.DrawFn) -> Sent:
    """A request of the corpus with something else somewhere in its body, in its bytes or in its headers."""
    sent = CORPUS[draw(st.sampled_from(BASES))]
    body, headers = sent.body, [*sent.headers]
    kind = draw(st.sampled_from(["member", "byte", "header", "more", "nothing"]))
    if kind == "byte" and body:
        at = draw(st.integers(0, len(body) - 1))
        body = body[:at] + draw(st.binary(max_size=2)) + body[at + draw(st.integers(0, 2)) :]
    elif kind == "header" and headers:
        at = draw(st.integers(0, len(headers) - 1))
        characters = st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f")
        headers[at] = (
            headers[at][0],
            draw(st.text(characters, max_size=5) | st.sampled_from(METHODS).filter(str.isascii)),
        )
    elif kind in ("member", "more"):
        try:
            read = json.loads(body)
        except (ValueError, RecursionError):
            return sent
        path = draw(st.sampled_from([*places(read)]))
        new = draw(WHATEVER)
        body = json.dumps(put(read, path, {"more": new} if kind == "more" else new)).encode()
    return replace(sent, body=body, headers=headers)


@settings(max_examples=400)
@given(sent=mutations())
def test_nothing_that_anybody_can_think_of_is_answered_otherwise(serve, sent):
    explained(serve("lean", sent), serve("handed", sent))
