"""The extension for tasks, sentence by sentence: without the SDK, by it, and on a server of it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.server import raw_stdio
from tests.server.errands import EXTENSION, KNOWS, Desk, attached, desk
from tests.server.raw_http import FORMS, accept, envelope

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tasks/get", {}),
    ("tasks/update", {"inputResponses": {}}),
    ("tasks/cancel", {}),
]
ENDED = {"completed", "failed", "cancelled"}
ACKNOWLEDGED = {"resultType": "complete"}
BOUGHT = "Bought rye and 2 l of milk in town"


@pytest.fixture(scope="module", params=["lean", "sdk", "attached"])
def at(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with desk(attached) if request.param == "attached" else desk(lean=request.param == "lean") as served:
        yield served


def bare(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what every result has beside."""
    return {name: value for name, value in result.items() if name != "_meta"}


# What becomes a task


@pytest.mark.parametrize(
    "declared",
    [FORMS, {**FORMS, "extensions": {}}, {**FORMS, "tasks": {"requests": {"tools": {"call": {}}}}}],
    ids=["nothing", "no extension", "tasks of 2025-11-25"],
)
def test_whoever_does_not_declare_the_extension_gets_no_task(at, declared):
    """Spec D1, D2, D3, D32: what can do without does, and what cannot says what is missing."""
    inline = at.ask("tools/call", {"name": "shop"}, capabilities=declared).result
    refused = at.ask("tools/call", {"name": "wait_for"}, capabilities=declared)

    assert inline["resultType"] == "input_required"
    assert set(inline["inputRequests"]) == {"bread", "milk"}
    assert (refused.status, refused.error["code"]) == (400, -32021)
    assert refused.error["data"]["requiredCapabilities"]["extensions"] == {EXTENSION: {}}


def test_each_request_declares_for_itself(at):
    """Spec D1, D8."""
    made = at.call("shop")
    after = at.ask("tools/call", {"name": "shop"}, capabilities=FORMS).result

    assert made["resultType"] == "task"
    assert after["resultType"] == "input_required"
    for method, params in REQUESTS:
        refused = at.ask(method, {"taskId": made["taskId"], **params}, capabilities=FORMS)
        assert (refused.status, refused.error["code"]) == (400, -32021)
        assert refused.error["data"]["requiredCapabilities"] == {"extensions": {EXTENSION: {}}}


def test_the_extension_is_advertised_and_no_tasks_of_before(at):
    """Spec D31, D31b."""
    told = at.ask("server/discover").result

    assert told["capabilities"]["extensions"] == {EXTENSION: {}}
    assert "tasks" not in told["capabilities"]


def test_the_server_alone_decides(at):
    """Spec D14: neither is what never is a task made one, nor does the client say how long one is kept."""
    plain = at.call("greet", task={"ttl": 60_000})
    made = at.call("shop", task={"ttl": 60_000})

    assert plain["resultType"] == "complete"
    assert made["ttlMs"] == 600_000


def test_only_calls_of_tools_become_tasks(at):
    """Spec D20."""
    asked = at.ask("prompts/get", {"name": "plan"}).result

    assert asked["resultType"] == "input_required"
    assert set(asked["inputRequests"]) == {"day"}


def test_what_is_made_is_a_flat_task_of_a_kind_of_its_own(at):
    """Spec D3, D4b, D19, D19b, P5: and what else is told of it is of another kind."""
    made = at.call("shop")
    task = made["taskId"]
    now = datetime.now(UTC)

    assert bare(made) == {
        "resultType": "task",
        "taskId": task,
        "status": "working",
        "createdAt": made["createdAt"],
        "lastUpdatedAt": made["lastUpdatedAt"],
        "ttlMs": 600_000,
        "pollIntervalMs": made["pollIntervalMs"],
    }
    assert 0 <= (now - datetime.fromisoformat(made["createdAt"])).total_seconds() < 60
    assert type(made["pollIntervalMs"]) is int
    assert made["pollIntervalMs"] > 0
    kinds = [at.get(task), at.update(task), at.cancel(task), at.get(task)]
    assert {told["resultType"] for told in kinds} == {"complete"}


def test_a_task_is_there_when_its_id_is_told(at):
    """Spec D4."""
    for _ in range(20):
        made = at.call("shop")
        assert at.get(made["taskId"])["createdAt"] == made["createdAt"]


def test_nobody_can_guess_an_id(at):
    """Spec D10: 144 bits of a digest, whose source has a random part."""
    ids = [at.call("shop")["taskId"] for _ in range(5)]

    assert {len(task) for task in ids} == {24}
    assert all(len({task[place] for task in ids}) > 1 for place in range(8, 16))
    assert len(set(ids)) == len(ids)


