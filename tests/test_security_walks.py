"""Attacks at random: whatever a client sends and whichever state it goes back to, each thing needs its own yes."""

import logging
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mrtr_tools import AskAgain, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import InputRequired
from tests.attacker import Server
from tests.wire_by_hand import CANCEL, DECLINE, accept

YES = accept(ok=True)
deleted: list[str] = []
toolbox = Toolbox("cleaner")


@needs_input(user="Who?")
def login(user: str) -> str:
    if user == "eve":
        raise AskAgain(user="not you")
    return user


@toolbox.tool
@needs_input(who=login, why="Why?")
@needs_input(ok=confirm("{who}, begin?"))
def clean(paths: list[str], who: str, why: str | Refused) -> str:
    return then(delete, path=paths[0], later=paths[1:])


@toolbox.step
@needs_input(ok=confirm("Delete {path}?"))
@needs_input(copies="How many copies?", only_if=lambda path: path == "b")
def delete(path: str, later: list[str], copies: int | None = None) -> str:
    if copies is not None and copies > 3:
        raise AskAgain(copies="too many")
    deleted.append(path)
    return then(delete, path=later[0], later=later[1:]) if later else "clean"


SENSIBLE: dict[str, Any] = {
    "ok": YES,
    "user": accept(user="bob"),
    "why": accept(why="dust"),
    "copies": accept(copies=2),
}
STRANGE = st.sampled_from(
    [
        *(
            None,
            1,
            "x",
            [],
            {},
            {"action": "accept"},
            DECLINE,
            CANCEL,
            YES,
            accept(),
            accept(ok=False),
            accept(ok="true"),
        ),
        *(
            accept(user="eve"),
            accept(copies=9),
            accept(copies="1e9"),
            accept(why="\u202e"),
            accept(ok=True, user="bob"),
        ),
    ]
)
KEYS = st.sampled_from(
    ["ok", "ok-2", "ok-3", "ok-4", "who", "who.user", "who.user-2", "why", "copies", "copies-2", "x"]
)
MOVES = st.lists(
    st.tuples(
        st.integers(0, 15), st.sampled_from([True, True, True, False]), st.dictionaries(KEYS, STRANGE, max_size=2)
    ),
    min_size=5,
    max_size=15,
)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


def sensible(key: str) -> Any:
    return SENSIBLE[key.partition("-")[0].rpartition(".")[2]]


@given(MOVES)
def test_nothing_is_deleted_but_what_was_shown_and_said_yes_to(moves: list[tuple[int, bool, dict[str, Any]]]) -> None:
    """Security 3, 5, 8, 9: replays, forks, answers too early, too late, malformed and in advance."""
    server = Server(toolbox)
    asked: list[InputRequired] = [server.ask("clean", {"paths": ["a", "b", "c"]})]
    agreed: set[str] = set()
    for back, helpful, responses in moves:
        last = asked[-1 - back % len(asked)] if back > 12 else asked[-1]
        sent = {**responses, **({key: sensible(key) for key in last.requests} if helpful else {})}
        questions: Any = last.requests
        agreed |= {
            questions[key]["params"]["message"].rpartition("\n")[2]
            for key in questions
            if isinstance(sent.get(key), dict) and (sent[key].get("content") or {}).get("ok") is True
        }
        deleted.clear()

        reply = server.send("clean", {"paths": ["a", "b", "c"]}, state=last.state, **sent)

        assert {f"Delete {path}?" for path in deleted} <= agreed
        assert len(deleted) <= 1
        if isinstance(reply, InputRequired):
            assert reply.requests
            asked.append(reply)
