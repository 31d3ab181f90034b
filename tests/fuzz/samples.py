"""Requests to begin with: each call of the desk in its first round, answered, and answered wrongly."""

import json
from collections.abc import Mapping
from typing import Any

import anyio

from mrtr_tools.calls import Call, Client, InputRequired
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner
from tests.fuzz.desk import KEY, LIFE, toolbox
from tests.server.raw_http import envelope
from tests.wire_by_hand import CANCEL, DECLINE, accept

SIGNER = StateSigner([KEY], toolbox.name, ttl=LIFE)
ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "pay", "arguments": {"amount": 5}}),
    ("tools/call", {"name": "visit"}),
    ("tools/call", {"name": "consider"}),
    ("tools/call", {"name": "buy"}),
    ("tools/call", {"name": "fill"}),
    ("tools/call", {"name": "ask_around", "arguments": {"count": 3}}),
    ("tools/call", {"name": "book", "arguments": {"city": "Rome"}}),
    ("tools/call", {"name": "greet"}),
    ("prompts/get", {"name": "letter", "arguments": {"to": "Ada"}}),
    ("resources/read", {"uri": "notes://ada/todo"}),
]
PLAIN: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "echo", "arguments": {"value": [1, 1.5, None, True, "x", {"a": []}]}}),
    ("tools/call", {"name": "count", "arguments": {"number": "1.5", "members": [1, 2], "by_number": {"1": "x"}}}),
    ("tools/call", {"name": "fetch", "arguments": {"region": "eu"}}),
    ("tools/call", {"name": "nobody"}),
    ("tools/list", {}),
    ("prompts/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("server/discover", {}),
    ("ping", {}),
]
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
RIGHT: Mapping[str, Any] = {
    "ok": accept(ok=True),
    "page": {"action": "accept"},
    "order": accept(size="S", name="Ada", howMany=2, share=0.25, gift=True),
    "text": accept(text="x"),
    "number": accept(number=1.5),
    "count": accept(count=7),
    "flag": accept(flag=False),
    "day": accept(day="2026-07-28"),
    "moment": accept(moment="2026-07-28T09:30Z"),
    "mail": accept(mail="a@b.c"),
    "price": accept(price="1.50"),
    "one": accept(one="a"),
    "many": accept(many=["a", "c"]),
    "pick": accept(pick="r"),
    "perhaps": DECLINE,
    "said": SAMPLED,
    "heard": SAMPLED,
    "roots": {"roots": [{"uri": "file:///tmp", "name": "tmp"}]},
    "seat": accept(seat="seat 1"),
    "who.login": accept(login="ann"),
    "who": accept(who="Ada"),
    "tone": accept(tone="warm"),
}
WRONG: list[Any] = [
    DECLINE,
    CANCEL,
    {"action": "accept"},
    {"action": "accept", "content": None},
    accept(),
    accept(ok="yes"),
    accept(ok=1),
    accept(text="x" * 20_000),
    accept(number="1e400", count=10**400, day="2026-02-30", price="1e999999"),
    accept(text=1, number=True, count=True, flag=1, day=20260728, moment=0, mail=[], price=1.5, one=["a"], many="a"),
    {"action": "yes"},
    {"roots": [{"uri": "https://x"}]},
    [],
    None,
    7,
]


def first_round(method: str, params: Mapping[str, Any]) -> InputRequired:
    """What a call asks, and its state."""

    async def ask() -> Any:
        return await handle_call(toolbox, Call.read(params, client=Client(ALL), method=method), SIGNER)

    return anyio.run(ask)


def request(method: str, params: Mapping[str, Any], number: int = 1, **more: Any) -> bytes:
    """A request of 2026-07-28."""
    about = {"method": method, "params": {"_meta": envelope(ALL, **more), **params}}
    return json.dumps({"jsonrpc": "2.0", "id": number, **about}).encode()


def _answered() -> list[bytes]:
    sent: list[bytes] = []
    for (method, params), (other_method, others) in zip(CALLS, [*CALLS[1:], CALLS[0]], strict=True):
        asked = first_round(method, params)
        state = {} if asked.state is None else {"requestState": asked.state}
        right = {key: RIGHT[key] for key in asked.requests}
        crossed = {**state, "inputResponses": dict(RIGHT)}
        changed = {key: {**value, "amount": 6, "city": "Oslo"} for key, value in params.items() if key == "arguments"}
        sent.append(request(other_method, {**others, **crossed}))
        sent.append(request(method, {**params, **crossed, **changed}))
        sent.append(request(method, params))
        sent.append(request(method, {**params, **state, "inputResponses": right}, progressToken="p"))
        sent += [
            request(method, {**params, **state, "inputResponses": dict.fromkeys(right, wrong)})
            for wrong in WRONG[:: 3 if len(right) > 1 else 5]
        ]
    return sent


MESSAGES: list[bytes] = [
    *_answered(),
    *(request(method, params) for method, params in PLAIN),
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    b'{"jsonrpc":"2.0","id":1,"result":{}}',
    b"[]",
    b"",
]