# Questions


def test_every_open_question_is_shown_and_an_answered_one_is_gone_at_once(at):
    """Spec D5, D19, D25, D22b, D36: part of the answers is kept, and the task goes on asking for the rest."""
    task = at.shopping()
    both = at.get(task)
    assert bare(at.update(task, bread=accept(bread="rye"))) == ACKNOWLEDGED
    rest = at.get(task)
    at.update(task, milk=accept(milk=2))
    last = at.until(task, "input_required")
    at.update(task, ok=accept(ok=True))
    done = at.until(task, "completed")

    assert set(both["inputRequests"]) == {"bread", "milk"}
    assert both["inputRequests"]["bread"]["method"] == "elicitation/create"
    assert (rest["status"], set(rest["inputRequests"])) == ("input_required", {"milk"})
    assert set(last["inputRequests"]) == {"ok"}
    assert done["result"]["content"] == [{"type": "text", "text": BOUGHT}]
    assert done["result"]["isError"] is False
    assert {"inputRequests", "error"}.isdisjoint(done)


def test_no_key_is_used_again_in_the_life_of_a_task(at):
    """Spec D6: not even after an answer that does not fit, which answers it all the same."""
    task = at.shopping()
    seen = ["milk"]
    for _ in range(3):
        at.update(task, **{seen[-1]: accept(milk="a lot")})
        [key] = set(at.get(task)["inputRequests"]) - {"bread"}
        seen.append(key)

    assert len(set(seen)) == 4
    at.update(task, milk=accept(milk=2))
    assert seen[-1] in at.get(task)["inputRequests"]


def test_answers_to_what_is_not_asked_are_ignored(at):
    """Spec D21, D23: unknown keys, answered ones, and all of them while nothing is asked."""
    task = at.shopping()
    at.update(task, bread=accept(bread="rye"))
    before = at.get(task)

    assert bare(at.update(task, bread=accept(bread="white"), nothing=accept(nothing=1))) == ACKNOWLEDGED
    assert at.get(task) == before

    at.update(task, milk=accept(milk=2), ok=accept(ok=True))
    assert set(at.until(task, "input_required")["inputRequests"]) == {"ok"}
    at.update(task, ok=accept(ok=True), bread=accept(bread="white"))
    assert at.until(task, "completed")["result"]["content"][0]["text"] == BOUGHT


def test_ordinary_rounds_come_before_the_task_and_never_after_it_was_made(at):
    """Spec D22, D22b, P39: whoever sends the answered round again gets the same task."""
    asked = at.call("wait_for")
    answered = {"inputResponses": {"who": accept(who="Bob")}, "requestState": asked["requestState"]}
    made = at.call("wait_for", **answered)
    done = at.until(made["taskId"], "completed")
    again = at.call("wait_for", **answered)

    assert asked["resultType"] == "input_required"
    assert "taskId" not in asked
    assert made["resultType"] == again["resultType"] == "task"
    assert again["taskId"] == made["taskId"]
    assert done["result"]["content"][0]["text"] == "Bob waited"


def test_no_state_goes_with_a_task(at):
    """Spec D17: neither out nor in, where it is not even looked at."""
    asked = at.call("wait_for")
    made = at.call("wait_for", inputResponses={"who": accept(who="Bob")}, requestState=asked["requestState"])
    task = at.shopping()
    looked = at.ask("tasks/get", {"taskId": task, "requestState": "x" * 100}).result
    at.ask("tasks/update", {"taskId": task, "inputResponses": {}, "requestState": asked["requestState"]})

    for told in (made, looked, at.get(task)):
        assert "requestState" not in told
    assert set(looked["inputRequests"]) == {"bread", "milk"}


# Ends


def test_what_fails_by_itself_is_completed_and_what_fails_the_request_has_failed(at):
    """Spec D9, D9b, D24, D36."""
    erring = at.until(at.call("lose_the_list")["taskId"], "completed")
    failing = at.until(at.call("burn_the_shop")["taskId"], "failed")

    assert erring["result"]["isError"] is True
    assert erring["result"]["content"] == [{"type": "text", "text": "The list is lost."}]
    assert "error" not in erring
    assert failing["error"] == {"code": -32050, "message": "The shop is no more.", "data": {"since": "today"}}
    assert failing["statusMessage"] == "The shop is no more."
    assert {"result", "inputRequests"}.isdisjoint(failing)


def test_a_task_that_is_cancelled_ends_so_whatever_it_was_doing(at):
    """Spec D21b, D34: while it runs, and while it asks."""
    running, asking = at.call("queue")["taskId"], at.shopping()
    at.until(running, "working")

    assert bare(at.cancel(running)) == bare(at.cancel(asking)) == ACKNOWLEDGED
    for task in (running, asking):
        told = at.until(task, "cancelled")
        assert {"result", "error", "inputRequests"}.isdisjoint(told)


