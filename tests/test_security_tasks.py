"""Attacks on durable tasks, by those who send requests and by those who can write where tasks are kept. Over HTTP."""

import json
import logging
import pickle
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from cookbook import echo_task
from mrtr_tools.errors import DefinitionError
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from mrtr_tools.tasks import MemoryEngine, Row
from mrtr_tools.tasks.record import owner_of
from tests.server import errands
from tests.server.errands import EXTENSION, KNOWS, Desk, app, attached, desk
from tests.server.raw_http import FORMS, accept, request, serving

METHODS = ["tasks/get", "tasks/update", "tasks/cancel"]
BREAD, MILK = {"bread": accept(bread="rye")}, {"milk": accept(milk=2)}
UNAVAILABLE = -31001


@pytest.fixture(scope="module", params=[app, attached], ids=["alone", "attached"])
def at(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with desk(request.param) as served:
        yield served


@pytest.fixture
def alone() -> Iterator[Desk]:
    """A server that nobody else has tasks on."""
    with desk() as served:
        yield served


def row(at: Desk, task: str) -> Row:
    return at.engine._rows[task]


def put(at: Desk, changed: Row) -> None:
    """Write where tasks are kept, past the server."""
    at.engine._rows[changed.id] = changed


def params(method: str, task: str) -> dict[str, Any]:
    return {"taskId": task, **({"inputResponses": BREAD} if method == "tasks/update" else {})}


def texts(stored: Row) -> bytes:
    """All that can be read of a row."""
    parts = [str(getattr(stored, name)).encode() for name in ("id", "owner", "status", "key_id")]
    return b" ".join([*parts, stored.key, stored.data, stored.message or b""])


# Somebody else


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What our own log says; that of the server around it names the ports of its clients."""
    return [record.getMessage() for record in caplog.records if record.name.startswith("mrtr_tools")]


@pytest.mark.parametrize("method", METHODS)
def test_a_foreign_task_is_an_unknown_one_in_every_way(at, caplog, method):
    """Security 19: the answer is the same byte by byte, and so is the log; nothing about the task changes."""
    task = at.shopping()
    before = row(at, task)
    caplog.set_level(logging.DEBUG, "mrtr_tools")
    foreign = at.ask(method, params(method, task), person="eve")
    told = [line.replace(task, "") for line in said(caplog)]
    caplog.clear()
    unknown = at.ask(method, params(method, "A" * 24), person="eve")

    assert (foreign.status, foreign.text, told) == (unknown.status, unknown.text, said(caplog))
    assert foreign.error == {"code": -32602, "message": "There is no such task"}
    assert row(at, task) == before


def test_whose_a_task_is_stands_in_the_question_to_the_store(at):
    """Security 19: what the store does not give cannot be given away; and it does not learn who that is."""
    task = at.shopping()
    owner, other = (owner_of("errands", json.dumps([None, "app", person])) for person in ("ada", "eve"))

    assert row(at, task).owner == owner
    assert re.fullmatch("[0-9a-f]{32}", owner)
    assert anyio.run(at.engine.get, task, owner) == row(at, task)
    assert anyio.run(at.engine.get, task, other) is None


def test_the_same_call_of_two_people_is_two_tasks(at):
    """Security 19."""
    ids = {at.call("shop", {"where": "town"}, person=person)["taskId"] for person in ("ada", "eve")}

    assert len(ids) == 2


@pytest.mark.parametrize("method", METHODS)
def test_a_header_that_names_a_task_of_ones_own_opens_no_other(at, method):
    """Security 19: whoever decides by headers, and whoever serves the body, see the same task."""
    task, other = at.shopping(), at.shopping()
    before = row(at, task)
    answer = at.ask(method, params(method, task), headers={"Mcp-Name": other})

    assert (answer.status, answer.error["code"]) == (400, -32020)
    assert row(at, task) == before


@pytest.mark.parametrize("method", METHODS)
def test_a_request_that_declares_no_tasks_reaches_none(at, method):
    """Security 19: not even one's own."""
    task = at.shopping()
    before = row(at, task)
    answer = at.ask(method, params(method, task), capabilities=FORMS)

    assert (answer.status, answer.error["code"]) == (400, -32021)
    assert answer.error["data"]["requiredCapabilities"] == {"extensions": {EXTENSION: {}}}
    assert row(at, task) == before


def test_where_nobody_is_authenticated_there_are_no_tasks_without_a_word():
    """Security 12, 19: whoever has the id would have the task."""
    with pytest.raises(DefinitionError, match="nobody knows for whom"):
        http_app(errands.toolbox, keys=[generate_key()], tasks=MemoryEngine())

    engine = MemoryEngine()
    with serving(http_app(echo_task.toolbox, keys=[generate_key()], tasks=engine)) as url:
        asked = request(url, "tools/call", {"name": "echo"}, capabilities=KNOWS).result

    assert asked["resultType"] == "input_required"
    assert engine._rows == {}


# Answers


def test_answers_to_unknown_and_closed_keys_change_nothing(at):
    """Security 19: they are acknowledged and not written down."""
    task = at.shopping()
    at.update(task, **BREAD)
    before = row(at, task)

    for responses in (BREAD, {"bread": accept(bread="white")}, {"bread-2": accept(bread="white")}, {"ok": accept()}):
        assert at.update(task, **responses)["resultType"] == "complete"
    assert row(at, task) is before


def test_of_answers_at_the_same_time_one_counts(at):
    """Security 19: and all are acknowledged, for who lost cannot be told from who is late."""
    task = at.shopping()
    at.update(task, **MILK)
    version = row(at, task).version
    sorts = [f"sort {number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda sort: at.update(task, bread=accept(bread=sort)), sorts))

    assert {answer["resultType"] for answer in told} == {"complete"}
    asked = at.until(task, "input_required")["inputRequests"]["ok"]["params"]["message"]
    assert [sort for sort in sorts if f"Pay {sort} and 2 l" in asked]
    assert row(at, task).version == version + 2  # the answer, and the function that it let run
    at.update(task, ok=accept(ok=True))
    assert at.until(task, "completed")["result"]["content"][0]["text"] in [
        f"Bought {sort} and 2 l of milk in town" for sort in sorts
    ]


def test_an_answer_is_checked_against_the_form_that_was_sent(at):
    """Security 19: the question is asked again, with the reason and under a key of its own."""
    task = at.shopping()
    at.update(task, milk=accept(milk="'; drop"))

    assert set(at.get(task)["inputRequests"]) == {"bread", "milk-2"}


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_what_has_ended_stays_as_it_is_whatever_comes(at, end):
    """Security 19: what is sent after the end is acknowledged, and nothing is written."""
    task = at.call({"completed": "lose_the_list", "failed": "burn_the_shop", "cancelled": "queue"}[end])["taskId"]
    if end == "cancelled":
        at.cancel(task)
    at.until(task, end)
    before = row(at, task)

    for method in METHODS:
        assert at.ask(method, params(method, task)).status == 200
    assert row(at, task) is before


# States


def test_a_state_that_is_sent_again_gets_the_task_that_it_made(at):
    """Security 19: one machine is started, however often its yes is sent."""
    asked = at.call("wait_for")
    answered = {"inputResponses": {"who": accept(who="Bob")}, "requestState": asked["requestState"]}
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: at.call("wait_for", **answered), range(16)))

    assert len({each["taskId"] for each in made}) == 1
    at.until(made[0]["taskId"], "completed")
    assert at.call("wait_for", **answered)["status"] == "completed"


