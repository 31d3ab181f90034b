"""Prompts and resources that ask, to a client of 2026-07-28 that knows nothing but JSON and HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest

from mrtr_tools import Toolbox
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.kinds import toolbox
from tests.server.raw_http import FORMS, Answer, accept, call, request, serving

FROZEN = {"code": -32602, "message": "Invalid or expired requestState"}
MODEL = {"sampling": {}, "roots": {}}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(http_app(toolbox, keys=[generate_key()], anonymous_ok=True)) as address:
        yield address


def get(url: str, name: str, arguments: Any = None, *, capabilities: Any = FORMS, **params: Any) -> Answer:
    return request(url, "prompts/get", {"name": name, "arguments": arguments, **params}, capabilities=capabilities)


def read(url: str, uri: str, *, capabilities: Any = FORMS, **params: Any) -> Answer:
    return request(url, "resources/read", {"uri": uri, **params}, capabilities=capabilities)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": {"type": "text", "text": text}}


# Lists


def test_what_is_there_is_listed_with_caching_hints(url):
    prompts = request(url, "prompts/list", {}).result
    resources = request(url, "resources/list", {}).result
    templates = request(url, "resources/templates/list", {}).result

    assert [prompt["name"] for prompt in prompts["prompts"]] == ["poem", "picture", "broken"]
    assert prompts["prompts"][0] == {
        "name": "poem",
        "description": "A poem.",
        "arguments": [{"name": "topic", "required": True}],
    }
    assert resources["resources"] == [
        {"uri": "memo:all", "name": "memos", "description": "All memos.", "mimeType": "text/markdown"}
    ]
    assert templates["resourceTemplates"] == [
        {"uriTemplate": "memo://{name}", "name": "memo", "description": "A memo, by region."}
    ]
    for listed in (prompts, resources, templates):
        assert listed["resultType"] == "complete"
        assert listed["ttlMs"] >= 0
        assert listed["cacheScope"] in ("public", "private")
        assert listed["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "kinds"


def only(kind: str) -> Toolbox:
    few = Toolbox("few")
    if kind == "tools":
        few.tool(name="t")(lambda: "")
    elif kind == "prompts":
        few.prompt(name="p")(lambda: "")
    else:
        few.resource("memo:x", name="r")(lambda: "")
    return few


@pytest.mark.parametrize("kind", ["tools", "prompts", "resources"])
def test_a_server_says_that_it_has_what_it_has_and_knows_no_other_methods(kind):
    with serving(http_app(only(kind), keys=[generate_key()])) as url:
        told = request(url, "server/discover", {}).result["capabilities"]
        status = {
            method: request(url, method, {}).status
            for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
        }

    assert list(told) == [kind]
    assert {method for method, code in status.items() if code == 200} == {
        method for method in status if method.startswith(kind)
    }
    assert set(status.values()) == {200, 404}


# Prompts


def test_a_prompt_asks_and_then_gives_its_messages(url):
    first = get(url, "poem", {"topic": "sea"}).result
    answers = {"mood": accept(mood="wild")}
    done = get(url, "poem", {"topic": "sea"}, inputResponses=answers, requestState=first["requestState"]).result

    assert first["resultType"] == "input_required"
    assert list(first["inputRequests"]) == ["mood"]
    assert "messages" not in first
    assert done["resultType"] == "complete"
    assert done["description"] == "A poem."
    assert done["messages"] == [user("Write about sea."), user("Be wild.")]
    assert done["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "kinds"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_prompt_can_do_without(url, action):
    state = get(url, "poem", {"topic": "sea"}).result["requestState"]

    done = get(url, "poem", {"topic": "sea"}, inputResponses={"mood": {"action": action}}, requestState=state)

    assert done.result["messages"][1] == user("Be calm.")
    assert get(url, "poem", {"topic": "sea"}, capabilities={}).result["messages"][1] == user("Be calm.")


def test_a_prompt_asks_the_model_and_the_client_too(url):
    first = get(url, "picture", capabilities=MODEL).result
    answers = {
        "answer": {"role": "assistant", "content": {"type": "text", "text": "A cat"}, "model": "m"},
        "roots": {"roots": []},
    }
    done = get(url, "picture", inputResponses=answers, requestState=first["requestState"], capabilities=MODEL).result

    assert set(first["inputRequests"]) == {"answer", "roots"}
    assert [message["content"]["type"] for message in done["messages"]] == ["text", "text", "image"]


def test_what_a_prompt_needs_and_the_client_lacks_is_said_before_anything_else(url):
    refused = get(url, "picture", capabilities={"sampling": {}})

    assert refused.status == 400
    assert refused.error["data"] == {"requiredCapabilities": {"roots": {}}}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [("nobody", None, "Unknown prompt"), ("poem", None, "topic"), ("poem", {"topic": 7}, "Invalid request parameters")],
)
def test_a_prompt_called_wrongly_is_an_error_of_the_caller(url, name, arguments, message):
    answer = get(url, name, arguments)

    assert (answer.status, answer.error["code"]) == (400, -32602)
    assert message in answer.error["message"]


def test_a_prompt_that_fails_says_nothing_of_why(url):
    answer = get(url, "broken")

    assert answer.error["code"] == -32603
    assert "postgres" not in answer.text


# Resources


def test_a_resource_asks_and_then_gives_its_contents_for_nobody_to_keep(url):
    """Reported as modelcontextprotocol/php-sdk#449."""
    first = read(url, "memo://a").result
    answers = {"region": accept(region="north")}
    done = read(url, "memo://a", inputResponses=answers, requestState=first["requestState"]).result

    assert list(first["inputRequests"]) == ["region"]
    assert "ttlMs" not in first
    assert "cacheScope" not in first
    assert done["contents"] == [
        {
            "uri": "memo://a",
            "mimeType": "application/json",
            "text": '{\n  "name": "a",\n  "region": "north"\n}',
        }
    ]
    assert (done["resultType"], done["ttlMs"], done["cacheScope"]) == ("complete", 0, "private")


