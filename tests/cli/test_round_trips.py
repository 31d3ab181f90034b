"""`mrtr-tools call` keeps to what the protocol asks of a client; the ids are those of `tests/spec/`."""

import socket
from typing import Any

import pytest

DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def asks(*keys: str, state: str | None = "s", **params: object) -> dict[str, Any]:
    """A round that asks for a text under each key."""
    request = {"method": "elicitation/create", "params": params or {"message": "Which?", "requestedSchema": SCHEMA}}
    kept = {} if state is None else {"requestState": state}
    return {"resultType": "input_required", "inputRequests": dict.fromkeys(keys, request), **kept}


def test_nothing_is_sent_again_before_every_question_has_its_answer(command, scripted):
    """Spec C1, P2, P29."""
    scripted.script = [asks("one", "other"), DONE]

    missing = command("call", scripted.url, "do", "--answer", "one=x")
    sent = len(scripted.calls)
    scripted.calls.clear()
    answered = command("call", scripted.url, "do", "--answer", "one=x", "--answer", "other=y")

    assert (missing.returncode, sent) == (2, 1)
    assert (answered.returncode, len(scripted.calls)) == (0, 2)
    assert scripted.calls[1]["inputResponses"] == {
        "one": {"action": "accept", "content": {"a": "x"}},
        "other": {"action": "accept", "content": {"a": "y"}},
    }


@pytest.mark.parametrize(
    "state", ["", " \t padded\n", '{"a": 1, "a": 2}', "%41%zz&amp;", "\u2028é\u202e🔥", "x" * 50_000]
)
def test_a_state_goes_back_to_the_letter(command, scripted, state):
    """Spec C2, C2b, P3, P31, P32: whatever it looks like."""
    scripted.script = [asks("q", state=state), {"resultType": "input_required", "requestState": f"{state}2"}, DONE]

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert (done.returncode, done.stdout) == (0, "done\n")
    assert [call["requestState"] for call in scripted.calls[1:]] == [state, f"{state}2"]


def test_no_state_is_sent_where_none_came(command, scripted):
    """Spec C2c, P33: neither at first, nor after a round that had none, whatever came before it."""
    scripted.script = [asks("q", state=None), asks("r", state="s"), asks("t", state=None), DONE]

    done = command("call", scripted.url, "do", *(f"--answer={key}=x" for key in "qrt"))

    assert done.returncode == 0
    assert ["requestState" in call for call in scripted.calls] == [False, False, True, False]
    assert "inputResponses" not in scripted.calls[0]


def test_each_round_is_a_request_with_an_id_of_its_own_and_the_same_params(command, scripted):
    """Spec C3, C6, P11, P13: what was called, with what, is said each time."""
    scripted.tool["inputSchema"] = {"type": "object", "properties": {"place": {"type": "string"}}}
    scripted.script = [asks("q"), {"resultType": "input_required", "requestState": "s2"}, asks("r"), DONE]

    done = command("call", scripted.url, "do", "place=Kiel", "--answer", "q=x", "--answer", "r=y")

    ids = [message["id"] for message in scripted.messages]
    assert done.returncode == 0
    assert len(scripted.calls) == 4
    assert len(set(ids)) == len(ids)
    assert {(call["name"], str(call["arguments"])) for call in scripted.calls} == {("do", "{'place': 'Kiel'}")}


def test_no_other_request_hears_of_answers_or_state(command, scripted):
    """Spec C4, P14: and the answers of one round are not sent in the next."""
    scripted.script = [asks("q"), asks("r", state="s2"), DONE]

    command("call", scripted.url, "do", "--answer", "q=x", "--answer", "r=y")

    others = [message for message in scripted.messages if message["method"] != "tools/call"]
    assert others
    assert not any({"inputResponses", "requestState"} & message.get("params", {}).keys() for message in others)
    assert [list(call.get("inputResponses", ())) for call in scripted.calls] == [[], ["q"], ["r"]]


