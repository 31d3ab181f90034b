"""A toolbox beside the tools that a server of the SDK has already."""

import json
import logging
from dataclasses import replace
from typing import Annotated, Any

import anyio
import pytest
from mcp import Client, MCPError, types
from mcp.client import ClientRequestContext
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, Elicit, Resolve
from pydantic import AnyHttpUrl, BaseModel, SecretStr

from mrtr_tools import DefinitionError, Toolbox, needs_input
from mrtr_tools.calls import Call
from mrtr_tools.keys import InvalidKey, generate_key
from mrtr_tools.server import attach, http_app
from mrtr_tools.state import StateSigner
from tests.server.raw_http import accept, call, request, serving
from tests.server.sdk_client import text_of

BOTH_ERAS = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
FROZEN = "Invalid or expired requestState"


class Name(BaseModel):
    name: str


def ask_name() -> Elicit[Name]:
    return Elicit("Your name, for the server itself?", Name)


def desk(name: str = "desk") -> Toolbox:
    toolbox = Toolbox(name)

    @toolbox.tool
    @needs_input(who="Who are you?")
    def greet(who: str) -> str:
        return f"Hello {who}"

    return toolbox


def server_of_an_author(**options: Any) -> MCPServer[Any]:
    """A server with one of everything, and a tool that asks by the SDK's own means."""
    server = MCPServer("author", version="9", log_level="ERROR", **options)

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    async def resolve(name: Annotated[Name, Resolve(ask_name)], ctx: Context[Any]) -> str:
        return f"Resolved {name.name}"

    @server.resource("memo://{name}")
    def memo(name: str) -> str:
        return f"memo {name}"

    @server.prompt()
    def poem(topic: str) -> str:
        return f"A poem about {topic}"

    return server


def signer(audience: str = "desk") -> StateSigner:
    return StateSigner([generate_key()], audience)


