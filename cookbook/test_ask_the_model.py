from typing import Any

from cookbook.ask_the_model import summarize, toolbox
from mrtr_tools import Refused, Sampled
from mrtr_tools.testing import Player, in_turn

TEXT = "Rain is expected. " * 100


def test_the_model_reads_the_whole_text_and_its_answer_is_the_result() -> None:
    seen: list[Any] = []

    def model(request: Any) -> str:
        seen.append(request["params"])
        return "It rains."

    played = Player(toolbox).play("summarize", {"text": TEXT}, summary=model)

    assert played.text == "It rains."
    assert played.ran == ["summary", "summarize"]
    assert seen[0]["messages"][0]["content"]["text"].endswith(TEXT)
    assert seen[0]["maxTokens"] == 200


def test_an_answer_that_was_cut_off_is_shown_to_be() -> None:
    cut = Sampled({"type": "text", "text": "It rains and"}, "some-model", stop_reason="maxTokens")

    assert Player(toolbox).play("summarize", {"text": TEXT}, summary=cut).text == "It rains and…"


def test_where_there_is_no_model_the_first_sentence_serves() -> None:
    played = Player(toolbox, capabilities={}).play("summarize", {"text": TEXT})

    assert played.text == "Rain is expected. (The first sentence: there is no model to ask.)"
    assert played.questions == []


def test_what_no_model_says_is_asked_again_and_then_ends_the_call() -> None:
    played = Player(toolbox).play("summarize", {"text": TEXT}, summary=Refused("decline"))

    assert played.is_error
    assert played.questions == ["summary"] * 4


def test_a_title_that_is_too_long_is_asked_again_and_the_model_reads_why() -> None:
    seen: list[Any] = []

    def model(request: Any) -> str:
        seen.append(request["params"]["messages"])
        return "Here is a title for you: Rain" if len(seen) == 1 else "Rain"

    played = Player(toolbox).play("title_chapter", {"subject": "rain"}, title=model)

    assert played.text == "Rain"
    assert played.questions == ["title", "title-2"]
    assert "at most five words for the chapter on rain" in seen[0][0]["content"]["text"]
    assert seen[1][-1]["content"]["text"].startswith("That was not one to five words")


def test_a_model_that_never_keeps_to_it_ends_the_call() -> None:
    played = Player(toolbox).play("title_chapter", {"subject": "rain"}, title=in_turn(*["no " * 6] * 10))

    assert played.is_error


def test_a_function_is_tested_by_calling_it() -> None:
    assert summarize("One. Two.", Refused("unsupported")).startswith("One.")
