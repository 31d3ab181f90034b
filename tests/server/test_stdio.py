"""A server in a process of its own, over stdin and stdout."""

import json
import signal
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import Client

from mrtr_tools.keys import generate_key
from tests.server import processes
from tests.server.raw_http import accept, envelope
from tests.server.raw_stdio import Wire, served, told
from tests.server.sdk_client import RECIPES, answering, text_of

LIMIT = 1024 * 1024
KEY = generate_key()


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with served(MRTR_TOOLS_KEYS=KEY) as shared:
        yield shared


# The SDK's client


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # each case starts a process
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.tool)
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_sdks_client_drives_the_recipes_in_both_eras(recipe, mode):
    server, elicit = processes.stdio(recipe.module.__name__), answering(*recipe.contents)
    with anyio.fail_after(processes.SECONDS):
        async with Client(server, mode=mode, elicitation_callback=elicit) as client:
            assert text_of(await client.call_tool(recipe.tool, recipe.arguments)) == recipe.text


# The wire


def test_every_round_says_its_type_and_the_last_one_ends_the_call(wire):
    wire.call(1, "greet")
    first = wire.receive()["result"]
    wire.call(2, "greet", inputResponses={"who": accept(who="Ada")}, requestState=first["requestState"])
    second = wire.receive()

    assert first["resultType"] == "input_required"
    assert second["id"] == 2
    assert second["result"]["resultType"] == "complete"
    assert told(second) == "Hello Ada"


def test_print_in_a_step_does_not_get_between_the_messages(wire):
    """Reported as ry-ops/unifi-mcp-server#39: neither Python's print nor what a child process writes."""
    wire.call(1, "shout")
    assert told(wire.receive()) == "done"


def test_a_step_that_reads_stdin_finds_it_empty_and_eats_no_message(wire):
    wire.call(1, "listen")
    wire.call(2, "greet")
    received = [wire.receive(), wire.receive()]

    assert told(next(message for message in received if message["id"] == 1)) == "''"
    assert {message["id"] for message in received} == {1, 2}


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_the_wire_is_utf_8_whatever_the_platform_says(encoding):
    """Reported as modelcontextprotocol/python-sdk#199."""
    text = "Größe ✓ 🔥 \u2028 end"
    with served(PYTHONIOENCODING=encoding, PYTHONUTF8="0", LANG="C") as wire:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        params = {"_meta": envelope(), "name": "echo", "arguments": {"text": text}}
        wire.write(json.dumps({**message, "params": params}, ensure_ascii=False).encode())
        assert told(wire.receive()) == text


def test_a_file_name_that_is_no_unicode_does_not_end_the_server(wire):
    wire.call(1, "name_of_a_file")
    assert told(wire.receive()) == "caf\\udce9"
    wire.call(2, "echo", {"text": "still here"})
    assert told(wire.receive()) == "still here"


@pytest.mark.parametrize("number", [7, "seven"])
def test_a_line_over_the_limit_is_answered_with_an_error_and_the_next_one_is_served(wire, number):
    """Reported as ChronoAIProject/NyxID#1461: the limit is that of HTTP."""
    wire.call(number, "echo", requestState="x" * 1_200_000)
    refused = wire.receive()
    wire.call(8, "echo", {"text": "next"})
    served_next = wire.receive()

    assert refused == {
        "jsonrpc": "2.0",
        "id": number,
        "error": {"code": -32600, "message": "A message may have 1048576 bytes"},
    }
    assert told(served_next) == "next"


def test_the_keys_leave_the_environment_before_a_step_runs(wire):
    """Security 11: a shell that a step starts would inherit them."""
    wire.call(1, "environment")
    assert told(wire.receive()) == "[]"


def test_another_process_with_the_key_goes_on_with_a_call_and_one_without_does_not(wire):
    wire.call(1, "greet")
    state = wire.receive()["result"]["requestState"]
    given: dict[str, Any] = {"inputResponses": {"who": accept(who="Ada")}, "requestState": state}

    with served(MRTR_TOOLS_KEYS=KEY) as other:
        other.call(1, "greet", **given)
        assert told(other.receive()) == "Hello Ada"
    with served() as stranger:
        stranger.call(1, "greet", **given)
        assert stranger.receive()["error"] == {"code": -32602, "message": "Invalid or expired requestState"}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_one_interrupt_ends_it_although_it_waits_for_a_line():
    with served() as wire:
        wire.call(1, "echo")
        wire.receive()
        wire.process.send_signal(signal.SIGINT)
        assert wire.process.wait(processes.SECONDS) == 0


def test_a_cancelled_call_is_not_answered_and_its_step_is_told(wire):
    """Reported as modelcontextprotocol/python-sdk#2493."""
    wire.call(1, "wait_forever")
    wire.call(2, "has_begun")
    wire.receive()
    wire.send("notifications/cancelled", requestId=1)
    wire.call(3, "was_cancelled")
    answer = wire.receive()

    assert (answer["id"], told(answer)) == (3, "True")


def test_an_older_client_that_answers_with_too_much_hears_that_it_cannot_be_had():
    with served() as wire:
        info = {"name": "raw", "version": "0"}
        wire.send("initialize", 1, protocolVersion="2025-11-25", capabilities={"elicitation": {}}, clientInfo=info)
        wire.receive()
        wire.send("notifications/initialized")
        wire.send("tools/call", 2, name="greet")
        question = wire.receive()
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": accept(who="x" * LIMIT)}
        wire.write(json.dumps(answer).encode())
        done = wire.receive()

    assert done["id"] == 2
    assert done["result"]["isError"] is True


@pytest.mark.parametrize("name", [[], {}, None, 5])
def test_a_name_that_is_no_text_is_an_error_of_the_caller(wire, name):
    wire.call(1, name)
    assert wire.receive()["error"]["code"] == -32602


def test_noise_on_the_wire_is_passed_over(wire):
    for noise in (b"", b"not json", b"\xff\xfe", b"[]", b"7"):
        wire.write(noise)
    wire.call(1, "echo", {"text": "heard"})
    assert told(wire.receive()) == "heard"
