"""`mrtr-tools call` where a server is busy, is restarted, or something before it answers in its place."""

import json
import signal
import socket
import subprocess

import pytest

from mrtr_tools.client import patience
from mrtr_tools.keys import generate_key
from tests.cli.conftest import COMMAND, ROOT, TIMEOUT, WORKS, environment
from tests.server.processes import serving

BUSY = {"code": -31001, "message": "There are too many calls at the moment; send it again later"}
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
QUESTION = {
    "method": "elicitation/create",
    "params": {
        "message": "Which?",
        "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    },
}
ASKS = {"resultType": "input_required", "requestState": "s", "inputRequests": {"q": QUESTION}}
BAD_GATEWAY = {"status": 502}
CLOSED = {"status": 0}
TASK = {"taskId": "t", "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z", "ttlMs": None}
WORKING = {**TASK, "resultType": "complete", "status": "working", "pollIntervalMs": 1}


@pytest.fixture(autouse=True)
def soon(monkeypatch) -> None:
    monkeypatch.setattr(patience, "DELAYS", (0.001, 0.001, 0.001))


def without_meta(call: dict) -> dict:
    return {key: value for key, value in call.items() if key != "_meta"}


def test_a_round_that_was_not_begun_is_sent_again_as_it_was_and_nothing_is_asked_again(command, scripted):
    scripted.script = [BUSY, ASKS, BUSY, BUSY, DONE]

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.count("│ Which?") == 1
    assert done.stderr.count("The server cannot do this at the moment; trying again ...") == 3
    sent = [without_meta(call) for call in scripted.calls]
    assert sent[2] == sent[3] == sent[4]
    assert sent[2]["requestState"] == "s"
    ids = [message["id"] for message in scripted.messages]
    assert len(set(ids)) == len(ids)


def test_a_server_that_stays_busy_is_left_after_some_tries(command, scripted):
    scripted.script = [BUSY]

    done = command("call", scripted.url, "do", "--json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["code"] == -31001
    assert len(scripted.calls) == 4


@pytest.mark.parametrize("lost", [BAD_GATEWAY, {"status": 504}, CLOSED])
def test_a_call_whose_answer_did_not_come_is_sent_again_only_when_that_was_allowed(command, scripted, lost):
    """Nobody can know whether it acted."""
    scripted.script = [ASKS, lost, DONE]

    done = command("call", scripted.url, "do", "--answer", "q=x")
    sent = len(scripted.calls)
    scripted.calls.clear()
    again = command("call", scripted.url, "do", "--answer", "q=x", "--retry")

    assert (done.returncode, done.stdout, sent) == (1, "", 2)
    assert "nobody here can know whether the tool has acted" in done.stderr
    assert "--retry" in done.stderr
    assert (again.returncode, again.stdout) == (0, "done\n")
    assert without_meta(scripted.calls[1]) == without_meta(scripted.calls[2])
    assert again.stderr.count("│ Which?") == 1


def test_a_line_that_stays_broken_is_left_after_some_tries(command, scripted):
    scripted.script = [ASKS, BAD_GATEWAY]

    done = command("call", scripted.url, "do", "--answer", "q=x", "--retry")

    assert done.returncode == 1
    assert f"{scripted.url} cannot be reached: HTTP 502 instead of an answer" in done.stderr
    assert len(scripted.calls) == 5


def test_an_error_of_http_that_is_the_servers_own_is_not_sent_again(command, scripted):
    scripted.script = [{"status": 401}]

    done = command("call", scripted.url, "do", "--retry")

    assert (done.returncode, len(scripted.calls)) == (1, 1)


def test_a_task_is_followed_over_broken_lines_for_looking_at_it_does_nothing(command, scripted):
    asking = {**WORKING, "status": "input_required", "inputRequests": {"q": QUESTION}}
    ended = {**WORKING, "status": "completed", "result": {"content": DONE["content"]}}
    scripted.script = [{**TASK, "resultType": "task", "status": "working"}]
    scripted.tasks = {
        "tasks/get": [BAD_GATEWAY, WORKING, CLOSED, asking, asking, BUSY, ended],
        "tasks/update": [BAD_GATEWAY, {"resultType": "complete"}],
    }

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.count("│ Which?") == 1
    updates = [message["params"] for message in scripted.messages if message["method"] == "tasks/update"]
    assert [update["inputResponses"] for update in updates] == [{"q": {"action": "accept", "content": {"a": "x"}}}] * 2
    assert len(scripted.calls) == 1


def test_a_server_that_is_restarted_while_a_person_thinks_gets_the_answer(typist):
    """Nothing was sent where nothing listens, so it is sent again without being told to."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"PORT": str(port), "KEY": generate_key()}

    with serving([WORKS], **settings) as served:
        person = typist("call", served.url, "measure", "name=Barn")
        person.see("size (a whole number):")
    person.type("4\r")
    person.see("The line to the server broke; trying again ...")
    with serving([WORKS], **settings):
        assert person.end() == (0, "Barn: 4\n")


def test_answers_to_a_task_that_never_get_through_end_the_call_and_the_task_is_named(command, scripted):
    """Although the server can be asked how the task is."""
    scripted.script = [{**TASK, "resultType": "task", "status": "working"}]
    scripted.tasks = {
        "tasks/get": [{**WORKING, "status": "input_required", "inputRequests": {"q": QUESTION}}],
        "tasks/update": [BAD_GATEWAY],
    }

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert done.returncode == 1
    assert "HTTP 502" in done.stderr
    assert f"The task may be going on. To see how it is: mrtr-tools task get {scripted.url} t" in done.stderr
    assert [message["method"] for message in scripted.messages].count("tasks/update") == 4


def test_a_task_is_cancelled_although_the_line_breaks_just_then(scripted):
    scripted.script = [{**TASK, "resultType": "task", "status": "working"}]
    scripted.tasks = {
        "tasks/get": [{**WORKING, "statusMessage": "at it"}],
        "tasks/cancel": [BAD_GATEWAY, {"resultType": "complete"}],
    }

    with subprocess.Popen(
        [*COMMAND, "call", scripted.url, "do", "--json"],
        cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdout
        assert "statusMessage" not in process.stdout.readline()
        assert "at it" in process.stdout.readline()  # it has been looked at
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=TIMEOUT)

    assert process.returncode == 130
    assert json.loads(told) == {
        "event": "error",
        "message": "The call was ended, and its task is working by now.",
        "taskId": "t",
        "status": "working",
    }
    assert [message["method"] for message in scripted.messages].count("tasks/cancel") == 2


def test_control_c_while_nobody_is_there_says_that_the_task_goes_on(typist, scripted):
    scripted.script = [{**TASK, "resultType": "task", "status": "working"}]
    scripted.tasks = {"tasks/get": [{**WORKING, "pollIntervalMs": 100}]}
    person = typist("call", scripted.url, "do")

    person.see("Task t is at work")
    scripted.shutdown()
    scripted.server_close()
    person.see("The line to the server broke; trying again ...")
    person.process.send_signal(signal.SIGINT)

    assert person.end() == (130, "")
    assert f"The task goes on by itself. To see how it is: mrtr-tools task get {scripted.url} t" in person.seen
