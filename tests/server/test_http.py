"""What the endpoint answers, to a client that knows nothing but JSON and HTTP."""

import json
import logging
import math
import os
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Annotated, Any
from urllib.parse import urlsplit

import anyio
import pytest
from pydantic import BaseModel, Field

from mrtr_tools import AskAgain, Refused, Toolbox, needs_input
from mrtr_tools.calls import Call, Client, InputRequired
from mrtr_tools.keys import InvalidKey, generate_key
from mrtr_tools.runner import handle_call
from mrtr_tools.server import http_app, run_http, run_stdio
from mrtr_tools.server.envelope import MAX_REQUEST
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import EVERYTHING
from tests.server.raw_http import FORMS, VERSION, accept, call, envelope, request, send, serving

FROZEN = {"code": -32602, "message": "Invalid or expired requestState"}
SECRET = "postgres://admin:hunter2@db"


class Report(BaseModel):
    place: str
    note: str | None = None


toolbox = Toolbox("desk", title="Front desk", version="3.1", instructions="Ask the desk.")


@toolbox.tool
@needs_input(who="Who are you?")
def greet(who: str, greeting: str = "Hello") -> str:
    return f"{greeting} {who}"


@toolbox.tool
@needs_input(who="Who are you?")
def wave(who: str) -> str:
    return f"{who} waves"


@toolbox.tool
@needs_input(note="A note?")
def report(place: str, note: str | Refused | None = None) -> Report:
    return Report(place=place, note=note or None)


@toolbox.tool
def echo(value: Any = None) -> dict[str, Any]:
    return {"value": value}


@toolbox.tool
def fail() -> str:
    raise RuntimeError(SECRET)


@toolbox.tool
def unmeasurable() -> float:
    return math.nan


@toolbox.tool
def unreadable() -> Any:
    return b"\xff"


@toolbox.tool
def broken_promise() -> int:
    return "seven"  # type: ignore[return-value]


@toolbox.tool
@needs_input(day="Which day?")
def book(day: str) -> str:
    if day == "Monday":
        raise AskAgain(day="Monday is full")
    return day


@toolbox.tool
def fetch(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    return region


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(http_app(toolbox, keys=[generate_key()])) as address:
        yield address


def first_state(url: str, tool: str, arguments: Any = None) -> str:
    return call(url, tool, arguments).result["requestState"]


# Results


def test_every_result_says_its_type_and_names_the_server(url):
    state = first_state(url, "greet")
    results = [
        request(url, "server/discover", {}).result,
        request(url, "tools/list", {}).result,
        call(url, "greet").result,
        call(url, "greet", inputResponses={"who": accept(who="Ada")}, requestState=state).result,
        call(url, "fail").result,
        call(url, "echo", {"value": 1}).result,
    ]

    assert [result["resultType"] for result in results] == [
        "complete",
        "complete",
        "input_required",
        "complete",
        "complete",
        "complete",
    ]
    info = {"name": "desk", "title": "Front desk", "version": "3.1"}
    assert all(result["_meta"]["io.modelcontextprotocol/serverInfo"] == info for result in results)


def test_the_server_says_what_it_has_and_no_more(url):
    told = request(url, "server/discover", {}).result

    assert told["supportedVersions"] == [VERSION]
    assert set(told["capabilities"]) == {"tools"}
    assert told["instructions"] == "Ask the desk."


def test_tools_are_listed_in_the_order_of_definition_with_their_schemas(url):
    listed = request(url, "tools/list", {}).result

    assert [tool["name"] for tool in listed["tools"]] == list(toolbox.tools)
    assert listed["ttlMs"] >= 0
    assert listed["tools"][0] == {
        "name": "greet",
        "inputSchema": {
            "type": "object",
            "properties": {"greeting": {"type": "string", "default": "Hello"}},
        },
        "outputSchema": {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]},
    }


def test_the_id_comes_back_whatever_it_is(url):
    assert request(url, "tools/call", {"name": "echo"}, number="seven").body["id"] == "seven"
    assert request(url, "tools/call", {"name": "nobody"}, number=0).body["id"] == 0


def test_questions_are_not_held_against_the_output_schema_and_the_last_round_has_structured_content(url):
    """Reported as microsoft/wassette#263."""
    first = call(url, "report", {"place": "Kiel"}).result
    assert "structuredContent" not in first
    assert "content" not in first

    answers = {"note": accept(note="windy")}
    done = call(url, "report", {"place": "Kiel"}, inputResponses=answers, requestState=first["requestState"]).result

    assert done["structuredContent"] == {"place": "Kiel", "note": "windy"}


