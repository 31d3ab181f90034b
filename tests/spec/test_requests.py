"""One request and its answer: envelope, headers, versions, errors, lists. Over HTTP, and stdio where that differs."""

import ast
import json
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import pytest
from mcp_types import methods
from pydantic import Field

import mrtr_tools
from mrtr_tools import Toolbox, confirm, needs_input
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.raw_http import FORMS, VERSION, accept, call, envelope, request, send, serving
from tests.server.test_stdio import served

PREFIX = "io.modelcontextprotocol/"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "fetch", "arguments": {"region": "eu", "count": 7}}),
    ("prompts/get", {"name": "poem"}),
    ("resources/read", {"uri": "memo:all"}),
    ("tools/list", {}),
    ("server/discover", {}),
]

toolbox = Toolbox("requests")


@toolbox.tool
def fetch(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "",
    count: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Count"})] = 0,
) -> str:
    return f"{region} {count}"


@toolbox.tool
@needs_input(ok=confirm("Delete it?"))
def delete() -> str:
    return "deleted"


@toolbox.prompt()
def poem() -> str:
    return "Write a poem."


@toolbox.resource("memo:all")
def memos() -> str:
    return "All memos."


@toolbox.resource("memo:größe")
def sizes() -> str:
    return "All sizes."


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(http_app(toolbox, keys=[generate_key()])) as address:
        yield address


def posted(url: str, method: str, params: Any, headers: Mapping[str, str | None], number: Any = 1) -> Any:
    """A request whose headers are right but for some, which are others, or not there when None."""
    name = params.get("uri", params.get("name"))
    right = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
        **({"Mcp-Name": name} if name else {}),
        **{f"Mcp-Param-{key}": str(value) for key, value in params.get("arguments", {}).items()},
    }
    kept = {name: value for name, value in {**right, **headers}.items() if value is not None}
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": envelope(), **params}}
    return send(url, json.dumps(message), kept)


# Messages


@pytest.mark.parametrize("number", [0, -7, 2**53, "", "seven", "7"])
def test_the_id_comes_back_with_results_and_errors(url, number):
    """Spec E1, E3."""
    for params in ({"name": "fetch"}, {"name": "delete"}, {"name": "nobody"}):
        body = request(url, "tools/call", params, number=number).body
        assert (body["jsonrpc"], body["id"], type(body["id"])) == ("2.0", number, type(number))
        assert ("result" in body) is not ("error" in body)


@pytest.mark.parametrize(
    "method", ["notifications/cancelled", "notifications/initialized", "notifications/roots/list_changed", "x"]
)
def test_a_notification_is_accepted_and_not_answered(url, method):
    """Spec E8, E26."""
    message = {"jsonrpc": "2.0", "method": method, "params": {"requestId": 1, "_meta": envelope()}}

    answer = posted_as_it_is(url, message)

    assert (answer.status, answer.text) == (202, "")


def test_a_notification_that_is_none_is_not_accepted(url):
    """Spec E27."""
    assert posted_as_it_is(url, {"jsonrpc": "2.0", "params": {}}).status == 400
    assert posted_as_it_is(url, {"jsonrpc": "2.0", "method": 7}).status == 400


def posted_as_it_is(url: str, message: Any) -> Any:
    accepts = "application/json, text/event-stream"
    headers = {"Content-Type": "application/json", "Accept": accepts, "MCP-Protocol-Version": VERSION}
    return send(url, json.dumps(message), headers)


