"""Whole conversations with the tools beside this file, as their author would test them."""

from datetime import date

import anyio
import pytest

from mrtr_tools import Refused, then
from mrtr_tools.testing import Conversation, Player, in_turn
from tests.authored import (
    accounts,
    archive,
    cleanup,
    convert,
    delivery,
    hotel,
    onboarding,
    review,
    shares,
    survey,
    tenants,
    till,
)

# A survey


def test_a_survey_asks_what_the_list_holds_at_run_time() -> None:
    played = Player(survey.toolbox).play("survey", {"topic": "lunch"}, rating=4)

    assert played.result == dict.fromkeys(survey.catalogue["lunch"], 4)
    assert played.questions == ["rating", "rating-2", "rating-3"]
    assert played.messages["rating-2"] == "How was the {main} course?", "what fills a template is no template"
    assert played.ran == ["survey", "rate", "rate", "rate"]


def test_a_survey_about_nothing_asks_nothing() -> None:
    played = Player(survey.toolbox).play("survey", {"topic": "none"})

    assert (played.result, played.questions) == ({}, [])


def test_a_survey_of_sixty_questions_comes_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(survey.catalogue, "long", [f"Question {number}?" for number in range(60)])

    played = Player(survey.toolbox).play("survey", {"topic": "long"}, rating=1)

    assert played.rounds == 61
    assert len(played.ran) == 61


# A reviewer's loop


def test_a_draft_is_shown_until_it_is_approved() -> None:
    opinions = in_turn(
        {"verdict": "change", "comment": "shorter"},
        {"verdict": "change", "comment": "bolder"},
        {"verdict": "approve"},
    )

    played = Player(review.toolbox).play("publish", {"headline": "News"}, opinion=opinions)

    assert played.text == "Published after 3 drafts: News (shorter) (bolder)"
    assert played.questions == ["opinion", "opinion-2", "opinion-3"]


def test_a_change_without_a_comment_is_asked_again_with_the_reason() -> None:
    opinions = in_turn({"verdict": "change"}, {"verdict": "drop"})

    played = Player(review.toolbox).play("publish", {"headline": "News"}, opinion=opinions)

    assert played.text == "Dropped"
    assert played.messages["opinion-2"] == "Say in the comment what to change\nDraft 1: News"


# One login for two tools


def test_two_tools_share_a_login_that_asks_under_the_name_of_the_input() -> None:
    player = Player(accounts.toolbox)

    balance = player.play("balance", {}, **{"account.user": "ada"})
    sent = player.play("send", {"amount": 5}, **{"payer.user": "bob"}, ok=True)

    assert (balance.text, balance.questions) == ("Ada has 90 EUR", ["account.user"])
    assert (sent.text, sent.questions) == ("Bob sent 5 EUR", ["payer.user", "ok"])
    assert sent.messages["ok"] == "Send 5 EUR from the account of Bob?"
    assert sent.ran == ["payer", "send"]


def test_a_login_that_fails_is_asked_again() -> None:
    played = Player(accounts.toolbox).play("balance", {}, **{"account.user": in_turn("eve", "ada")})

    assert played.text == "Ada has 90 EUR"
    assert played.messages["account.user-2"] == "There is no such user\nWhich user are you?"


def test_the_login_is_still_a_plain_function() -> None:
    assert accounts.balance(accounts.login("ada")) == "Ada has 90 EUR"


# Optional inputs


def test_what_is_left_empty_has_its_default() -> None:
    played = Player(hotel.toolbox).play("reserve", {"room": "12"}, nights={}, wish={}, newsletter=Refused("decline"))

    assert played.text == "12 for 1"


def test_what_is_filled_in_is_used() -> None:
    played = Player(hotel.toolbox).play("reserve", {"room": "12"}, nights=3, wish="late", newsletter=True)

    assert played.text == "12 for 3, late, with news"


def test_the_forms_say_what_is_optional() -> None:
    conversation = anyio.run(Player(hotel.toolbox).start, "reserve", {"room": "12"})
    forms = [request["params"] for request in conversation.open.values()]

    assert [isinstance(form, dict) and form["requestedSchema"] for form in forms] == [
        {
            "type": "object",
            "properties": {"nights": {"type": "integer", "minimum": 1, "title": "Nights", "default": 1}},
        },
        {"type": "object", "properties": {"wish": {"type": "string", "description": "for the reception"}}},
        {"type": "object", "properties": {"newsletter": {"type": "boolean", "title": "Newsletter", "default": False}}},
    ]


def test_a_refusal_may_be_an_answer_like_any_other() -> None:
    player = Player(hotel.toolbox)

    assert player.play("check_in", {"room": "12"}, guest={"name": "Ada"}).text == "Ada has 12"
    assert player.play("check_in", {"room": "12"}, guest=Refused("decline")).text == "Somebody has 12"


# A gate


@pytest.mark.parametrize("no", [False, Refused("decline"), Refused("cancel")])
def test_without_a_yes_nothing_is_deleted(no: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup, "deleted", [])

    played = Player(cleanup.toolbox).play("delete_folder", {"folder": "tmp"}, sure=no)

    assert played.is_error
    assert (played.ran, cleanup.deleted) == ([], [])