def test_a_declined_note_is_null_in_the_structured_content_and_the_schema_allows_it(url):
    """Reported as PrefectHQ/fastmcp#1241."""
    state = first_state(url, "report", {"place": "Kiel"})
    no = {"note": {"action": "decline"}}

    done = call(url, "report", {"place": "Kiel"}, inputResponses=no, requestState=state).result

    assert done["isError"] is False
    assert done["structuredContent"] == {"place": "Kiel", "note": None}
    listed = {tool["name"]: tool for tool in request(url, "tools/list", {}).result["tools"]}
    assert {"type": "null"} in listed["report"]["outputSchema"]["properties"]["note"]["anyOf"]


@pytest.mark.parametrize("tool", ["fail", "unmeasurable", "unreadable", "broken_promise"])
def test_what_goes_wrong_in_a_step_is_a_tool_error_that_tells_nothing(url, tool):
    """Security 23."""
    answer = call(url, tool)

    assert answer.result["isError"] is True
    assert "structuredContent" not in answer.result
    assert SECRET not in answer.text
    assert "seven" not in answer.text
    assert "NaN" not in answer.text


def test_arguments_that_do_not_fit_are_a_tool_error_that_names_them(url):
    result = call(url, "report", {}).result

    assert result["isError"] is True
    assert "place" in result["content"][0]["text"]


def test_absent_null_and_empty_arguments_are_the_same_call(url):
    state = first_state(url, "greet")
    answers = {"who": accept(who="Ada")}

    for arguments in ({}, {"arguments": None}, {"arguments": {}}):
        params = {"name": "greet", "inputResponses": answers, "requestState": state, **arguments}
        assert request(url, "tools/call", params).result["content"][0]["text"] == "Hello Ada"


def test_it_speaks_utf_8(url):
    text = "Größe ✓ 🔥"

    assert call(url, "echo", {"value": text}).result["structuredContent"] == {"value": text}


# Answers


@pytest.mark.parametrize(
    "answer", ["yes", 12345, None, [], {}, {"action": "accept"}, {"action": "accept", "content": [1]}]
)
def test_a_malformed_answer_is_asked_again_under_its_key(url, answer):
    """Reported as GDKsoftware/Delphi-MCP-Server#35: never a traceback, never an error for the whole call."""
    result = call(url, "greet", inputResponses={"who": answer}, requestState=first_state(url, "greet")).result

    assert result["resultType"] == "input_required"
    assert list(result["inputRequests"]) == ["who"]
    assert "Who are you?" in result["inputRequests"]["who"]["params"]["message"]


@pytest.mark.parametrize("action", ["reject", "ACCEPT", "", None, True])
def test_an_unknown_action_is_no_yes(url, action):
    """Reported as modelcontextprotocol/inspector#535."""
    answers = {"who": {"action": action, "content": {"who": "Ada"}}}

    result = call(url, "greet", inputResponses=answers, requestState=first_state(url, "greet")).result

    assert result["resultType"] == "input_required"


@pytest.mark.parametrize("responses", ["yes", 1, True, [], [{"who": {}}]])
def test_a_map_of_answers_that_is_no_map_is_refused(url, responses):
    """Reported as GDKsoftware/Delphi-MCP-Server#35."""
    answer = call(url, "greet", inputResponses=responses, requestState=first_state(url, "greet"))

    assert (answer.status, answer.error["code"]) == (400, -32602)


@pytest.mark.parametrize("params", [{}, {"inputResponses": None}, {"inputResponses": {}}, {"requestState": None}])
def test_without_answers_it_asks(url, params):
    assert call(url, "greet", **params).result["resultType"] == "input_required"


def test_more_answers_than_anybody_needs_are_refused(url):
    """Security 21."""
    many = {f"k{number}": accept() for number in range(257)}

    assert call(url, "greet", inputResponses=many).error["code"] == -32602


def test_unknown_keys_are_ignored_and_the_question_stands(url):
    """Reported as tachyonmcp/tachyon#33."""
    state = first_state(url, "greet")

    result = call(url, "greet", inputResponses={"nope": accept(who="Ada")}, requestState=state).result

    assert list(result["inputRequests"]) == ["who"]


def test_an_input_asked_again_has_a_new_key_and_the_reason(url):
    state = first_state(url, "book")

    again = call(url, "book", inputResponses={"day": accept(day="Monday")}, requestState=state).result

    assert list(again["inputRequests"]) == ["day-2"]
    assert "Monday is full" in again["inputRequests"]["day-2"]["params"]["message"]


