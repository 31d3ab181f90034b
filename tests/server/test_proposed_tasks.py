"""What the proposal's wire is served to, and what it has in common with the released one: everything that protects."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import anyio
import pytest
from hypothesis import given, strategies as st
from pydantic import Field

from cookbook import echo_task
from mrtr_tools import Sample, Toolbox, needs_input, then
from mrtr_tools.errors import DefinitionError
from mrtr_tools.keys import generate_key, read_keys
from mrtr_tools.server import http_app
from mrtr_tools.server.envelope import Request
from mrtr_tools.server.lean import nobody
from mrtr_tools.server.service import Service
from mrtr_tools.server.tasking import serving_proposed_tasks
from mrtr_tools.server.wire import shown
from mrtr_tools.state import StateSigner
from mrtr_tools.tasks import MemoryEngine, Row
from mrtr_tools.tasks.sealing import TaskSealer
from mrtr_tools.tasks.service import TaskService
from tests.server import errands, raw_stdio
from tests.server.errands import KNOWS, POLLS, Clock, Desk, app, desk
from tests.server.raw_http import VERSION, Answer, accept, envelope, send, serving

RELATED = "io.modelcontextprotocol/related-task"
METHODS = ["tasks/get", "tasks/result", "tasks/input_response", "tasks/cancel"]
WRITTEN = {"bread": accept(bread="rye"), "milk": accept(milk=2)}


@pytest.fixture(scope="module", params=[True, False], ids=["lean", "sdk"])
def at(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with desk(lean=request.param, sep_2322_tasks=True) as served:
        yield served


@pytest.fixture(scope="module")
def off() -> Iterator[Desk]:
    with desk() as served:
        yield served


def say(
    at: Desk,
    method: str,
    params: Mapping[str, Any],
    *,
    person: str = "ada",
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """A message as the proposal writes it."""
    told = {"jsonrpc": "2.0", "id": 7, "method": method, "params": dict(params)}
    sent = {"Content-Type": "application/json", "Authorization": f"Bearer {person}", **(headers or {})}
    return send(at.url, json.dumps(told), sent)


def about(method: str, task: str, **responses: Any) -> dict[str, Any]:
    """The parameters of a request for a task."""
    if method != "tasks/input_response":
        return {"taskId": task}
    return {"inputResponses": responses, "_meta": {RELATED: {"taskId": task}}}


def made(at: Desk, tool: str = "shop", *, person: str = "ada", ttl: Any = None, **params: Any) -> dict[str, Any]:
    """A task."""
    wanted = {} if ttl is None else {"ttl": ttl}
    return say(at, "tools/call", {"name": tool, "task": wanted, **params}, person=person).result["task"]


def until(at: Desk, task: str, status: str) -> dict[str, Any]:
    for _ in range(POLLS):
        told = say(at, "tasks/get", {"taskId": task}).result
        if told["status"] == status:
            return told
    raise AssertionError(f"{task} did not come to be {status}")


def asking(at: Desk) -> str:
    """A task that asks for bread and milk."""
    task = made(at)["taskId"]
    until(at, task, "input_required")
    return task


def refused(answer: Answer, code: int = -32602) -> dict[str, Any]:
    """The error of an answer that is one."""
    assert answer.body["id"] == 7
    assert answer.error["code"] == code
    return answer.error


# What it is served to


@pytest.mark.parametrize("method", ["tasks/result", "tasks/input_response"])
def test_where_nobody_wished_it_the_proposal_is_not_there(off, method):
    """Neither with an envelope nor without; and the parameter of a call is ignored as ever."""
    released = off.ask(method, {"taskId": "x", "inputResponses": {}})
    both = {"Accept": "application/json, text/event-stream"}
    bare = say(off, method, about(method, "x"), headers=both)  # of some older client, without its session
    ignored = off.call("greet", task={"ttl": 60_000})

    assert (released.status, released.error["code"]) == (404, -32601)
    assert bare.status == 400
    assert "result" not in bare.body
    assert ignored["content"] == [{"type": "text", "text": "Hello you"}]


def test_a_request_with_an_envelope_hears_nothing_of_the_proposal(at, off):
    """Spec D14: with the proposal served beside, the released wire is what it is without."""
    for method in ("tasks/result", "tasks/input_response", "tasks/list"):
        answers = [place.ask(method, {"taskId": "x", "inputResponses": {}}) for place in (at, off)]
        assert answers[0].text == answers[1].text
        assert answers[0].error["code"] == -32601
    assert at.call("greet", task={"ttl": 60_000}) == off.call("greet", task={"ttl": 60_000})
    assert at.call("shop", task={"ttl": 60_000})["ttlMs"] == 600_000
    assert at.ask("server/discover").result == off.ask("server/discover").result


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tasks/result", "Mcp-Name": "x"},
        {"MCP-Protocol-Version": "2025-11-25"},
        {"Mcp-Session-Id": "1"},
    ],
    ids=["2026-07-28", "2025-11-25", "a session"],
)
def test_whoever_says_otherwise_is_served_as_they_say(at, headers):
    task = asking(at)
    accepting = {"Accept": "application/json, text/event-stream", **headers}

    answer = say(at, "tasks/result", {"taskId": task}, headers=accepting)

    assert answer.status in (400, 404)
    assert "inputRequests" not in answer.text


def test_the_version_of_the_draft_may_be_named(at):
    headers = {"MCP-Protocol-Version": "DRAFT-2026-v1", "Accept": "application/json, text/event-stream"}

    answer = say(at, "tasks/result", {"taskId": asking(at)}, headers=headers)

    assert set(answer.result["inputRequests"]) == {"bread", "milk"}


def test_a_call_without_a_task_is_none_of_it(at):
    for params in ({"name": "greet"}, {"name": "greet", "task": None}):
        assert "result" not in say(at, "tools/call", params).body


def test_what_never_is_a_task_is_done_at_once(at):
    result = say(at, "tools/call", {"name": "greet", "arguments": {"name": "Bob"}, "task": {}}).result

    assert result["content"] == [{"type": "text", "text": "Hello Bob"}]
    assert result["resultType"] == "complete"


def test_both_wires_can_be_spoken_over_one_pipe():
    """And whichever comes first, the other is served as well."""
    proposed = {"name": "shop", "task": {}}
    for first, second in (("proposed", "released"), ("released", "proposed")):
        with raw_stdio.served("tests.server.errands", TASKS="proposed") as wire:
            told = {}
            for number, kind in enumerate((first, second)):
                meta = {"_meta": envelope(KNOWS)} if kind == "released" else {}
                wire.send("tools/call", number, **proposed, **meta)
                told[kind] = wire.receive()["result"]

        assert told["proposed"]["task"]["ttl"] == 600_000
        assert (told["released"]["resultType"], told["released"]["ttlMs"]) == ("task", 600_000)


def test_whoever_says_hello_over_a_pipe_is_a_client_of_an_older_revision():
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}}
    with raw_stdio.served("tests.server.errands", TASKS="proposed") as wire:
        wire.send("initialize", 1, **hello)
        greeted = wire.receive()["result"]
        wire.send("notifications/initialized")
        wire.send("tasks/result", 2, taskId="x")
        answer = wire.receive()

    assert greeted["protocolVersion"] == "2025-11-25"
    assert "tasks" not in greeted["capabilities"]
    assert answer["error"]["code"] == -32601


def test_a_server_without_tasks_does_not_start_with_it():
    toolbox = Toolbox("none")
    toolbox.tool(name="greet")(errands.greet)

    with pytest.raises(DefinitionError, match="there are none"):
        http_app(toolbox, keys=[generate_key()], tasks=MemoryEngine(), sep_2322_tasks=True)
    with pytest.raises(DefinitionError, match="say where they are kept"):
        http_app(echo_task.toolbox, keys=[generate_key()], sep_2322_tasks=True)
    wrong: Any = "no"
    with pytest.raises(TypeError, match="True or False"):
        http_app(toolbox, keys=[generate_key()], sep_2322_tasks=wrong)


# Its methods beside the transcript


def test_ordinary_rounds_come_before_the_task(at):
    """Spec P39: what the proposal calls the interaction of its two workflows."""
    params = {"name": "wait_for", "task": {"ttl": 60_000}}
    first = say(at, "tools/call", params).result
    again = {**params, "inputResponses": {"who": accept(who="Bob")}, "requestState": first["requestState"]}
    task = say(at, "tools/call", again).result["task"]

    assert first["resultType"] == "input_required"
    assert set(first["inputRequests"]) == {"who"}
    assert task["statusMessage"] == "Task has been created for wait_for tool invocation."
    until(at, task["taskId"], "completed")
    done = say(at, "tasks/result", {"taskId": task["taskId"]}).result
    assert done["content"] == [{"type": "text", "text": "Bob waited"}]
    assert say(at, "tools/call", again).result["task"]["taskId"] == task["taskId"]


def test_a_task_that_asks_can_be_cancelled_in_place_of_an_answer(at):
    """Spec P38."""
    task = asking(at)

    told = say(at, "tasks/cancel", {"taskId": task}).result

    assert told == say(at, "tasks/get", {"taskId": task}).result
    assert (told["taskId"], told["status"], told["statusMessage"]) == (task, "cancelled", "Task has been cancelled.")
    assert refused(say(at, "tasks/cancel", {"taskId": task}))["message"] == "The task has ended already"
    assert refused(say(at, "tasks/result", {"taskId": task}))["data"] == {"status": "cancelled"}


def test_a_task_without_a_question_takes_no_answers(at):
    """-32602, as the proposal has it, and not an acknowledgement as the released protocol has it."""
    running = made(at, "queue")["taskId"]
    ended = made(at, "lose_the_list")["taskId"]
    until(at, ended, "completed")

    for task, status in ((running, "working"), (ended, "completed")):
        error = refused(say(at, "tasks/input_response", about("tasks/input_response", task, **WRITTEN)))
        assert error["data"] == {"status": status}
    say(at, "tasks/cancel", {"taskId": running})


def test_the_end_of_a_task_is_told_by_its_result(at):
    lost, burnt = made(at, "lose_the_list")["taskId"], made(at, "burn_the_shop")["taskId"]
    until(at, lost, "completed")
    failed = until(at, burnt, "failed")

    result = say(at, "tasks/result", {"taskId": lost}).result
    assert result["isError"] is True
    assert result["_meta"] == {RELATED: {"taskId": lost}}
    assert failed["statusMessage"] == "The shop is no more."
    assert refused(say(at, "tasks/result", {"taskId": burnt}), -32050) == {
        "code": -32050,
        "message": "The shop is no more.",
        "data": {"since": "today"},
    }


def test_while_a_task_runs_it_has_no_result_but_tells_of_its_progress(at):
    task = made(at, "queue")["taskId"]
    error = refused(say(at, "tasks/result", {"taskId": task}))
    told = next(
        told
        for told in iter(lambda: say(at, "tasks/get", {"taskId": task}).result, None)
        if told["statusMessage"] != "Task is being worked on."
    )
    say(at, "tasks/cancel", {"taskId": task})

    assert error["data"] == {"status": "working"}
    assert told["statusMessage"] == "3 of 10: still there"


# What protects


@pytest.mark.parametrize(
    ("wanted", "given"),
    [(None, 600_000), (60_000, 60_000), (1500.7, 1501), (600_001, 600_000), (1e300, 600_000), (2**53, 600_000)],
)
def test_how_long_a_client_wants_a_task_is_heard_up_to_what_the_tool_says(at, wanted, given):
    """Security 19."""
    assert made(at, ttl=wanted)["ttl"] == given


@pytest.mark.parametrize("ttl", [0, -1, "60000", True, [], 10**400, float("inf"), float("nan")])
def test_what_is_no_time_is_refused(at, ttl):
    assert refused(say(at, "tools/call", {"name": "shop", "task": {"ttl": ttl}}))["code"] == -32602


@pytest.mark.parametrize("task", [[], "yes", True, 60_000])
def test_what_is_no_wish_for_a_task_is_refused(at, task):
    assert refused(say(at, "tools/call", {"name": "shop", "task": task}))["code"] == -32602


def test_after_the_time_that_a_client_wanted_a_task_is_gone(at):
    task = made(at, ttl=60_000)["taskId"]
    say(at, "tasks/get", {"taskId": task})
    at.clock.ahead = 60
    answer = say(at, "tasks/get", {"taskId": task})
    at.clock.ahead = 0

    assert refused(answer)["message"] == "There is no such task"


@pytest.mark.parametrize("method", METHODS)
def test_the_task_of_somebody_else_is_not_there_in_the_proposal_either(at, method):
    """Security 19."""
    task = asking(at)
    before = say(at, "tasks/result", {"taskId": task}).text
    foreign = say(at, method, about(method, task, **WRITTEN), person="eve")
    unknown = say(at, method, about(method, "A" * 24, **WRITTEN), person="eve")

    assert (foreign.status, foreign.text) == (unknown.status, unknown.text)
    refused(foreign)
    assert say(at, "tasks/result", {"taskId": task}).text == before


def test_no_request_of_one_wire_reaches_a_task_of_the_other(at):
    """Security 19: what somebody enforces by the headers of released requests cannot be got around without them."""
    released, proposed = at.shopping(), asking(at)

    for method in METHODS:
        assert refused(say(at, method, about(method, released, **WRITTEN)))["message"] == "There is no such task"
    for method, params in (("tasks/get", {}), ("tasks/update", {"inputResponses": WRITTEN}), ("tasks/cancel", {})):
        answer = at.ask(method, {"taskId": proposed, **params})
        assert answer.error == {"code": -32602, "message": "There is no such task"}
    assert set(at.get(released)["inputRequests"]) == {"bread", "milk"}
    assert set(say(at, "tasks/result", {"taskId": proposed}).result["inputRequests"]) == {"bread", "milk"}


@pytest.mark.parametrize("method", METHODS)
def test_a_name_in_the_headers_has_to_be_the_task_in_the_body(at, method):
    """Security 19."""
    task, other = asking(at), asking(at)
    params = about(method, task)

    for headers in ({"Mcp-Name": other}, {"Mcp-Name": ""}, {"Mcp-Method": "tasks/get!"}, {"Mcp-Name": "=?base64?!?="}):
        refused(say(at, method, params, headers=headers), -32020)
    assert say(at, method, params, headers={"Mcp-Name": task, "Mcp-Method": method}).status == 200


def test_a_tool_in_the_headers_has_to_be_the_one_in_the_body(at):
    params = {"name": "shop", "task": {}}

    refused(say(at, "tools/call", params, headers={"Mcp-Name": "greet"}), -32020)
    assert say(at, "tools/call", params, headers={"Mcp-Name": "shop"}).status == 200


@pytest.mark.parametrize("method", METHODS)
def test_a_request_that_names_two_tasks_is_for_neither(at, method):
    task, other = asking(at), asking(at)
    params = {"taskId": task, "inputResponses": WRITTEN, "_meta": {RELATED: {"taskId": other}}}

    refused(say(at, method, params))
    for each in (task, other):
        assert say(at, "tasks/get", {"taskId": each}).result["status"] == "input_required"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tasks/get", {}),
        ("tasks/get", {"taskId": 7}),
        ("tasks/result", {"_meta": {RELATED: {"taskId": "x"}}}),
        ("tasks/input_response", {"taskId": "x", "inputResponses": {}}),
        ("tasks/input_response", {"_meta": {RELATED: {"taskId": "x"}}}),
        ("tasks/input_response", {"_meta": {RELATED: {"taskId": "x"}}, "inputResponses": []}),
        ("tasks/input_response", {"_meta": {RELATED: "x"}, "inputResponses": {}}),
        ("tools/call", {"task": {}}),
        ("tools/call", {"name": "shop", "arguments": [], "task": {}}),
        ("tools/call", {"name": "nothing", "task": {}}),
    ],
    ids=str,
)
def test_what_has_not_the_shape_is_refused(at, method, params):
    refused(say(at, method, params))


def test_too_many_answers_are_refused_here_too(at):
    task = asking(at)
    many = {str(number): accept() for number in range(257)}

    refused(say(at, "tasks/input_response", about("tasks/input_response", task, **many)))


def test_a_client_that_declares_nothing_is_shown_forms_and_nothing_else(at):
    """In the proposal nothing is declared in a call; what it shows is a form."""
    toolbox = Toolbox("models")

    @toolbox.tool
    def ask() -> str:
        return then(write)

    @toolbox.step(task="optional")
    @needs_input(text=Sample("Write!", max_tokens=5))
    def write(text: str) -> str:
        return text

    with serving(app(toolbox, sep_2322_tasks=True)) as url:
        other = Desk(url, Clock())
        task = made(other, "ask")["taskId"]
        until(other, task, "failed")
        error = refused(say(other, "tasks/result", {"taskId": task}), -32021)

    assert error["data"]["requiredCapabilities"] == {"sampling": {}}


def test_an_argument_in_the_headers_has_to_be_the_one_in_the_body():
    """As elsewhere; and all of them may be left out."""
    toolbox = Toolbox("regions")

    @toolbox.tool(task="optional")
    def fetch(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        return region

    with serving(app(toolbox, sep_2322_tasks=True)) as url:
        other = Desk(url, Clock())
        params = {"name": "fetch", "arguments": {"region": "eu"}, "task": {}}
        refused(say(other, "tools/call", params, headers={"Mcp-Param-Region": "us"}), -32020)
        for headers in ({"Mcp-Param-Region": "eu"}, {}):
            assert say(other, "tools/call", params, headers=headers).result["task"]["status"] == "working"


@pytest.mark.parametrize("body", ['[{"jsonrpc": "2.0"}]', '{"jsonrpc": "2.0", "id": 1, "method": []}', "{}", "7"])
def test_what_is_no_message_is_left_to_whoever_serves_older_clients(at, off, body):
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    answers = [send(place.url, body, {**headers, "Authorization": "Bearer ada"}) for place in (at, off)]

    assert (answers[0].status, answers[0].text) == (answers[1].status, answers[1].text)
    assert answers[0].status >= 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
RELATING = JSON | st.fixed_dictionaries({RELATED: JSON | st.fixed_dictionaries({"taskId": JSON})})


@given(
    method=st.sampled_from(["tools/call", *METHODS]),
    params=st.fixed_dictionaries(
        {},
        optional={
            "name": JSON | st.sampled_from(["shop", "greet", "wait_for", "plan"]),
            "task": JSON | st.fixed_dictionaries({"ttl": JSON}),
            "arguments": JSON,
            "taskId": JSON,
            "inputResponses": JSON,
            "requestState": JSON,
            "_meta": RELATING,
        },
    ),
    name=st.none() | st.binary(max_size=12),
)
def test_whatever_comes_is_answered_as_a_request_and_breaks_nothing(method, params, name):
    face = serving_proposed_tasks(service(), wanted=True)
    assert face
    request = Request(7, method, params)
    if not face.takes(request):
        return
    answer = anyio.run(face.answer, request, {} if name is None else {b"mcp-name": name}, nobody)

    told = json.loads(answer.body)
    assert told["id"] == 7
    assert ("result" in told) is not ("error" in told)
    assert told.get("error", {}).get("code") != -32603


def test_what_breaks_in_here_is_logged_and_not_told(caplog):
    class Broken(MemoryEngine):
        async def get(self, task: str, owner: str) -> Row | None:
            raise RuntimeError("the database is at 10.0.0.7")

    face = serving_proposed_tasks(service(Broken()), wanted=True)
    assert face
    answer = anyio.run(face.answer, Request(7, "tasks/get", {"taskId": "x" * 24}), {}, nobody)

    assert json.loads(answer.body)["error"] == {"code": -32603, "message": "Internal error"}
    assert "10.0.0.7" in caplog.text


def service(engine: MemoryEngine | None = None) -> Service:
    keys = read_keys([generate_key()])
    signer = StateSigner(keys, "errands")
    tasks = TaskService(
        errands.toolbox,
        engine or MemoryEngine(),
        TaskSealer.of(keys, "errands"),
        audience="errands",
        written=shown,
        clock=signer.clock,
    )
    return Service(errands.toolbox, signer, anonymous_ok=True, tasks=tasks)