async def elicit(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
    content = {"name": "Grace"} if "server itself" in params.message else {"who": "Ada"}
    return types.ElicitResult(action="accept", content=dict(content))


# Side by side


@pytest.mark.anyio
@BOTH_ERAS
async def test_the_servers_own_tools_resources_and_prompts_stay_as_they_are(mode):
    alone, shared = server_of_an_author(), server_of_an_author()
    attach(desk(), shared, keys=[generate_key()])
    seen = []
    with anyio.fail_after(10):
        for server in (alone, shared):
            async with Client(server, mode=mode, elicitation_callback=elicit) as client:
                tools = [tool for tool in (await client.list_tools()).tools if tool.name != "greet"]
                seen.append(
                    [
                        tools,
                        await client.call_tool("add", {"a": 1, "b": 2}),
                        await client.call_tool("add", {"a": "x"}),
                        await client.call_tool("resolve"),
                        await client.call_tool("nobody"),
                        (await client.list_resource_templates()).resource_templates,
                        (await client.read_resource("memo://x")).contents,
                        (await client.list_prompts()).prompts,
                        (await client.get_prompt("poem", {"topic": "sea"})).messages,
                        client.server_capabilities,
                    ]
                )

    assert seen[0] == seen[1]
    assert text_of(seen[1][3]) == "Resolved Grace"


@pytest.mark.anyio
@BOTH_ERAS
async def test_ours_are_listed_before_them_and_work(mode):
    server = server_of_an_author()
    attach(desk(), server, keys=[generate_key()])
    with anyio.fail_after(10):
        async with Client(server, mode=mode, elicitation_callback=elicit) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("greet")

    assert listed == ["greet", "add", "resolve"]
    assert text_of(result) == "Hello Ada"


@pytest.mark.anyio
async def test_ours_are_on_the_first_page_only():
    server = server_of_an_author()
    attach(desk(), server, keys=[generate_key()])
    with anyio.fail_after(10):
        async with Client(server, mode="2026-07-28") as client:
            later = await client.list_tools(cursor="2")

    assert "greet" not in [tool.name for tool in later.tools]


@pytest.mark.anyio
@BOTH_ERAS
async def test_several_toolboxes_can_be_attached_to_one_server(mode):
    server = server_of_an_author()
    other = Toolbox("other")

    @other.tool
    @needs_input(who="Who leaves?")
    def leave(who: str) -> str:
        return f"Bye {who}"

    attach(desk(), server, keys=[generate_key()])
    attach(other, server, keys=[generate_key()])
    with anyio.fail_after(10):
        async with Client(server, mode=mode, elicitation_callback=elicit) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            results = [await client.call_tool(name) for name in ("greet", "leave", "resolve")]

    assert listed == ["greet", "leave", "add", "resolve"]
    assert [text_of(result) for result in results] == ["Hello Ada", "Bye Ada", "Resolved Grace"]


@pytest.mark.anyio
async def test_a_tool_defined_after_attaching_is_served_too():
    server, toolbox = server_of_an_author(), desk()
    attach(toolbox, server, keys=[generate_key()])

    @toolbox.tool
    def late() -> str:
        return "late"

    with anyio.fail_after(10):
        async with Client(server) as client:
            assert text_of(await client.call_tool("late")) == "late"


# One seal


@pytest.mark.anyio
async def test_our_state_is_sealed_by_us_alone_and_theirs_by_the_sdk():
    server, ours = server_of_an_author(), signer()
    attach(desk(), server, signer=ours)
    with anyio.fail_after(10):
        async with Client(server, mode="2026-07-28", elicitation_callback=elicit) as client:
            first = await client.session.call_tool("greet", allow_input_required=True)
            theirs = await client.session.call_tool("resolve", allow_input_required=True)

    assert isinstance(first, types.InputRequiredResult)
    assert isinstance(theirs, types.InputRequiredResult)
    assert first.request_state
    assert not ours.loads(first.request_state, Call("greet")).expired
    assert theirs.request_state
    assert theirs.request_state.startswith("v1.")


@pytest.mark.anyio
async def test_another_process_opens_our_state_although_the_sdks_seal_is_of_one_process():
    ours = signer()
    one, two = server_of_an_author(), server_of_an_author()
    attach(desk(), one, signer=ours)
    attach(desk(), two, signer=ours)
    given: types.InputResponses = {"who": types.ElicitResult(action="accept", content={"who": "Ada"})}
    with anyio.fail_after(10):
        async with Client(one, elicitation_callback=elicit) as client:
            first = await client.session.call_tool("greet", allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        async with Client(two, elicitation_callback=elicit) as client:
            done = await client.session.call_tool(
                "greet", input_responses=given, request_state=first.request_state, allow_input_required=True
            )

    assert text_of(done) == "Hello Ada"


@pytest.mark.anyio
async def test_neither_takes_the_state_of_the_other():
    server = server_of_an_author()
    attach(desk(), server, keys=[generate_key()])
    with anyio.fail_after(10):
        async with Client(server, mode="2026-07-28", elicitation_callback=elicit) as client:
            states = {}
            for name in ("greet", "resolve"):
                first = await client.session.call_tool(name, allow_input_required=True)
                assert isinstance(first, types.InputRequiredResult)
                states[name] = first.request_state
            for name, state in (("greet", states["resolve"]), ("resolve", states["greet"])):
                with pytest.raises(MCPError, match=FROZEN):
                    await client.session.call_tool(name, request_state=state, allow_input_required=True)


@pytest.mark.anyio
async def test_middlewares_of_the_author_see_our_calls_but_not_their_state():
    seen: list[Any] = []

    async def audit(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/call":
            seen.append((ctx.params["name"], "requestState" in ctx.params, result.get("requestState")))
        return result

    server = server_of_an_author(middleware=[audit])
    attach(desk(), server, keys=[generate_key()])
    with anyio.fail_after(10):
        async with Client(server, mode="2026-07-28", elicitation_callback=elicit) as client:
            assert text_of(await client.call_tool("greet")) == "Hello Ada"

    assert seen == [("greet", False, None), ("greet", False, None)]


@pytest.mark.anyio
async def test_a_middleware_that_makes_another_call_one_of_ours_fails_closed(caplog):
    async def rename(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            ctx = replace(ctx, params={**ctx.params, "name": "greet"})
        return await call_next(ctx)

    server = server_of_an_author(middleware=[rename])
    attach(desk(), server, keys=[generate_key()])
    with anyio.fail_after(10):
        async with Client(server, mode="2026-07-28", elicitation_callback=elicit) as client:
            with pytest.raises(MCPError, match=r"^Internal error$"):
                await client.call_tool("alias")

    assert "a middleware of 'author' made another call one of 'greet'" in caplog.text


@pytest.mark.anyio
@BOTH_ERAS
async def test_what_crashes_in_here_is_logged_and_not_told(mode, caplog):
    """The SDK tells older clients the text of any exception."""

    class BrokenToolbox(Toolbox):
        def find(self, method: str, target: str, arguments: Any) -> Any:
            raise RuntimeError("secret")

    server, toolbox = server_of_an_author(), BrokenToolbox("desk")

    @toolbox.tool
    def greet() -> str:
        return "never"

    attach(toolbox, server, keys=[generate_key()])
    with anyio.fail_after(10):
        async with Client(server, mode=mode, elicitation_callback=elicit) as client:
            with pytest.raises(MCPError) as told:
                await client.call_tool("greet")

    assert (told.value.code, told.value.message) == (-32603, "Internal error")
    assert "a call of desk could not be served" in caplog.text


# Names


def test_a_name_that_the_server_has_is_refused_when_attaching():
    toolbox = Toolbox("calculator")

    @toolbox.tool
    def add(a: int) -> int:
        return a

    with pytest.raises(DefinitionError, match=r"'author' has two tools named 'add'.*give one another name"):
        attach(toolbox, server_of_an_author(), keys=[generate_key()])


def test_a_name_that_another_toolbox_has_is_refused_when_attaching():
    server = server_of_an_author()
    attach(desk(), server, keys=[generate_key()])

    with pytest.raises(DefinitionError, match="two tools named 'greet'"):
        attach(desk("second"), server, keys=[generate_key()])


@pytest.mark.anyio
@BOTH_ERAS
async def test_a_name_that_comes_twice_later_is_told_when_tools_are_listed(mode):
    server = server_of_an_author()
    attach(desk(), server, keys=[generate_key()])

    @server.tool()
    def greet() -> str:
        return "not ours"

    with anyio.fail_after(10):
        async with Client(server, mode=mode) as client:
            with pytest.raises(MCPError, match="two tools named 'greet'"):
                await client.list_tools()


# Starting


def test_attaching_needs_keys_too(monkeypatch):
    """Security 13: it cannot know whether the server will have one process."""
    monkeypatch.delenv("MRTR_TOOLS_KEYS", raising=False)

    with pytest.raises(InvalidKey, match="mrtr-tools keygen"):
        attach(desk(), server_of_an_author())


def test_keys_of_the_environment_serve_an_attached_toolbox(monkeypatch):
    monkeypatch.setenv("MRTR_TOOLS_KEYS", generate_key())

    attach(desk(), server_of_an_author())


# Who is calling


class Tokens:
    """The token of each person is their name; a machine has none."""

    async def verify_token(self, token: str) -> AccessToken:
        subject = None if token == "machine" else token
        return AccessToken(
            token=token,
            client_id="app",
            scopes=[],
            subject=subject,
            resource=None,
            claims={"iss": "https://id.example"},
        )


AUTH = AuthSettings(issuer_url=AnyHttpUrl("https://id.example"), resource_server_url=None, required_scopes=[])


def authenticated(toolbox: Toolbox | None = None, **options: Any) -> Any:
    server = server_of_an_author(auth=AUTH, token_verifier=Tokens())
    attach(toolbox or desk(), server, keys=[generate_key()], **options)
    return server.streamable_http_app()


def as_person(url: str, person: str, **params: Any) -> Any:
    return request(url, "tools/call", {"name": "greet", **params}, headers={"Authorization": f"Bearer {person}"})


def test_a_state_is_of_use_to_the_person_it_was_made_for_only():
    """Security 12."""
    with serving(authenticated()) as url:
        state = as_person(url, "ada").result["requestState"]
        given = {"inputResponses": {"who": accept(who="Ada")}, "requestState": state}
        stolen, own = as_person(url, "eve", **given), as_person(url, "ada", **given)
        nobody = call(url, "greet", **given)

    assert stolen.error == {"code": -32602, "message": FROZEN}
    assert own.result["content"][0]["text"] == "Hello Ada"
    assert nobody.status == 401


def test_a_token_without_subject_is_refused_unless_the_server_says_otherwise(caplog):
    """Security 12: all who share a client would be one person."""
    with serving(authenticated()) as url:
        refused = as_person(url, "machine")
    with serving(authenticated(principal="client")) as url:
        taken = as_person(url, "machine")

    assert refused.error == {"code": -32603, "message": "The access token does not say who is calling"}
    assert 'principal="client"' in caplog.text
    assert taken.result["resultType"] == "input_required"


def drawer(ran: list[str]) -> Toolbox:
    """A tool that asks nothing, and may run once in a call."""
    toolbox = Toolbox("drawer")

    @toolbox.tool(single_use=True)
    def greet() -> str:
        ran.append("greet")
        return "Hello once"

    return toolbox


def test_what_is_used_once_is_used_by_the_person_it_is_for(tmp_path):
    ran: list[str] = []
    with serving(authenticated(drawer(ran), claims=tmp_path / "claims")) as url:
        state = as_person(url, "ada").result["requestState"]
        stolen = as_person(url, "eve", requestState=state)
        own = [as_person(url, "ada", requestState=state).result["content"][0]["text"] for _ in range(2)]

    assert stolen.error["message"] == FROZEN
    assert own == ["Hello once", "Hello once"]
    assert ran == ["greet"]


def test_nobody_in_particular_uses_nothing_once_over_http_unless_the_server_says_so(tmp_path):
    """Security 12."""
    ran: list[str] = []
    answers = []
    for anonymous_ok in (False, True):
        server = server_of_an_author()
        attach(drawer(ran), server, keys=[generate_key()], claims=tmp_path / "claims", anonymous_ok=anonymous_ok)
        with serving(server.streamable_http_app()) as url:
            answers.append(call(url, "greet").result)

    assert answers[0]["isError"]
    assert "somebody whom this server does not know" in answers[0]["content"][0]["text"]
    assert answers[1]["resultType"] == "input_required"
    assert ran == []


@BOTH_ERAS
@pytest.mark.anyio
async def test_a_client_of_the_sdk_sends_back_what_was_handed_back(mode, tmp_path):
    ran: list[str] = []
    server = server_of_an_author()
    attach(drawer(ran), server, keys=[generate_key()], claims=tmp_path / "claims")

    async with Client(server, mode=mode) as client:
        assert text_of(await client.call_tool("greet", {})) == "Hello once"
    assert ran == ["greet"]


def test_a_function_may_say_who_is_calling():
    """Security 12."""
    team = {"ada": "red", "eve": "red", "bob": "blue"}
    with serving(authenticated(principal=lambda token: team[token.token])) as url:
        state = as_person(url, "ada").result["requestState"]
        given = {"inputResponses": {"who": accept(who="Ada")}, "requestState": state}

        assert as_person(url, "eve", **given).result["resultType"] == "complete"
        assert as_person(url, "bob", **given).error["message"] == FROZEN
        assert as_person(url, "zoe", **given).error == {"code": -32603, "message": "Internal error"}


@pytest.mark.parametrize("named", [None, "", 7])
def test_a_function_that_names_nobody_is_refused(named):
    """Security 12."""
    with serving(authenticated(principal=lambda _: named)) as url:
        assert as_person(url, "ada").error == {"code": -32603, "message": "Internal error"}


@pytest.mark.parametrize("principal", ["client_id", "", True])
def test_what_says_of_nobody_who_is_calling_is_refused_at_start(principal: Any):
    """Security 12."""
    with pytest.raises(ValueError, match=r"principal=.* says of nobody who is calling"):
        http_app(desk(), keys=[generate_key()], principal=principal)
    with pytest.raises(ValueError, match=r"principal=.* says of nobody who is calling"):
        attach(desk(), server_of_an_author(), keys=[generate_key()], principal=principal)


def test_the_log_says_once_that_callers_over_http_are_not_authenticated(caplog):
    """Security 12: `attach` does not know what its server will be served over, so the first such caller tells."""
    server = server_of_an_author()
    attach(desk(), server, keys=[generate_key()])
    with serving(server.streamable_http_app()) as url:
        assert "not authenticated" not in caplog.text
        call(url, "greet")
        call(url, "greet")
    with serving(authenticated()) as url:
        as_person(url, "ada")

    assert caplog.text.count("desk: callers over HTTP are not authenticated; whoever has a state") == 1


def test_no_two_principals_are_written_alike():
    """Security 12: A list, not a joined text: `a|b` and `c` must not be `a` and `b|c`."""
    from mcp.server.auth.middleware.auth_context import auth_context_var
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser

    from mrtr_tools.server.principals import current_principal

    token = AccessToken(token="t", client_id="app", scopes=[], subject='a","b', resource=None, claims={"iss": "i"})
    reset = auth_context_var.set(AuthenticatedUser(token))
    try:
        assert json.loads(current_principal("subject") or "") == ["i", "app", 'a","b']
        assert json.loads(current_principal("client") or "") == ["i", "app"]
    finally:
        auth_context_var.reset(reset)
    assert current_principal("subject") is None


def test_the_log_names_the_key_that_signs(caplog):
    """Security 14."""
    caplog.set_level(logging.INFO, "mrtr_tools")

    attach(desk(), server_of_an_author(), keys=[generate_key()])

    assert "desk: states are signed with key " in caplog.text


def hiding(toolbox: Toolbox) -> Toolbox:
    @toolbox.tool(carry_secrets=True)
    @needs_input(token=lambda: SecretStr("hunter2"))
    @needs_input(who="Who are you?")
    def hide(token: SecretStr, who: str) -> str:
        return f"{who} has {token.get_secret_value()}"

    return toolbox


def test_a_server_does_not_start_with_secrets_and_a_signer_that_seals_nothing():
    """Security 17."""
    server = server_of_an_author()

    with pytest.raises(DefinitionError, match=r"desk: its states may hold secrets.*leave seal= out"):
        attach(hiding(desk()), server, signer=StateSigner([generate_key()], "desk", seal=False))
    with serving(server.streamable_http_app()) as url:
        assert "greet" not in [tool["name"] for tool in request(url, "tools/list", {}).result["tools"]]


def test_secrets_that_come_after_the_start_are_not_unsealed_either(caplog):
    """Security 17: nothing of the toolbox is served then, and the log says why."""
    server, ours = server_of_an_author(), desk()
    attach(ours, server, signer=StateSigner([generate_key()], "desk", seal=False))
    hiding(ours)

    with serving(server.streamable_http_app()) as url:
        refused = call(url, "hide")

    assert refused.error == {"code": -32603, "message": "Internal error"}
    assert "leave seal= out" in caplog.text
    assert "hunter2" not in caplog.text


def test_secrets_are_served_sealed_and_come_back_whole():
    """Security 17."""
    server = server_of_an_author()
    attach(hiding(desk()), server, keys=[generate_key()])

    with serving(server.streamable_http_app()) as url:
        first = call(url, "hide")
        state = first.result["requestState"]
        done = call(url, "hide", inputResponses={"who": accept(who="Ada")}, requestState=state)

    assert "hunter2" not in first.text
    assert done.result["content"][0]["text"] == "Ada has hunter2"