def test_another_answer_to_the_same_state_makes_no_second_task(at):
    """Security 19: nor does it learn which task the first one made."""
    asked = at.call("wait_for")
    fork = {"name": "wait_for", "requestState": asked["requestState"]}
    made = at.call("wait_for", inputResponses={"who": accept(who="Bob")}, requestState=asked["requestState"])
    answer = at.ask("tools/call", {**fork, "inputResponses": {"who": accept(who="Eve")}})
    foreign = at.ask("tools/call", {**fork, "inputResponses": {"who": accept(who="Bob")}}, person="eve")

    assert answer.error["code"] == -32602
    assert answer.error["data"] == {"reason": "used"}
    assert foreign.error == {"code": -32602, "message": "Invalid or expired requestState"}
    assert made["taskId"] not in answer.text + foreign.text


@pytest.mark.parametrize("method", METHODS)
def test_a_state_on_a_request_for_a_task_is_never_opened(at, caplog, method):
    """Security 19: neither one that is genuine nor one that is none makes a difference, or a line in the log."""
    state = at.call("wait_for")["requestState"]
    for sent in (state, state + "x", "x" * 100_000, "", 7):
        task = at.shopping()
        assert at.ask(method, {**params(method, task), "requestState": sent}).status == 200

    assert "requestState" not in caplog.text


