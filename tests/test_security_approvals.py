"""Attacks on whole conversations: approvals that nobody gave. Security 2 and 3."""

from typing import Annotated

import pytest
from pydantic import AfterValidator, Field

from mrtr_tools import AskAgain, Toolbox, confirm, needs_input, then
from tests.attacker import Server, message
from tests.wire_by_hand import accept

YES = accept(ok=True)

# Security 2: arguments are bound, and so are the values of those that were left out


def transfer(currency: str = "USD", factory=None) -> Toolbox:
    """One build of a tool; the next build may have another default."""
    toolbox = Toolbox("bank")

    @toolbox.tool
    @needs_input(ok=confirm("Send {amount} {currency} on day {day}?"))
    def send(amount: int, currency: str = currency, day: int = Field(default_factory=factory or (lambda: 1))) -> str:
        return f"{amount} {currency} on {day}"

    @toolbox.tool
    def send_later(amount: int, currency: str = currency) -> str:
        return then(confirmed, amount=amount, currency=currency)

    @toolbox.step
    @needs_input(ok=confirm("Send {amount} {currency}?"))
    def confirmed(amount: int, currency: str) -> str:
        return f"{amount} {currency}"

    return toolbox


def test_a_default_that_is_made_anew_stays_as_it_was_shown() -> None:
    """Security 2: a default_factory gives another day in each round."""
    days = iter(range(1, 9))
    server = Server(transfer(factory=lambda: next(days)))

    asked = server.ask("send", {"amount": 5})

    assert message(asked, "ok") == "Send 5 USD on day 1?"
    assert server.end("send", {"amount": 5}, state=asked.state, ok=YES).value == "5 USD on 1"


@pytest.mark.parametrize("tool", ["send", "send_later"])
def test_a_default_that_a_redeploy_changes_stays_as_it_was_shown(tool: str) -> None:
    """Security 2: "USD" was shown, the new build says "EUR"; also where it was handed on unchanged."""
    asked = Server(transfer("USD")).ask(tool, {"amount": 5})

    done = Server(transfer("EUR")).end(tool, {"amount": 5}, state=asked.state, ok=YES)

    assert str(done.value).startswith("5 USD")


@pytest.mark.parametrize(
    "later", [{"amount": 6}, {"amount": 5, "currency": "USD"}, {"amount": "5"}, {}, {"amount": 5, "x": 1}]
)
def test_other_arguments_than_those_shown_are_refused(later: dict[str, object]) -> None:
    """Security 2: bound are the raw arguments, also what the tool does not read and what equals a default.

    Reported as vikshana/vikshana-graft-app#32.
    """
    server = Server(transfer())
    asked = server.ask("send", {"amount": 5})

    refused = server.refuse("send", later, state=asked.state, ok=YES)

    assert (refused.reason, refused.data, server.ran) == ("arguments", None, [])


def test_an_argument_whose_meaning_changed_is_not_acted_upon() -> None:
    """Security 2: a validator looks something up; the same raw argument means another account in the next round."""
    names = {"ada": 1}
    toolbox = Toolbox("bank")

    @toolbox.tool
    @needs_input(ok=confirm("Close account {account}?"))
    def close(account: Annotated[str, AfterValidator(lambda name: f"{name}#{names[name]}")]) -> str:
        return f"closed {account}"

    server = Server(toolbox)
    asked = server.ask("close", {"account": "ada"})
    assert message(asked, "ok") == "Close account ada#1?"
    names["ada"] = 2

    again = server.ask("close", {"account": "ada"}, state=asked.state, ok=YES)

    assert message(again, "ok-2") == "This has changed in the meantime; please answer again.\nClose account ada#2?"
    assert server.ran == []
    assert list(server.ask("close", {"account": "ada"}, state=again.state, ok=YES).requests) == ["ok-2"]
    assert server.end("close", {"account": "ada"}, state=again.state, **{"ok-2": YES}).value == "closed ada#2"


# Security 3: an answer counts once


def cleaner() -> tuple[Toolbox, list[str]]:
    deleted: list[str] = []
    toolbox = Toolbox("cleaner")

    @toolbox.tool
    def clean(paths: list[str]) -> str:
        return then(delete, path=paths[0], later=paths[1:])

    @toolbox.step
    @needs_input(ok=confirm("Delete {path}?"))
    def delete(path: str, later: list[str]) -> str:
        deleted.append(path)
        return then(delete, path=later[0], later=later[1:]) if later else "clean"

    return toolbox, deleted


PATHS = {"paths": ["a", "b", "c"]}


@pytest.mark.parametrize("key", ["ok", "ok-1", "ok-2", "ok-3", "ok-02", "OK-2", "delete.ok", "ok.ok"])
def test_one_yes_deletes_one_thing(key: str) -> None:
    """Security 3: a client that sends all answers so far, and those to questions that will come, was asked once."""
    toolbox, deleted = cleaner()
    server = Server(toolbox)
    asked = server.ask("clean", PATHS)

    second = server.ask("clean", PATHS, state=asked.state, **{"ok": YES, key: YES})

    assert deleted == ["a"]
    assert list(second.requests) == ["ok-2"]
    third = server.ask("clean", PATHS, state=second.state, ok=YES, **{"ok-3": YES, "ok-4": YES})
    assert deleted == ["a"], "the answers to other questions are not the answer to this one"
    assert list(third.requests) == ["ok-2"]


def test_a_yes_to_one_step_is_no_yes_to_the_next_with_the_same_name() -> None:
    """Security 3: "View?" and then "Delete?"."""
    toolbox = Toolbox("files")

    @toolbox.tool
    @needs_input(ok=confirm("View {path}?"))
    def view(path: str) -> str:
        return then(delete, path=path)

    @toolbox.step
    @needs_input(ok=confirm("Delete {path}?"))
    def delete(path: str) -> str:
        return "deleted"

    server = Server(toolbox)
    asked = server.ask("view", {"path": "a"})
    second = server.ask("view", {"path": "a"}, state=asked.state, ok=YES)

    assert (list(second.requests), message(second, "ok-2")) == (["ok-2"], "Delete a?")
    assert list(server.ask("view", {"path": "a"}, state=second.state, ok=YES).requests) == ["ok-2"]
    assert server.ran == ["view"]


def test_after_ask_again_the_old_answer_does_not_count() -> None:
    """Security 3: a repeated old answer is not the new one."""
    toolbox = Toolbox("table")

    @toolbox.tool
    @needs_input(day="Which day?")
    def book(day: str) -> str:
        if day == "mon":
            raise AskAgain(day="mon is full")
        return day

    server = Server(toolbox)
    asked = server.ask("book")
    again = server.ask("book", state=asked.state, day=accept(day="mon"))

    assert list(again.requests) == ["day-2"]
    assert list(server.ask("book", state=again.state, day=accept(day="tue")).requests) == ["day-2"]
    assert server.end("book", state=again.state, **{"day-2": accept(day="wed")}).value == "wed"


def test_a_question_that_was_not_answered_keeps_its_key() -> None:
    """Security 3: missing or invalid, nothing was accepted under it."""
    toolbox, _ = cleaner()
    server = Server(toolbox)
    asked = server.ask("clean", PATHS)

    for wrong in ({}, {"ok": "yes"}, {"ok": accept(ok="yes")}):
        asked = server.ask("clean", PATHS, state=asked.state, **wrong)
        assert list(asked.requests) == ["ok"]