def test_an_answered_round_that_is_sent_twice_gives_the_same_result(url):
    """Reported as huggingface/chat-ui#2568 and artokun/comfyui-mcp#811."""
    params = {"inputResponses": {"who": accept(who="Ada")}, "requestState": first_state(url, "greet")}

    assert call(url, "greet", **params).result == call(url, "greet", **params).result


# States


@pytest.mark.parametrize("state", ["", "x", "a.b", "v1.AAAA", "x" * 200_000, "ÄÖ.Ü"])
def test_what_is_no_state_is_refused_with_the_frozen_message(url, state):
    answer = call(url, "greet", inputResponses={"who": accept(who="Ada")}, requestState=state)

    assert (answer.status, answer.error) == (400, FROZEN)


@pytest.mark.parametrize("state", [7, True, [], {}])
def test_a_state_that_is_no_text_is_refused(url, state):
    answer = call(url, "greet", requestState=state)

    assert (answer.status, answer.error["code"]) == (400, -32602)


def test_a_changed_state_is_refused(url):
    state = first_state(url, "greet")

    for changed in (f"{state}-TAMPERED", state[:-1], state.swapcase(), f"{state}="):
        assert call(url, "greet", requestState=changed).error == FROZEN


def test_a_state_opens_for_its_own_tool_and_arguments_only(url):
    """Security 8. Reported as vikshana/vikshana-graft-app#32 and cds-snc/notification-api#1782."""
    state = first_state(url, "greet", {"greeting": "Hi"})
    answers = {"who": accept(who="Ada")}

    assert call(url, "greet", {"greeting": "Bye"}, inputResponses=answers, requestState=state).error == FROZEN
    assert call(url, "greet", inputResponses=answers, requestState=state).error == FROZEN
    assert call(url, "wave", {"greeting": "Hi"}, inputResponses=answers, requestState=state).error == FROZEN
    done = call(url, "greet", {"greeting": "Hi"}, inputResponses=answers, requestState=state).result
    assert done["content"][0]["text"] == "Hi Ada"


def test_parallel_calls_whose_answers_cross_cannot_be_mixed_up(url):
    """Reported as PrefectHQ/fastmcp#2647: each retry says all by itself which call it belongs to."""
    one = first_state(url, "greet", {"greeting": "One"})
    two = first_state(url, "greet", {"greeting": "Two"})
    answers = {"who": accept(who="Ada")}

    assert call(url, "greet", {"greeting": "One"}, inputResponses=answers, requestState=two).error == FROZEN
    second = call(url, "greet", {"greeting": "Two"}, inputResponses=answers, requestState=two).result
    first = call(url, "greet", {"greeting": "One"}, inputResponses=answers, requestState=one).result
    assert [first["content"][0]["text"], second["content"][0]["text"]] == ["One Ada", "Two Ada"]


# Capabilities


@pytest.mark.parametrize("declared", [{}, {"sampling": {}}, {"elicitation": {"url": {}}}])
def test_what_the_client_cannot_show_is_not_asked(url, declared):
    answer = request(url, "tools/call", {"name": "greet"}, capabilities=declared)

    assert answer.status == 400
    assert answer.error["code"] == -32021
    assert answer.error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


@pytest.mark.parametrize("declared", [{"elicitation": {}}, FORMS, {"elicitation": {"form": {}, "url": {}}}])
def test_a_client_that_shows_forms_is_asked(url, declared):
    result = request(url, "tools/call", {"name": "greet"}, capabilities=declared).result

    assert result["resultType"] == "input_required"


def test_what_admits_a_refusal_goes_on_without_asking(url):
    done = request(url, "tools/call", {"name": "report", "arguments": {"place": "Kiel"}}, capabilities={}).result

    assert done["structuredContent"] == {"place": "Kiel", "note": None}


def test_an_answer_is_taken_from_a_client_that_no_longer_says_it_can_show_forms(url):
    """Reported as agentfront/frontmcp#279."""
    params = {
        "name": "greet",
        "inputResponses": {"who": accept(who="Ada")},
        "requestState": first_state(url, "greet"),
    }

    done = request(url, "tools/call", params, capabilities={}).result

    assert done["content"][0]["text"] == "Hello Ada"


# The envelope and the transport