def test_no_code_is_made_up():
    """Spec E4, E5, E6, E7: the code of every error that is raised in here has its meaning from the protocol."""
    written = {
        -node.operand.value
        for path in Path(mrtr_tools.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and isinstance(node.operand.value, int)
    }

    known = {-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022}
    assert {code for code in written if -32768 <= code <= -32000} <= known


# The envelope


@pytest.mark.parametrize("left_out", ["protocolVersion", "clientCapabilities"])
@pytest.mark.parametrize(("method", "params"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_request_without_what_its_envelope_must_have_is_refused(url, method, params, left_out):
    """Spec E12, E13: whatever is called."""
    meta = {key: value for key, value in envelope().items() if key != PREFIX + left_out}

    refused = posted(url, method, {**params, "_meta": meta}, {})

    assert (refused.status, refused.error["code"]) == (400, -32602)
    assert left_out in refused.error["message"]


@pytest.mark.parametrize("meta", [None, [], "x"])
def test_a_request_without_envelope_is_refused(url, meta):
    """Spec E12, E13."""
    refused = posted(url, "tools/call", {"name": "fetch", "_meta": meta}, {})

    assert (refused.status, refused.error["code"]) == (400, -32602)


def test_without_envelope_nothing_is_served_over_stdio_either():
    """Spec S15, E12: nor does the envelope of an earlier request count."""
    with served("tests.server.desk") as wire:
        wire.send("tools/call", 1, _meta=envelope(), name="greet")
        wire.receive()
        wire.send("tools/call", 2, name="greet")
        refused = wire.receive()

    assert (refused["id"], refused["error"]["code"]) == (2, -32602)


def test_who_is_calling_makes_no_difference(url):
    """Spec E15, E16, Q27: the client's name may be missing, and another one than in the round before."""
    answers = {"ok": accept(ok=True)}
    anonymous = {key: value for key, value in envelope().items() if key != PREFIX + "clientInfo"}
    other = {**anonymous, PREFIX + "clientInfo": {"name": "other", "version": "9", "title": "Admin"}}

    first = call(url, "delete", _meta=anonymous).result
    done = call(url, "delete", _meta=other, inputResponses=answers, requestState=first["requestState"]).result

    assert first["resultType"] == "input_required"
    assert done["content"][0]["text"] == "deleted"


@pytest.mark.parametrize(("method", "params"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_result_has_its_kind_its_shape_and_the_servers_name(url, method, params):
    """Spec S13, E2, E14, P6."""
    result = posted(url, method, params, {}).result

    methods.validate_server_result(method, VERSION, result)
    assert result["resultType"] == "complete"
    assert result["_meta"][f"{PREFIX}serverInfo"]["name"] == "requests"


# Versions


@pytest.mark.parametrize("version", ["1900-01-01", "v999.0.0", "2026-07-29"])
def test_a_version_that_is_not_served_is_told_with_those_that_are(url, version):
    """Spec E17, E30."""
    meta = {**envelope(), f"{PREFIX}protocolVersion": version}

    refused = posted(url, "tools/call", {"name": "fetch", "_meta": meta}, {"MCP-Protocol-Version": version})

    assert (refused.status, refused.error["code"]) == (400, -32022)
    assert refused.error["data"] == {"supported": [VERSION], "requested": version}
    assert request(url, "server/discover", {}).result["supportedVersions"] == [VERSION]


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/get",
        "tasks/list",
        "tasks/result",
        "tasks/input_response",
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "tools",
        "",
    ],
)
def test_what_the_server_does_not_know_is_not_found(url, method):
    """Spec E31."""
    refused = posted(url, method, {}, {})

    assert (refused.status, refused.error["code"]) == (404, -32601)


# Headers


@pytest.mark.parametrize("header", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
@pytest.mark.parametrize("value", ["x", "", None])
def test_a_header_that_says_something_else_or_nothing_is_refused(url, header, value):
    """Spec E29, E32, E33."""
    refused = posted(url, "tools/call", {"name": "delete"}, {header: value})

    if header == "MCP-Protocol-Version":  # then it is a request of an older revision, which has no such envelope
        assert refused.status == 400
    else:
        assert (refused.status, refused.error["code"]) == (400, -32020)


def test_a_header_that_names_another_revision_than_the_body_is_refused(url):
    """Spec E29: in both directions."""
    older = {**envelope(), f"{PREFIX}protocolVersion": "2025-11-25"}
    refused = posted(url, "tools/call", {"name": "delete", "_meta": older}, {})

    assert (refused.status, refused.error["code"]) == (400, -32020)
    assert posted(url, "tools/call", {"name": "delete"}, {"MCP-Protocol-Version": "2025-11-25"}).status == 400


@pytest.mark.parametrize("method", ["Tools/call", "TOOLS/CALL", "prompts/get"])
def test_the_value_of_a_header_has_upper_and_lower_case(url, method):
    """Spec E33."""
    refused = posted(url, "tools/call", {"name": "delete"}, {"Mcp-Method": method})

    assert (refused.status, refused.error["code"]) == (400, -32020)


def test_the_name_of_a_header_has_neither(url):
    """Spec E39."""
    shouted = {"MCP-METHOD": "tools/call", "Mcp-Method": None, "mcp-name": "delete", "Mcp-Name": None}

    assert posted(url, "tools/call", {"name": "delete"}, shouted).result["resultType"] == "input_required"


def test_a_value_in_base64_is_decoded_before_it_is_compared(url):
    """Spec E34: the marks around it are of one case, and it has one spelling."""
    read = posted(url, "resources/read", {"uri": "memo:größe"}, {"Mcp-Name": "=?base64?bWVtbzpncsO2w59l?="})
    fetched = {"name": "fetch", "arguments": {"region": "größe", "count": 7}}
    named = posted(url, "tools/call", fetched, {"Mcp-Param-region": "=?base64?Z3LDtsOfZQ==?="})

    assert read.result["contents"][0]["text"] == "All sizes."
    assert named.result["content"][0]["text"] == "größe 7"
    for wrong in ("=?BASE64?ZGVsZXRl?=", "=?base64?ZGVsZXRl", "=?base64?ZGVsZXR?=", "=?base64?ZmV0Y2g=?=", "ZGVsZXRl"):
        refused = posted(url, "tools/call", {"name": "delete"}, {"Mcp-Name": wrong})
        assert (refused.status, refused.error["code"]) == (400, -32020), wrong


def test_an_argument_that_travels_in_a_header_is_the_same_in_both_places(url):
    """Spec E36, E38: or in neither, also when it is null."""
    both = {"name": "fetch", "arguments": {"region": "eu", "count": 7}}
    for headers in ({"Mcp-Param-region": "us"}, {"Mcp-Param-region": None}, {"Mcp-Param-count": "8"}):
        refused = posted(url, "tools/call", both, headers)
        assert (refused.status, refused.error["code"]) == (400, -32020)
    for wrong in ("=?base64?!?=", "=?base64?ZXU?="):
        refused = posted(url, "tools/call", both, {"Mcp-Param-region": wrong})
        assert (refused.status, refused.error["code"]) == (400, -32020)
    stray = posted(url, "tools/call", {"name": "fetch"}, {"Mcp-Param-Region": "eu"})
    assert (stray.status, stray.error["code"]) == (400, -32020)
    assert posted(url, "tools/call", {"name": "fetch"}, {}).result["content"][0]["text"] == " 0"


@pytest.mark.parametrize("written", ["7", "7.0"])
def test_a_number_in_a_header_is_compared_as_a_number(url, written):
    """Spec E37."""
    params = {"name": "fetch", "arguments": {"region": "eu", "count": 7}}

    assert posted(url, "tools/call", params, {"Mcp-Param-count": written}).result["content"][0]["text"] == "eu 7"


# The endpoint


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_requests_are_posted(url, method):
    """Spec E21, E40."""
    there = urlsplit(url)
    connection = HTTPConnection(there.netloc, timeout=10)
    connection.request(method, there.path, headers={"MCP-Protocol-Version": VERSION, "Accept": "text/event-stream"})
    response = connection.getresponse()
    connection.close()

    assert (response.status, response.getheader("Allow")) == (405, "POST")


def test_there_are_no_sessions_and_nothing_is_resumed(url):
    """Spec E41, E42: whatever an older client sends of that is not heard."""
    answer = posted(url, "tools/call", {"name": "delete"}, {"Mcp-Session-Id": "made-up", "Last-Event-ID": "7"})

    assert answer.result["resultType"] == "input_required"
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1.evil.example", "https://localhost"]
)
def test_a_page_from_elsewhere_is_turned_away(url, origin):
    """Spec E22, E23."""
    assert posted(url, "tools/call", {"name": "delete"}, {"Origin": origin}).status == 403


# Lists


def test_lists_are_the_same_for_everybody_at_any_time(url):
    """Spec E50, E51: whatever was called before, and whatever the client can do."""
    before = request(url, "tools/list", {}, capabilities={}).result
    call(url, "delete")
    after = request(url, "tools/list", {}, capabilities={**FORMS, "sampling": {}}).result

    assert before == after
    assert [tool["name"] for tool in before["tools"]] == list(toolbox.tools)


def test_what_is_there_is_declared(url):
    """Spec E18, E49."""
    told = request(url, "server/discover", {}).result

    assert told["capabilities"].keys() == {"tools", "prompts", "resources"}
    assert {tool["name"] for tool in request(url, "tools/list", {}).result["tools"]} == {"fetch", "delete"}


# Over stdio


def test_a_message_is_one_line():
    """Spec E44: whatever breaks lines in what is said."""
    text = "one\ntwo\r\nthree\u2028four\u0085"
    with served() as wire:
        wire.call(1, "echo", {"text": text})
        line = wire.receive()
        wire.call(2, "echo")
        assert wire.receive()["id"] == 2

    assert line["result"]["content"][0]["text"] == text