@pytest.mark.parametrize("kind", ["done", "task", "Complete", "", None, 7])
def test_a_kind_of_result_that_nobody_knows_is_no_result(command, scripted, kind):
    """Spec C5, P7: nothing of it is shown, and nothing is sent again."""
    scripted.script = [{**asks("q"), **DONE, "resultType": kind}]

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert (done.returncode, done.stdout) == (1, "")
    assert "does not keep to the protocol" in done.stderr
    assert len(scripted.calls) == 1


def test_a_result_of_no_kind_is_complete(command, scripted):
    """Spec C5b, P4: from a server of before, which knew of no kinds."""
    scripted.script = [{"content": DONE["content"]}]

    done = command("call", scripted.url, "do", "--era", "legacy")

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_every_request_says_its_version_and_what_the_client_can_do(command, scripted):
    """Spec C7, C8, Q7, Q8: forms and pages and tasks, which it really can, and nothing else."""
    scripted.script = [asks("q"), DONE]

    command("call", scripted.url, "do", "--answer", "q=x")

    metas = [message["params"]["_meta"] for message in scripted.messages]
    prefix = "io.modelcontextprotocol/"
    assert len(metas) > 3
    assert {meta[f"{prefix}protocolVersion"] for meta in metas} == {"2026-07-28"}
    for meta in metas:
        assert meta[f"{prefix}clientCapabilities"] == {
            "elicitation": {"form": {}, "url": {}},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        }
    assert {meta[f"{prefix}clientInfo"]["name"] for meta in metas} == {"mcp"}


def test_a_page_is_named_in_full_and_never_looked_at(command, scripted):
    """Spec Q34, Q35, Q36: opening it is left to the person."""
    with socket.create_server(("127.0.0.1", 0)) as page:
        address = f"http://127.0.0.1:{page.getsockname()[1]}/sign-in?" + "x" * 1900
        scripted.script = [asks("q", mode="url", message="Sign in", url=address), DONE]

        asked = command("call", scripted.url, "do")
        scripted.calls.clear()
        done = command("call", scripted.url, "do", "--answer", "q=@accept")

        page.setblocking(False)
        with pytest.raises(BlockingIOError):
            page.accept()
    assert address in asked.stderr
    assert address in done.stderr
    assert done.returncode == 0


def test_a_page_whose_address_cannot_be_read_to_its_end_is_not_asked_about(command, scripted):
    """Spec Q36."""
    for path in ("x" * 2000, "\u202e" * 400):
        scripted.script = [asks("q", mode="url", message="Sign in", url=f"https://example.com/{path}"), DONE]
        scripted.calls.clear()

        done = command("call", scripted.url, "do", "--answer", "q=@accept")

        assert (done.returncode, len(scripted.calls)) == (1, 1)
        assert "address is too long to be shown" in done.stderr


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://bank.example@evil.example:8443/bank.example", "evil.example"),
        ("https://b\u0430nk.example/", "b\u0430nk.example  (a name with letters beyond a to z: look twice)"),
        ("https://xn--bnk-6cd.example/", "xn--bnk-6cd.example  (a name with letters beyond a to z: look twice)"),
        ("javascript:alert(1)", "none"),
        ("https://[", "none"),
    ],
)
def test_the_host_of_a_page_stands_on_a_line_of_its_own(command, scripted, address, host):
    """Spec Q6, Q38, Q39."""
    scripted.script = [asks("q", mode="url", message="Sign in", url=address), DONE]

    done = command("call", scripted.url, "do", "--answer", "q=@accept")

    assert f"\nHost: {host}\n" in done.stderr


def test_a_question_that_names_no_mode_is_a_form(command, scripted):
    """Spec Q12."""
    scripted.script = [asks("q", message="Which?", requestedSchema=SCHEMA), DONE]

    done = command("call", scripted.url, "do", "--answer", "q=x")

    assert done.returncode == 0
    assert scripted.calls[1]["inputResponses"] == {"q": {"action": "accept", "content": {"a": "x"}}}
