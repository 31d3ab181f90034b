"""`mrtr-tools call` where the call goes on as a task, and `mrtr-tools task`."""

import json
import signal
import subprocess
import time
from itertools import pairwise
from typing import Any

import pytest

from tests.cli.conftest import COMMAND, ROOT, TIMEOUT, WORKS, environment

BARN = ["build", "name=Barn", "--answer", "size=4"]
CONTROL_C = "\x03"


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def barn(command, works) -> str:
    """The id of a task that asks two questions by now."""
    task = command("call", works, *BARN, "--detach").stdout.strip()
    deadline = time.monotonic() + TIMEOUT
    while status(command, works, task) != "input_required":
        assert time.monotonic() < deadline
    return task


def status(command, works: str, task: str) -> str:
    return events(command("task", "get", works, task, "--json").stdout)[0]["status"]


# A call that goes on as a task


def test_a_task_is_followed_to_its_end_and_asks_on_the_way(command, works):
    done = command("call", works, *BARN, "--answer", "ok=yes", "--answer", "colour=red")

    assert (done.returncode, done.stdout) == (0, "Barn: 16 m2, red\n")
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("Round")] == [
        f"Round 1: The works ({works}) asks",
        f"Round 2: The works ({works}) asks 2 questions",
    ]
    states = [line.split(" ", 2)[2] for line in lines if line.startswith("Task ")]
    assert (states[0], states[-1]) == ("is at work", "is done")
    assert "asks something" in states


def test_json_tells_of_a_task_and_of_each_change(command, works):
    done = command("call", works, *BARN, "--answer", "ok=yes", "--answer", "colour=red", "--json")

    told = events(done.stdout)
    tasks = [event for event in told if event["event"] == "task"]
    assert done.returncode == 0
    assert {task["taskId"] for task in tasks} == {tasks[0]["taskId"]}
    statuses = [task["status"] for task in tasks]
    assert (statuses[:2], statuses[-1]) == (["working", "input_required"], "completed")
    assert all(before != after for before, after in pairwise(statuses))  # there is no message that could change
    assert tasks[0].keys() == {"event", "taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"}
    assert [event["round"] for event in told if event["event"] == "input_required"] == [1, 2]
    assert told[-1] == {
        "event": "result",
        "isError": False,
        "content": [{"type": "text", "text": "Barn: 16 m2, red"}],
        "structuredContent": {"result": "Barn: 16 m2, red"},
    }


def test_a_task_that_fails_ends_the_call_with_its_error(command, works):
    failed = command("call", works, "fail", "how=protocol")
    refused = command("call", works, "fail", "how=tool")
    told = events(command("call", works, "fail", "how=protocol", "--json").stdout)

    assert (failed.returncode, failed.stdout) == (1, "")
    assert "has failed: No such ground" in failed.stderr
    assert "Error -32602: No such ground" in failed.stderr
    assert '"ground": "swamp"' in failed.stderr
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "The tool failed: Nothing could be built" in refused.stderr
    assert told[-1] == {
        "event": "error",
        "message": "No such ground",
        "code": -32602,
        "data": {"ground": "swamp"},
        "taskId": told[0]["taskId"],
        "status": "failed",
    }


def test_a_task_that_lacks_an_answer_waits_for_it_and_is_told(command, works):
    done = command("call", works, *BARN, "--answer", "ok=yes", "--json")

    error = events(done.stdout)[-1]
    assert done.returncode == 2
    assert error["missing"] == ["colour"]
    assert f"mrtr-tools task answer {works} {error['taskId']}" in error["message"]
    assert status(command, works, error["taskId"]) == "input_required"


def test_progress_is_shown_while_the_task_works_and_control_c_cancels_it(typist, command, works, tmp_path):
    person = typist("call", works, "report", f"waits_for={tmp_path / 'never'}")

    person.see("The call goes on as a task (to cancel it: Ctrl-C)")
    person.see("is at work: 1 of 3: gathering")
    task = person.seen.split("Task ")[1].split(" ")[0]
    person.process.send_signal(signal.SIGINT)  # what Ctrl-C does where the terminal is one's own

    assert person.end() == (130, "")
    assert "The call was ended, and its task was cancelled." in person.seen
    assert status(command, works, task) == "cancelled"


def test_control_c_at_a_question_cancels_the_task(typist, command, works):
    person = typist("call", works, *BARN)

    person.see("ok (yes or no):")
    task = person.seen.split("Task ")[1].split(" ")[0]
    person.type(CONTROL_C)

    assert person.end() == (130, "")
    assert "The call was ended, and its task was cancelled." in person.seen
    assert status(command, works, task) == "cancelled"


