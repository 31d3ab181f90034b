"""`AskAgain` where functions make inputs, and where a yes was given to what is asked again."""

from typing import Any

import pytest

from mrtr_tools import AskAgain, Toolbox, confirm, needs_input, then
from mrtr_tools.events import NeedInput
from tests.rounds_by_hand import again, asked, begin, crash, message, play, result
from tests.wire_by_hand import TEXT, YES, accept, form

# Questions of functions


def nested(ran: list[str]) -> Toolbox:
    toolbox = Toolbox("t")

    @needs_input(github_login="GitHub name?", token="Token?")
    def login(github_login: str, token: str) -> str:
        ran.append("login")
        if token == "wrong":
            raise AskAgain(token="That token is not known")
        return f"{github_login}:{token}"

    @toolbox.tool
    @needs_input(login=login, day="Day?")
    def sync(login: str, day: str) -> str:
        ran.append("sync")
        if login.startswith("bad"):
            raise AskAgain(**{"login.github_login": "No such user"})
        if login.startswith("all"):
            raise AskAgain(login="Log in anew")
        return f"{login} {day}"

    return toolbox


def logged_in(ran: list[str], name: str, token: str = "t"):
    machine = begin(nested(ran), "sync")
    play(machine)
    responses: dict[str, Any] = {
        "login.github_login": accept(github_login=name),
        "login.token": accept(token=token),
        "day": accept(day="mon"),
    }
    machine = again(machine, responses)
    play(machine)
    return machine


def test_a_question_of_a_function_is_asked_again_by_the_step_and_the_function_runs_again():
    ran: list[str] = []
    machine = logged_in(ran, "bad")
    assert play(machine) == NeedInput({"login.github_login-2": form("No such user\nGitHub name?", github_login=TEXT)})
    assert result(again(machine, {"login.github_login-2": accept(github_login="ann")})) == "ann:t mon"
    assert ran == ["login", "sync", "login", "sync"]


def test_an_input_whose_function_asks_is_asked_again_with_all_its_questions_and_the_reason():
    ran: list[str] = []
    machine = logged_in(ran, "all")
    assert asked(machine) == ["login.github_login-2", "login.token-2"]
    assert message(machine, "login.token-2") == "Log in anew\nToken?"
    responses = {"login.github_login-2": accept(github_login="ann"), "login.token-2": accept(token="u")}
    machine = again(machine, responses)
    assert result(machine) == "ann:u mon"
    assert ran == ["login", "sync", "login", "sync"]


def test_a_function_asks_its_own_question_again():
    ran: list[str] = []
    machine = logged_in(ran, "ann", "wrong")
    assert play(machine) == NeedInput({"login.token-2": form("That token is not known\nToken?", token=TEXT)})
    assert ran == ["login"]
    assert result(again(machine, {"login.token-2": accept(token="right")})) == "ann:right mon"
    assert ran == ["login", "login", "sync"]


def test_a_function_cannot_ask_again_what_is_not_its_own_and_comes_later():
    toolbox = Toolbox("t")

    @needs_input(name="Who?")
    def login(name: str) -> str:
        raise AskAgain(day="no")

    @toolbox.tool
    @needs_input(login=login)
    @needs_input(day="Day?")
    def sync(login: str, day: str) -> str:
        return day

    machine = begin(toolbox, "sync")
    play(machine)
    assert isinstance(crash(again(machine, {"login.name": accept(name="a")})), TypeError)


def test_a_question_of_a_skipped_function_cannot_be_asked_again():
    toolbox = Toolbox("t")

    @needs_input(name="Who?")
    def login(name: str) -> str:
        return name

    @toolbox.tool
    @needs_input(who=login, only_if=lambda: False)
    def go(who: str = "nobody") -> str:
        raise AskAgain(**{"who.name": "Who?"})

    assert isinstance(crash(begin(toolbox, "go")), TypeError)