def test_a_resource_that_asks_nothing_is_read_at_once(url):
    done = read(url, "memo:all", capabilities={}).result

    assert done["contents"] == [{"uri": "memo:all", "mimeType": "text/markdown", "text": "# Memos"}]
    assert (done["ttlMs"], done["cacheScope"]) == (0, "private")


@pytest.mark.parametrize("uri", ["memo:none", "memo://a/b", "other://a", "no uri"])
def test_an_unknown_resource_is_an_error_that_names_it(url, uri):
    answer = read(url, uri)

    assert (answer.status, answer.error["code"]) == (400, -32602)
    assert answer.error["data"] == {"uri": uri}


def test_a_resource_that_gives_up_says_why(url):
    state = read(url, "memo://a").result["requestState"]

    answer = read(url, "memo://a", inputResponses={"region": accept(region="none")}, requestState=state)

    assert answer.error == {"code": -32603, "message": "There is no such memo", "data": {"uri": "memo://a"}}


def test_a_refused_question_of_a_resource_ends_with_a_readable_error(url):
    state = read(url, "memo://a").result["requestState"]

    answer = read(url, "memo://a", inputResponses={"region": {"action": "decline"}}, requestState=state)

    assert answer.error["code"] == -32603
    assert "declined" in answer.error["message"]


def test_percent_signs_in_a_uri_are_read(url):
    state = read(url, "memo://a%20b").result["requestState"]

    done = read(url, "memo://a%20b", inputResponses={"region": accept(region="n")}, requestState=state).result

    assert '"name": "a b"' in done["contents"][0]["text"]
    assert done["contents"][0]["uri"] == "memo://a%20b"


# States


def test_a_state_opens_for_its_own_method_and_target_only(url):
    memo = read(url, "memo://a").result["requestState"]
    poem = get(url, "poem", {"topic": "sea"}).result["requestState"]

    assert read(url, "memo://b", requestState=memo).error == FROZEN
    assert read(url, "memo://a", requestState=poem).error == FROZEN
    assert get(url, "poem", {"topic": "sky"}, requestState=poem).error == FROZEN
    assert get(url, "poem", {"topic": "sea"}, requestState=memo).error == FROZEN
    assert call(url, "delete", requestState=memo).error == FROZEN


@pytest.mark.parametrize(
    "method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"]
)
def test_no_other_method_asks_or_hears_of_answers(url, method):
    more = {"inputResponses": {"region": accept(region="x")}, "requestState": "x"}

    assert request(url, method, more).result["resultType"] == "complete"
