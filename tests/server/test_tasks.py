"""The methods of tasks on the wire, by each way of serving."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer

from mrtr_tools import Context, DefinitionError, Toolbox, confirm, needs_input, then
from mrtr_tools.keys import InvalidKey, generate_key
from mrtr_tools.server import attach, http_app
from mrtr_tools.tasks import MemoryEngine
from tests.server.raw_http import FORMS, Answer, accept, request, serving

EXTENSION = "io.modelcontextprotocol/tasks"
KNOWS = {**FORMS, "extensions": {EXTENSION: {}}}
META = {"io.modelcontextprotocol/serverInfo": {"name": "lab", "version": "1"}}
KEYS = [generate_key()]


def lab() -> Toolbox:
    toolbox = Toolbox("lab", version="1")

    @toolbox.tool(task="optional", task_ttl=90)
    async def measure(what: str, ctx: Context) -> str:
        await ctx.report_progress(1, 4, "warming up")
        return then(report, what=what)

    @toolbox.step
    @needs_input(ok=confirm("Report {what}?"))
    def report(what: str) -> str:
        return f"{what}: 42"

    @toolbox.tool(task="required")
    async def wait_for_ever() -> str:
        await anyio.sleep_forever()
        return "never"

    @toolbox.tool
    def at_once() -> str:
        return "now"

    return toolbox


def alone(**options: Any) -> Any:
    return http_app(lab(), keys=KEYS, tasks=MemoryEngine(), anonymous_ok=True, **options)


def attached() -> Any:
    server = MCPServer("lab", version="1", log_level="ERROR")
    attach(lab(), server, keys=KEYS, tasks=MemoryEngine(), task_keys=KEYS, anonymous_ok=True)
    return server.streamable_http_app()


WAYS: dict[str, Callable[[], Any]] = {"lean": alone, "sdk": partial(alone, lean=False), "attached": attached}


@pytest.fixture(params=WAYS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with serving(WAYS[request.param]()) as where:
        yield where


def call(url: str, tool: str, arguments: Any = None, capabilities: Any = KNOWS, **params: Any) -> Answer:
    return request(url, "tools/call", {"name": tool, "arguments": arguments or {}, **params}, capabilities=capabilities)


def ask(url: str, method: str, task: str, capabilities: Any = KNOWS, **more: Any) -> Answer:
    headers = more.pop("headers", None)
    return request(url, f"tasks/{method}", {"taskId": task, **more}, capabilities=capabilities, headers=headers)


def until(url: str, task: str, status: str) -> Any:
    """Ask for a task until it has that status."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = ask(url, "get", task).result
        if found["status"] == status:
            return found
        assert found["status"] == "working", found
    raise AssertionError(f"never {status}")


def test_a_task_from_its_beginning_to_its_end(url):
    created = call(url, "measure", {"what": "length"}).result
    times = [created.pop("createdAt"), created.pop("lastUpdatedAt")]
    task = created.pop("taskId")
    assert created == {
        "resultType": "task",
        "status": "working",
        "ttlMs": 90_000,
        "pollIntervalMs": 1000,
        "_meta": META,
    }
    assert len(task) == 24
    assert all(datetime.fromisoformat(each).utcoffset() is not None for each in times)

    asked = until(url, task, "input_required")
    assert asked["resultType"] == "complete"
    assert asked["inputRequests"]["ok"]["params"]["message"] == "Report length?"
    assert "requestState" not in asked
    assert asked["_meta"] == META

    acknowledged = ask(url, "update", task, inputResponses={"ok": accept(ok=True)}).result
    assert acknowledged == {"resultType": "complete", "_meta": META}
    done = until(url, task, "completed")
    assert done["result"]["content"] == [{"type": "text", "text": "length: 42"}]
    assert done["result"]["structuredContent"] == {"result": "length: 42"}
    assert done["result"]["isError"] is False
    assert {"inputRequests", "error", "requestState"}.isdisjoint(done)
    assert ask(url, "update", task, inputResponses={"ok": accept(ok=False)}).result == acknowledged
    assert ask(url, "cancel", task).result == acknowledged
    assert until(url, task, "completed") == done


