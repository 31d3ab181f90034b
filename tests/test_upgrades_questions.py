"""Questions that another build asks otherwise, no longer, or for the first time. Promises 4 and 8, Security 1."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from mrtr_tools import Elicit, Toolbox, confirm, needs_input
from mrtr_tools.input_requests import Source
from mrtr_tools.rounds import Round
from tests.builds import build
from tests.rounds_by_hand import again, asked, begin, message, play, result, tool
from tests.wire_by_hand import DECLINE, YES, accept

B = accept(b="b")
OPEN_OR_ANSWERED = pytest.mark.parametrize("answered", [False, True], ids=["while open", "after it was answered"])


def crossing(old: Toolbox, new: Toolbox, responses: Mapping[str, Any], *, answered: bool = True) -> Round:
    """The first round of the new build: these responses came the round before, or come now; `b` comes now."""
    machine = begin(old, "go")
    play(machine)
    if answered:
        play(machine := again(machine, responses))
        return again(machine, {"b": B}, toolbox=new)
    return again(machine, {**responses, "b": B}, toolbox=new)


# Worded or shaped otherwise


def test_a_question_that_is_reworded_while_it_is_open_is_asked_in_its_new_words():
    old, new = (build("a: str, b: str", {"a": wording, "b": "B?"}) for wording in ("A?", "Which A?"))
    machine = crossing(old, new, {"a": accept(a="old")}, answered=False)
    assert message(machine, "a-2") == "Which A?"
    assert asked(again(machine, {"a": accept(a="old")})) == ["a-2"]
    assert result(again(machine, {"a-2": accept(a="new")})) == "new b"


SHAPES = {
    "another type": ("str", "int", "1", 2, "2"),
    "one more choice": ("Literal['x', 'y']", "Literal['x', 'y', 'z']", "x", "z", "z"),
    "one choice less": ("Literal['x', 'y']", "Literal['y', 'z']", "y", "y", "y"),
    "another limit": ("Annotated[str, Field(max_length=5)]", "Annotated[str, Field(max_length=9)]", "x", "y", "y"),
    "a description": ("str", "Annotated[str, Field(description='As on the card')]", "x", "y", "y"),
    "no longer required": ("str", "str | None", "x", "y", "y"),
}


@OPEN_OR_ANSWERED
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_a_form_that_was_changed_is_asked_again(shapes: tuple[str, str, Any, Any, str], answered: bool):
    before, after, given, given_again, seen = shapes
    old, new = (build(f"a: {shape}, b: str", {"a": "A?", "b": "B?"}) for shape in (before, after))
    machine = crossing(old, new, {"a": accept(a=given)}, answered=answered)
    assert asked(machine) == ["a-2"]
    assert result(again(machine, {"a-2": accept(a=given_again)})) == f"{seen} b"


@OPEN_OR_ANSWERED
def test_a_form_whose_field_has_another_name_on_the_wire_is_asked_again(answered: bool):
    old, new = (
        build(f"a: Annotated[str, Field(alias='{name}')], b: str", {"a": "A?", "b": "B?"}) for name in ("nick", "name")
    )
    machine = crossing(old, new, {"a": accept(nick="x")}, answered=answered)
    assert asked(machine) == ["a-2"]
    assert result(again(machine, {"a-2": accept(name="y")})) == "y b"


def stricter() -> tuple[Toolbox, Toolbox]:
    """The form is the same, and the new build takes no capitals."""
    groups = {"a": "A?", "b": "B?"}
    annotation = "Annotated[str, AfterValidator(no_capitals)]"
    return build("a: str, b: str", groups), build(f"a: {annotation}, b: str", groups)


def test_an_answer_to_the_same_form_stands_where_a_new_validator_takes_it():
    assert result(crossing(*stricter(), {"a": accept(a="small")})) == "small b"


def test_an_answer_that_a_new_validator_refuses_is_asked_again():
    machine = crossing(*stricter(), {"a": accept(a="LARGE")})
    assert asked(machine) == ["a-2"]
    assert result(again(machine, {"a-2": accept(a="now")})) == "now b"


def test_an_answer_stands_where_its_parameter_now_admits_a_refusal():
    groups = {"a": "A?", "b": "B?"}
    old, new = build("a: str, b: str", groups), build("a: str | Refused, b: str", groups)
    assert result(crossing(old, new, {"a": accept(a="x")})) == "x b"


def test_a_question_that_is_asked_otherwise_has_its_own_tries_and_no_reason_of_before():
    """What did not fit the old form says nothing about the new one."""
    old, new = build("a: int, b: str", {"a": "A?", "b": "B?"}), build("a: str, b: str", {"a": "In words?", "b": "B?"})
    machine = begin(old, "go")
    play(machine)
    for _ in range(3):
        machine = again(machine, {"a": accept(a="many")})
        assert message(machine, "a") == "a must be a whole number.\nA?"
    machine = again(machine, {"b": B}, toolbox=new)
    assert message(machine, "a-2") == "In words?"
    for _ in range(3):
        machine = again(machine, {"a-2": accept()})
        assert message(machine, "a-2") == "a is missing.\nIn words?"
    assert result(again(machine, {"a-2": accept(a="many")})) == "many b"


def ask_a() -> Elicit:
    return Elicit("A?")


KINDS: Mapping[str, tuple[str, Any, Any, dict[str, Any], dict[str, Any], str]] = {
    "a form becomes a confirm": ("bool | Refused", "Sure?", confirm("Sure?"), accept(ok=True), YES, "True b"),
    "a confirm becomes a form": ("bool | Refused", confirm("Sure?"), "Sure?", YES, accept(ok=False), "False b"),
    "a text becomes a function": ("str", "A?", ask_a, accept(ok="x"), accept(ok="y"), "y b"),
    "a function becomes a text": ("str", ask_a, "A?", accept(ok="x"), accept(ok="y"), "y b"),
}


@OPEN_OR_ANSWERED
@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
def test_a_question_of_another_kind_is_asked_again(
    kinds: tuple[str, Any, Any, dict[str, Any], dict[str, Any], str], answered: bool
):
    annotation, before, after, given, given_again, seen = kinds
    old, new = (build(f"ok: {annotation}, b: str", {"ok": source, "b": "B?"}) for source in (before, after))
    machine = crossing(old, new, {"ok": given}, answered=answered)
    assert asked(machine) == ["ok-2"]
    assert result(again(machine, {"ok-2": given_again})) == seen


# Removed, added, moved


@OPEN_OR_ANSWERED
def test_a_question_that_was_removed_is_not_asked_and_its_answer_not_read(answered: bool):
    old, new = build("a: str, b: str", {"a": "A?", "b": "B?"}), build("b: str", {"b": "B?"})
    assert result(crossing(old, new, {"a": accept(a="x")}, answered=answered)) == "b"


def test_a_refusal_of_a_question_that_was_removed_ends_nothing():
    old, new = build("a: str, b: str", {"a": "A?", "b": "B?"}), build("b: str", {"b": "B?"})
    assert result(crossing(old, new, {"a": DECLINE}, answered=False)) == "b"


def test_an_answer_that_one_build_does_not_read_is_there_for_the_next_one():
    """In a rolling upgrade the rounds of a call go to old and new machines in turn."""
    old = build("a: str, b: str, c: str", {"a": "A?", "b": "B?", "c": "C?"})
    new = build("b: str, c: str", {"b": "B?", "c": "C?"})
    machine = crossing(old, new, {"a": accept(a="a")})
    assert asked(machine) == ["c"]
    assert result(again(machine, {"c": accept(c="c")}, toolbox=old)) == "a b c"


def test_an_input_that_was_renamed_is_another_input():
    old, new = build("a: str, b: str", {"a": "A?", "b": "B?"}), build("name: str, b: str", {"name": "A?", "b": "B?"})
    machine = crossing(old, new, {"a": accept(a="x")})
    assert asked(machine) == ["name"]
    assert result(again(machine, {"name": accept(name="x")})) == "x b"


GROUPINGS = {
    "turned round": [{"b": "B?", "c": "C?", "a": "A?"}],
    "one above the other": [{"a": "A?"}, {"b": "B?"}, {"c": "C?"}],
    "one below the other": [{"c": "C?", "b": "B?"}, {"a": "A?"}],
}


@pytest.mark.parametrize("groups", GROUPINGS.values(), ids=GROUPINGS)
def test_answers_stand_however_their_questions_are_grouped(groups: list[dict[str, str]]):
    parameters = "a: str, b: str, c: str"
    old, new = build(parameters, {"a": "A?", "b": "B?", "c": "C?"}), build(parameters, *groups)
    machine = crossing(old, new, {"a": accept(a="a")})
    assert asked(machine) == ["c"]
    assert result(again(machine, {"c": accept(c="c")})) == "a b c"


def test_a_question_that_became_an_argument_is_not_asked():
    """The caller did not send it: with a default it is that, without one the arguments do not fit."""
    old = build("a: str, b: str", {"a": "A?", "b": "B?"})
    assert result(crossing(old, build("b: str, a: str = 'none'", {"b": "B?"}), {"a": accept(a="x")})) == "b none"


def test_answers_that_come_without_state_are_not_read_by_a_build_that_takes_none():
    """The first round of `cold_answers=True` has no state; the next build has switched it off."""
    old, new = (build("a: str", {"a": "A?"}, cold_answers=cold) for cold in (True, False))
    assert asked(begin(old, "go")) == ["a"]
    machine = begin(new, "go", responses={"a": accept(a="x")})
    assert asked(machine) == ["a"]


# Conditions


@OPEN_OR_ANSWERED
@pytest.mark.parametrize(("holds", "seen"), [(True, "b x"), (False, "b none")], ids=["that holds", "that does not"])
def test_a_question_that_got_a_condition(holds: bool, seen: str, answered: bool):
    """Its answer stands where the condition holds; else it is skipped, and its parameter is the default."""
    parameters, groups = "b: str, a: str{}", ({"b": "B?"}, {"a": "A?"})
    old = build(parameters.format(""), {"b": "B?", "a": "A?"})
    new = build(parameters.format(" = 'none'"), groups[0], {**groups[1], "only_if": lambda b: (b == "b") is holds})
    assert result(crossing(old, new, {"a": accept(a="x")}, answered=answered)) == seen


def test_a_question_that_lost_its_condition_is_asked_where_it_was_skipped():
    parameters = "n: int, b: str, a: str = 'none'"
    old = build(parameters, {"a": "A?", "only_if": lambda n: n > 5}, {"b": "B?"})
    new = build(parameters, {"a": "A?"}, {"b": "B?"})
    machine = begin(old, "go", {"n": 1})
    assert asked(machine) == ["b"]
    machine = again(machine, {"b": B}, toolbox=new)
    assert asked(machine) == ["a"]


# A yes


def paying(*groups: Mapping[str, Any]) -> Toolbox:
    """A payment, with as many questions as there are."""
    return build("amount: int = 5, tip: int = 0, b: str = ''", *groups)


AMOUNT, YES_ASKED = {"amount": "How many euros?"}, {"ok": confirm("Pay?"), "b": "B?"}
CHANGES: Mapping[str, tuple[list[Mapping[str, Any]], list[Mapping[str, Any]], set[str]]] = {
    "a question above": ([YES_ASKED], [{"tip": "How much tip?"}, YES_ASKED], {"tip"}),
    "a gate above": ([YES_ASKED], [{"sure": confirm("Sure?")}, YES_ASKED], {"sure"}),
    "a question beside": ([YES_ASKED], [{"tip": "How much tip?", **YES_ASKED}], {"tip", "ok-2"}),
    "a gate beside": ([YES_ASKED], [{**YES_ASKED, "sure": confirm("Sure?")}], {"sure", "ok-2"}),
    "a function's question beside": ([YES_ASKED], [{**YES_ASKED, "tip": lambda: Elicit("Tip?")}], {"tip", "ok-2"}),
    "reworded beside": ([{**AMOUNT, **YES_ASKED}], [{**AMOUNT, **YES_ASKED, "amount": "Cents?"}], {"amount-2", "ok-2"}),
}


@OPEN_OR_ANSWERED
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_yes_is_given_again_with_what_another_build_asks_above_or_beside_it(
    change: tuple[list[Mapping[str, Any]], list[Mapping[str, Any]], set[str]], answered: bool
):
    """Security 1: whoever said yes has not seen that question."""
    before, after, together = change
    machine = crossing(paying(*before), paying(*after), {"ok": YES}, answered=answered)
    assert set(asked(machine)) == together
    content = {"amount-2": accept(amount=900), "tip": accept(tip=900), "sure": accept(sure=True)}
    machine = again(machine, {"ok": YES, **{key: content[key] for key in together - {"ok-2"}}})
    assert asked(machine) == ["ok-2"]
    assert result(again(machine, {"ok-2": YES})).endswith(" b")  # type: ignore[attr-defined]


@OPEN_OR_ANSWERED
def test_a_yes_stands_above_a_gate_that_is_new(answered: bool):
    """Security 1: it is asked before that one, and for itself."""
    old, new = paying(YES_ASKED), paying(YES_ASKED, {"sure": confirm("Sure?")})
    machine = crossing(old, new, {"ok": YES}, answered=answered)
    assert asked(machine) == ["sure"]
    assert result(again(machine, {"sure": accept(sure=True)})) == "5 0 b"


@OPEN_OR_ANSWERED
def test_a_yes_stands_where_the_questions_beside_it_were_removed(answered: bool):
    old, new = paying({**AMOUNT, **YES_ASKED}), paying(YES_ASKED)
    assert result(crossing(old, new, {"ok": YES}, answered=answered)) == "5 0 b"


@OPEN_OR_ANSWERED
def test_a_gate_that_was_removed_needs_no_yes(answered: bool):
    old, new = paying(YES_ASKED), paying({"b": "B?"})
    assert result(crossing(old, new, {"ok": DECLINE} if not answered else {"ok": YES}, answered=answered)) == "5 0 b"


# What functions make


def seats(made: Callable[[], object], annotation: str = "str") -> Toolbox:
    """A tool whose seat is made by a function, or asked by one."""
    return build(f"seat: {annotation}, b: str", {"seat": made, "b": "B?"})


def offered(*places: object) -> Callable[[], Source]:
    """Two builds of this have one name."""

    def seat() -> Source:
        return Elicit("Which seat?", choices=places)

    return seat


def test_a_question_of_a_function_stays_as_it_was_sent_while_the_function_keeps_its_name():
    machine = crossing(seats(offered("1A")), seats(offered("2B")), {}, answered=False)
    assert asked(machine) == ["seat"]
    assert asked(again(machine, {"seat": accept(seat="2B")})) == ["seat"]
    assert result(again(machine, {"seat": accept(seat="1A")})) == "1A b"


@OPEN_OR_ANSWERED
def test_what_a_function_asked_is_asked_again_where_its_parameter_is_of_another_type(answered: bool):
    old, new = seats(offered("1", "2")), seats(offered(2, 3), "int")
    machine = crossing(old, new, {"seat": accept(seat="1")}, answered=answered)
    assert asked(machine) == ["seat-2"]
    assert result(again(machine, {"seat-2": accept(seat="3")})) == "3 b"


def assigned(place: str) -> Callable[[], str]:
    """Two builds of this have one name, too."""

    def seat() -> str:
        return place

    return seat


def assigned_anew() -> str:
    return "3C"


def test_a_value_that_a_function_made_stands_while_the_function_keeps_its_name():
    assert result(crossing(seats(assigned("1A")), seats(assigned("2B")), {})) == "1A b"


def test_a_value_is_made_again_by_a_function_of_another_name():
    assert result(crossing(seats(assigned("1A")), seats(assigned_anew), {})) == "3C b"


def logging_in(user: str) -> Toolbox:
    """A login that is shared, and asks for itself."""

    @needs_input(user=user)
    def login(user: str) -> str:
        return f"@{user}"

    def go(login: str, b: str) -> str:
        return f"{login} {b}"

    return tool(go, {"login": login, "b": "B?"})


def test_a_question_inside_a_function_is_asked_again_while_it_is_open():
    machine = crossing(logging_in("User?"), logging_in("Which user?"), {"login.user": accept(user="x")}, answered=False)
    assert message(machine, "login.user-2") == "Which user?"
    assert result(again(machine, {"login.user-2": accept(user="y")})) == "@y b"


def test_what_a_function_made_of_an_answer_stands_where_its_question_is_reworded():
    machine = crossing(logging_in("User?"), logging_in("Which user?"), {"login.user": accept(user="x")})
    assert result(machine) == "@x b"


def choosing(name: str) -> Toolbox:
    """A seat that is chosen from what a function knows once it has asked; a yes is given beside it."""

    @needs_input(user="User?")
    def choose(user: str) -> Source:
        return Elicit(f"Seat for {user}?")

    choose.__qualname__ = name

    def go(seat: str, b: str) -> str:
        return f"{seat} {b}"

    return tool(go, {"seat": choose, "ok": confirm("Pay?"), "b": "B?"})


@OPEN_OR_ANSWERED
def test_another_function_asks_for_itself_again_and_the_yes_beside_it_is_given_again(answered: bool):
    """Security 1."""
    play(machine := begin(choosing("one"), "go"))
    play(machine := again(machine, {"seat.user": accept(user="ann")}))
    responses = {"ok": YES, **({"seat": accept(seat="1A")} if answered else {})}
    play(machine := again(machine, responses))
    machine = again(machine, {"b": B}, toolbox=choosing("other"))
    assert asked(machine) == ["seat.user-2", "ok-2"]
    machine = again(machine, {"seat.user-2": accept(user="bob"), "ok-2": YES})
    assert message(machine, "seat-2") == "Seat for bob?"
    assert result(again(machine, {"seat-2": accept(seat="2B")})) == "2B b"
