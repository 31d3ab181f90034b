"""Every kind of question to clients of revisions before 2026-07-28, which are asked in mid-call."""

import json
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, types
from mcp.client import ClientRequestContext

from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server import processes
from tests.server.desk import server_of
from tests.server.kinds import CLOCK, PAGE, pages, toolbox
from tests.server.older_clients import HEADERS, next_event, open_session, posting, raw_client
from tests.server.raw_http import accept, send, serving
from tests.server.sdk_client import text_of

SECONDS = 10
EVERYTHING: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
ROOTS = {"roots": [{"uri": "file:///a", "name": "A"}]}


def sampled(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "model": "m-1", "stopReason": "endTurn"}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


async def play(
    version: str, method: str, params: dict[str, Any], *answers: Any, capabilities: Any = None, served: Any = toolbox
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Call, and answer what is asked in turn; an exception is an error in place of an answer.

    Returns:
        The questions without what JSON-RPC adds, and the response.
    """
    left, asked = list(answers), []
    declared = EVERYTHING if capabilities is None else capabilities
    with anyio.fail_after(SECONDS):
        async with raw_client(served, version, **declared) as peer:
            await peer.send(id=2, method=method, params=params)
            while "method" in (message := await peer.receive()):
                asked.append({name: message[name] for name in ("method", "params") if name in message})
                answer = left.pop(0)
                told = {"error": answer} if "code" in answer else {"result": answer}
                await peer.send(id=message["id"], **told)
    return asked, message


def said(response: dict[str, Any]) -> str:
    return response["result"]["content"][0]["text"]


# Tools


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_the_model_and_the_roots_are_asked_at_every_revision(version):
    call = {"name": "ask_model", "arguments": {"word": "hello"}}
    [question], done = await play(version, "tools/call", call, sampled(text("hello")))
    [roots], listed = await play(version, "tools/call", {"name": "folders"}, ROOTS)

    assert question == {
        "method": "sampling/createMessage",
        "params": {
            "messages": [{"role": "user", "content": text("Say hello")}],
            "maxTokens": 10,
            "systemPrompt": "Be brief",
            "temperature": 0.5,
        },
    }
    assert said(done) == "m-1: hello"
    assert roots == {"method": "roots/list"}
    assert said(listed) == "file:///a"


@pytest.mark.anyio
async def test_a_model_with_tools_is_asked_turn_by_turn():
    use = {"type": "tool_use", "id": "u1", "name": "clock", "input": {}}
    answers = sampled([text("Let me see"), use]), sampled(text("It is noon"))

    asked, done = await play("2025-11-25", "tools/call", {"name": "ask_model_with_tools"}, *answers)

    assert [question["params"]["tools"] for question in asked] == [[CLOCK], [CLOCK]]
    assert asked[1]["params"]["messages"][2]["content"][0]["type"] == "tool_result"
    assert said(done) == "It is noon"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("version", "sampling"), [("2025-06-18", {"tools": {}}), ("2025-11-25", {}), ("2025-11-25", {"context": {}})]
)
async def test_where_there_are_no_tools_for_the_model_none_are_sent(version, sampling):
    call = {"name": "ask_model_with_tools"}

    asked, refused = await play(version, "tools/call", call, capabilities={"sampling": sampling})

    assert asked == []
    assert refused["error"]["code"] == -32021
    assert refused["error"]["data"] == {"requiredCapabilities": {"sampling": {"tools": {}}}}


@pytest.mark.anyio
async def test_a_page_has_the_id_that_2025_11_25_wants():
    [question], done = await play("2025-11-25", "tools/call", {"name": "pay"}, {"action": "accept"}, served=pages)

    params = question["params"]
    assert len(params.pop("elicitationId")) >= 16
    assert params == {"mode": "url", "message": "Pay, please", "url": PAGE}
    assert said(done) == "paid"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("version", "elicitation"),
    [("2025-11-25", {}), ("2025-11-25", {"form": {}}), ("2025-06-18", {"form": {}, "url": {}})],
)
async def test_who_cannot_open_pages_is_sent_none(version, elicitation):
    capabilities = {"elicitation": elicitation}

    asked, refused = await play(version, "tools/call", {"name": "pay"}, capabilities=capabilities, served=pages)

    assert asked == []
    assert refused["error"]["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}


@pytest.mark.anyio
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_page_can_be_refused(action):
    call = {"name": "sign_in", "arguments": {"visit": True}}

    _, done = await play("2025-11-25", "tools/call", call, {"action": action})

    assert said(done) == f"refused: {action}"


@pytest.mark.anyio
async def test_choices_of_several_reach_a_client_that_has_no_words_for_them():
    params = {
        "one": {"one": "g"},
        "many": {"many.s": True, "many.m": False},
        "sizes": {"sizes.S": True, "sizes.M": True},
    }
    with anyio.fail_after(SECONDS):
        async with raw_client(toolbox, "2025-06-18", elicitation={}) as peer:
            await peer.send(id=2, method="tools/call", params={"name": "choose"})
            for _ in params:
                question = await peer.receive()
                schema = question["params"]["requestedSchema"]
                name = next(iter(schema["properties"])).partition(".")[0]
                kinds = {field["type"] for field in schema["properties"].values()}
                assert kinds == ({"string"} if name == "one" else {"boolean"})
                await peer.send(id=question["id"], result=accept(**params[name]))
            done = await peer.receive()

    assert said(done) == "g ['s'] ['S', 'M']"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments"), [("ask_model", {"word": "x"}), ("sign_in", {"visit": True}), ("folders", {}), ("delete", {})]
)
async def test_an_error_in_place_of_an_answer_ends_the_call_with_words(tool, arguments):
    wrong = {"code": -32601, "message": "no such method: secret"}

    _, done = await play("2025-11-25", "tools/call", {"name": tool, "arguments": arguments}, wrong)

    assert done["result"]["isError"] is True
    assert "error -32601" in said(done)
    assert "secret" not in said(done)


@pytest.mark.anyio
async def test_a_client_that_declared_nothing_is_asked_nothing():
    calls = [("delete", "elicitation"), ("folders", "roots"), ("ask_model_with_tools", "sampling")]
    for tool, missing in calls:
        asked, refused = await play("2025-11-25", "tools/call", {"name": tool}, capabilities={})
        assert asked == []
        assert list(refused["error"]["data"]["requiredCapabilities"]) == [missing]


# Prompts and resources


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_a_prompt_asks_in_mid_call(version):
    params = {"name": "poem", "arguments": {"topic": "sea"}}

    [question], done = await play(version, "prompts/get", params, accept(mood="wild"))

    assert question["params"]["message"] == "In which mood?"
    assert set(done["result"]) == {"description", "messages"}
    assert [message["content"] for message in done["result"]["messages"]] == [
        text("Write about sea."),
        text("Be wild."),
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_a_resource_asks_in_mid_call(version):
    [question], done = await play(version, "resources/read", {"uri": "memo://a"}, accept(region="north"))
    _, refused = await play(version, "resources/read", {"uri": "memo://a"}, accept(region="none"))

    assert question["params"]["message"] == "Which region?"
    assert set(done["result"]) == {"contents"}
    assert json.loads(done["result"]["contents"][0]["text"]) == {"name": "a", "region": "north"}
    assert refused["error"] == {"code": -32603, "message": "There is no such memo", "data": {"uri": "memo://a"}}


@pytest.mark.anyio
async def test_an_error_in_place_of_an_answer_ends_a_read_with_words():
    wrong = {"code": -32000, "message": "secret"}

    _, done = await play("2025-11-25", "resources/read", {"uri": "memo://a"}, wrong)

    assert "error -32000" in done["error"]["message"]
    assert "secret" not in done["error"]["message"]


@pytest.mark.anyio
async def test_an_older_client_sees_nothing_of_the_newer_protocol_in_lists_and_reads():
    newer = {"inputResponses": {"region": accept(region="x")}, "requestState": "x"}
    with anyio.fail_after(SECONDS):
        async with raw_client(toolbox, "2025-11-25") as peer:
            seen = {}
            for number, (method, params) in enumerate(
                [
                    ("prompts/list", {}),
                    ("resources/list", {}),
                    ("resources/templates/list", {}),
                    ("resources/read", {"uri": "memo:all"}),
                    ("prompts/get", {"name": "poem", "arguments": {"topic": "x"}}),
                ],
                start=2,
            ):
                await peer.send(id=number, method=method, params={**params, **newer})
                seen[method] = set((await peer.receive())["result"])

    assert seen == {
        "prompts/list": {"prompts"},
        "resources/list": {"resources"},
        "resources/templates/list": {"resourceTemplates"},
        "resources/read": {"contents"},
        "prompts/get": {"description", "messages"},
    }


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("method", "params"), [("resources/read", {"uri": "memo:none"}), ("prompts/get", {"name": "nobody"})]
)
async def test_what_is_not_there_is_an_error_of_the_caller(method, params):
    _, refused = await play("2025-11-25", method, params)

    assert refused["error"]["code"] == -32602


# The SDK's client


class Person:
    """Whoever sits before the SDK's client, with a model and a folder."""

    async def elicit(self, context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        if isinstance(params, types.ElicitRequestURLParams):
            return types.ElicitResult(action="accept")
        [field] = params.requested_schema["properties"]
        answer: Any = {"mood": "wild", "region": "north", "ok": True, "one": "r", "many": ["m"], "sizes": ["S"]}
        return types.ElicitResult(action="accept", content={field: answer[field]})

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResultWithTools:
        content: Any = types.TextContent(type="text", text="hello")
        if params.tools and len(params.messages) == 1:
            content = [types.ToolUseContent(type="tool_use", id="u1", name="clock", input={})]
        return types.CreateMessageResultWithTools(role="assistant", content=content, model="m-1")

    async def roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///a"})])


async def drive(server: Any, mode: str) -> None:
    """Everything there is, through the SDK's client."""
    person = Person()
    with anyio.fail_after(processes.SECONDS):
        async with Client(
            server,
            mode=mode,
            elicitation_callback=person.elicit,
            sampling_callback=person.sample,
            sampling_capabilities=types.SamplingCapability(tools=types.SamplingToolsCapability()),
            list_roots_callback=person.roots,
        ) as client:
            tools = [
                ("delete", {}, "deleted"),
                ("choose", {}, "r ['m'] ['S']"),
                ("ask_model", {"word": "hello"}, "m-1: hello"),
                ("ask_model_with_tools", {}, "hello"),
                ("folders", {}, "file:///a"),
                ("sign_in", {"visit": True}, "signed in"),
            ]
            for tool, arguments, expected in tools:
                assert text_of(await client.call_tool(tool, arguments)) == expected
            prompt = await client.get_prompt("poem", {"topic": "sea"})
            picture = await client.get_prompt("picture")
            resource = await client.read_resource("memo://a")
            with pytest.raises(MCPError) as unknown:
                await client.read_resource("memo:none")

    assert prompt.messages[1].content == types.TextContent(type="text", text="Be wild.")
    assert [message.content.type for message in picture.messages] == ["text", "text", "image"]
    assert '"region": "north"' in resource.contents[0].model_dump()["text"]
    assert unknown.value.code == -32602


BOTH_ERAS = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


@pytest.mark.anyio
@BOTH_ERAS
async def test_the_sdks_client_is_asked_everything_in_memory(mode):
    await drive(server_of(toolbox), mode)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@BOTH_ERAS
async def test_the_sdks_client_is_asked_everything_over_stdio(mode):
    await drive(processes.stdio("tests.server.kinds"), mode)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@BOTH_ERAS
async def test_the_sdks_client_is_asked_everything_over_http(mode):
    with serving(http_app(toolbox, keys=[generate_key()], anonymous_ok=True)) as url:
        await drive(url, mode)


def test_a_prompt_asks_on_the_stream_of_its_own_request():
    with serving(http_app(toolbox, keys=[generate_key()], anonymous_ok=True)) as url:
        headers = {**HEADERS, **open_session(url, "2025-11-25")}
        params = {"name": "poem", "arguments": {"topic": "sea"}}
        with posting(url, {"id": 2, "method": "prompts/get", "params": params}, headers) as stream:
            question = next_event(stream)
            answer = {"jsonrpc": "2.0", "id": question["id"], "result": accept(mood="wild")}
            assert send(url, json.dumps(answer), headers).status == 202
            done = next_event(stream)

    assert question["method"] == "elicitation/create"
    assert done["result"]["messages"][1]["content"]["text"] == "Be wild."
