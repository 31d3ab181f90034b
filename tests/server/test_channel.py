"""Progress, log messages and cancellation: what goes to a client while its request is served."""

import json
import math
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from anyio import from_thread
from mcp import Client, types

from mrtr_tools import Context, Refused, Toolbox, confirm, needs_input
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.desk import server_of
from tests.server.older_clients import HEADERS, next_event, open_session, posting, raw_client, raw_streams
from tests.server.raw_http import VERSION, accept, envelope, request, serving

SECONDS = 10

toolbox = Toolbox("channel")
late: list[Any] = []
begun, ended = threading.Event(), threading.Event()


@toolbox.tool
async def count(ctx: Context) -> str:
    for reached in (0, 1, 1, 0.5, math.nan, math.inf, 2):
        await ctx.report_progress(reached, math.inf if reached else 2, "half \ud800" if reached == 1 else None)
    late.append(ctx)
    return "counted"


@toolbox.tool
async def use_a_channel_that_is_closed() -> str:
    await late[-1].report_progress(100)
    await late[-1].log("emergency", "late")
    return "nothing was sent"


@toolbox.tool
def count_in_a_thread(ctx: Context) -> str:
    from_thread.run(ctx.report_progress, 1, 2, "half")
    from_thread.run(ctx.log, "error", "down", "worker")
    return "counted"


@toolbox.tool
async def tell(ctx: Context) -> str:
    for level in ("debug", "info", "error"):
        await ctx.log(level, f"at {level}")
    await ctx.log("loud", "no level")  # type: ignore[arg-type]
    return "told"


@toolbox.tool
@needs_input(who="Who?")
async def ask_first(who: str, ctx: Context) -> str:
    await ctx.report_progress(1)
    return who


@toolbox.tool
@needs_input(ok=confirm("Wait?"))
async def wait(ctx: Context) -> str:
    begun.set()
    try:
        await ctx.report_progress(1)
        await anyio.sleep_forever()
    finally:
        ended.set()
    return "never"


@toolbox.tool
@needs_input(loud=lambda: True)
async def wait_quietly(loud: bool) -> str:
    begun.set()
    try:
        await anyio.sleep_forever()
    finally:
        ended.set()
    return "never"


@toolbox.tool
def greet(who: str = "you") -> str:
    return f"Hello {who}"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(http_app(toolbox, keys=[generate_key()])) as address:
        yield address


@pytest.fixture(autouse=True)
def _calm() -> None:
    begun.clear()
    ended.clear()


def call(url: str, tool: str, capabilities: Any = None, meta: Any = None, **params: Any) -> Any:
    meta = envelope(capabilities or {"elicitation": {}}, **(meta or {}))
    return request(url, "tools/call", {"name": tool, "_meta": meta, **params})


# Progress


def test_who_sent_a_token_hears_how_far_the_request_is_over_a_stream(url):
    events = call(url, "count", meta={"progressToken": "t-1"}).events

    assert [event["params"] for event in events[:-1]] == [
        {"progressToken": "t-1", "progress": 0, "total": 2},
        {"progressToken": "t-1", "progress": 1, "message": "half \\ud800"},
        {"progressToken": "t-1", "progress": 2},
    ]
    assert {event["method"] for event in events[:-1]} == {"notifications/progress"}
    assert events[-1]["result"]["content"][0]["text"] == "counted"


def test_who_sent_none_hears_nothing_of_it(url):
    assert call(url, "count").result["content"][0]["text"] == "counted"


def test_nothing_is_sent_after_the_end(url):
    call(url, "count", meta={"progressToken": 1, LOG_LEVEL: "debug"})

    done = call(url, "use_a_channel_that_is_closed", meta={"progressToken": 2, LOG_LEVEL: "debug"})

    assert done.result["content"][0]["text"] == "nothing was sent"