@pytest.mark.parametrize("is_served", [True, False], ids=["an address", "a file"])
def test_an_interrupted_program_cancels_its_task_and_says_so_as_an_event(works, tmp_path, is_served):
    with subprocess.Popen(
        [*COMMAND, "call", works if is_served else WORKS, "report", f"waits_for={tmp_path / 'never'}", "--json"],
        cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdout
        told = [json.loads(process.stdout.readline())]
        while "statusMessage" not in told[-1]:
            told.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=TIMEOUT)

    assert process.returncode == 130
    assert events(rest)[-1] == {
        "event": "error",
        "message": "The call was ended, and its task was cancelled.",
        "taskId": told[0]["taskId"],
        "status": "cancelled",
    }


def test_a_question_is_shown_once_while_its_answer_is_on_the_way(command, scripted):
    scripted.script = [CREATED]
    scripted.tasks = {
        "tasks/get": [WORKING, ASKING, ASKING, ASKING, DONE],
        "tasks/update": [{"resultType": "complete"}],
    }

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.count("│ Which?") == 1
    assert [message["method"] for message in scripted.messages].count("tasks/update") == 1


def test_a_result_that_its_tool_does_not_promise_is_refused_from_a_task_too(command, scripted):
    scripted.tool["outputSchema"] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    scripted.script = [CREATED]
    scripted.tasks = {"tasks/get": [DONE]}

    done = command("call", scripted.url, "do")

    assert (done.returncode, done.stdout) == (1, "")
    assert "does not keep to the protocol" in done.stderr


def test_a_task_that_only_asks_again_is_left_after_twenty_answers(command, scripted):
    scripted.script = [CREATED]
    asking = [{**ASKING, "inputRequests": {f"q-{number}": QUESTION}} for number in range(2, 40)]
    scripted.tasks = {"tasks/get": asking, "tasks/update": [{"resultType": "complete"}]}

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert done.returncode == 1
    assert "The task has asked 20 times" in done.stderr
    assert [message["method"] for message in scripted.messages].count("tasks/update") == 20


def test_what_a_server_says_of_a_task_cannot_command_the_terminal(command, scripted):
    """Security 6."""
    clear = "\x1b[2J\n\u202e"
    scripted.script = [{**CREATED, "taskId": f"t{clear}", "statusMessage": f"m{clear}"}]
    scripted.tasks = {"tasks/get": [{**WORKING, "taskId": f"t{clear}", "status": "cancelled", "statusMessage": clear}]}

    detached, followed = command("call", scripted.url, "do", "--detach"), command("call", scripted.url, "do")

    for text in (detached.stdout, detached.stderr, followed.stderr):
        assert all(character.isprintable() or character == "\n" for character in text)
    assert detached.stdout == "t\\x1b[2J\\n\\u202e\n"
    assert followed.returncode == 1
    assert "The task was cancelled: " in followed.stderr


def test_a_detached_call_prints_the_id_of_its_task_and_how_to_go_on(command, works):
    done = command("call", works, *BARN, "--detach")
    told = events(command("call", works, *BARN, "--detach", "--json").stdout)

    assert done.returncode == 0
    assert len(done.stdout.split()) == 1
    assert f"mrtr-tools task get {works} {done.stdout.strip()}" in done.stderr
    assert told[-1] == {"event": "detached", "taskId": told[-2]["taskId"]}


def test_a_detached_call_of_a_file_says_that_a_server_of_it_must_run(command, tmp_path):
    kept = str(tmp_path / "tasks.sqlite3")
    done = command("call", WORKS, *BARN, "--detach", "--tasks", kept)

    task = done.stdout.strip()
    assert f"The task goes on while a server of {WORKS} runs." in done.stderr
    assert f": mrtr-tools task get --follow --tasks {kept} {WORKS} {task}\n" in done.stderr
    ended = command("task", "cancel", WORKS, task, "--tasks", kept)
    assert ended.returncode == 0


def test_a_call_that_becomes_no_task_has_its_result_also_when_it_would_be_left_alone(command, desk):
    done = command("call", desk.url, "count", 'letters=["a"]', "--detach")

    assert done.returncode == 0
    assert json.loads(done.stdout) == {"letters": 1}


# From elsewhere


