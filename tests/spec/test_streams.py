"""What goes to a client beside the result: progress, log messages, hints for caches, changes. Mostly over HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest

from mrtr_tools import Context, Toolbox, confirm, needs_input, then
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.raw_http import accept, envelope, request, serving
from tests.server.test_stdio import served

LOG_LEVEL = "io.modelcontextprotocol/logLevel"

toolbox = Toolbox("streams")


@toolbox.tool
async def search(ctx: Context) -> str:
    await ctx.report_progress(1, 2, "searching")
    await ctx.log("info", "found")
    return then(agree)


@toolbox.step
@needs_input(ok=confirm("Take it?"))
async def agree(ctx: Context) -> str:
    await ctx.report_progress(2, 2, "taking")
    return "taken"


@toolbox.prompt()
def poem() -> str:
    return "Write a poem."


@toolbox.resource("memo:all")
def memos() -> str:
    return "All memos."


@toolbox.resource("memo://{name}")
@needs_input(ok=confirm("Read {name}?"))
def memo(name: str) -> str:
    return name


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(http_app(toolbox, keys=[generate_key()])) as address:
        yield address


def searching(url: str, token: Any, **params: Any) -> Any:
    meta = {**envelope(progressToken=token), LOG_LEVEL: "debug"}
    return request(url, "tools/call", {"name": "search", "_meta": meta, **params})


def test_a_question_is_the_last_message_of_its_stream(url):
    """Spec S1b, E28, T1, T2, T3, T4, T10, P10, P20, P21: after progress and log messages, and none is a request."""
    answer = searching(url, "t")

    *notes, last = answer.events
    assert [note["method"] for note in notes] == ["notifications/progress", "notifications/message"]
    assert not any("id" in note for note in notes)
    assert last["id"] == 1
    assert last["result"]["resultType"] == "input_required"
    assert answer.headers["x-accel-buffering"] == "no"


def test_a_question_that_nothing_goes_before_is_one_json_object(url):
    """Spec E28, P20: the usual case."""
    answer = request(url, "resources/read", {"uri": "memo://a"})

    assert answer.headers["content-type"] == "application/json"
    assert answer.result["resultType"] == "input_required"


def test_the_progress_of_a_round_goes_by_the_token_of_its_request(url):
    """Spec T6: that of the round before is not used again."""
    state = searching(url, "first").events[-1]["result"]["requestState"]

    events = searching(url, "second", inputResponses={"ok": accept(ok=True)}, requestState=state).events

    told = [event["params"] for event in events if event.get("method") == "notifications/progress"]
    assert told == [{"progressToken": "second", "progress": 2, "total": 2, "message": "taking"}]
    assert events[-1]["result"]["content"][0]["text"] == "taken"


def test_to_cancel_what_is_over_or_never_was_changes_nothing():
    """Spec T15: nor does a cancellation that says nothing."""
    with served() as wire:
        wire.call(1, "echo", {"text": "one"})
        first = wire.receive()
        for number in (1, 7, "x", None, []):
            wire.send("notifications/cancelled", requestId=number, _meta=envelope())
        wire.send("notifications/cancelled")
        wire.call(7, "echo", {"text": "two"})
        second = wire.receive()

    assert [first["id"], second["id"]] == [1, 7]
    assert second["result"]["content"][0]["text"] == "two"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("server/discover", {}),
        ("tools/list", {}),
        ("prompts/list", {}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "memo:all"}),
    ],
)
def test_what_may_be_kept_says_for_how_long_and_for_whom(url, method, params):
    """Spec T16, T17."""
    result = request(url, method, params).result

    assert type(result["ttlMs"]) is int
    assert result["ttlMs"] >= 0
    assert result["cacheScope"] in ("public", "private")


def test_what_was_asked_or_answered_is_for_nobody_to_keep(url):
    """Spec T18, T19."""
    asked = request(url, "resources/read", {"uri": "memo://a"}).result
    answers = {"ok": accept(ok=True)}
    params = {"uri": "memo://a", "inputResponses": answers, "requestState": asked["requestState"]}
    done = request(url, "resources/read", params).result

    assert not {"ttlMs", "cacheScope"} & asked.keys()
    assert (done["contents"][0]["text"], done["ttlMs"], done["cacheScope"]) == ("a", 0, "private")


def test_a_toolbox_never_changes_and_says_so(url):
    """Spec T24: so there is nothing to listen to."""
    told = request(url, "server/discover", {}).result["capabilities"]
    refused = request(url, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})

    assert not any(told[kind].get("listChanged") or told[kind].get("subscribe") for kind in told)
    assert (refused.status, refused.error["code"]) == (404, -32601)
