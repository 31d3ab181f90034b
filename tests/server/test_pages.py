"""Who may be sent to a page: somebody the server knows, or somebody who started it."""

from typing import Any

import pytest
from mcp.server import MCPServer

from mrtr_tools import DefinitionError, ElicitUrl, Refused, Toolbox, needs_input
from mrtr_tools.keys import generate_key
from mrtr_tools.server import attach, http_app, run_http
from tests.server.kinds import PAGE, pages, toolbox
from tests.server.raw_http import call, request, serving
from tests.server.test_attach import AUTH, Tokens

OPENS = {"elicitation": {"url": {}}}


@pytest.mark.parametrize("start", [http_app, run_http])
def test_pages_are_not_opened_for_just_anybody_over_http(start):
    """Security 12, 22: the link may be sent on, and whoever signs in then acts in somebody else's call."""
    with pytest.raises(DefinitionError, match=r"pages: pay ask to open a page.*auth=.*anonymous_ok=True"):
        start(pages, keys=[generate_key()])


def test_they_are_where_the_author_says_so():
    with serving(http_app(pages, keys=[generate_key()], anonymous_ok=True)) as url:
        asked = request(url, "tools/call", {"name": "pay"}, capabilities=OPENS).result

    assert asked["inputRequests"]["page"]["params"]["url"] == PAGE


def test_a_function_that_says_it_asks_for_a_page_counts():
    """Security 22."""
    with pytest.raises(DefinitionError, match=r"kinds: sign_in ask to open a page"):
        http_app(toolbox, keys=[generate_key()])


def test_a_page_that_a_function_asks_for_without_saying_so_is_not_opened_for_just_anybody_either():
    """Security 12, 22."""
    secretive = Toolbox("secretive")

    def link(visit: bool):
        return ElicitUrl("Sign in, please", PAGE) if visit else True

    @secretive.tool
    @needs_input(page=link)
    def sign_in(visit: bool, page: bool | Refused) -> str:
        return "signed in"

    with serving(http_app(secretive, keys=[generate_key()])) as url:
        params = {"name": "sign_in", "arguments": {"visit": True}}
        refused = request(url, "tools/call", params, capabilities=OPENS).result
        without = call(url, "sign_in", {"visit": False}).result

    assert refused["isError"] is True
    assert "whom this server does not know" in refused["content"][0]["text"]
    assert without["content"][0]["text"] == "signed in"


def test_a_client_that_opens_no_pages_is_told_so_before_anybody_asks_who_is_calling():
    choosy = Toolbox("choosy")

    @choosy.tool
    @needs_input(page=ElicitUrl("Sign in, please", PAGE))
    def sign_in(page: bool | Refused) -> str:
        return str(page)

    server = MCPServer("author", log_level="ERROR")
    attach(choosy, server, keys=[generate_key()])
    with serving(server.streamable_http_app()) as url:
        result = request(url, "tools/call", {"name": "sign_in"}, capabilities={"elicitation": {"form": {}}}).result

    assert result["content"][0]["text"] == "Refused(action='unsupported')"


@pytest.mark.parametrize("anonymous_ok", [False, True])
def test_beside_a_servers_own_tools_it_is_the_same(anonymous_ok):
    server = MCPServer("author", log_level="ERROR")
    attach(pages, server, keys=[generate_key()], anonymous_ok=anonymous_ok)
    with serving(server.streamable_http_app()) as url:
        result = request(url, "tools/call", {"name": "pay"}, capabilities=OPENS).result

    assert ("inputRequests" in result) is anonymous_ok
    assert ("isError" in result) is not anonymous_ok


@pytest.mark.parametrize("option", ["no", 0, None])
def test_whether_anybody_may_come_is_yes_or_no(option: Any):
    """Security 12: a text such as "no" would be a yes."""
    with pytest.raises(TypeError, match="anonymous_ok= is True or False"):
        http_app(pages, keys=[generate_key()], anonymous_ok=option, principal="subject")
    with pytest.raises(TypeError, match="anonymous_ok= is True or False"):
        attach(pages, MCPServer("author", log_level="ERROR"), keys=[generate_key()], anonymous_ok=option)


def test_a_caller_who_is_authenticated_is_sent_to_the_page():
    server = MCPServer("author", log_level="ERROR", auth=AUTH, token_verifier=Tokens())
    attach(pages, server, keys=[generate_key()])
    with serving(server.streamable_http_app()) as url:
        headers = {"Authorization": "Bearer ada"}
        asked = request(url, "tools/call", {"name": "pay"}, capabilities=OPENS, headers=headers).result

    assert list(asked["inputRequests"]) == ["page"]


def test_the_log_says_once_that_callers_are_not_authenticated(caplog):
    """Security 12."""
    http_app(Toolbox("open"), keys=[generate_key()])

    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert warnings[0].startswith("open: callers over HTTP are not authenticated")
