"""The server without the SDK, asked directly: one request in, one answer out."""

import json
import math
from typing import Annotated, Any

import pytest
from pydantic import Field

from mrtr_tools import Context, Toolbox, needs_input
from mrtr_tools.keys import generate_key
from mrtr_tools.server.envelope import Answer, Request
from mrtr_tools.server.lean import LeanServer
from mrtr_tools.server.service import Service
from mrtr_tools.state import StateSigner
from tests.server.raw_http import accept, envelope

SECRET = "postgres://admin:hunter2@db"
PAGE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def desk() -> Toolbox:
    toolbox = Toolbox("desk", title="Front desk", version="3.1", instructions="Ask the desk.")

    @toolbox.tool
    @needs_input(who="Who are you?")
    def greet(who: str) -> str:
        return f"Hello {who}"

    @toolbox.tool
    def fetch(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        return region

    @toolbox.tool
    def give(what: str) -> Any:
        return {"half": "\ud800 NaN", "text": "-Infinity", "bytes": b"\xff"}[what]

    @toolbox.resource("memo://{name}")
    def memo(name: str) -> str:
        return name

    return toolbox


def lean(toolbox: Toolbox | None = None, *, anonymous_ok: bool = False, **options: Any) -> LeanServer:
    toolbox = desk() if toolbox is None else toolbox
    return LeanServer(
        Service(toolbox, StateSigner([generate_key()], toolbox.name), anonymous_ok=anonymous_ok), **options
    )


async def ask(server: LeanServer, method: str, *, number: int | str = 1, more: Any = (), **params: Any) -> Any:
    """The whole response to a request."""
    answer = await server.answer(Request(number, method, {"_meta": envelope(), **params}), **dict(more))
    assert isinstance(answer, Answer)
    return {"status": answer.status, **json.loads(answer.body)}


pytestmark = pytest.mark.anyio


async def test_a_call_is_asked_for_and_goes_on():
    server = lean()
    asked = (await ask(server, "tools/call", name="greet"))["result"]

    assert asked["resultType"] == "input_required"
    params = {"inputResponses": {"who": accept(who="Ada")}, "requestState": asked["requestState"]}
    done = await ask(server, "tools/call", name="greet", **params)
    assert done == {
        "status": 200,
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "resultType": "complete",
            "content": [{"type": "text", "text": "Hello Ada"}],
            "structuredContent": {"result": "Hello Ada"},
            "isError": False,
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "desk", "title": "Front desk", "version": "3.1"}},
        },
    }


async def test_it_says_what_it_is_and_what_it_has():
    told = (await ask(lean(identity={"name": "host", "version": "1"}), "server/discover"))["result"]

    assert told == {
        **PAGE,
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": False}, "resources": {"subscribe": False, "listChanged": False}},
        "instructions": "Ask the desk.",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "host", "version": "1"}},
    }


async def test_it_says_that_it_can_log_when_a_step_can():
    toolbox = Toolbox("logs")

    @toolbox.tool
    def log(ctx: Context) -> None: ...

    assert (await ask(lean(toolbox), "server/discover"))["result"]["capabilities"]["logging"] == {}


async def test_what_is_added_later_is_listed():
    toolbox = desk()
    server = lean(toolbox)
    assert [tool["name"] for tool in (await ask(server, "tools/list"))["result"]["tools"]] == ["greet", "fetch", "give"]
    assert (await ask(server, "prompts/list"))["error"]["code"] == -32601

    @toolbox.tool
    def later() -> None: ...

    @toolbox.prompt
    def poem() -> str:
        return "Write a poem."

    assert (await ask(server, "tools/list"))["result"]["tools"][-1]["name"] == "later"
    assert (await ask(server, "prompts/list"))["result"]["prompts"] == [{"name": "poem"}]
    assert "prompts" in (await ask(server, "server/discover"))["result"]["capabilities"]


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list"])
async def test_all_of_a_list_is_on_its_first_page(method):
    server = lean()
    first, second = [(await ask(server, method, cursor=cursor))["result"] for cursor in (None, "2")]

    [member] = first.keys() & {"tools", "resources", "resourceTemplates"}
    assert second[member] == []
    assert len(first[member]) == {"tools": 3, "resources": 0, "resourceTemplates": 1}[member]


async def test_the_id_goes_back_as_it_came():
    server = lean()
    for number in (0, -7, 2**70, "", 'se"ven'):
        assert (await ask(server, "tools/list", number=number))["id"] == number
        assert (await ask(server, "tools/call", name="nobody", number=number))["id"] == number


@pytest.mark.parametrize(
    "method", ["ping", "initialize", "logging/setLevel", "tools/fly", "server/", "", "prompts/get"]
)
async def test_what_there_is_not_is_not_found(method):
    told = await ask(lean(), method, name="x")

    assert (told["status"], told["error"]) == (404, {"code": -32601, "message": "Method not found", "data": method})


async def test_headers_are_compared_where_there_are_any():
    server = lean()
    params = {"name": "fetch", "arguments": {"region": "eu"}}
    headers = {b"mcp-protocol-version": b"2026-07-28", b"mcp-method": b"tools/call", b"mcp-name": b"fetch"}

    assert "result" in await ask(server, "tools/call", **params)
    assert "result" in await ask(
        server, "tools/call", more={"headers": {**headers, b"mcp-param-region": b"eu"}}, **params
    )
    for wrong in ({}, headers, {**headers, b"mcp-param-region": b"us"}):
        assert (await ask(server, "tools/call", more={"headers": wrong}, **params))["error"]["code"] == -32020


