"""Multi round-trip requests on the wire, as the page of the protocol describes them."""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp_types import ClientCapabilities, methods

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.keys import generate_key
from mrtr_tools.server import attach, http_app
from mrtr_tools.state import LEEWAY, StateSigner
from tests.server import desk
from tests.server.kinds import toolbox
from tests.server.raw_http import FORMS, VERSION, Answer, accept, call, envelope, request, send, serving
from tests.server.test_stdio import served

EVERYTHING = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
QUESTIONS = {"elicitation/create", "sampling/createMessage", "roots/list"}
FROZEN = {"code": -32602, "message": "Invalid or expired requestState"}
ASKING: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "prefer"}),
    ("tools/call", {"name": "choose"}),
    ("tools/call", {"name": "answer_either"}),
    ("tools/call", {"name": "delete"}),
    ("tools/call", {"name": "sign_in", "arguments": {"visit": True}}),
    ("tools/call", {"name": "ask_model", "arguments": {"word": "hello"}}),
    ("tools/call", {"name": "ask_model_with_tools"}),
    ("tools/call", {"name": "folders"}),
    ("prompts/get", {"name": "poem", "arguments": {"topic": "sea"}}),
    ("prompts/get", {"name": "picture"}),
    ("resources/read", {"uri": "memo://a"}),
]
"""Every kind of request that may ask, and every kind of question."""
DECLARED = [
    {
        **({"elicitation": elicitation} if elicitation is not None else {}),
        **({"sampling": sampling} if sampling is not None else {}),
        **roots,
    }
    for elicitation, sampling, roots in product(
        [None, {}, {"form": {}}, {"url": {}}, {"form": {}, "url": {}}], [None, {}, {"tools": {}}], [{}, {"roots": {}}]
    )
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(http_app(toolbox, keys=[generate_key()], anonymous_ok=True)) as address:
        yield address


@pytest.fixture(scope="module")
def greeter() -> Iterator[str]:
    with serving(http_app(desk.toolbox, keys=[generate_key()])) as address:
        yield address


def needed(question: dict[str, Any]) -> dict[str, Any]:
    """What a client must have declared to be asked this."""
    if question["method"] == "elicitation/create":
        return {"elicitation": {question["params"].get("mode", "form"): {}}}
    if question["method"] == "sampling/createMessage":
        return {"sampling": {"tools": {}} if "tools" in question["params"] else {}}
    return {"roots": {}}


def has(declared: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether all that is wanted was declared; elicitation without a mode means forms."""
    known = {name: value or {"form": {}} if name == "elicitation" else value for name, value in declared.items()}
    return all(name in known and parts.keys() <= known[name].keys() for name, parts in wanted.items())


# Server requirements


@pytest.mark.parametrize(("method", "params"), ASKING, ids=str)
def test_what_is_asked_is_a_result_with_one_of_three_questions_under_each_key(url, method, params):
    """Spec S2, S4b, S5, P1, P8: bare requests, which have neither an id nor a version of JSON-RPC."""
    result = request(url, method, params, capabilities=EVERYTHING).result

    methods.validate_server_result(method, VERSION, result)
    assert result["resultType"] == "input_required"
    assert isinstance(result["requestState"], str)
    assert result["inputRequests"]
    for question in result["inputRequests"].values():
        assert question["method"] in QUESTIONS
        assert question.keys() <= {"method", "params"}


def test_no_message_to_a_client_is_a_request():
    """Spec S1, S1b, E46: over stdio, where everything that is sent can be seen."""
    with served("tests.server.kinds") as wire:
        for number, (method, params) in enumerate(ASKING):
            wire.send(method, number, _meta=envelope(EVERYTHING), **params)
        received = [wire.receive() for _ in ASKING]

    assert sorted(message["id"] for message in received) == list(range(len(ASKING)))
    assert not any("method" in message for message in received)
    assert {message["result"]["resultType"] for message in received} == {"input_required"}


@pytest.mark.parametrize("declared", DECLARED, ids=json.dumps)
def test_nothing_is_asked_that_this_request_did_not_declare(url, declared):
    """Spec S6, S7, S7b, S7c, Q9, Q44: either there is another way, or the error says what is missing."""
    for method, params in ASKING:
        answer = request(url, method, params, capabilities=declared)
        if answer.status == 200:
            for question in answer.result.get("inputRequests", {}).values():
                assert has(declared, needed(question)), (params, question)
        else:
            missing = answer.error["data"]["requiredCapabilities"]
            assert (answer.status, answer.error["code"]) == (400, -32021)
            assert ClientCapabilities.model_validate(missing).model_fields_set
            assert not has(declared, missing)


def test_what_was_declared_before_counts_for_nothing():
    """Spec S15, E11, P12: not even on the same connection, nor does anything else that was said on it."""
    with served("tests.server.desk") as wire:
        wire.send("tools/call", 1, _meta=envelope(FORMS), name="greet")
        asked = wire.receive()["result"]
        wire.send("tools/call", 2, _meta=envelope({}), name="greet")
        undeclared = wire.receive()
        answers = {"who": accept(who="Ada")}
        wire.send("tools/call", 3, _meta=envelope(FORMS), name="greet", inputResponses=answers)
        without_state = wire.receive()["result"]

    assert asked["resultType"] == "input_required"
    assert undeclared["error"]["code"] == -32021
    assert without_state["resultType"] == "input_required"


def test_a_person_is_asked_until_there_is_an_answer(greeter):
    """Spec S2b, S8: and who never answers, or never comes back, keeps nobody else waiting."""
    states = [call(greeter, "greet").result["requestState"]]
    for _ in range(3):
        again = call(greeter, "greet", requestState=states[-1]).result
        assert list(again["inputRequests"]) == ["who"]
        states.append(again["requestState"])

    done = call(greeter, "greet", inputResponses={"who": accept(who="Ada")}, requestState=states[0]).result

    assert done["content"][0]["text"] == "Hello Ada"


# The request state


def approving(now: list[float]) -> Any:
    """An application whose clock is `now`."""
    slow = Toolbox("slow")

    @slow.tool
    @needs_input(who="Who are you?")
    def greet(who: str) -> str:
        return then(agree, who=who)

    @slow.step
    @needs_input(ok=confirm("Sure?"))
    def agree(who: str) -> str:
        return f"Hello {who}"

    server = MCPServer("slow", log_level="ERROR")
    attach(slow, server, signer=StateSigner([generate_key()], "slow", ttl=600, clock=lambda: now[0]))
    return server.streamable_http_app()


def test_a_state_that_came_too_late_is_no_state():
    """Spec S9f: nothing had run, so the call begins anew, and what was answered too late is asked again."""
    now = [1_000_000.0]
    with serving(approving(now)) as url:
        state = call(url, "greet").result["requestState"]
        given: dict[str, Any] = {"inputResponses": {"who": accept(who="Ada")}, "requestState": state}
        now[0] += 600 + LEEWAY
        in_time = call(url, "greet", **given).result
        now[0] += 1
        late = call(url, "greet", **given).result

    assert "Sure?" in str(in_time["inputRequests"])
    [question] = late["inputRequests"].values()
    assert question["params"]["message"].splitlines()[-1] == "Who are you?"


def test_after_a_function_has_run_a_state_that_came_too_late_is_refused():
    """Spec S9f."""
    now = [1_000_000.0]
    with serving(approving(now)) as url:
        state = call(url, "greet").result["requestState"]
        state = call(url, "greet", inputResponses={"who": accept(who="Ada")}, requestState=state).result["requestState"]
        now[0] += 600 + LEEWAY + 1
        late = call(url, "greet", inputResponses={"ok": accept(ok=True)}, requestState=state)

    assert late.status == 400
    assert late.error == {**FROZEN, "data": {"reason": "expired"}}


@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
def test_a_changed_state_is_refused_wherever_it_comes(url, method):
    """Spec S9a, S9c, S9i, P24: neither asked again nor served."""
    params = {"name": "poem", "arguments": {"topic": "sea"}} if method == "prompts/get" else {"uri": "memo://a"}
    state = request(url, method, params).result["requestState"]

    for changed in (f"{state}-TAMPERED", state[:-1], state.swapcase(), "", "{}"):
        refused = request(url, method, {**params, "requestState": changed})
        assert (refused.status, refused.error) == (400, FROZEN)


# Errors


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", -32700),
        ("\x00", -32700),
        ("[]", -32600),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]', -32600),
        ('{"jsonrpc": "2.0", "id": 1}', -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}', -32600),
    ],
)
def test_what_is_no_message_is_a_json_rpc_error(url, body, code):
    """Spec S10b, E3, P41."""
    answer = send(url, body, headers("tools/list"))

    assert answer.status == 400
    assert answer.body["jsonrpc"] == "2.0"
    assert answer.error["code"] == code
    assert answer.error["message"]


def headers(method: str) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
    }


@pytest.mark.parametrize("answers", [[], "x", 7, True])
def test_what_is_no_map_of_answers_is_a_json_rpc_error(url, answers):
    """Spec S10, S10b, P40, P41: for prompts and resources too."""
    for method, params in ASKING[-2:]:
        answer = request(url, method, {**params, "inputResponses": answers}, capabilities=EVERYTHING)
        assert (answer.status, answer.error["code"]) == (400, -32602)


def both(url: str, **params: Any) -> Answer:
    return call(url, "both", **params)


def test_what_is_missing_is_asked_again_and_what_came_is_kept(greeter):
    """Spec S12, P44: and a result comes once all is there."""
    first = both(greeter).result
    half = both(greeter, inputResponses={"first": accept(first="Ada")}, requestState=first["requestState"]).result
    none = both(greeter, inputResponses={}, requestState=half["requestState"]).result
    rest = {"inputResponses": {"last": accept(last="Byron")}, "requestState": none["requestState"]}

    assert list(first["inputRequests"]) == ["first", "last"]
    assert list(half["inputRequests"]) == list(none["inputRequests"]) == ["last"]
    assert both(greeter, **rest).result["content"][0]["text"] == "Ada Byron"


def test_what_nobody_asked_for_does_no_harm_beside_what_was_asked(greeter):
    """Spec S11, P42, P43: whatever it is."""
    state = both(greeter).result["requestState"]
    more = {"third": accept(third="x"), "first-2": accept(first="x"), "": None, "4": [[]], "__proto__": {"a": 1}}
    answers = {"first": accept(first="Ada", more="x"), "last": accept(last="Byron"), **more}

    done = both(greeter, inputResponses=answers, requestState=state).result

    assert done["content"][0]["text"] == "Ada Byron"
