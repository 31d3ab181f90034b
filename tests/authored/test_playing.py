"""What an author expects of `Player`: answers are given as the values that the step will get."""

from enum import IntEnum
from typing import Literal

import pytest

from mrtr_tools import AskAgain, ElicitUrl, ListRoots, Refused, Root, Sample, Sampled, Toolbox, confirm, needs_input
from mrtr_tools.errors import InvalidParams
from mrtr_tools.testing import Player, in_turn
from tests.authored import hotel


class Size(IntEnum):
    """How large."""

    SMALL = 1
    LARGE = 2


def sizes() -> Toolbox:
    """A tool with choices that are no texts."""
    toolbox = Toolbox("sizes")

    @toolbox.tool
    @needs_input(stars="How many stars?", size="Which size?", more="Which others?")
    def choose(stars: Literal[1, 2, 3], size: Size, more: list[Size]) -> str:
        return f"{stars} {size.name} {[each.name for each in more]}"

    return toolbox


def test_choices_are_answered_with_their_values() -> None:
    played = Player(sizes()).play("choose", {}, stars=2, size=Size.LARGE, more=[Size.SMALL])

    assert played.text == "2 LARGE ['SMALL']"


def test_choices_are_answered_as_they_look_on_the_wire_as_well() -> None:
    played = Player(sizes()).play("choose", {}, stars="2", size="2", more=["1"])

    assert played.text == "2 LARGE ['SMALL']"


def test_a_form_is_answered_with_a_model() -> None:
    played = Player(hotel.toolbox).play("check_in", {"room": "12"}, guest=hotel.Guest(name="Ada"))

    assert played.text == "Ada has 12"


def test_a_client_that_cannot_be_asked_is_a_player_like_any_other() -> None:
    played = Player(hotel.toolbox, capabilities={}).play("check_in", {"room": "12"})

    assert played.text == "Somebody has 12"


def test_a_question_without_an_answer_fails_the_test_with_its_text() -> None:
    with pytest.raises(AssertionError, match=r"check_in asks for 'guest': 'Who stays\?'"):
        Player(hotel.toolbox).play("check_in", {"room": "12"})


def test_a_refusal_ends_a_call_that_does_not_admit_one() -> None:
    played = Player(sizes()).play("choose", {}, stars=Refused("cancel"), size=Size.SMALL, more=[])

    assert (played.is_error, played.text) == (True, "The question 'stars' was cancelled.")


def counting() -> Toolbox:
    """A tool that asks for the same thing until it is large enough."""
    toolbox = Toolbox("counting")

    @toolbox.tool
    @needs_input(count="How many?")
    def order(count: int) -> str:
        if count < 3:
            raise AskAgain(count="too few")
        return f"{count} ordered"

    return toolbox


def test_answers_in_turn_are_given_one_each_time_that_the_question_comes() -> None:
    played = Player(counting()).play("order", count=in_turn(1, 2, 3))

    assert played.text == "3 ordered"
    assert played.questions == ["count", "count-2", "count-3"]


def test_a_refusal_can_be_one_of_the_answers_in_turn() -> None:
    played = Player(counting()).play("order", count=in_turn(1, Refused("decline")))

    assert (played.is_error, played.rounds) == (True, 3)


def test_what_is_asked_more_often_than_there_are_answers_in_turn_fails_the_test_with_its_text() -> None:
    with pytest.raises(AssertionError, match=r"asked more than 2 times: .*too few"):
        Player(counting()).play("order", count=in_turn(1, 2))


def test_each_use_of_in_turn_begins_anew() -> None:
    first, second = in_turn(3), in_turn(3)

    assert [Player(counting()).play("order", count=each).text for each in (first, second)] == ["3 ordered"] * 2


# Every kind of question