@pytest.mark.parametrize("name", ["who", "who.name"])
def test_a_function_whose_input_was_handed_on_asks_when_it_is_asked_again(name: str):
    toolbox = Toolbox("t")

    @needs_input(name="Who?")
    def login(name: str) -> str:
        return name

    @toolbox.tool
    def start() -> str:
        return then(go, who="bad")

    @toolbox.step
    @needs_input(who=login)
    def go(who: str) -> str:
        if who == "bad":
            raise AskAgain(**{name: "Not known"})
        return who

    machine = begin(toolbox, "start")
    assert message(machine, "who.name") == "Not known\nWho?"
    assert result(again(machine, {"who.name": accept(name="ann")})) == "ann"


# A yes counts for what was shown


def selling(ran: list[str]) -> Toolbox:
    toolbox = Toolbox("t")

    def quote(day: str) -> int:
        ran.append(f"quote {day}")
        return {"mon": 100, "tue": 900}[day]

    @toolbox.tool
    @needs_input(name="Who?")
    @needs_input(day="Which day?")
    @needs_input(price=quote)
    @needs_input(ok=confirm("Fly on {day} for {price}?"))
    def fly(name: str, day: str, price: int) -> str:
        ran.append(f"fly {day} {price}")
        if day == "mon":
            raise AskAgain(day="That day is full")
        return f"{name} {day} {price}"

    return toolbox


def test_a_yes_to_a_text_with_the_old_answer_in_it_is_no_yes_to_the_new_one():
    """Never confirm on somebody's behalf: what was made or asked from an answer goes with it."""
    ran: list[str] = []
    machine = begin(selling(ran), "fly")
    play(machine)
    play(machine := again(machine, {"name": accept(name="Ann")}))
    machine = again(machine, {"day": accept(day="mon")})
    assert message(machine, "ok") == "Fly on mon for 100?"
    machine = again(machine, {"ok": YES})
    assert asked(machine) == ["day-2"]
    machine = again(machine, {"day-2": accept(day="tue")})
    assert message(machine, "ok-2") == "Fly on tue for 900?"
    assert result(again(machine, {"ok-2": YES})) == "Ann tue 900"
    assert ran == ["quote mon", "fly mon 100", "quote tue", "fly tue 900"]


def test_an_input_function_asks_an_input_above_it_again():
    toolbox, ran = Toolbox("t"), []

    def quote(day: str) -> int:
        ran.append(f"quote {day}")
        if day == "mon":
            raise AskAgain(day="No flights on that day")
        return 3

    @toolbox.tool
    @needs_input(day="Which day?")
    @needs_input(price=quote)
    def fly(day: str, price: int) -> str:
        return f"{day} {price}"

    machine = begin(toolbox, "fly")
    play(machine)
    machine = again(machine, {"day": accept(day="mon")})
    assert play(machine) == NeedInput({"day-2": form("No flights on that day\nWhich day?", day=TEXT)})
    assert result(again(machine, {"day-2": accept(day="tue")})) == "tue 3"
    assert ran == ["quote mon", "quote tue"]


@pytest.mark.parametrize("name", ["other", "price"])
def test_an_input_function_cannot_ask_its_neighbours_or_itself_again(name: str):
    toolbox = Toolbox("t")

    def quote() -> int:
        raise AskAgain(**{name: "no"})

    @toolbox.tool
    @needs_input(price=quote, other="Other?")
    def fly(price: int, other: str) -> str:
        return other

    assert isinstance(crash(begin(toolbox, "fly")), TypeError)


def test_a_loop_of_ask_again_ends_at_the_limit_of_rounds():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(day="Which day?")
    def book(day: str) -> str:
        raise AskAgain(day="full")

    machine = begin(toolbox, "book")
    for number in range(1, 11):
        key = "day" if number == 1 else f"day-{number}"
        assert asked(machine) == [key]
        machine = again(machine, {key: accept(day="mon")})
    event = play(machine)
    assert event.reply.is_error  # type: ignore[union-attr]
    assert "'book'" in event.reply.value  # type: ignore[union-attr]


@pytest.mark.parametrize("reasons", [{}, {"day": ""}, {"day": 7}, {"day": None}], ids=str)
def test_asking_again_needs_a_reason_for_each_input(reasons: Any):
    with pytest.raises(TypeError, match="reason"):
        AskAgain(**reasons)
