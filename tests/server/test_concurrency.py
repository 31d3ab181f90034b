"""Many calls at once, steps that block, and calls that are given up."""

import json
import threading
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from anyio.lowlevel import checkpoint
from mcp import Client, types
from mcp.client import ClientRequestContext

from mrtr_tools import Toolbox, needs_input
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.desk import server_of
from tests.server.raw_http import SECONDS, VERSION, envelope, serving
from tests.server.sdk_client import text_of

BOTH_ERAS = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


def serve(*functions: Callable[..., Any]):
    toolbox = Toolbox("busy")
    for function in functions:
        toolbox.tool(function)
    return server_of(toolbox)


@pytest.mark.anyio
@BOTH_ERAS
async def test_sync_steps_run_at_the_same_time(mode):
    """Reported as modelcontextprotocol/python-sdk#1646: both must be inside their step before either can leave it."""
    both = threading.Barrier(2, timeout=SECONDS)

    def meet() -> str:
        return f"party of {both.parties}, {both.wait() >= 0}"

    results: list[str] = []

    async def call(client: Client) -> None:
        results.append(text_of(await client.call_tool("meet")))

    with anyio.fail_after(SECONDS):
        async with Client(serve(meet), mode=mode) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(call, client)
            tasks.start_soon(call, client)

    assert results == ["party of 2, True"] * 2


@pytest.mark.anyio
@BOTH_ERAS
async def test_a_sync_step_that_waits_does_not_hold_up_the_others(mode):
    """Reported as modelcontextprotocol/python-sdk#1646: it waits for what only another call can bring."""
    came = threading.Event()

    def wait() -> bool:
        return came.wait(SECONDS)

    async def come() -> bool:
        came.set()
        return True

    results: dict[str, Any] = {}

    async def call(client: Client, tool: str) -> None:
        results[tool] = (await client.call_tool(tool)).structured_content

    with anyio.fail_after(SECONDS):
        async with Client(serve(wait, come), mode=mode) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(call, client, "wait")
            await checkpoint()
            tasks.start_soon(call, client, "come")

    assert results == {"wait": {"result": True}, "come": {"result": True}}


@pytest.mark.anyio
@BOTH_ERAS
async def test_each_of_many_calls_gets_the_answer_to_its_own_question(mode):
    """Reported as PrefectHQ/fastmcp#2647."""

    @needs_input(answer="What about {topic}?")
    def ask(topic: str, answer: str) -> str:
        return f"{topic}: {answer}"

    asked: dict[str, anyio.Event] = {f"t{number}": anyio.Event() for number in range(5)}

    async def elicit(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        topic = params.message.removeprefix("What about ").removesuffix("?")
        asked[topic].set()
        for event in asked.values():  # nobody is answered before all were asked
            await event.wait()
        return types.ElicitResult(action="accept", content={"answer": f"all about {topic}"})

    results: dict[str, str] = {}

    async def call(client: Client, topic: str) -> None:
        results[topic] = text_of(await client.call_tool("ask", {"topic": topic}))

    with anyio.fail_after(SECONDS):
        async with (
            Client(serve(ask), mode=mode, elicitation_callback=elicit) as client,
            anyio.create_task_group() as tasks,
        ):
            for topic in asked:
                tasks.start_soon(call, client, topic)

    assert results == {topic: f"{topic}: all about {topic}" for topic in asked}


@pytest.mark.anyio
@BOTH_ERAS
async def test_a_call_that_the_client_gives_up_ends_its_step(mode):
    begun, freed = anyio.Event(), anyio.Event()

    async def wait() -> str:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            freed.set()
        return "never"

    async def call(client: Client, scope: anyio.CancelScope) -> None:
        with scope:
            await client.call_tool("wait")

    with anyio.fail_after(SECONDS):
        async with Client(serve(wait), mode=mode) as client, anyio.create_task_group() as tasks:
            scope = anyio.CancelScope()
            tasks.start_soon(call, client, scope)
            await begun.wait()
            scope.cancel()
            await freed.wait()


def test_a_client_that_hangs_up_ends_its_step():
    """Over HTTP, closing the response is how a call is cancelled."""
    begun, freed = threading.Event(), threading.Event()
    toolbox = Toolbox("busy")

    @toolbox.tool
    async def wait() -> str:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            freed.set()
        return "never"

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": envelope(), "name": "wait"}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "wait",
    }
    with serving(http_app(toolbox, keys=[generate_key()])) as url:
        there = urlsplit(url)
        assert there.hostname
        connection = HTTPConnection(there.hostname, there.port, timeout=SECONDS)
        connection.request("POST", there.path, json.dumps(message), headers)
        assert begun.wait(SECONDS)
        connection.close()
        assert freed.wait(SECONDS)


@pytest.mark.anyio
async def test_an_older_client_that_goes_away_in_mid_question_leaves_nothing_behind():
    asked, freed = anyio.Event(), anyio.Event()

    @needs_input(who="Who are you?")
    async def greet(who: str) -> str:
        return who

    async def elicit(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            freed.set()
        raise AssertionError

    async def call(client: Client, scope: anyio.CancelScope) -> None:
        with scope:
            await client.call_tool("greet")

    with anyio.fail_after(SECONDS):
        # The server's tasks are in the client's group here: leaving it proves that all of them have ended.
        async with (
            Client(serve(greet), mode="legacy", elicitation_callback=elicit) as client,
            anyio.create_task_group() as tasks,
        ):
            scope = anyio.CancelScope()
            tasks.start_soon(call, client, scope)
            await asked.wait()
            scope.cancel()
            await freed.wait()
