"""The SDK's client, calling tools that go on as tasks."""

from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, types
from pydantic import ValidationError

from mrtr_tools.client import DetailedTask, TaskCancelled, Tasks, cancel_task, follow, get_task, patience, update_task

pytestmark = pytest.mark.anyio
SECONDS = 30
ANSWERS: dict[str, str | int | bool] = {"size": 4, "ok": True, "colour": "red"}
TEXT = {
    "mode": "form",
    "message": "Which?",
    "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def ask(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
    assert isinstance(params, types.ElicitRequestFormParams)
    return types.ElicitResult(
        action="accept", content={name: ANSWERS[name] for name in params.requested_schema["properties"]}
    )


async def created(client: Client, tool: str, **arguments: str) -> str:
    """The id of the task that a call becomes."""
    result: Any = await client.session.call_tool(tool, arguments, allow_claimed=True)
    assert result.result_type == "task"
    return result.task_id


async def test_a_call_that_goes_on_as_a_task_has_its_result_like_any_other(works):
    """It asks before it is a task, and asks two things inside it."""
    seen: list[DetailedTask] = []

    async def told(task: DetailedTask) -> None:
        seen.append(task)

    with anyio.fail_after(SECONDS):
        async with Client(works, elicitation_callback=ask, extensions=[Tasks(told)]) as client:
            result = await client.call_tool("build", {"name": "Barn"})
            plain = await client.call_tool("must", {"name": "Shed"})

    assert result.structured_content == {"result": "Barn: 16 m2, red"}
    assert plain.structured_content == {"name": "Shed"}
    statuses = [task.status for task in seen if task.task_id == seen[0].task_id]
    assert "input_required" in statuses
    assert statuses[-1] == "completed"


async def test_a_failed_task_is_the_error_of_the_call_and_a_tool_error_is_its_result(works):
    with anyio.fail_after(SECONDS):
        async with Client(works, extensions=[Tasks()]) as client:
            result = await client.call_tool("fail", {"how": "tool"})
            with pytest.raises(MCPError, match="No such ground") as failed:
                await client.call_tool("fail", {"how": "protocol"})

    assert result.is_error
    assert failed.value.code == -32602
    assert failed.value.error.data == {"ground": "swamp"}


async def test_progress_is_told_while_a_task_works(works, tmp_path):
    messages: list[str | None] = []

    async def told(task: DetailedTask) -> None:
        messages.append(task.status_message)
        if task.status_message:
            (tmp_path / "go").touch()

    with anyio.fail_after(SECONDS):
        async with Client(works, extensions=[Tasks(told)]) as client:
            await client.call_tool("report", {"waits_for": str(tmp_path / "go")})

    assert "1 of 3: gathering" in messages


async def test_a_call_that_is_cancelled_cancels_its_task(works, tmp_path):
    seen: list[str] = []

    async def told(task: DetailedTask) -> None:
        seen.append(task.task_id)
        calling.cancel()

    with anyio.fail_after(SECONDS):
        async with Client(works, extensions=[Tasks(told)]) as client:
            with anyio.CancelScope() as calling:
                await client.call_tool("report", {"waits_for": str(tmp_path / "never")})
            assert (await get_task(client.session, seen[0])).status == "cancelled"


async def test_a_callback_that_refuses_or_fails_ends_the_call_and_its_task(works):
    seen: list[str] = []

    async def told(task: DetailedTask) -> None:
        seen.append(task.task_id)

    async def refuse(context: object, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        if "size" in str(params):
            return await ask(context, params)
        if is_broken:
            raise KeyError("broken")
        return types.ErrorData(code=1, message="Nobody is here")

    is_broken = False
    with anyio.fail_after(SECONDS):
        async with Client(works, elicitation_callback=refuse, extensions=[Tasks(told)]) as client:
            with pytest.raises(MCPError, match="Nobody is here"):
                await client.call_tool("build", {"name": "Barn"})
            is_broken = True
            with pytest.raises(ExceptionGroup):
                await client.call_tool("build", {"name": "Barn"})
            statuses = [(await get_task(client.session, task)).status for task in set(seen)]

    assert statuses == ["cancelled", "cancelled"]


async def test_a_task_goes_on_with_another_client_that_knows_its_id(works):
    """Spec D30c."""
    with anyio.fail_after(SECONDS):
        async with Client(works, elicitation_callback=ask, extensions=[Tasks()]) as client:
            first = await client.session.call_tool("build", {"name": "Barn"}, allow_input_required=True)
            assert isinstance(first, types.InputRequiredResult)
            result: Any = await client.session.call_tool(
                "build",
                {"name": "Barn"},
                input_responses={"size": types.ElicitResult(action="accept", content={"size": 3})},
                request_state=first.request_state,
                allow_claimed=True,
            )
        asked: list[str] = []

        async def answer(requests: types.InputRequests) -> dict[str, Any]:
            asked.extend(requests)
            return {key: {"action": "accept", "content": {key: ANSWERS[key]}} for key in requests}

        async with Client(works, extensions=[Tasks()]) as client:
            task = await follow(client.session, result.task_id, answer=answer)

    assert sorted(asked) == ["colour", "ok"]
    assert task.outcome().structured_content == {"result": "Barn: 9 m2, red"}


async def test_a_task_that_somebody_else_cancels_has_no_outcome(works, tmp_path):
    with anyio.fail_after(SECONDS):
        async with Client(works, extensions=[Tasks()]) as client:
            task = await created(client, "report", waits_for=str(tmp_path / "never"))
            await cancel_task(client.session, task)
            ended = await follow(client.session, task)

    with pytest.raises(TaskCancelled, match="The task was cancelled"):
        ended.outcome()


async def test_a_task_that_nobody_knows_is_an_error(works):
    with anyio.fail_after(SECONDS):
        async with Client(works, extensions=[Tasks()]) as client:
            for act in (get_task(client.session, "x" * 24), update_task(client.session, "x" * 24, {})):
                with pytest.raises(MCPError) as refused:
                    await act
                assert refused.value.code == -32602


# Against a server that answers by a script

TASK = {"taskId": "t", "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z", "ttlMs": None}
WORKING = {**TASK, "resultType": "complete", "status": "working", "pollIntervalMs": 1}
ASKING = {
    **WORKING,
    "status": "input_required",
    "inputRequests": {"a": {"method": "elicitation/create", "params": TEXT}},
}
DONE = {**WORKING, "status": "completed", "result": {"content": [{"type": "text", "text": "done"}]}}
CREATED = {**TASK, "resultType": "task", "status": "working"}
ACKNOWLEDGED = {"resultType": "complete"}


async def test_a_question_is_asked_once_while_its_answer_is_on_the_way(scripted):
    """Spec D30b: a server may show it for a while yet, and the keys of a task are never used again."""
    also = {**ASKING, "inputRequests": {**ASKING["inputRequests"], "b": ASKING["inputRequests"]["a"]}}
    scripted.script = [CREATED]
    scripted.tasks = {"tasks/get": [WORKING, ASKING, ASKING, also, also, DONE], "tasks/update": [ACKNOWLEDGED]}
    asked: list[object] = []

    async def count(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(context.request_id)
        return types.ElicitResult(action="accept", content={"a": "x"})

    with anyio.fail_after(SECONDS):
        async with Client(scripted.url, elicitation_callback=count, extensions=[Tasks()]) as client:
            result = await client.call_tool("do", {})

    assert asked == ["t/a", "t/b"]
    updates = [message["params"] for message in scripted.messages if message["method"] == "tasks/update"]
    answer = {"action": "accept", "content": {"a": "x"}}
    assert [update["inputResponses"] for update in updates] == [{"a": answer}, {"b": answer}]
    assert result.content == [types.TextContent(type="text", text="done")]


async def test_every_request_for_a_task_names_it_in_its_header_and_says_what_the_client_can(scripted):
    scripted.tasks = {"tasks/get": [DONE], "tasks/update": [ACKNOWLEDGED], "tasks/cancel": [ACKNOWLEDGED]}

    with anyio.fail_after(SECONDS):
        async with Client(scripted.url, extensions=[Tasks()]) as client:
            await update_task(client.session, "t", {})
            await cancel_task(client.session, "t")
            await get_task(client.session, "t")

    sent = [message for message in scripted.messages if message["method"].startswith("tasks/")]
    assert [header for header in scripted.headers if header[0].startswith("tasks/")] == [
        ("tasks/update", "t"),
        ("tasks/cancel", "t"),
        ("tasks/get", "t"),
    ]
    for message in sent:
        declared = message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert declared["extensions"] == {"io.modelcontextprotocol/tasks": {}}


async def test_what_a_server_did_not_begin_is_sent_again_for_a_while(scripted, monkeypatch):
    busy = {"code": -31001, "message": "This cannot be done at the moment; send it again later"}
    monkeypatch.setattr(patience, "DELAYS", (0.001, 0.001))
    scripted.tasks = {"tasks/get": [busy, busy, DONE], "tasks/cancel": [busy]}

    with anyio.fail_after(SECONDS):
        async with Client(scripted.url, extensions=[Tasks()]) as client:
            assert (await get_task(client.session, "t")).status == "completed"
            with pytest.raises(MCPError, match="send it again later"):
                await cancel_task(client.session, "t")

    assert [message["method"] for message in scripted.messages].count("tasks/cancel") == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {**WORKING, "status": "completed"},
        {**WORKING, "status": "failed"},
        {**WORKING, "status": "sleeping"},
        {**WORKING, "resultType": "done"},
        {"resultType": "complete", "status": "working"},
    ],
)
async def test_a_task_that_is_none_is_refused(scripted, wrong):
    scripted.tasks = {"tasks/get": [wrong]}

    with anyio.fail_after(SECONDS):
        async with Client(scripted.url, extensions=[Tasks()]) as client:
            with pytest.raises(ValidationError):
                await get_task(client.session, "t")


@pytest.mark.parametrize(("told", "seconds"), [(None, 1), (2500, 2.5), (0, 0.05), (-5, 0.05), (10**12, 3600)])
async def test_a_task_is_looked_at_as_often_as_its_server_wants_within_reason(told, seconds):
    task = DetailedTask(task_id="t", status="working", poll_interval_ms=told)

    assert task.interval == seconds


async def test_the_client_of_fastmcp_takes_the_extension_too(works):
    from fastmcp import Client as FastClient

    async def answer(message: str, response_type: Any, params: Any, context: Any) -> Any:
        return {name: ANSWERS[name] for name in params.requested_schema["properties"]}

    with anyio.fail_after(SECONDS):
        async with FastClient(works, elicitation_handler=answer, extensions=[Tasks()]) as client:
            result = await client.call_tool("build", {"name": "Barn"})

    assert result.structured_content == {"result": "Barn: 16 m2, red"}
