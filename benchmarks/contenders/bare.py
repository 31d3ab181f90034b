"""The floor: the tools by hand in an ASGI application with pydantic, and a state that is sealed and signed as ours.

It reads the body, validates it, opens the state, runs the tool and answers. A state is for one tool and its arguments,
and lives for an hour. Of the protocol's duties it does none: it looks at no header, nor at what the client can do.
"""

import binascii
import hashlib
import hmac
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import BaseModel, Field
from pydantic_core import from_json, to_json

from benchmarks.contenders import by_hand, texts
from benchmarks.contenders.by_hand import Question, State, WeatherArguments, WorkItemArguments

Message = dict[str, Any]

SALT = 24
NONCE = bytes(12)  # each key encrypts one state
LIFE = 3600  # seconds
SEALING, SIGNING = (hmac.new(bytes([number] * 32), digestmod=hashlib.sha256) for number in (1, 2))

INFO = {"io.modelcontextprotocol/serverInfo": {"name": "benchmark", "version": ""}}
ARGUMENTS: dict[str, tuple[str, type[BaseModel]]] = {
    "get_weather": (texts.WEATHER_ABOUT, WeatherArguments),
    "update_work_item": (texts.WORK_ITEM_ABOUT, WorkItemArguments),
}
LISTING = {
    "resultType": "complete",
    "tools": [
        {
            "name": name,
            "description": about,
            "inputSchema": arguments.model_json_schema(),
            "outputSchema": by_hand.OUTPUT_SCHEMA,
        }
        for name, (about, arguments) in ARGUMENTS.items()
    ],
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": INFO,
}


class Response(BaseModel):
    action: str
    content: dict[str, Any] | None = None


class Params(BaseModel):
    name: str = ""
    arguments: dict[str, Any] = {}
    input_responses: dict[str, Response] = Field({}, alias="inputResponses")
    request_state: str | None = Field(None, alias="requestState")
    meta: dict[str, Any] = Field(alias="_meta")


class Request(BaseModel):
    jsonrpc: str
    id: int | str
    method: str
    params: Params


def with_key(key: hmac.HMAC, data: bytes) -> bytes:
    derived = key.copy()
    derived.update(data)
    return derived.digest()


def binding(params: Params) -> str:
    """What a state is for: a tool and its arguments."""
    return hashlib.sha256(json.dumps([params.name, params.arguments], sort_keys=True).encode()).hexdigest()


def sealed(state: State, params: Params) -> str:
    salt = os.urandom(SALT)
    payload = to_json([int(time.time()), binding(params), state])
    body = binascii.b2a_base64(salt + AESGCM(with_key(SEALING, salt)).encrypt(NONCE, payload, salt), newline=False)
    return (body + b"." + binascii.b2a_base64(with_key(SIGNING, body), newline=False)).decode()


def opened(params: Params) -> State:
    if params.request_state is None:
        return {}
    body, signature = params.request_state.encode().split(b".")
    if not hmac.compare_digest(binascii.a2b_base64(signature), with_key(SIGNING, body)):
        raise ValueError("not ours")
    raw = binascii.a2b_base64(body)
    salt = raw[:SALT]
    minted, bound, state = from_json(AESGCM(with_key(SEALING, salt)).decrypt(NONCE, raw[SALT:], salt))
    if bound != binding(params) or minted + LIFE < time.time():
        raise ValueError("for another call, or too late")
    return state


async def called(params: Params) -> dict[str, Any]:
    state = opened(params)
    contents = {
        key: response.content
        for key, response in params.input_responses.items()
        if response.action == "accept" and response.content is not None
    }
    if params.name == "get_weather":
        weather = WeatherArguments.model_validate(params.arguments)
        outcome = by_hand.get_weather(weather.location, state, contents)
    else:
        item = WorkItemArguments.model_validate(params.arguments)
        outcome = by_hand.update_work_item(item.work_item, item.state, state, contents)
    return asking(outcome, params) if isinstance(outcome, Question) else done(outcome)


def asking(question: Question, params: Params) -> dict[str, Any]:
    form = {"mode": "form", "message": question.message, "requestedSchema": question.form}
    return {
        "resultType": "input_required",
        "inputRequests": {question.key: {"method": "elicitation/create", "params": form}},
        "requestState": sealed(question.state, params),
        "_meta": INFO,
    }


def done(text: str) -> dict[str, Any]:
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"result": text},
        "isError": False,
        "_meta": INFO,
    }


async def serve(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    assert scope["type"] == "http", "this application has no lifespan"
    body, more = b"", True
    while more:
        message = await receive()
        body += message["body"]
        more = message.get("more_body", False)
    request = Request.model_validate_json(body)
    result = LISTING if request.method == "tools/list" else await called(request.params)
    answer = to_json({"jsonrpc": "2.0", "id": request.id, "result": result})
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def app() -> Any:
    return serve