def test_with_a_yes_it_is_deleted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup, "deleted", [])

    played = Player(cleanup.toolbox).play("delete_folder", {"folder": "tmp"}, sure=True)

    assert (played.text, cleanup.deleted) == ("tmp is gone", ["tmp"])


# A price that moves


def test_the_price_that_was_shown_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Security 1: the live price changes between the question and the answer."""
    monkeypatch.setattr(shares, "charged", [])
    monkeypatch.setattr(shares, "market", {"ACME": 100})

    async def conversation() -> Conversation:
        played = await Player(shares.toolbox).start("buy", {"symbol": "ACME"})
        shares.market["ACME"] = 900
        await played.answer(ok=True)
        return played

    played = anyio.run(conversation)

    assert played.messages["ok"] == "Buy ACME for 100 EUR?"
    assert (played.text, shares.charged) == ("Bought ACME for 100 EUR", [100])
    assert played.ran == ["price", "buy"]


# Choices known at run time


def test_choices_are_held_against_the_list_that_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Security 1. Reported as PrefectHQ/fastmcp#2471: the offered list is frozen in the state."""
    monkeypatch.setattr(archive, "folders", {"reports": ["a.csv", "b.csv"]})

    async def conversation() -> Conversation:
        played = await Player(archive.toolbox).start("archive", {"folder": "reports"})
        archive.folders["reports"] = ["c.csv"]
        await played.answer(files=["c.csv"])
        assert "one of the choices offered" in played.messages["files"]
        await played.answer(files=["b.csv", "a.csv"])
        return played

    played = anyio.run(conversation)

    assert played.text == "Archived b.csv, a.csv"
    assert played.ran == ["files", "archive"]


def test_at_least_one_file_must_be_chosen() -> None:
    played = Player(archive.toolbox).play("archive", {"folder": "reports"}, files=in_turn([], ["a.csv"]))

    assert played.text == "Archived a.csv"
    assert played.messages["files"] == "files needs at least 1 of the choices.\nWhich files of reports?"


def test_with_nothing_to_choose_the_call_ends_in_the_authors_words() -> None:
    played = Player(archive.toolbox).play("archive", {"folder": "empty"})

    assert (played.is_error, played.text) == (True, "There is nothing in empty")


# A tool that asks nothing


@pytest.mark.parametrize(("tool", "expected"), [("to_fahrenheit", 212.0), ("to_kelvin", 373.15)])
def test_a_tool_that_asks_nothing_answers_at_once(tool: str, expected: float) -> None:
    played = Player(convert.toolbox).play(tool, {"celsius": 100})

    assert (played.result, played.rounds, played.questions) == (expected, 1, [])


# Two tenants


def test_tenants_from_one_factory_do_not_share_a_thing() -> None:
    north, south = tenants.Tenant("north", "NOK"), tenants.Tenant("south", "EUR")
    boxes = [tenants.toolbox_for(north), tenants.toolbox_for(south)]

    played = [Player(box).play("order", {"article": "chair"}, count=2) for box in boxes]

    assert [each.text for each in played] == ["2 x chair: 10 NOK", "2 x chair: 10 EUR"]
    assert [each.messages["count"] for each in played] == ["How many, at 5 NOK each?", "How many, at 5 EUR each?"]
    assert (list(north.orders.values()), list(south.orders.values())) == ([10], [10])


# A step that is a method


def test_a_method_is_a_step_with_its_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(till.till, "taken", 0)

    played = Player(till.toolbox).play("checkout", {"items": ["tea", "bun"]}, paid=in_turn(3, 5))

    assert played.text == "Thank you, 1 EUR back"
    assert played.messages["paid-2"] == "3 EUR is too little\nThat is 4 EUR. How much do you give?"
    assert till.till.taken == 4


def test_going_on_with_a_method_compares_by_value() -> None:
    assert till.checkout(["tea"]) == then(till.till.pay, price=2)


# A parallel pair


@pytest.mark.parametrize("order", [("day", "place"), ("place", "day")])
def test_a_parallel_pair_is_answered_one_at_a_time_in_either_order(order: tuple[str, str]) -> None:
    answers: dict[str, object] = {"day": date(2026, 12, 24), "place": "home"}
    first, second = order

    async def conversation() -> Conversation:
        played = await Player(delivery.toolbox).start("deliver", {"parcel": "Book"})
        assert set(played.open) == {"day", "place"}
        await played.answer(**{first: answers[first]})
        assert set(played.open) == {second}
        await played.answer(**{second: answers[second]})
        return played

    played = anyio.run(conversation)

    assert played.text == "Book on 24 December to home"
    assert played.ran == ["deliver"]


def test_a_parallel_pair_is_answered_at_once() -> None:
    played = Player(delivery.toolbox).play("deliver", {"parcel": "Book"}, day="2026-12-24", place="shop")

    assert (played.text, played.rounds) == ("Book on 24 December to shop", 2)


# A chain of five steps


def test_a_chain_of_five_steps_runs_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onboarding, "created", [])

    played = Player(onboarding.toolbox).play(
        "onboard", {}, name="Ada", team=onboarding.Team.RESEARCH, mail="ada@example.com", size=14, ok=True
    )

    assert played.text == "Welcome to Research, Ada <ada@example.com>"
    assert played.ran == ["onboard", "choose_team", "make_mailbox", "order_laptop", "welcome"]
    assert onboarding.created == ["ada@example.com", "laptop 14"]
    assert played.rounds == 6