async def test_what_cannot_be_shown_is_an_error(caplog):
    toolbox = desk()

    @toolbox.prompt
    def number() -> dict[str, Any]:
        return {"role": "user", "content": {"type": "text", "text": math.nan}}

    server = lean(toolbox)
    text = "give returned something that cannot be shown."
    shown = (await ask(server, "tools/call", name="give", arguments={"what": "bytes"}))["result"]
    refused = (await ask(server, "prompts/get", name="number"))["error"]

    assert (shown["isError"], shown["content"]) == (True, [{"type": "text", "text": text}])
    assert refused == {"code": -32603, "message": "number returned something that cannot be shown."}
    assert caplog.text.count("returned what cannot be shown") == 2


async def test_what_only_looks_like_it_is_shown():
    server = lean()
    for what, text in {"half": "\\ud800 NaN", "text": "-Infinity"}.items():
        shown = await ask(server, "tools/call", name="give", arguments={"what": what})
        assert shown["result"]["content"][0]["text"] == text


async def test_whoever_says_who_is_calling_refuses_the_call_when_they_fail(caplog):
    def failing() -> str:
        raise RuntimeError(SECRET)

    server = lean()
    refused = await ask(server, "tools/call", more={"principal": failing}, name="greet")

    assert (refused["status"], refused["error"]) == (200, {"code": -32603, "message": "Internal error"})
    assert SECRET in caplog.text
    assert "result" in await ask(server, "tools/list", more={"principal": failing}), "anybody may see what there is"


async def test_a_state_goes_with_the_one_who_calls():
    server = lean()
    alice, bob = {"principal": lambda: "alice"}, {"principal": lambda: "bob"}
    state = (await ask(server, "tools/call", more=alice, name="greet"))["result"]["requestState"]
    params = {"name": "greet", "inputResponses": {"who": accept(who="Ada")}, "requestState": state}

    assert (await ask(server, "tools/call", more=bob, **params))["error"][
        "message"
    ] == "Invalid or expired requestState"
    assert (await ask(server, "tools/call", **params))["error"]["message"] == "Invalid or expired requestState"
    assert (await ask(server, "tools/call", more=alice, **params))["result"]["isError"] is False


# At once


def at_once(server: LeanServer, method: str, **params: Any) -> Any:
    answer = server.at_once(Request(1, method, {"_meta": envelope(), **params}))
    return answer and {"status": answer.status, **json.loads(answer.body)}


async def test_what_there_is_and_first_questions_are_told_at_once_as_they_are_otherwise():
    server = lean()
    for method in ("server/discover", "tools/list", "resources/templates/list"):
        assert at_once(server, method) == await ask(server, method)
    asked, other = at_once(server, "tools/call", name="greet"), await ask(server, "tools/call", name="greet")

    assert asked["result"].pop("requestState") != other["result"].pop("requestState")
    assert asked == other


async def test_questions_that_are_told_at_once_can_be_answered():
    server = lean()
    state = at_once(server, "tools/call", name="greet")["result"]["requestState"]
    done = await ask(server, "tools/call", name="greet", inputResponses={"who": accept(who="Ada")}, requestState=state)

    assert done["result"]["structuredContent"] == {"result": "Hello Ada"}


async def test_what_something_has_to_run_for_is_left_and_nothing_has_run():
    toolbox, ran = desk(), list[str]()

    @toolbox.tool
    def count() -> int:
        ran.append("count")
        return len(ran)

    @toolbox.tool
    @needs_input(who=lambda: ran.append("maker"))
    def made(who: None) -> str:
        return "made"

    server = lean(toolbox)
    state = at_once(server, "tools/call", name="greet")["result"]["requestState"]
    for params in ({"name": "count"}, {"name": "made"}, {"name": "greet", "requestState": state}):
        assert at_once(server, "tools/call", **params) is None
    assert ran == []


async def test_what_is_wrong_is_left_for_an_answer_that_says_so(caplog):
    server = lean()
    wrong: list[Any] = [
        ("tools/call", {"name": "nobody"}),
        ("tools/call", {"name": "greet", "requestState": 7}),
        ("tools/call", {"name": "greet", "_meta": envelope({})}),
        ("tools/call", {"name": 7}),
        ("prompts/list", {}),
        ("tools/list", {"_meta": {}}),
    ]

    assert [at_once(server, method, **params) for method, params in wrong] == [None] * len(wrong)
    assert caplog.text == ""


# Beside others


async def test_beside_another_server_it_serves_what_is_in_the_toolbox():
    alone, beside = lean(), lean(alone=False)
    ours: list[Any] = [("tools/call", {"name": "greet"}), ("resources/read", {"uri": "memo://x"})]
    theirs: list[Any] = [
        ("tools/call", {"name": "add"}),
        ("tools/call", {"name": 7}),
        ("tools/call", None),
        ("prompts/get", {"name": "greet"}),
        ("resources/read", {"uri": "file://x"}),
        ("tools/list", {}),
        ("server/discover", {}),
        ("made/up", {}),
    ]

    assert all(beside.serves(Request(1, method, params)) for method, params in ours)
    assert not any(beside.serves(Request(1, method, params)) for method, params in theirs)
    assert all(alone.serves(Request(1, method, params)) for method, params in [*ours, *theirs])