@pytest.mark.parametrize("end", sorted(ENDED))
def test_what_has_ended_never_changes(at, end):
    """Spec D16, D21, D21b: to update or cancel it is acknowledged and does nothing."""
    task = at.call({"completed": "lose_the_list", "failed": "burn_the_shop", "cancelled": "queue"}[end])["taskId"]
    if end == "cancelled":
        at.cancel(task)
    before = at.until(task, end)

    assert bare(at.update(task, bread=accept(bread="rye"))) == ACKNOWLEDGED
    assert bare(at.cancel(task)) == ACKNOWLEDGED
    assert at.get(task) == before


def test_after_its_time_a_task_is_gone(at):
    """Spec D7, D7b, D26."""
    task = at.shopping()
    known = at.get(task)["ttlMs"]
    at.clock.ahead = 599
    there = at.get(task)
    at.clock.ahead = 600
    answers = [at.ask(method, {"taskId": task, **params}) for method, params in REQUESTS]
    at.clock.ahead = 0

    assert known == 600_000
    assert there["status"] == "input_required"
    assert [answer.error["code"] for answer in answers] == [-32602] * 3


# Requests


@pytest.mark.parametrize("task", ["", "nothing", "A" * 24])
@pytest.mark.parametrize(("method", "params"), REQUESTS)
def test_a_task_that_is_not_there_is_an_invalid_parameter(at, method, params, task):
    """Spec D7, D7b."""
    answer = at.ask(method, {"taskId": task, **params})

    assert (answer.status, answer.error["code"]) == (400, -32602)


@pytest.mark.parametrize(("method", "params"), REQUESTS)
def test_the_task_of_somebody_else_is_not_there_to_the_letter(at, method, params):
    """Spec D11, D11b."""
    task = at.shopping()
    foreign = at.ask(method, {"taskId": task, **params}, person="eve")
    unknown = at.ask(method, {"taskId": "A" * 24, **params}, person="eve")

    assert (foreign.status, foreign.text) == (unknown.status, unknown.text)
    assert foreign.error["code"] == -32602
    assert set(at.get(task)["inputRequests"]) == {"bread", "milk"}


@pytest.mark.parametrize(("method", "params"), REQUESTS)
def test_a_name_in_the_headers_is_that_of_the_task(at, method, params):
    """Spec D18, D18b."""
    task, other = at.shopping(), at.shopping()
    told = {"taskId": task, **params}

    for wrong in (other, "", task.lower(), "=?base64?x?="):
        answer = at.ask(method, told, headers={"Mcp-Name": wrong})
        assert (answer.status, answer.error["code"]) == (400, -32020)
    assert at.get(task)["status"] == "input_required"
    assert at.ask(method, told, headers={"Mcp-Name": task}).status == 200


@pytest.mark.parametrize("method", ["tasks/result", "tasks/list", "tasks/input_response", "tasks/anything"])
def test_what_tasks_had_before_is_not_found(at, method):
    """Spec D15."""
    answer = at.ask(method, {"taskId": at.shopping()})

    assert (answer.status, answer.error["code"]) == (404, -32601)


def test_progress_is_told_in_the_status_and_nowhere_else(at):
    """Spec D12: to whoever asked for both with the call that became the task."""
    meta = {**envelope(KNOWS, progressToken="p"), "io.modelcontextprotocol/logLevel": "debug"}
    task = at.ask("tools/call", {"name": "queue", "_meta": meta}).result["taskId"]  # one JSON object, and no stream
    at.open.append((task, "ada"))
    told = next(told for told in iter(lambda: at.get(task), None) if "statusMessage" in told)

    assert told["statusMessage"] == "3 of 10: still there"


def test_no_message_but_answers_is_sent_and_cancelling_the_request_is_not_cancelling_the_task():
    """Spec D12, D13: over stdio, where every message can be seen."""
    meta = envelope(KNOWS, progressToken="p")
    with raw_stdio.served("tests.server.errands", TASKS="memory") as wire:
        wire.send("tools/call", 1, _meta=meta, name="shop")
        task = wire.receive()["result"]["taskId"]
        wire.send("notifications/cancelled", requestId=1)
        wire.send("notifications/cancelled", requestId=task)
        told: dict[str, Any] = {"status": "working"}
        number = 1
        while told["status"] == "working":
            number += 1
            wire.send("tasks/get", number, _meta=meta, taskId=task)
            answer = wire.receive()
            assert answer["id"] == number
            told = answer["result"]

    assert told["status"] == "input_required"