def test_a_function_that_runs_is_cancelled(url):
    task = call(url, "wait_for_ever").result["taskId"]
    assert ask(url, "get", task).result["status"] == "working"
    assert ask(url, "cancel", task).result == {"resultType": "complete", "_meta": META}
    done = ask(url, "get", task).result
    assert (done["status"], "result" in done, "error" in done) == ("cancelled", False, False)


def test_without_the_extension_a_call_goes_on_by_itself_or_is_refused(url):
    asked = call(url, "measure", {"what": "length"}, FORMS).result
    assert asked["resultType"] == "input_required"
    refused = call(url, "wait_for_ever", None, FORMS)
    assert (refused.status, refused.error["code"]) == (400, -32021)
    assert refused.error["message"] == f"This call needs a client capability: extension {EXTENSION}"
    assert refused.error["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


def test_the_extension_is_advertised(url):
    capabilities = request(url, "server/discover", {}).result["capabilities"]
    assert capabilities["extensions"] == {EXTENSION: {}}
    assert "tasks" not in capabilities


@pytest.mark.parametrize("method", ["get", "update", "cancel"])
def test_every_method_wants_the_extension_the_task_and_the_header(url, method):
    task = call(url, "measure", {"what": "length"}).result["taskId"]
    more = {"inputResponses": {}} if method == "update" else {}
    undeclared = ask(url, method, task, FORMS, **more)
    assert (undeclared.status, undeclared.error["code"]) == (400, -32021)
    unknown = ask(url, method, "x" * 24, **more)
    assert (unknown.status, unknown.error["code"]) == (400, -32602)
    mismatch = ask(url, method, task, headers={"Mcp-Name": "x" * 24}, **more)
    assert (mismatch.status, mismatch.error["code"]) == (400, -32020)


def test_what_is_no_request_for_a_task_is_refused(url):
    for method, params in (
        ("tasks/get", {}),
        ("tasks/update", {"taskId": "x"}),
        ("tasks/update", {"taskId": "x", "inputResponses": []}),
    ):
        refused = request(url, method, params, capabilities=KNOWS)
        assert (refused.status, refused.error["code"]) == (400, -32602), (method, params)
    for method in ("tasks/result", "tasks/list", "tasks/input_response"):
        refused = request(url, method, {"taskId": "x"}, capabilities=KNOWS)
        assert (refused.status, refused.error["code"]) == (404, -32601)


def test_a_state_on_a_request_for_a_task_is_not_opened(url):
    """Security 19: and what is no state does no harm."""
    task = call(url, "measure", {"what": "length"}).result["taskId"]
    assert ask(url, "get", task, requestState="forged").result["taskId"] == task


def test_too_many_answers_are_refused(url):
    """Security 19: an update is as small as a round."""
    task = call(url, "measure", {"what": "length"}).result["taskId"]
    answers = {f"k{number}": accept(ok=True) for number in range(300)}
    refused = ask(url, "update", task, inputResponses=answers)
    assert (refused.status, refused.error["code"]) == (400, -32602)


def test_the_parameter_of_older_tasks_is_not_heard(url):
    assert call(url, "at_once", task={"ttl": 60_000}).result["content"][0]["text"] == "now"


# Beginning


def test_what_has_to_be_a_task_needs_a_place():
    with pytest.raises(DefinitionError, match="wait_for_ever can only go on as a task, so say where those are kept"):
        http_app(lab(), keys=KEYS, anonymous_ok=True)


def test_tasks_of_nobody_in_particular_need_a_word():
    """Security 12: over HTTP, whoever has its id has such a task."""
    with pytest.raises(DefinitionError, match="wait_for_ever can only go on as a task, and over HTTP nobody knows"):
        http_app(lab(), keys=KEYS, tasks=MemoryEngine())


def test_what_may_be_a_task_goes_on_without_a_place():
    toolbox = Toolbox("lab")

    @toolbox.tool(task="optional")
    def work() -> str:
        return "done"

    with serving(http_app(toolbox, keys=KEYS)) as url:
        assert call(url, "work").result["content"][0]["text"] == "done"
        assert "extensions" not in request(url, "server/discover", {}).result["capabilities"]
        assert ask(url, "get", "x").error["code"] == -32601


@contextmanager
def failing(app: Any) -> Iterator[list[Any]]:
    """What an application says when it is begun."""
    told: list[Any] = []

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        told.append(message)

    anyio.run(app, {"type": "lifespan"}, receive, send)
    yield told


def test_a_server_does_not_begin_over_tasks_that_it_cannot_open():
    """Security 19: tasks outlive keys, and a store whose keys are missing stops the server."""
    engine = MemoryEngine()
    app = partial(http_app, keys=KEYS, tasks=engine, anonymous_ok=True)
    with serving(app(lab(), task_keys=KEYS)) as url:
        call(url, "measure", {"what": "length"})
    with failing(app(lab(), task_keys=[generate_key()])) as told:
        assert [message["type"] for message in told] == ["lifespan.startup.failed"]
        assert "not among the task keys" in told[0]["message"]


def test_a_server_does_not_begin_where_no_tasks_can_be_kept(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("These are notes, and no database at all." * 30)

    with failing(http_app(lab(), keys=KEYS, tasks=notes, anonymous_ok=True)) as told:
        assert [message["type"] for message in told] == ["lifespan.startup.failed"]
        assert "notes.txt is no SQLite file: give tasks a file of their own" in told[0]["message"]
    with pytest.raises(DefinitionError, match=r"lab: tasks=mysql://... is no place for tasks"):
        http_app(lab(), keys=KEYS, tasks="mysql://host/tasks", task_keys=KEYS, anonymous_ok=True)


def test_of_processes_that_begin_together_one_makes_the_keys_beside_a_file(tmp_path):
    app = partial(http_app, lab(), keys=KEYS, tasks=str(tmp_path / "tasks.sqlite3"), anonymous_ok=True)
    with ThreadPoolExecutor(8) as beginning:
        for made in [beginning.submit(app) for _ in range(8)]:
            made.result()
    assert [path.name for path in tmp_path.iterdir()] == ["tasks.sqlite3.keys"]
    assert (tmp_path / "tasks.sqlite3.keys").stat().st_mode & 0o777 == 0o600


def test_keys_of_tasks_are_given_in_one_way():
    with pytest.raises(InvalidKey, match="task_keys= and task_keys_file= are two ways"):
        http_app(lab(), keys=KEYS, tasks=MemoryEngine(), task_keys=KEYS, task_keys_file="x", anonymous_ok=True)


def test_keys_of_tasks_are_read_from_the_environment_and_taken_out(monkeypatch):
    """Security 11: what a step starts would inherit them."""
    import os

    monkeypatch.setenv("MRTR_TOOLS_TASK_KEYS", generate_key())
    http_app(lab(), keys=KEYS, tasks=MemoryEngine(), anonymous_ok=True)
    assert "MRTR_TOOLS_TASK_KEYS" not in os.environ


@pytest.mark.parametrize("given", [7, object(), {"create": print}])
def test_what_is_no_place_for_tasks_is_refused_when_the_server_is_made(given):
    with pytest.raises(TypeError, match=r"tasks= takes a file, a postgresql:// URL, or an Engine"):
        http_app(lab(), keys=KEYS, tasks=given, task_keys=KEYS, anonymous_ok=True)


def test_an_engine_has_all_that_an_engine_has():
    class Half(MemoryEngine):
        key_ids = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="or an Engine"):
        http_app(lab(), keys=KEYS, tasks=Half(), task_keys=KEYS, anonymous_ok=True)
