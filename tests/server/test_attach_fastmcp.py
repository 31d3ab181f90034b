"""A toolbox on a server of FastMCP 4, where that is installed; it is no dependency of ours."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.server import Server

from mrtr_tools import Context, Toolbox, needs_input
from mrtr_tools.keys import generate_key
from mrtr_tools.server import attach
from tests.server.raw_http import accept, call, request, serving
from tests.server.sdk_client import text_of
from tests.server.test_attach import desk
from tests.server.test_attach_beside import elicit, ours

fastmcp = pytest.importorskip("fastmcp", reason="FastMCP is not installed")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),  # FastMCP is asyncio's alone
]
BOTH_ERAS = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


def theirs(**options: Any) -> Any:
    server = fastmcp.FastMCP("author", version="9", **options)

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    @server.prompt
    def poem(topic: str) -> str:
        return f"A poem about {topic}"

    @server.resource("memo://{name}")
    def memo(name: str) -> str:
        return f"memo {name}"

    return server


@asynccontextmanager
async def client_of(server: Any, mode: Any) -> AsyncIterator[Client]:
    inside: Server[Any] = server._mcp_server
    with anyio.fail_after(20):
        async with Client(inside, mode=mode, elicitation_callback=elicit) as client:
            yield client


@BOTH_ERAS
async def test_both_are_listed_and_both_work(mode):
    server = theirs()
    attach(ours(), server, keys=[generate_key()])
    attach(desk(), server, keys=[generate_key()])
    async with client_of(server, mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        greeted, added = await client.call_tool("greet"), await client.call_tool("add", {"a": 1, "b": 2})
        said = [(await client.get_prompt(name, {"topic": "sea"})).messages[0].content for name in ("ode", "poem")]
        read = [(await client.read_resource(uri)).contents[0].model_dump()["text"] for uri in ("note://a", "memo://a")]

    assert tools == ["greet", "add"]
    assert prompts == ["ode", "poem"]
    assert templates == ["note://{name}", "memo://{name}"]
    assert [text_of(greeted), text_of(added)] == ["Hello some who", "3"]
    assert [content.model_dump()["text"] for content in said] == ["A some mood ode to sea", "A poem about sea"]
    assert read == ["a in some region", "memo a"]


@BOTH_ERAS
async def test_a_name_that_comes_twice_is_told_when_it_is_listed(mode):
    server, toolbox = theirs(), Toolbox("second")

    @toolbox.tool
    def add(a: int) -> int:
        return a

    attach(toolbox, server, keys=[generate_key()])
    async with client_of(server, mode) as client:
        with pytest.raises(MCPError, match="two tools named 'add'"):
            await client.list_tools()


@BOTH_ERAS
async def test_the_lifespan_object_reaches_steps(mode):
    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[dict[str, str]]:
        yield {"database": "open"}

    server, toolbox = theirs(lifespan=lifespan), Toolbox("desk")

    @toolbox.tool
    @needs_input(who="Who?")
    def look(who: str, ctx: Context) -> str:
        return ctx.lifespan["database"]

    attach(toolbox, server, keys=[generate_key()])
    async with client_of(server, mode) as client:
        assert text_of(await client.call_tool("look")) == "open"


async def test_over_http_our_state_is_ours_and_a_malformed_answer_is_asked_again():
    keys, answer = [generate_key()], {"who": accept(who="Ada")}
    one, two = theirs(), theirs()
    attach(desk(), one, keys=keys)
    attach(desk(), two, keys=keys)
    with serving(one.http_app()) as first, serving(two.http_app()) as second:
        state = call(first, "greet").result["requestState"]
        again = call(first, "greet", inputResponses={"who": 12345}, requestState=state).result
        done = call(second, "greet", inputResponses=answer, requestState=state).result
        told = request(first, "server/discover", {}).result["capabilities"]

    assert again["resultType"] == "input_required"
    assert done["content"][0]["text"] == "Hello Ada"
    assert {"tools", "prompts", "resources"} <= set(told)
