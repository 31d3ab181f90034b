"""A client that sends whatever it likes, against a toolbox behind a real signer."""

import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from mrtr_tools.calls import Call, Client, Complete, InputRequired, Reply
from mrtr_tools.errors import InvalidState
from mrtr_tools.events import Event, RunStep
from mrtr_tools.keys import generate_key
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

NOON = 1_000_000_000
KEY = generate_key()
FORMS = {"elicitation": {"form": {}}}


class Clock:
    """Stands still until it is moved."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Server:
    """One process: a build of the tools, keys and a clock; it keeps nothing between requests."""

    def __init__(
        self, toolbox: Toolbox, *keys: str, clock: Clock | None = None, audience: str = "shop", **options: Any
    ) -> None:
        self.toolbox = toolbox
        self.clock = clock or Clock()
        self.signer = StateSigner(keys or [KEY], audience, clock=self.clock, **options)
        self.ran: list[str] = []

    def send(
        self,
        tool: str,
        arguments: Any = None,
        *,
        state: str | None = None,
        principal: str | None = None,
        capabilities: Mapping[str, Any] = FORMS,
        method: str = "tools/call",
        **responses: Any,
    ) -> Reply:
        """One request, through text as it would be; `tool` may be a prompt or a URI, with its `method`."""
        named = "uri" if method == "resources/read" else "name"
        params = {named: tool, "arguments": arguments, "requestState": state, "inputResponses": responses}
        params = json.loads(json.dumps(params))

        async def serve() -> Reply:
            call = Call.read(params, client=Client(capabilities), principal=principal, method=method)
            return await handle_call(self.toolbox, call, self.signer, self._note)

        return anyio.run(serve)

    def _note(self, event: Event) -> None:
        if isinstance(event, RunStep):
            self.ran.append(event.step.name)

    def ask(self, tool: str, arguments: Any = None, **more: Any) -> InputRequired:
        """`send`, where questions must come back."""
        reply = self.send(tool, arguments, **more)
        assert isinstance(reply, InputRequired), reply
        return reply

    def end(self, tool: str, arguments: Any = None, **more: Any) -> Complete:
        """`send`, where a result must come back."""
        reply = self.send(tool, arguments, **more)
        assert isinstance(reply, Complete), reply
        return reply

    def refuse(self, tool: str, arguments: Any = None, **more: Any) -> InvalidState:
        """`send`, where the state must be refused: with the one message that there is."""
        with pytest.raises(InvalidState) as caught:
            self.send(tool, arguments, **more)
        assert (caught.value.code, caught.value.message) == (-32602, "Invalid or expired requestState")
        return caught.value


def message(reply: InputRequired, key: str) -> str:
    """The text of a question."""
    request: Any = reply.requests[key]
    return request["params"]["message"]


def form(reply: InputRequired, key: str) -> dict[str, Any]:
    """The form of a question."""
    request: Any = reply.requests[key]
    return request["params"]["requestedSchema"]
