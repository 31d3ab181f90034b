"""Target ``messages``: bytes as the body of a POST, through the application that `http_app` makes, in this process.

The headers are those that belong to the body, as far as it can be read. Whatever comes, there is one complete answer
with the status that belongs to it; no internal error, nothing in the log; and no function runs that needs an answer, or
a state, that the body does not have.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from mcp.shared.inbound import encode_header_value

from mrtr_tools.server import http_app
from tests.fuzz import desk
from tests.fuzz.genuine import may_run
from tests.fuzz.samples import MESSAGES
from tests.fuzz.watch import look_at, nothing_logged
from tests.server.raw_http import VERSION

SECONDS = 15  # in which any answer must have come
SEEDS = MESSAGES
STATUS = {None: 200, -32601: 404, -32603: 200}  # of an error code; 400 of any other


@dataclass
class Answer:
    """What an application sent."""

    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""
    is_complete: bool = False

    @property
    def messages(self) -> list[Any]:
        """The messages in it, the response last."""
        if self.headers.get(b"content-type", b"").startswith(b"text/event-stream"):
            return [json.loads(line[6:]) for line in self.body.splitlines() if line.startswith(b"data: ")]
        return [json.loads(self.body)] if self.body else []


def read(body: bytes) -> Any:
    """A body as JSON, the last of two members of one name as the one that counts; None for what is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def headers_of(message: Any) -> list[tuple[bytes, bytes]]:
    """The headers that belong to a body."""
    params = message.get("params") if isinstance(message, dict) else None
    known = params if isinstance(params, dict) else {}
    method = message.get("method") if isinstance(message, dict) else None
    name = known.get("uri" if method == "resources/read" else "name")
    arguments = known.get("arguments")
    region = arguments.get("region") if isinstance(arguments, dict) else None
    told = {"Mcp-Method": method, "Mcp-Name": name, "Mcp-Param-Region": region}
    fixed = {
        "Host": "localhost",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
    }
    sent = fixed | {key: encode_header_value(value) for key, value in told.items() if _is_text(value)}
    return [(key.lower().encode(), value.encode("latin-1", "replace")) for key, value in sent.items()]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


class Endpoint:
    """The application, alive in an event loop of its own."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._app = http_app(desk.toolbox, keys=[desk.KEY], ttl=desk.LIFE, anonymous_ok=True)
        self._runner.run(self._start())

    async def _start(self) -> None:
        self._lifespan = self._app.lifespan()
        await self._lifespan.__aenter__()

    def close(self) -> None:
        """End it."""
        self._runner.run(self._lifespan.__aexit__(None, None, None))
        self._runner.close()

    def post(self, body: bytes, headers: list[tuple[bytes, bytes]]) -> Answer:
        """One request."""
        return self._runner.run(self._post(body, headers))

    async def _post(self, body: bytes, headers: list[tuple[bytes, bytes]]) -> Answer:
        answer = Answer()
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not unread:
                await asyncio.Event().wait()  # nobody hangs up
            return unread.pop()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer.status, answer.headers = message["status"], dict(message["headers"])
            else:
                answer.body += message.get("body", b"")
                answer.is_complete = not message.get("more_body", False)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
        }
        async with asyncio.timeout(SECONDS):
            await self._app(scope, receive, send)
        return answer


def judge(message: Any, answer: Answer) -> None:
    """See that an answer is one to this message."""
    assert answer.is_complete, answer
    if answer.status == 202:
        assert isinstance(message, dict), answer
        assert ("id" in message, answer.body) == (False, b""), answer
        return
    *told, response = answer.messages
    for each in [*told, response]:
        look_at(each)
    assert all("id" not in notification for notification in told), answer
    code = response.get("error", {}).get("code")
    assert answer.status == (STATUS.get(code, 400) if response.keys() & {"result", "error"} else 0), answer
    if code is None:
        assert isinstance(message, dict), answer
        assert response["id"] == message["id"], answer
        assert response["result"]["resultType"] in ("complete", "input_required"), answer


@contextmanager
def checking() -> Iterator[Callable[[bytes], None]]:
    """Serve, and give what looks at one body."""
    endpoint = Endpoint()

    def check(body: bytes) -> None:
        message = read(body)
        desk.ran.clear()
        with nothing_logged():
            answer = endpoint.post(body, headers_of(message))
        judge(message, answer)
        for function in desk.ran:
            assert may_run(function, cast("Any", message)), f"{function} ran, and was not asked for or answered"

    try:
        yield check
    finally:
        endpoint.close()
