"""Clients of revisions before 2026-07-28: the same tools, with the questions sent in mid-call."""

import json

import anyio
import pytest
from mcp import Client, MCPError, types
from mcp.client import ClientRequestContext

from cookbook import book_flight, update_work_item
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.desk import server_of, toolbox
from tests.server.older_clients import HEADERS, next_event, open_session, posting, raw_client, raw_streams, sdk_session
from tests.server.raw_http import accept, send, serving
from tests.server.sdk_client import RECIPES, answering, text_of

# In memory


@pytest.mark.anyio
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.tool)
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_both_eras_drive_the_recipes_to_the_same_end(recipe, mode, monkeypatch):
    monkeypatch.setattr(book_flight, "shop", {})
    served, elicit = server_of(recipe.module.toolbox), answering(*recipe.contents)
    with anyio.fail_after(10):
        async with Client(served, mode=mode, elicitation_callback=elicit) as client:
            result = await client.call_tool(recipe.tool, recipe.arguments)

    assert text_of(result) == recipe.text
    assert not result.is_error
    assert result.structured_content == {"result": recipe.text}


@pytest.mark.anyio
async def test_an_older_client_without_elicitation_gets_the_clear_error():
    with anyio.fail_after(10):
        async with Client(server_of(toolbox), mode="legacy") as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("greet")

    assert refused.value.code == -32021
    assert refused.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


