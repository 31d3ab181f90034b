"""`mrtr-tools call` where nobody sits at a terminal."""

import json

import pytest

RESOLVED = ["workItemId=4522", 'fields={"System.State": "Resolved"}']
CALL = ["call", "cookbook/update_work_item.py", "update_work_item", *RESOLVED]


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_file_is_started_and_the_answers_given_beforehand_lead_to_the_result(run):
    done = run(*CALL, "--answer", "resolution=Duplicate", "--answer", "duplicate_of=4301")

    assert done.returncode == 0
    assert done.stdout == (
        "Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.\n"
    )
    assert done.stderr.strip().split("\n") == [
        "Round 1: work-items (cookbook/update_work_item.py) asks",
        "│ Resolving Bug #4522 requires a resolution. How was this bug resolved?",
        "> Duplicate  (--answer)",
        "",
        "Round 2: work-items (cookbook/update_work_item.py) asks",
        "│ Since this is a duplicate, which work item is the original?",
        "> 4301  (--answer)",
    ]


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
def test_a_server_is_called_in_both_eras(command, desk, era):
    done = command("call", desk.url, "enter", "--era", era, "--answer", "login=4522", "--answer", "badge=@decline")

    assert (done.returncode, done.stdout) == (0, "4522 with decline\n")


def test_json_has_one_object_a_line_for_programs(run, desk):
    done = run("call", desk.url, "enter", "--json", "--answer", "login=Zoë", "--answer", "badge=7")

    asked, login, badge, result = events(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert {**asked, "inputRequests": sorted(asked["inputRequests"])} == {
        "event": "input_required",
        "round": 1,
        "inputRequests": ["badge", "login"],
    }
    assert asked["inputRequests"]["badge"]["params"]["message"] == "Which badge?"
    assert login == {
        "event": "answer",
        "round": 1,
        "key": "login",
        "response": {"action": "accept", "content": {"login": "Zoë"}},
    }
    assert badge["response"]["content"] == {"badge": 7}
    assert result == {
        "event": "result",
        "isError": False,
        "content": [{"type": "text", "text": "Zoë with 7"}],
        "structuredContent": {"result": "Zoë with 7"},
    }


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
def test_a_missing_answer_ends_the_call_at_once_and_names_what_to_add(command, desk, era):
    done = command("call", desk.url, "open_door", "who=Ann", "--era", era, "--answer", "okay=yes")

    assert (done.returncode, done.stdout) == (2, "")
    told = done.stderr.partition("Error: ")[2].splitlines()
    assert told == [
        "An answer is missing, and nobody can be asked here.",
        "  ok: Open the door for Ann?",
        "    add: --answer ok=yes   (or no)",
        "Nothing has asked for: okay",
    ]


def test_a_missing_answer_is_an_event_for_programs(command, desk):
    done = command("call", desk.url, "enter", "--json", "--answer", "login=Ann")

    assert done.returncode == 2
    asked, error = events(done.stdout)
    assert asked["event"] == "input_required"
    assert error["event"] == "error"
    assert error["missing"] == ["badge"]


def test_an_answer_that_was_asked_again_under_its_key_is_not_sent_twice(command, scripted):
    scripted.script = [asking({"properties": {"a": {"type": "string"}}})]

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert done.returncode == 2
    assert len(scripted.calls) == 2
    assert "was not taken; give another one: --answer q=" in done.stderr


def test_a_tool_error_exits_with_1_and_is_no_result(command, desk):
    done = command("call", desk.url, "fail")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "The tool failed: Nobody is at the desk\n"


def test_a_protocol_error_shows_its_code(command, desk):
    nested = "[" * 70 + "]" * 70
    done = command("call", desk.url, "count", f"letters={nested}", "--json")

    assert done.returncode == 1
    assert events(done.stdout) == [
        {"event": "error", "code": -32602, "message": "arguments are nested more than 64 deep"},
    ]


def test_structured_content_is_shown_where_there_is_no_text(command, scripted):
    scripted.script = [{"resultType": "complete", "content": [], "structuredContent": {"letters": 2}}]

    assert json.loads(command("call", scripted.url, "do").stdout) == {"letters": 2}


def test_an_answer_that_nothing_asked_for_is_noted(command, desk):
    done = command("call", desk.url, "count", 'letters=["a"]', "--answer", "login=Ann")

    assert done.returncode == 0
    assert done.stderr == "Note: nothing has asked for --answer login\n"


def test_where_tasks_are_kept_is_not_asked_of_an_address(command, desk):
    done = command("call", desk.url, "count", "--tasks", "tasks.sqlite3")

    assert (done.returncode, "--tasks goes with a file" in done.stderr) == (2, True)


def test_an_unknown_tool_and_an_address_without_a_server_are_told(command, desk, scripted):
    scripted.server_close()
    unreachable, unknown = command("call", scripted.url, "do"), command("call", desk.url, "nothing")

    assert unreachable.returncode == 1
    assert f"{scripted.url} cannot be reached" in unreachable.stderr
    assert unknown.returncode == 2
    assert "There is no tool 'nothing'" in unknown.stderr
    assert "plan, open_door, enter" in unknown.stderr


def test_a_file_that_fails_to_start_says_why_once_and_ends_the_call(run, tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0\n")

    done = run("call", "broken.py", "anything", cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr.count("ZeroDivisionError") == 1
    assert done.stderr.endswith("broken.py ended before the call was over; what it said is above\n")


def test_a_servers_text_cannot_command_the_terminal_or_pass_for_ours(command, desk):
    done = command("call", desk.url, "trust_me", "--answer", "name=x")

    assert done.returncode == 0
    assert done.stdout == "\\x1b[31mx\\x1b[0m\n"
    assert [line for line in done.stderr.splitlines() if "nothing" in line or "Round" in line] == [
        f"Round 1: Front desk ({desk.url}) asks",
        "│ Delete nothing\\x1b[2K\\x1b[1A\\x9b31m [bold]{name}[/bold]\\u202egnihton",
        "│ Round 9: trusted asks",
    ]
    assert not {character for character in done.stderr if not character.isprintable()} - {"\n"}


def test_what_no_terminal_can_give_ends_the_call(command, scripted):
    sampling = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
    scripted.script = [{"resultType": "input_required", "requestState": "s", "inputRequests": {"q": sampling}}]

    done = command("call", scripted.url, "do")

    assert done.returncode == 1
    assert "sampling/createMessage, which this client never offered" in done.stderr


def test_a_server_that_does_not_keep_to_the_protocol_is_told_in_one_line(command, scripted):
    form = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {"type": "object"}}}
    scripted.script = [{"resultType": "input_required", "inputRequests": {"q": form}}]

    done = command("call", scripted.url, "do")

    assert done.returncode == 1
    assert "does not keep to the protocol: InputRequiredResult.inputRequests.q" in done.stderr
    assert done.stderr.count("\n") == 1


def asking(schema: dict | None = None, state: str | None = "s", **params: object) -> dict:
    form = {"message": "Which?", "requestedSchema": {"type": "object", "required": [], **(schema or {})}}
    requests = {"q": {"method": "elicitation/create", "params": params or form}}
    return {"resultType": "input_required", "inputRequests": requests} | ({"requestState": state} if state else {})


DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}