@pytest.mark.anyio
async def test_nothing_is_sent_to_an_older_client_after_the_end():
    with anyio.fail_after(SECONDS):
        async with raw_client(toolbox, "2025-11-25") as peer:
            meta = {"progressToken": 7}
            await peer.send(id=2, method="tools/call", params={"name": "count", "_meta": meta})
            while "id" not in await peer.receive():
                pass
            await peer.send(id=3, method="tools/call", params={"name": "use_a_channel_that_is_closed", "_meta": meta})
            after = await peer.receive()

    assert after["id"] == 3


def test_a_step_in_a_thread_can_send_too(url):
    events = call(url, "count_in_a_thread", meta={"progressToken": 7, LOG_LEVEL: "debug"}).events

    assert [event.get("method") for event in events] == ["notifications/progress", "notifications/message", None]
    assert events[1]["params"] == {"level": "error", "data": "down", "logger": "worker"}


def test_what_cannot_be_asked_is_said_before_a_stream_is_begun(url):
    refused = call(url, "ask_first", {"sampling": {}}, {"progressToken": 1})

    assert refused.status == 400
    assert refused.headers["content-type"].startswith("application/json")
    assert refused.error["code"] == -32021


def test_each_round_has_a_stream_and_a_token_of_its_own(url):
    state = call(url, "ask_first", meta={"progressToken": 1}).result["requestState"]

    events = call(
        url, "ask_first", meta={"progressToken": 2}, inputResponses={"who": accept(who="Ada")}, requestState=state
    ).events

    assert events[0]["params"] == {"progressToken": 2, "progress": 1}
    assert events[1]["result"]["content"][0]["text"] == "Ada"


# Log messages

LOG_LEVEL = "io.modelcontextprotocol/logLevel"


@pytest.mark.parametrize(
    ("level", "told"),
    [("debug", ["debug", "info", "error"]), ("info", ["info", "error"]), ("warning", ["error"])],
)
def test_who_asked_for_a_level_hears_that_and_worse(url, level, told):
    events = call(url, "tell", meta={LOG_LEVEL: level}).events

    assert [event["params"] for event in events[:-1]] == [{"level": each, "data": f"at {each}"} for each in told]


@pytest.mark.parametrize("meta", [{}, {LOG_LEVEL: "emergency"}])
def test_who_did_not_hears_nothing(url, meta):
    assert call(url, "tell", meta=meta).result["content"][0]["text"] == "told"


def test_a_server_whose_steps_can_log_says_so_and_no_other():
    quiet = Toolbox("quiet")
    quiet.tool(name="t")(lambda: "")
    for served, logs in ((toolbox, True), (quiet, False)):
        with serving(http_app(served, keys=[generate_key()])) as url:
            told = request(url, "server/discover", {}).result["capabilities"]
            assert ("logging" in told) is logs
            assert request(url, "logging/setLevel", {"level": "info"}).status == 404


def test_a_context_of_an_inputs_function_counts_too():
    asking = Toolbox("asking")

    def ask(ctx: Context) -> str:
        return ctx.call_id

    @asking.tool
    @needs_input(who=ask)
    def ask_who(who: str | Refused) -> str:
        return "x"

    with serving(http_app(asking, keys=[generate_key()])) as url:
        assert "logging" in request(url, "server/discover", {}).result["capabilities"]


@pytest.mark.anyio
async def test_an_older_client_hears_all_until_it_sets_a_level():
    with anyio.fail_after(SECONDS):
        async with raw_client(toolbox, "2025-11-25") as peer:
            heard = []
            for level in (None, "info", "error", "debug"):
                if level:
                    await peer.send(id=level, method="logging/setLevel", params={"level": level})
                    assert (await peer.receive())["result"] == {}
                await peer.send(id=9, method="tools/call", params={"name": "tell"})
                while "id" not in (message := await peer.receive()):
                    heard.append(message["params"]["level"])
            await peer.send(id=10, method="logging/setLevel", params={"level": "loud"})
            refused = await peer.receive()

    assert heard == ["debug", "info", "error", "info", "error", "error", "debug", "info", "error"]
    assert refused["error"]["code"] == -32602