@pytest.mark.anyio
async def test_an_older_client_that_answers_with_an_error_gets_a_tool_error():
    async def refuse(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ErrorData:
        return types.ErrorData(code=-32601, message="no such method: secret")

    with anyio.fail_after(10):
        async with Client(server_of(toolbox), mode="legacy", elicitation_callback=refuse) as client:
            result = await client.call_tool("delete")

    assert result.is_error
    assert text_of(result) == "The client could not answer the request for 'ok' (error -32601)."


@pytest.mark.anyio
async def test_an_older_client_sees_nothing_of_the_newer_protocol():
    """Nor is it heard when it speaks it: this tool would take an answer that comes with the call."""
    newer = {"inputResponses": {"who": accept(who="x")}, "requestState": "x"}
    with anyio.fail_after(10):
        async with raw_client(toolbox, "2025-11-25", elicitation={}) as peer:
            await peer.send(id=2, method="tools/list")
            listed = (await peer.receive())["result"]
            await peer.send(id=3, method="tools/call", params={"name": "greet_anyone", **newer})
            question = await peer.receive()
            await peer.send(id=question["id"], result=accept(who="Ada"))
            done = (await peer.receive())["result"]

    assert set(listed) == {"tools"}
    assert [tool["name"] for tool in listed["tools"]] == list(toolbox.tools)
    assert [tool["annotations"] for tool in listed["tools"] if "annotations" in tool] == [{"readOnlyHint": True}]
    assert question["method"] == "elicitation/create"
    assert set(done) == {"content", "structuredContent", "isError"}
    assert done["content"][0]["text"] == "Hello Ada"


@pytest.mark.anyio
async def test_a_client_of_2025_06_18_is_asked_in_its_own_words():
    with anyio.fail_after(10):
        async with raw_client(toolbox, "2025-06-18", elicitation={}) as peer:
            await peer.send(id=2, method="tools/call", params={"name": "paint"})
            question = await peer.receive()
            await peer.send(id=question["id"], result=accept(colour="g"))
            done = await peer.receive()

    assert "mode" not in question["params"]
    assert question["params"]["requestedSchema"]["properties"]["colour"]["enumNames"] == ["Red", "Green"]
    assert done["result"]["content"][0]["text"] == "g"


@pytest.mark.anyio
async def test_the_sdks_client_works_at_2025_06_18():
    async with sdk_session(toolbox, answering({"who": "Ada"})) as session:
        result = await session.call_tool("greet")
    assert session.protocol_version == "2025-06-18"
    assert text_of(result) == "Hello Ada"


@pytest.mark.anyio
async def test_a_client_older_than_elicitation_gets_the_clear_error():
    with anyio.fail_after(10):
        async with raw_client(toolbox, "2025-03-26", elicitation={}) as peer:
            await peer.send(id=2, method="tools/call", params={"name": "greet"})
            assert (await peer.receive())["error"]["code"] == -32021


@pytest.mark.anyio
async def test_nothing_is_served_before_initialize():
    with anyio.fail_after(10):
        async with raw_streams(toolbox) as peer:
            await peer.send(id=1, method="tools/call", params={"name": "greet"})
            assert (await peer.receive())["error"]["code"] == -32602


@pytest.mark.anyio
async def test_an_older_client_with_a_malformed_call_hears_so():
    with anyio.fail_after(10):
        async with raw_client(toolbox, "2025-11-25", elicitation={}) as peer:
            await peer.send(id=2, method="tools/call", params={"name": "greet", "arguments": 5})
            assert (await peer.receive())["error"]["code"] == -32602


@pytest.mark.anyio
async def test_cancelling_a_call_takes_its_questions_back_and_is_not_answered():
    """Reported as modelcontextprotocol/python-sdk#2493."""
    with anyio.fail_after(10):
        async with raw_client(toolbox, "2025-11-25", elicitation={}) as peer:
            await peer.send(id=2, method="tools/call", params={"name": "both"})
            questions = {(await peer.receive())["id"], (await peer.receive())["id"]}
            await peer.send(method="notifications/cancelled", params={"requestId": 2})
            taken_back = [await peer.receive(), await peer.receive()]
            await peer.send(id=3, method="ping")
            after = await peer.receive()

    assert {message["params"]["requestId"] for message in taken_back} == questions
    assert {message["method"] for message in taken_back} == {"notifications/cancelled"}
    assert after == {"jsonrpc": "2.0", "id": 3, "result": {}}


# HTTP


def test_an_older_client_is_asked_on_the_stream_of_its_own_call():
    """Not on a stream of the session, which it need not have."""
    with serving(http_app(toolbox, keys=[generate_key()])) as url:
        session = open_session(url, "2025-11-25")
        headers = {**HEADERS, **session}
        with posting(url, {"id": 2, "method": "tools/call", "params": {"name": "greet"}}, headers) as stream:
            question = next_event(stream)
            answer = {"jsonrpc": "2.0", "id": question["id"], "result": accept(who="Ada")}
            assert send(url, json.dumps(answer), headers).status == 202
            done = next_event(stream)

    assert question["method"] == "elicitation/create"
    assert done["id"] == 2
    assert done["result"]["content"][0]["text"] == "Hello Ada"


@pytest.mark.parametrize("options", [{"stateless_http": True}, {"json_response": True}])
def test_where_an_older_client_cannot_be_reached_it_gets_the_clear_error(options):
    app = server_of(toolbox).streamable_http_app(**options)
    with serving(app) as url:
        headers = {**HEADERS, **open_session(url, "2025-11-25")}
        with posting(url, {"id": 2, "method": "tools/call", "params": {"name": "greet"}}, headers) as response:
            answer = json.loads(response.read()) if "json_response" in options else next_event(response)
        error = answer["error"]

    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_sdks_client_works_over_a_port_in_both_eras(mode):
    with serving(http_app(update_work_item.toolbox, keys=[generate_key()])) as url, anyio.fail_after(10):
        elicit = answering({"resolution": "Duplicate"}, {"duplicateOfId": 4301})
        async with Client(url, mode=mode, elicitation_callback=elicit) as client:
            arguments = {"workItemId": 4522, "fields": {"System.State": "Resolved"}}
            result = await client.call_tool("update_work_item", arguments)

    assert text_of(result).startswith("Bug #4522 resolved as Duplicate of Bug #4301.")