def test_a_round_that_only_goes_on_is_sent_again_and_each_state_goes_back_as_it_came(command, scripted):
    scripted.script = [
        {"resultType": "input_required", "requestState": "one"},
        asking({"properties": {"a": {"type": "string"}}}, state=None),
        DONE,
    ]

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert (done.returncode, done.stdout) == (0, "done\n")
    assert [call.get("requestState") for call in scripted.calls] == [None, "one", None]
    assert [call.get("inputResponses") for call in scripted.calls] == [
        None,
        None,
        {"q": {"action": "accept", "content": {"a": "x"}}},
    ]
    assert "asks nothing, the call goes on" in done.stderr


def test_a_call_that_never_ends_is_left_after_twenty_rounds(command, scripted):
    scripted.script = [{"resultType": "input_required", "requestState": "again"}]

    done = command("call", scripted.url, "do")

    assert done.returncode == 1
    assert len(scripted.calls) == 20
    assert "has not come to an end in 20 rounds" in done.stderr


def test_a_page_to_visit_is_shown_and_taken_only_by_consent(command, scripted):
    scripted.script = [asking(mode="url", message="Sign in", url="https://example.com/\x1b]8;;"), DONE]

    missing = command("call", scripted.url, "do")
    scripted.calls.clear()
    done = command("call", scripted.url, "do", "--answer", "q=@accept")

    assert missing.returncode == 2
    assert "--answer q=@accept   (once you have opened https://example.com/\\x1b]8;;)" in missing.stderr
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert scripted.calls[1]["inputResponses"] == {"q": {"action": "accept"}}


def test_a_tool_of_single_use_is_called_like_any_other(run):
    done = run("call", "cookbook/use_once.py", "redeem_voucher", "code=SPRING", "--answer", "ok=yes")

    assert (done.returncode, done.stdout) == (0, "Redeemed SPRING: there are 10 EUR in your wallet\n")