# Limits


def test_nobody_has_more_than_a_hundred_tasks_open(alone):
    """Security 19: one more is refused before it is made, others have theirs, and whoever ends one has room again."""
    tasks = [alone.shopping() for _ in range(100)]
    refused = alone.ask("tools/call", {"name": "shop"})
    other = alone.call("shop", person="eve")
    alone.cancel(tasks[0])
    again = alone.call("shop")

    assert (refused.error["code"], refused.error["data"]) == (-31001, {"reason": "overloaded"})
    assert other["resultType"] == again["resultType"] == "task"


@pytest.mark.parametrize(
    "responses",
    [
        {str(number): accept() for number in range(257)},
        {"bread": accept(bread=list(range(20_001)))},
        {"bread": json.loads("[" * 100 + "]" * 100)},
    ],
    ids=["answers", "values", "depth"],
)
def test_an_update_is_no_larger_than_the_answers_of_a_round(at, responses):
    """Security 19, 21: it is refused before the task is looked at."""
    task = at.shopping()
    before = row(at, task)
    answer = at.ask("tasks/update", {"taskId": task, "inputResponses": responses})

    assert answer.error["code"] == -32602
    assert row(at, task) is before


def test_a_task_lives_as_long_as_its_tool_says_and_is_deleted_then(alone):
    """Security 19: whatever its client wished, and whether it has ended or not."""
    task = alone.shopping()
    assert row(alone, task).expires == row(alone, task).created + 600
    alone.clock.ahead = 601
    answer = alone.ask("tasks/get", {"taskId": task})
    alone.clock.ahead = 0

    assert answer.error == {"code": -32602, "message": "There is no such task"}
    assert task not in alone.engine._rows


# Whoever can write where tasks are kept


def test_nothing_of_a_task_can_be_read_where_it_is_kept(at):
    """Security 19: arguments, answers, texts, progress, results, errors, and who it is for."""
    who = {"person": "ada.lovelace"}
    task = at.call("shop", {"where": "Samarkand"}, **who)["taskId"]
    at.until(task, "input_required", **who)
    at.update(task, **who, bread=accept(bread="pumpernickel"), milk=accept(milk=2))
    at.until(task, "input_required", **who)
    asking = texts(row(at, task))
    at.update(task, **who, ok=accept(ok=True))
    at.until(task, "completed", **who)
    running = at.call("queue", **who)["taskId"]
    next(told for told in iter(lambda: at.get(running, **who), None) if "statusMessage" in told)
    burnt = at.call("burn_the_shop", **who)["taskId"]
    at.until(burnt, "failed", **who)

    read = b" ".join([asking, *(texts(row(at, each)) for each in (task, running, burnt))])
    for secret in (
        "Samarkand",
        "pumpernickel",
        "Bought",
        "still there",
        "no more",
        "lovelace",
        "choose",
        "elicitation",
    ):
        assert secret.encode() not in read