@pytest.mark.anyio
async def test_a_level_that_comes_as_a_notification_is_not_heard(caplog):
    with anyio.fail_after(SECONDS):
        async with raw_client(toolbox, "2025-11-25") as peer:
            for params in ({}, {"params": {}}, {"params": {"level": "error"}}):
                await peer.send(method="logging/setLevel", **params)
            await peer.send(id=1, method="tools/call", params={"name": "tell"})
            heard = []
            while "id" not in (message := await peer.receive()):
                heard.append(message["params"]["level"])

    assert heard == ["debug", "info", "error"]
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_the_level_of_one_session_is_not_that_of_another(url):
    with serving(http_app(toolbox, keys=[generate_key()])) as own:
        quiet, loud = (HEADERS | open_session(own, "2025-11-25") for _ in range(2))
        for headers, level in ((quiet, "error"), (loud, "info")):
            with posting(own, {"id": 2, "method": "logging/setLevel", "params": {"level": level}}, headers) as stream:
                assert next_event(stream)["result"] == {}
        heard = []
        for headers in (quiet, loud):
            with posting(own, {"id": 3, "method": "tools/call", "params": {"name": "tell"}}, headers) as stream:
                while "id" not in (message := next_event(stream)):
                    heard.append(message["params"]["level"])

    assert heard == ["error", "info", "error"]


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_sdks_client_hears_of_progress_in_both_eras(mode):
    heard: list[Any] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    with anyio.fail_after(SECONDS):
        async with Client(server_of(toolbox), mode=mode) as client:
            result = await client.call_tool("count", progress_callback=hear)

    assert isinstance(result, types.CallToolResult)
    assert heard == [(0, 2, None), (1, None, "half \\ud800"), (2, None, None)]


# Cancellation


def first_round(url: str) -> dict[str, Any]:
    return {"inputResponses": {"ok": accept(ok=True)}, "requestState": call(url, "wait").result["requestState"]}


def begin(url: str, params: dict[str, Any], meta: dict[str, Any]) -> HTTPConnection:
    """Send a call, and do not read the answer."""
    there = urlsplit(url)
    assert there.hostname
    headers = {**HEADERS, "MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": params["name"]}
    params = {"_meta": envelope(**meta), **params}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    connection = HTTPConnection(there.hostname, there.port, timeout=SECONDS)
    connection.request("POST", there.path, body, headers)
    return connection


def test_closing_the_stream_cancels_the_call_and_the_state_before_it_stays_usable(url):
    params = {"name": "wait", **first_round(url)}
    for _ in range(2):
        begun.clear()
        ended.clear()
        connection = begin(url, params, {"progressToken": 1})
        response = connection.getresponse()
        assert next_event(response)["method"] == "notifications/progress"
        assert not ended.is_set()
        response.close()
        connection.close()
        assert begun.wait(SECONDS)
        assert ended.wait(SECONDS)


def test_closing_the_connection_before_anything_was_sent_cancels_the_call(url):
    connection = begin(url, {"name": "wait_quietly"}, {})
    assert begun.wait(SECONDS)
    connection.close()

    assert ended.wait(SECONDS)
    assert call(url, "greet").result["content"][0]["text"] == "Hello you"


@pytest.mark.anyio
async def test_a_cancelled_request_is_not_answered_and_the_state_before_it_stays_usable():
    """Reported as modelcontextprotocol/python-sdk#2493."""
    params = {"name": "wait", "_meta": envelope(progressToken=1)}
    with anyio.fail_after(SECONDS):
        async with raw_streams(toolbox) as peer:
            await peer.send(id=1, method="tools/call", params=params)
            state = (await peer.receive())["result"]["requestState"]
            answered = {**params, "inputResponses": {"ok": accept(ok=True)}, "requestState": state}
            for number in (2, 3):
                await peer.send(id=number, method="tools/call", params=answered)
                assert (await peer.receive())["method"] == "notifications/progress"
                await peer.send(method="notifications/cancelled", params={"requestId": number, "_meta": envelope()})
            await peer.send(id=4, method="tools/call", params={"name": "greet", "_meta": envelope()})
            after = await peer.receive()

    assert after["id"] == 4
    assert ended.is_set()
