"""Questions in the words of each older revision, and their answers back in ours."""

from typing import Any

import pytest

from mrtr_tools.server import revisions
from mrtr_tools.server.revisions import NotKnown, answer_from, askable

EVERYTHING: Any = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {"listChanged": True},
    "experimental": {"x": 1},
}
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def question_for(version: str, question: Any) -> Any:
    return revisions.question_for(version, question)


def form(**properties: Any) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Which?", "requestedSchema": schema},
    }


def sample(*contents: Any) -> Any:
    messages = [{"role": "user", "content": content} for content in contents]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 9}}


TEXT: Any = {"type": "text", "text": "Hi"}
SOUND = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}


# What can be asked


@pytest.mark.parametrize(
    ("version", "elicitation"),
    [
        ("2024-11-05", None),
        ("2025-03-26", None),
        ("2025-06-18", {"form": {}}),
        ("2025-11-25", {"form": {}, "url": {}}),
    ],
)
def test_a_client_is_asked_for_what_its_revision_has(version, elicitation):
    asked = askable(version, EVERYTHING)

    assert asked.get("elicitation") == elicitation
    assert asked["sampling"] == (EVERYTHING["sampling"] if version == "2025-11-25" else {})
    assert asked["roots"] == {"listChanged": True}


@pytest.mark.parametrize("version", REVISIONS)
def test_a_client_is_asked_for_nothing_that_it_did_not_declare(version):
    assert askable(version, {}) == {}
    assert askable(version, {"roots": {}}) == {"roots": {}}


# Forms


def test_titles_of_choices_are_written_as_each_revision_has_them():
    choices = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
    question = form(colour={"type": "string", "title": "Colour", "oneOf": choices}, n={"type": "integer"})

    assert question_for("2025-11-25", question) == question
    assert question_for("2025-06-18", question)["params"] == {
        "message": "Which?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "colour": {"type": "string", "title": "Colour", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
                "n": {"type": "integer"},
            },
            "required": ["colour", "n"],
        },
    }


def test_before_2025_11_25_only_a_yes_or_no_has_a_default():
    question = form(name={"type": "string", "default": "x"}, ok={"type": "boolean", "default": True})

    shown = question_for("2025-06-18", question)["params"]["requestedSchema"]["properties"]

    assert question_for("2025-11-25", question) == question
    assert shown == {"name": {"type": "string"}, "ok": {"type": "boolean", "default": True}}


MANY: Any = [
    {"type": "array", "title": "Sizes", "items": {"type": "string", "enum": ["S", "M"]}, "default": ["M"]},
    {
        "type": "array",
        "title": "Sizes",
        "items": {"anyOf": [{"const": "S", "title": "S"}, {"const": "M", "title": "M"}]},
        "default": ["M"],
    },
]


@pytest.mark.parametrize("sizes", MANY)
def test_a_choice_of_several_was_one_yes_or_no_for_each(sizes):
    question = form(sizes=sizes)

    schema = question_for("2025-06-18", question)["params"]["requestedSchema"]

    assert question_for("2025-11-25", question) == question
    assert "required" not in schema
    assert schema["properties"] == {
        "sizes.S": {"type": "boolean", "title": "S", "description": "Sizes", "default": False},
        "sizes.M": {"type": "boolean", "title": "M", "description": "Sizes", "default": True},
    }


@pytest.mark.parametrize("sizes", MANY)
@pytest.mark.parametrize(
    ("content", "read"),
    [
        ({"sizes.S": True, "sizes.M": True}, {"sizes": ["S", "M"]}),
        ({"sizes.S": False, "sizes.M": True, "more": 1}, {"sizes": ["M"], "more": 1}),
        ({"sizes.S": "yes"}, {"sizes": []}),
        ({}, {"sizes": []}),
    ],
)
def test_the_yeses_come_back_as_a_list(sizes, content, read):
    answer: Any = {"action": "accept", "content": content}

    assert answer_from("2025-06-18", form(sizes=sizes), answer) == {"action": "accept", "content": read}
    assert answer_from("2025-11-25", form(sizes=sizes), answer) == answer


def test_an_optional_choice_that_nobody_looked_at_stays_open():
    question = form(sizes=MANY[0])
    question["params"]["requestedSchema"]["required"] = []

    answer = {"action": "accept", "content": {}}
    assert answer_from("2025-06-18", question, answer) == answer


@pytest.mark.parametrize("answer", [None, [], {"action": "decline"}, {"action": "accept", "content": [1]}])
def test_what_holds_no_choices_comes_back_as_it_is(answer):
    assert answer_from("2025-06-18", form(sizes=MANY[0]), answer) == answer


# Pages


def test_a_page_has_an_id_of_its_own_each_time():
    page = {"method": "elicitation/create", "params": {"mode": "url", "message": "Go", "url": "https://a.example/"}}

    one, two = (question_for("2025-11-25", page)["params"] for _ in range(2))

    assert one.pop("elicitationId") != two.pop("elicitationId")
    assert one == two == page["params"]


# The model and the roots


def test_roots_have_no_params():
    for version in REVISIONS:
        assert question_for(version, {"method": "roots/list"}) == {"method": "roots/list"}


def test_before_2025_11_25_a_message_was_one_block():
    question = sample([TEXT, TEXT], TEXT)

    assert question_for("2025-11-25", question) == question
    assert question_for("2025-06-18", question) == sample(TEXT, TEXT, TEXT)


def test_the_model_is_told_what_the_revision_has_words_for():
    assert question_for("2025-03-26", sample(SOUND)) == sample(SOUND)
    with pytest.raises(NotKnown, match="text, image for its model, and nothing else"):
        question_for("2024-11-05", sample(SOUND))
    for block in ({"type": "tool_use"}, {"type": "tool_result"}, "text", None):
        with pytest.raises(NotKnown):
            question_for("2025-06-18", sample([block]))
