"""Prompts and resources of a toolbox beside those of a server, with its lifespan and middlewares, in both eras."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, types
from mcp.client import ClientRequestContext
from mcp.server import CacheHint, MCPServer
from mcp.server.mcpserver import Context as SdkContext

from mrtr_tools import Context, DefinitionError, Toolbox, needs_input, then
from mrtr_tools.client import Tasks
from mrtr_tools.keys import generate_key
from mrtr_tools.server import attach
from mrtr_tools.tasks import MemoryEngine
from tests.server.raw_http import accept, request, serving
from tests.server.sdk_client import text_of
from tests.server.test_attach import AUTH, Tokens

BOTH_ERAS = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


def ours() -> Toolbox:
    toolbox = Toolbox("desk")

    @toolbox.prompt()
    @needs_input(mood="In which mood?")
    def ode(topic: str, mood: str) -> str:
        return f"A {mood} ode to {topic}"

    @toolbox.resource("note://{name}")
    @needs_input(region="Which region?")
    def note(name: str, region: str) -> str:
        return f"{name} in {region}"

    @toolbox.resource("note:all")
    def notes() -> str:
        return "all"

    return toolbox


def theirs(**options: Any) -> MCPServer[Any]:
    server = MCPServer("author", log_level="ERROR", **options)

    @server.prompt()
    def poem(topic: str) -> str:
        return f"A poem about {topic}"

    @server.resource("memo://{name}")
    def memo(name: str) -> str:
        return f"memo {name}"

    @server.resource("memo:all")
    def memos() -> str:
        return "memos"

    @server.completion()
    async def complete(ref: Any, argument: types.CompletionArgument, context: Any) -> types.Completion:
        return types.Completion(values=[f"{argument.value}!"])

    return server


async def elicit(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
    assert isinstance(params, types.ElicitRequestFormParams)
    [field] = params.requested_schema["properties"]
    return types.ElicitResult(action="accept", content={field: f"some {field}"})


@asynccontextmanager
async def client_of(server: Any, mode: str) -> AsyncIterator[Client]:
    with anyio.fail_after(10):
        async with Client(server, mode=mode, elicitation_callback=elicit) as client:
            yield client


@pytest.mark.anyio
@BOTH_ERAS
async def test_both_are_listed_and_both_work(mode):
    server = theirs()
    attach(ours(), server, keys=[generate_key()])
    async with client_of(server, mode) as client:
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        resources = [str(resource.uri) for resource in (await client.list_resources()).resources]
        templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        said = [(await client.get_prompt(name, {"topic": "sea"})).messages[0].content for name in ("ode", "poem")]
        read = [
            (await client.read_resource(uri)).contents[0].model_dump()["text"]
            for uri in ("note://a", "note:all", "memo://a", "memo:all")
        ]
        with pytest.raises(MCPError):
            await client.read_resource("other:x")
        completed = await client.complete(
            types.PromptReference(type="ref/prompt", name="ode"), {"name": "topic", "value": "s"}
        )

    assert prompts == ["ode", "poem"]
    assert resources == ["note:all", "memo:all"]
    assert templates == ["note://{name}", "memo://{name}"]
    assert [content.model_dump()["text"] for content in said] == ["A some mood ode to sea", "A poem about sea"]
    assert read == ["a in some region", "all", "memo a", "memos"]
    assert completed.completion.values == ["s!"]


@pytest.mark.anyio
async def test_the_servers_own_caching_hints_stay():
    hints: Any = {"prompts/list": CacheHint(ttl_ms=5000, scope="public")}
    server = theirs(cache_hints=hints)
    attach(ours(), server, keys=[generate_key()])
    async with client_of(server, "2026-07-28") as client:
        listed = await client.list_prompts()

    assert (listed.ttl_ms, listed.cache_scope) == (5000, "public")


@pytest.mark.parametrize(
    ("kind", "named"),
    [("prompt", "poem"), ("resource", "memo:all"), ("template", "memo://{name}")],
)
def test_a_name_that_the_server_has_is_refused(kind, named):
    toolbox = Toolbox("second")

    def say(name: str) -> str:
        return name

    if kind == "prompt":
        toolbox.prompt(name=named)(say)
    else:
        toolbox.resource(named, name="r")((lambda: "") if kind == "resource" else say)

    with pytest.raises(DefinitionError, match=r"'author' has two .* give one another name"):
        attach(toolbox, theirs(), keys=[generate_key()])


def test_a_name_that_another_toolbox_has_is_refused():
    server = theirs()
    attach(ours(), server, keys=[generate_key()])

    with pytest.raises(DefinitionError, match="two prompts named 'ode'"):
        attach(ours(), server, keys=[generate_key()])


@pytest.mark.anyio
@BOTH_ERAS
async def test_a_name_that_comes_twice_later_is_told_when_it_is_listed(mode):
    server = theirs()
    attach(ours(), server, keys=[generate_key()])

    @server.resource("note:all")
    def notes() -> str:
        return "not ours"

    async with client_of(server, mode) as client:
        with pytest.raises(MCPError, match="two resources named 'note:all'"):
            await client.list_resources()


@dataclass
class Database:
    rows: list[str]


@pytest.mark.anyio
@BOTH_ERAS
async def test_steps_and_their_neighbours_share_the_lifespan_and_middlewares(mode):
    database, seen = Database([]), list[str]()

    @asynccontextmanager
    async def lifespan(_: MCPServer[Database]) -> AsyncIterator[Database]:
        database.rows.append("open")
        yield database
        database.rows.append("closed")

    async def audit(ctx: Any, call_next: Any) -> Any:
        seen.append(ctx.method)
        return await call_next(ctx)

    server, toolbox = theirs(lifespan=lifespan, middleware=[audit]), Toolbox("desk")

    @server.tool()
    def neighbour(ctx: SdkContext[Database]) -> str:
        ctx.request_context.lifespan_context.rows.append("theirs")
        return "done"

    @toolbox.tool
    @needs_input(what="What?")
    def store(what: str, ctx: Context) -> str:
        assert isinstance(ctx.lifespan, Database)
        ctx.lifespan.rows.append(what)
        return "stored"

    @toolbox.resource("row:all")
    def rows(ctx: Context) -> list[str]:
        return ctx.lifespan.rows

    attach(toolbox, server, keys=[generate_key()])
    async with client_of(server, mode) as client:
        assert text_of(await client.call_tool("neighbour")) == "done"
        assert text_of(await client.call_tool("store")) == "stored"
        read = await client.read_resource("row:all")

    assert read.contents[0].model_dump()["text"] == '[\n  "open",\n  "theirs",\n  "some what"\n]'
    assert database.rows == ["open", "theirs", "some what", "closed"]
    assert seen.count("tools/call") == (3 if mode == "2026-07-28" else 2)
    assert "resources/read" in seen


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # tasks are run on that alone
async def test_a_step_that_runs_as_a_task_finds_the_lifespan_too():
    database = Database([])

    @asynccontextmanager
    async def lifespan(_: MCPServer[Database]) -> AsyncIterator[Database]:
        yield database

    server, toolbox = theirs(lifespan=lifespan), Toolbox("desk")

    @toolbox.tool(task="required")
    def store(ctx: Context) -> str:
        assert ctx.lifespan is database
        return then(check)

    @toolbox.step
    def check(ctx: Context) -> str:
        ctx.lifespan.rows.append("checked")
        return "stored"

    keys = [generate_key()]
    attach(toolbox, server, keys=keys, tasks=MemoryEngine(), task_keys=keys, anonymous_ok=True)
    async with Client(server, mode="2026-07-28", extensions=[Tasks()]) as client:
        assert text_of(await client.call_tool("store")) == "stored"
    assert database.rows == ["checked"]


def test_a_state_of_a_resource_is_of_use_to_the_person_it_was_made_for_only():
    server = theirs(auth=AUTH, token_verifier=Tokens())
    attach(ours(), server, keys=[generate_key()])

    def read(url: str, person: str, **params: Any) -> Any:
        headers = {"Authorization": f"Bearer {person}"}
        return request(url, "resources/read", {"uri": "note://a", **params}, headers=headers)

    with serving(server.streamable_http_app()) as url:
        state = read(url, "ada").result["requestState"]
        given = {"inputResponses": {"region": accept(region="north")}, "requestState": state}
        stolen, own = read(url, "eve", **given), read(url, "ada", **given)

    assert stolen.error == {"code": -32602, "message": "Invalid or expired requestState"}
    assert own.result["contents"][0]["text"] == "a in north"
    assert (own.result["ttlMs"], own.result["cacheScope"]) == (0, "private")


def memos(toolbox_name: str, uri: str) -> Toolbox:
    """A toolbox with a resource that asks for a region."""
    toolbox = Toolbox(toolbox_name)

    @toolbox.resource(uri)
    @needs_input(region="Which region?")
    def memo(name: str, region: str) -> str:
        return f"{toolbox_name}: {name} in {region}"

    return toolbox


@pytest.mark.anyio
@BOTH_ERAS
async def test_of_two_toolboxes_that_both_know_a_uri_the_first_one_has_it(mode):
    server = theirs()
    attach(memos("one", "note://{name}"), server, keys=[generate_key()])
    attach(memos("two", "note://a{name}"), server, keys=[generate_key()])
    async with client_of(server, mode) as client:
        read = await client.read_resource("note://ab")

    assert read.contents[0].model_dump()["text"] == "one: ab in some region"


@pytest.mark.anyio
async def test_a_step_may_call_another_server_of_this_process():
    """What it carries along in its context is not taken for the other's."""
    inner, outer, toolbox = theirs(), theirs(), Toolbox("outer")
    attach(ours(), inner, keys=[generate_key()])

    @toolbox.tool
    @needs_input(who="Who?")
    async def relay(who: str) -> str:
        async with client_of(inner, "2026-07-28") as client:
            return f"{who}: {(await client.read_resource('note://a')).contents[0].model_dump()['text']}"

    attach(toolbox, outer, keys=[generate_key()])
    async with client_of(outer, "2026-07-28") as client:
        assert text_of(await client.call_tool("relay")) == "some who: a in some region"