def test_a_task_is_answered_bit_by_bit_and_gives_its_result(command, works, barn):
    shown = command("task", "get", works, barn)
    one = command("task", "answer", works, barn, "--answer", "ok=yes", "--answer", "nothing=1")
    other = command("task", "answer", works, barn, "--answer", "colour=red")
    result = command("task", "get", works, barn, "--follow")

    assert (shown.returncode, shown.stdout) == (0, "")
    assert "│ Build Barn on 16 square metres?" in shown.stderr
    assert f"To answer: mrtr-tools task answer {works} {barn}" in shown.stderr
    assert (one.returncode, other.returncode) == (0, 0)
    assert "nothing has asked for --answer nothing" in one.stderr
    assert "Which colour?" not in one.stderr
    assert (result.returncode, result.stdout) == (0, "Barn: 16 m2, red\n")


def test_answers_that_answer_nothing_are_told_with_what_is_asked(command, works, barn):
    done = command("task", "answer", works, barn, "--answer", "size=4")
    command("task", "cancel", works, barn)
    late = command("task", "answer", works, barn, "--answer", "ok=yes", "--json")

    assert done.returncode == 2
    assert "ok: Build Barn on 16 square metres?" in done.stderr
    assert "Nothing has asked for: size" in done.stderr
    assert late.returncode == 1
    assert events(late.stdout)[-1] == {
        "event": "error",
        "message": "The task asks nothing at the moment",
        "taskId": barn,
        "status": "cancelled",
    }


def test_a_person_answers_a_task_in_the_terminal(typist, command, works, barn):
    person = typist("task", "answer", works, barn)

    person.see("to leave the task alone: Ctrl-C)")
    person.see("ok (yes or no):")
    person.type("yes\r")
    person.see("colour:")
    person.type("blue\r")

    assert person.end() == (0, "")
    assert command("task", "get", works, barn, "--follow").stdout == "Barn: 16 m2, blue\n"


def test_control_c_leaves_a_task_alone_that_was_only_answered_or_followed(typist, command, works, barn):
    for verb, told in (["answer"], "Nothing was answered"), (["get", "--follow"], "The task goes on"):
        person = typist("task", verb[0], works, barn, *verb[1:])
        person.see("ok (yes or no):")
        person.type(CONTROL_C)
        assert person.end() == (130, "")
        assert told in person.seen

    assert status(command, works, barn) == "input_required"


def test_a_task_is_cancelled_from_elsewhere_and_stays_so(command, works, barn):
    done = command("task", "cancel", works, barn, "--json")
    again, seen = command("task", "cancel", works, barn), command("task", "get", works, barn)

    assert [event["status"] for event in events(done.stdout)] == ["cancelled"]
    assert (done.returncode, again.returncode, seen.returncode) == (0, 0, 1)
    assert "The task was cancelled" in seen.stderr


@pytest.mark.parametrize("task", ["-xyqwNN6mF3uNzXp1MIh2Oup", "--xy", "-"])
def test_an_id_may_begin_with_a_dash(command, scripted, task):
    scripted.tasks = {"tasks/get": [{**DONE, "taskId": task}], "tasks/cancel": [{"resultType": "complete"}]}

    seen = command("task", "get", scripted.url, task, "--json")
    cancelled = command("task", "cancel", "--json", scripted.url, task)

    assert (seen.returncode, events(seen.stdout)[0]["taskId"]) == (0, task)
    assert cancelled.returncode == 0
    named = [message["params"]["taskId"] for message in scripted.messages if message["method"].startswith("tasks/")]
    assert named == [task] * 3


def test_an_option_that_is_not_there_is_told(command, works):
    done = command("task", "get", works, "t", "--jason")

    assert (done.returncode, "--jason" in done.stderr) == (2, True)


def test_a_task_that_is_not_there_and_a_server_without_any_are_told(command, works, desk):
    unknown, without = command("task", "get", works, "nope"), command("task", "get", desk.url, "nope")

    assert unknown.returncode == 1
    assert "Error -32602: There is no such task" in unknown.stderr
    assert without.returncode == 1
    assert f"{desk.url} has no tasks" in without.stderr


QUESTION = {
    "method": "elicitation/create",
    "params": {
        "message": "Which?",
        "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    },
}
TASK = {"taskId": "t", "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z", "ttlMs": None}
CREATED = {**TASK, "resultType": "task", "status": "working"}
WORKING = {**TASK, "resultType": "complete", "status": "working", "pollIntervalMs": 1}
ASKING = {**WORKING, "status": "input_required", "inputRequests": {"q": QUESTION}}
DONE = {**WORKING, "status": "completed", "result": {"content": [{"type": "text", "text": "done"}]}}
