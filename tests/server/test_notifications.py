"""What a client hears while its request is served."""

import json
import math
from typing import Any

import pytest
from pydantic import JsonValue

from mrtr_tools.server.envelope import Request
from mrtr_tools.server.notifications import Notifications

LOG_LEVEL = "io.modelcontextprotocol/logLevel"

pytestmark = pytest.mark.anyio


class Heard:
    """A request with this `_meta`, and what comes of it."""

    def __init__(self, meta: dict[str, JsonValue]) -> None:
        self.messages: list[Any] = []
        self.channel = Notifications(Request(1, "tools/call", {"_meta": meta}), self._send)

    async def _send(self, message: bytes) -> None:
        self.messages.append(json.loads(message))


@pytest.mark.parametrize("token", ["t", "", 7, 0])
async def test_progress_is_for_who_sent_a_token(token):
    heard = Heard({"progressToken": token})
    await heard.channel.progress(1, 2, "half")
    await heard.channel.log("emergency", "x", None)

    assert heard.messages == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1, "total": 2, "message": "half"},
        }
    ]


@pytest.mark.parametrize("token", [None, True, 1.5, [], {}])
async def test_what_is_no_token_asks_for_nothing(token):
    heard = Heard({"progressToken": token})
    await heard.channel.progress(1, None, None)

    assert heard.messages == []


async def test_what_is_no_step_ahead_is_left_out():
    heard = Heard({"progressToken": "t"})
    for reached in (-math.inf, 0, 0, -1, math.nan, math.inf, 0.5):
        await heard.channel.progress(reached, math.inf, None)

    assert [message["params"] for message in heard.messages] == [
        {"progressToken": "t", "progress": 0},
        {"progressToken": "t", "progress": 0.5},
    ]


async def test_log_messages_are_for_who_asked_for_their_level():
    heard = Heard({LOG_LEVEL: "warning"})
    for level in ("debug", "notice", "warning", "emergency", "loud"):
        await heard.channel.log(level, {"at": level}, "worker")
    await heard.channel.progress(1, None, None)

    assert [message["params"] for message in heard.messages] == [
        {"level": "warning", "logger": "worker", "data": {"at": "warning"}},
        {"level": "emergency", "logger": "worker", "data": {"at": "emergency"}},
    ]
    assert {message["method"] for message in heard.messages} == {"notifications/message"}


@pytest.mark.parametrize("level", [None, "loud", 7, ["debug"]])
async def test_what_is_no_level_asks_for_nothing(level):
    heard = Heard({LOG_LEVEL: level})
    await heard.channel.log("emergency", "x", None)

    assert heard.messages == []


async def test_what_cannot_be_sent_as_it_is_is_spelled_out():
    heard = Heard({"progressToken": 1, LOG_LEVEL: "debug"})
    await heard.channel.progress(1, None, "half \ud800")
    await heard.channel.log("info", {"half": "\ud800"}, None)

    assert [message["params"].get("message") for message in heard.messages] == ["half \\ud800", None]
    assert heard.messages[1]["params"] == {"level": "info", "data": {"half": "\\ud800"}}


async def test_nothing_is_sent_after_the_end():
    heard = Heard({"progressToken": 1, LOG_LEVEL: "debug"})
    heard.channel.close()
    await heard.channel.progress(1, None, None)
    await heard.channel.log("info", "late", None)

    assert heard.messages == []