def test_an_unknown_tool_is_an_error_of_the_caller(url):
    answer = call(url, "nobody")

    assert (answer.status, answer.error["code"], answer.error["message"]) == (400, -32602, "Unknown tool")


@pytest.mark.parametrize("name", [None, 5, [], {}])
def test_a_name_that_is_no_text_is_an_error_of_the_caller(url, name):
    assert request(url, "tools/call", {"name": name}, headers={"Mcp-Name": "greet"}).status == 400


@pytest.mark.parametrize("arguments", [5, "x", [], True])
def test_arguments_that_are_no_object_are_an_error_of_the_caller(url, arguments):
    answer = call(url, "greet", arguments)

    assert (answer.status, answer.error["code"]) == (400, -32602)


def test_a_request_without_envelope_is_refused(url):
    answer = request(url, "tools/call", {"name": "greet", "_meta": {}})

    assert (answer.status, answer.error["code"]) == (400, -32602)


def test_a_header_that_says_otherwise_is_refused(url):
    answer = request(url, "tools/call", {"name": "greet"}, headers={"Mcp-Name": "wave"})

    assert (answer.status, answer.error["code"]) == (400, -32020)


def test_white_space_around_a_header_is_no_part_of_it(url):
    assert request(url, "tools/call", {"name": "echo"}, headers={"Mcp-Name": "  echo \t "}).result["isError"] is False


def test_an_argument_that_travels_in_a_header_too_must_be_the_same_there(url):
    params = {"name": "fetch", "arguments": {"region": "eu"}}

    assert request(url, "tools/call", params, headers={"Mcp-Param-Region": "eu"}).result["isError"] is False
    for headers in ({}, {"Mcp-Param-Region": "us"}):
        answer = request(url, "tools/call", params, headers=headers)
        assert (answer.status, answer.error["code"]) == (400, -32020)


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e400", r'"\ud800"'])
def test_what_python_reads_as_json_but_json_has_not_is_refused(url, value):
    """Security 18: A number that is not finite, and half a character."""
    message = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"_meta": envelope(), "name": "greet", "arguments": {"greeting": "VALUE"}},
        }
    )
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "greet",
    }

    answer = send(url, message.replace('"VALUE"', value), headers)

    assert (answer.status, answer.error["code"]) == (400, -32602)


def test_a_body_over_the_limit_gets_413_with_a_json_rpc_error(url):
    """Security 21. Reported as ChronoAIProject/NyxID#1461."""
    answer = call(url, "greet", requestState="x" * 1_200_000)

    assert MAX_REQUEST == 1024 * 1024
    assert answer.status == 413
    assert answer.headers["content-type"] == "application/json"
    assert answer.body["id"] is None
    assert answer.error == {"code": -32600, "message": "A message may have 1048576 bytes"}


def test_the_limit_holds_for_a_body_that_does_not_say_how_long_it_is(url):
    """Security 21."""
    there = urlsplit(url)
    assert there.hostname
    connection = HTTPConnection(there.hostname, there.port, timeout=10)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    chunks = iter([b"x" * 600_000] * 2)
    connection.request("POST", there.path, chunks, headers | {"MCP-Protocol-Version": VERSION}, encode_chunked=True)
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()

    assert response.status == 413
    assert body["error"]["code"] == -32600


def test_the_limit_is_set_in_one_place():
    """Security 21."""
    with serving(http_app(toolbox, keys=[generate_key()], max_request=2000)) as url:
        assert call(url, "echo", {"value": "x" * 900}).status == 200
        assert call(url, "echo", {"value": "x" * 2000}).status == 413


def test_strangers_by_host_or_origin_are_turned_away(url):
    assert request(url, "tools/list", {}, headers={"Host": "evil.example"}).status == 421
    assert request(url, "tools/list", {}, headers={"Origin": "http://evil.example"}).status == 403
    assert request(url, "tools/list", {}, headers={"Host": "localhost"}).status == 200
    assert request(url, "tools/list", {}, headers={"Origin": "http://localhost:6274"}).status == 200


def test_hosts_and_origins_can_be_named():
    app = http_app(
        toolbox,
        keys=[generate_key()],
        allowed_hosts=["mcp.example.com"],
        allowed_origins=["https://example.com"],
    )
    with serving(app) as url:
        known = {"Host": "mcp.example.com"}
        assert request(url, "tools/list", {}, headers=known).status == 200
        assert request(url, "tools/list", {}, headers=known | {"Origin": "https://example.com"}).status == 200
        assert request(url, "tools/list", {}, headers=known | {"Origin": "https://example.com.evil"}).status == 403
        assert request(url, "tools/list", {}).status == 421