Edit = Callable[[Row, Row], Row]
EDITS: dict[str, Edit] = {
    "its data": lambda mine, other: replace(mine, data=other.data),
    "its key": lambda mine, other: replace(mine, key=other.key),
    "its data and key": lambda mine, other: replace(mine, data=other.data, key=other.key),
    "its message": lambda mine, other: replace(mine, message=other.message),
    "a part in another's place": lambda mine, _: replace(mine, message=mine.data),
    "all of it": lambda mine, other: replace(other, id=mine.id, owner=mine.owner),
    "its status": lambda mine, _: replace(mine, status="completed"),
    "its version": lambda mine, _: replace(mine, version=mine.version + 1),
    "a bit of its data": lambda mine, _: replace(mine, data=mine.data[:-1] + bytes([mine.data[-1] ^ 1])),
    "a bit of its key": lambda mine, _: replace(mine, key=mine.key[:-1] + bytes([mine.key[-1] ^ 1])),
    "nothing left": lambda mine, _: replace(mine, data=b"", key=b""),
    "the end of it": lambda mine, _: replace(mine, data=mine.data[:-20]),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_row_that_was_changed_or_swapped_is_not_shown_nor_gone_on_with(at, caplog, edit):
    """Security 19: swapped with that of somebody else, in parts or whole. The log names the task and shows nothing."""
    other = at.call("queue", person="eve")["taskId"]
    next(told for told in iter(lambda: at.get(other, person="eve"), None) if "statusMessage" in told)
    task = at.shopping()
    genuine = row(at, task)
    changed = edit(genuine, row(at, other))
    put(at, changed)
    shown = at.ask("tasks/get", params("tasks/get", task))
    left = row(at, task)
    updated = at.ask("tasks/update", params("tasks/update", task))
    put(at, genuine)

    assert shown.error["code"] == UNAVAILABLE
    assert shown.error["data"] == {"reason": "unavailable"}
    assert "still there" not in shown.text
    assert left is changed
    if replace(changed, message=None) != replace(genuine, message=None):  # a message is not read for that
        assert updated.error["code"] == UNAVAILABLE
    assert task in caplog.text
    assert "bread" not in caplog.text
    assert set(at.get(task)["inputRequests"]) == {"bread", "milk"}


def test_a_task_that_was_given_to_somebody_else_opens_for_nobody(at):
    """Security 19: its owner is under the seal."""
    eves = row(at, at.call("shop", person="eve")["taskId"])
    task = at.shopping()
    genuine = row(at, task)
    put(at, replace(genuine, owner=eves.owner))
    foreign, mine = (at.ask("tasks/get", {"taskId": task}, person=person) for person in ("eve", "ada"))
    put(at, genuine)

    assert foreign.error["code"] == UNAVAILABLE
    assert mine.error == {"code": -32602, "message": "There is no such task"}


class Evil:
    """What runs code when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("place", ["data", "key", "message"])
def test_a_foreign_pickle_in_a_row_is_refused_and_never_loaded(at, tmp_path, place):
    """Security 10: nothing that is kept can run anything."""
    ran = tmp_path / "ran"
    task = at.shopping()
    genuine = row(at, task)
    evil: Any = {place: pickle.dumps(Evil(ran))}
    put(at, replace(genuine, **evil))
    answer = at.ask("tasks/get", {"taskId": task})
    put(at, genuine)

    assert answer.error["code"] == UNAVAILABLE
    assert not ran.exists()
    pickle.loads(pickle.dumps(Evil(ran)))
    assert ran.exists()


def test_a_row_that_nobody_can_open_holds_up_no_other_task(alone):
    """Security 19."""
    task = alone.shopping()
    genuine = row(alone, task)
    put(alone, replace(genuine, status="working", data=genuine.data[:-1]))
    alone.engine._waiting[task] = 0
    free = alone.call("lose_the_list")["taskId"]  # which wakes the engine

    assert alone.until(free, "completed")
    assert alone.ask("tasks/get", {"taskId": task}).error["code"] == UNAVAILABLE
    put(alone, genuine)