def kinds() -> Toolbox:
    """A tool that asks for what is no form, and a prompt and a resource."""
    toolbox = Toolbox("kinds")

    @toolbox.tool
    @needs_input(page=ElicitUrl("Sign in", "https://login.example/in"))
    @needs_input(poem=Sample("A poem"), plan=Sample("A plan"), roots=ListRoots())
    def ask(page: bool | Refused, poem: str, plan: Sampled, roots: list[Root]) -> list[str]:
        return [str(page), poem, plan.text, *(f"{root.uri} {root.name}" for root in roots)]

    @toolbox.prompt()
    @needs_input(tone="Which tone?")
    def greet(name: str, tone: str) -> str:
        return f"Greet {name}, {tone}"

    @toolbox.resource("notes://{name}")
    @needs_input(ok=confirm("Show {name}?"))
    def note(name: str) -> str:
        return f"The note {name}"

    return toolbox


PLAN = Sampled([{"type": "text", "text": "First tea"}], "m", "user", "endTurn")


@pytest.mark.parametrize("roots", [["file:///a"], [Root("file:///a")]], ids=["URIs", "roots"])
@pytest.mark.parametrize("opened", [True, False])
def test_pages_models_and_roots_are_answered_with_plain_values(opened: bool, roots: list[object]) -> None:
    played = Player(kinds()).play("ask", {}, page=opened, poem="Roses", plan=PLAN, roots=roots)

    page = "True" if opened else "Refused(action='decline')"
    assert played.result == [page, "Roses", "First tea", "file:///a None"]
    assert played.questions == ["page", "poem", "plan", "roots"]
    assert played.messages == {"page": "Sign in", "poem": "A poem", "plan": "A plan", "roots": ""}


def test_a_model_answers_with_the_protocols_own_object_as_well() -> None:
    raw = {"role": "assistant", "content": {"type": "text", "text": "Roses"}, "model": "m"}

    played = Player(kinds()).play("ask", {}, page=True, poem=raw, plan="Tea", roots=[Root("file:///a", "A")])

    assert played.result == ["True", "Roses", "Tea", "file:///a A"]


def test_an_answer_may_depend_on_the_question() -> None:
    def opened(request: dict[str, dict[str, str]]) -> bool:
        return request["params"]["url"] == "https://login.example/in"

    played = Player(kinds()).play("ask", {}, page=opened, poem="", plan="", roots=[])

    assert played.result == ["True", "", ""]


def test_prompts_and_resources_are_played_by_name_and_by_uri() -> None:
    player = Player(kinds())

    assert player.play("greet", {"name": "Ada"}, tone="kindly").text == "Greet Ada, kindly"
    assert player.play("notes://today", ok=True).text == "The note today"
    assert player.play("notes://today", ok=False).is_error


@pytest.mark.parametrize(
    ("target", "told"), [("nothing", "Unknown tool"), ("notes://a/b", "Unknown resource"), ("", "Unknown tool")]
)
def test_what_is_not_there_is_told_apart(target: str, told: str) -> None:
    with pytest.raises(InvalidParams, match=told):
        Player(kinds()).play(target)


def test_answers_in_turn_that_ran_out_are_told_for_every_kind_of_question() -> None:
    with pytest.raises(AssertionError, match="asked more than 0 times"):
        Player(kinds()).play("ask", {}, page=True, poem="", plan="", roots=in_turn())


def test_an_answer_to_what_is_never_asked_is_a_mistake_in_the_test() -> None:
    with pytest.raises(AssertionError, match="has no input 'peom'; it has ok, page, plan, poem, roots, tone"):
        Player(kinds()).play("ask", {}, peom="Roses")


@pytest.mark.anyio
async def test_an_async_test_is_told_how_to_play() -> None:
    with pytest.raises(RuntimeError, match=r"await player\.play_async"):
        Player(kinds()).play("ask")
    played = await Player(kinds()).play_async("greet", {"name": "Ada"}, tone="kindly")
    assert played.text == "Greet Ada, kindly"


@pytest.mark.anyio
async def test_a_call_that_is_not_over_has_no_result() -> None:
    conversation = await Player(kinds()).start("greet", {"name": "Ada"})

    assert (conversation.done, conversation.is_error) == (False, False)
    with pytest.raises(AssertionError, match="the call is not over; it asks for tone"):
        _ = conversation.result