def test_named_hosts_alone_let_no_page_in():
    with serving(http_app(toolbox, keys=[generate_key()], allowed_hosts=["mcp.example.com"])) as url:
        headers = {"Host": "mcp.example.com", "Origin": "http://localhost:6274"}
        assert request(url, "tools/list", {}, headers=headers).status == 403


# Time


@pytest.mark.parametrize(
    ("options", "born", "lives"),
    [
        ({}, 3000, True),
        ({}, 4000, False),
        ({"ttl": 60}, 200, False),
        ({"ttl": 7200}, 4000, True),
        ({"ttl": 7200, "max_age": 60}, 200, False),
    ],
    ids=str,
)
def test_a_server_says_how_long_states_and_calls_live(options, born, lives):
    key = generate_key()
    earlier = StateSigner([key], toolbox.name, clock=lambda: time.time() - born)
    asked = anyio.run(handle_call, toolbox, Call("greet", client=Client(EVERYTHING)), earlier)
    assert isinstance(asked, InputRequired)

    with serving(http_app(toolbox, keys=[key], **options)) as url:
        result = call(url, "greet", inputResponses={"who": accept(who="Ada")}, requestState=asked.state).result

    assert result["resultType"] == ("complete" if lives else "input_required")


@pytest.mark.parametrize("name", ["ttl", "max_age"])
@pytest.mark.parametrize("seconds", [0, -1, math.nan, True, "600"])
def test_a_server_does_not_start_with_a_time_that_is_none(name, seconds):
    for start in (http_app, run_http, run_stdio):
        with pytest.raises(ValueError, match=f"{name} must be a positive number of seconds"):
            start(toolbox, keys=[generate_key()], **{name: seconds})


# Starting


def test_a_server_over_http_needs_keys(monkeypatch):
    """Security 13."""
    monkeypatch.delenv("MRTR_TOOLS_KEYS", raising=False)

    for start in (http_app, run_http):
        with pytest.raises(InvalidKey, match="mrtr-tools keygen"):
            start(toolbox)


def test_keys_are_taken_from_the_environment_and_removed_from_it(monkeypatch):
    key = generate_key()
    monkeypatch.setenv("MRTR_TOOLS_KEYS", f" {key} ,{generate_key()}")
    with serving(http_app(toolbox)) as url:
        state = first_state(url, "greet")

    with pytest.raises(InvalidKey, match="keys_from_environment"):
        http_app(toolbox)
    with serving(http_app(toolbox, keys=[key])) as url:
        done = call(url, "greet", inputResponses={"who": accept(who="Ada")}, requestState=state).result
        assert done["content"][0]["text"] == "Hello Ada"


def test_given_keys_go_before_those_of_the_environment_which_are_removed_all_the_same(monkeypatch):
    """Security 11: whatever a step starts would inherit them."""
    monkeypatch.setenv("MRTR_TOOLS_KEYS", generate_key())

    http_app(toolbox, keys=[generate_key()])

    assert "MRTR_TOOLS_KEYS" not in os.environ


def test_one_text_is_no_list():
    with pytest.raises(InvalidKey, match="list"):
        http_app(toolbox, keys=generate_key())
    with pytest.raises(TypeError, match=r"allowed_hosts=\['mcp.example.com'\]"):
        http_app(toolbox, keys=[generate_key()], allowed_hosts="mcp.example.com")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "mcp.example.com", ""])
def test_other_machines_are_let_in_only_by_name(host):
    with pytest.raises(ValueError, match="allowed_hosts="):
        run_http(toolbox, host=host, keys=[generate_key()])


def test_the_log_says_once_which_key_signs_and_nothing_of_it(caplog):
    """Security 12, 14."""
    caplog.set_level(logging.INFO, "mrtr_tools")
    key = generate_key()

    http_app(toolbox, keys=[key, generate_key()])

    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]
    assert "desk: states are signed with key " in caplog.text
    assert "desk: callers over HTTP are not authenticated" in caplog.text
    assert key[6:20] not in caplog.text


def test_the_audience_keeps_servers_apart_that_share_a_key():
    """Security 16."""
    keys = [generate_key()]
    with (
        serving(http_app(toolbox, keys=keys, audience="staging")) as staging,
        serving(http_app(toolbox, keys=keys, audience="production")) as production,
    ):
        state = first_state(staging, "greet")
        assert call(production, "greet", requestState=state).error == FROZEN
