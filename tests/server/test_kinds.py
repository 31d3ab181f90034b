"""Every kind of question on the wire of 2026-07-28: what goes out, what comes back, and who is not asked."""

from collections.abc import Iterator
from typing import Any

import pytest

from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.kinds import CLOCK, PAGE, QUESTION, pages, toolbox
from tests.server.raw_http import accept, request, serving

EVERYTHING = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
NO = {"action": "decline"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(http_app(toolbox, keys=[generate_key()], anonymous_ok=True)) as address:
        yield address


class Talk:
    """One call, round by round."""

    def __init__(self, url: str, tool: str, arguments: Any = None, capabilities: Any = EVERYTHING) -> None:
        self._send = lambda **more: request(
            url, "tools/call", {"name": tool, "arguments": arguments, **more}, capabilities=capabilities
        )
        self.last = self._send()

    def answer(self, **responses: Any) -> "Talk":
        state = self.last.result.get("requestState")
        self.last = self._send(inputResponses=responses, **({"requestState": state} if state else {}))
        return self

    @property
    def questions(self) -> Any:
        return self.last.result["inputRequests"]

    @property
    def text(self) -> str:
        return self.last.result["content"][0]["text"]


def sampled(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "model": "m-1", **more}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


# Forms


def test_enums_and_defaults_are_written_as_the_protocol_has_them(url):
    talk = Talk(url, "prefer")

    assert talk.questions["preferences"]["params"]["requestedSchema"] == {
        "type": "object",
        "properties": {
            "colour": {"type": "string", "enum": ["red", "green"]},
            "size": {"type": "string", "enum": ["S", "M"], "default": "M"},
            "name": {"type": "string", "default": "Ada"},
            "count": {"type": "integer", "default": 1},
            "share": {"type": "number", "default": 0.5},
            "gift": {"type": "boolean", "default": True},
        },
        "required": ["colour"],
    }
    assert "colour=<Colour.RED: 'red'>, size='M'" in talk.answer(preferences=accept(colour="red")).text


def test_titled_choices_of_one_and_of_several_are_written_as_the_protocol_has_them(url):
    talk = Talk(url, "choose")

    fields = {key: question["params"]["requestedSchema"]["properties"][key] for key, question in talk.questions.items()}
    assert fields == {
        "one": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
        "many": {
            "type": "array",
            "items": {"anyOf": [{"const": "s", "title": "Small"}, {"const": "m", "title": "Medium"}]},
        },
        "sizes": {"type": "array", "items": {"type": "string", "enum": ["S", "M"]}},
    }
    done = talk.answer(one=accept(one="g"), many=accept(many=["s", "m"]), sizes=accept(sizes=[]))
    assert done.text == "g ['s', 'm'] []"


def test_a_choice_that_was_not_offered_is_asked_again(url):
    talk = Talk(url, "choose").answer(one=accept(one="Red"), many=accept(many=["s"]), sizes=accept(sizes=["XL"]))

    assert set(talk.questions) == {"one", "sizes"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_refusal_is_an_answer_where_it_is_admitted_and_ends_the_call_elsewhere(url, action):
    assert Talk(url, "answer_either").answer(answer={"action": action}).text == f"refused: {action}"
    ended = Talk(url, "delete").answer(ok={"action": action})
    assert ended.last.result["isError"] is True
    assert "deleted" not in ended.text


# Pages


def test_a_page_goes_out_without_what_2026_07_28_no_longer_has(url):
    talk = Talk(url, "sign_in", {"visit": True})

    assert talk.questions == {
        "page": {
            "method": "elicitation/create",
            "params": {"mode": "url", "message": "Sign in, please", "url": PAGE},
        }
    }
    assert talk.answer(page={"action": "accept"}).text == "signed in"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_page_can_be_refused(url, action):
    assert Talk(url, "sign_in", {"visit": True}).answer(page={"action": action}).text == f"refused: {action}"


def test_a_page_that_need_not_be_opened_is_not_asked_for(url):
    assert Talk(url, "sign_in", {"visit": False}, {}).text == "signed in"


@pytest.mark.parametrize("declared", [{}, {"elicitation": {}}, {"elicitation": {"form": {}}}])
def test_a_client_that_shows_forms_alone_is_sent_no_page(declared):
    """Reported as IBM/mcp-context-forge#6642."""
    with serving(http_app(pages, keys=[generate_key()], anonymous_ok=True)) as url:
        refused = Talk(url, "pay", None, declared).last

    assert refused.status == 400
    assert refused.error["code"] == -32021
    assert refused.error["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}


def test_a_client_that_opens_pages_alone_is_shown_no_form(url):
    refused = Talk(url, "delete", None, {"elicitation": {"url": {}}}).last

    assert refused.error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


# The model


def test_the_model_is_asked_in_the_protocols_words(url):
    talk = Talk(url, "ask_model", {"word": "hello"})

    assert talk.questions == {
        "answer": {
            "method": "sampling/createMessage",
            "params": {
                "messages": [{"role": "user", "content": text("Say hello")}],
                "maxTokens": 10,
                "systemPrompt": "Be brief",
                "temperature": 0.5,
            },
        }
    }
    assert talk.answer(answer=sampled(text("hello"), stopReason="endTurn")).text == "m-1: hello"


def test_the_model_may_answer_with_several_blocks(url):
    talk = Talk(url, "ask_model", {"word": "hello"}).answer(answer=sampled([text("hel"), text("lo")]))

    assert talk.text == "m-1: hello"


@pytest.mark.parametrize("answer", [None, 12345, {}, {"role": "assistant"}, sampled("text"), sampled([{}]), NO])
def test_what_no_model_says_is_asked_again(url, answer):
    talk = Talk(url, "ask_model", {"word": "hello"}).answer(answer=answer)

    assert list(talk.questions) == ["answer"]


def test_a_model_uses_tools_round_by_round(url):
    use = {"type": "tool_use", "id": "u1", "name": "clock", "input": {}}
    talk = Talk(url, "ask_model_with_tools")
    first = talk.questions["answer"]["params"]
    talk.answer(answer=sampled([text("Let me see"), use], stopReason="toolUse"))
    [key] = talk.questions
    second = talk.questions[key]["params"]

    assert first["tools"] == second["tools"] == [CLOCK]
    assert first["toolChoice"] == {"mode": "auto"}
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "user"]
    assert second["messages"][0]["content"] == text(QUESTION)
    assert second["messages"][1]["content"] == [use]
    assert second["messages"][2]["content"][0]["toolUseId"] == "u1"
    assert talk.answer(**{key: sampled(text("It is noon"))}).text == "It is noon"


@pytest.mark.parametrize("declared", [{}, {"sampling": {}}, {"sampling": {"context": {}}}])
def test_a_model_without_tools_is_given_none(url, declared):
    """Reported as PrefectHQ/fastmcp#4577."""
    refused = Talk(url, "ask_model_with_tools", None, declared).last

    assert refused.status == 400
    assert refused.error["data"] == {"requiredCapabilities": {"sampling": {"tools": {}}}}


def test_where_there_is_no_model_the_step_hears_so_when_it_admits_it(url):
    assert Talk(url, "ask_model", {"word": "hello"}, {}).text == "refused: unsupported"


# The roots


def test_roots_are_asked_for_and_read(url):
    talk = Talk(url, "folders")

    assert talk.questions == {"roots": {"method": "roots/list"}}
    done = talk.answer(roots={"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]})
    assert done.text == "file:///a, file:///b"


@pytest.mark.parametrize("answer", [None, {}, {"roots": {}}, {"roots": [{}]}, {"roots": [{"uri": "https://a"}]}, NO])
def test_what_is_no_list_of_roots_is_asked_again(url, answer):
    assert list(Talk(url, "folders").answer(roots=answer).questions) == ["roots"]


def test_a_client_without_roots_is_not_asked_for_them(url):
    """Reported as dart-lang/ai#597."""
    assert Talk(url, "folders", None, {}).last.error["data"] == {"requiredCapabilities": {"roots": {}}}
