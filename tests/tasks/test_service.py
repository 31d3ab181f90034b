"""Tasks as a server makes, shows, answers, cancels and runs them; each leg is run by the test."""

from typing import Any

import pytest

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Client, Complete, InputRequired
from mrtr_tools.errors import AlreadyDone, Busy, InvalidParams, InvalidState
from mrtr_tools.keys import InvalidKey, generate_key, read_keys
from mrtr_tools.task_marks import REQUIRED
from mrtr_tools.tasks import MemoryEngine
from mrtr_tools.tasks.leg_runner import LegRunner
from mrtr_tools.tasks.record import owner_of
from tests.rounds_by_hand import FORMS
from tests.tasks.jobs import START, beside, jobs, place
from tests.wire_by_hand import NO, YES, accept

pytestmark = pytest.mark.anyio

OWNER = owner_of("jobs", None)


def text(result: Any) -> str:
    return result["content"][0]["text"]


async def test_a_task_runs_asks_goes_on_and_ends():
    ran: list[str] = []
    here = place(ran)
    task = await here.begun("build", {"name": "web"})

    now = await here.tasks.get(task, None)
    assert (now.status, now.created, now.updated, now.ttl) == ("working", START, START, 600)
    assert (now.message, now.requests, now.result, now.error) == (None, {}, None, None)

    here.now += 5
    now = await here.played(task)
    assert (now.status, now.updated) == ("input_required", START + 5)
    assert list(now.requests) == ["ok", "where"]
    assert now.requests["ok"]["params"]["message"] == "Publish web?"  # type: ignore[index, call-overload]

    await here.tasks.update(task, None, {"ok": YES, "where": accept(where="eu")})
    assert (await here.tasks.get(task, None)).status == "working"
    now = await here.played(task)
    assert (now.status, now.requests, now.error) == ("completed", {}, None)
    assert now.result is not None
    assert text(now.result) == "published web@eu"
    assert [each.split()[0] for each in ran] == ["build", "check", "publish"]
    assert len({each.split()[1] for each in ran}) == 3


async def test_each_leg_runs_one_function():
    ran: list[str] = []
    here = place(ran)
    task = await here.begun("build", {"name": "web"})
    assert ran == []
    assert await here.tasks.leg(task, OWNER) is False  # it asks now
    assert len(ran) == 1
    await here.tasks.update(task, None, {"ok": YES, "where": accept(where="eu")})
    assert len(ran) == 1
    assert await here.tasks.leg(task, OWNER) is True
    assert len(ran) == 2
    assert await here.tasks.leg(task, OWNER) is False
    assert len(ran) == 3
    assert await here.tasks.leg(task, OWNER) is False
    assert len(ran) == 3


async def test_any_process_can_show_answer_and_run_it():
    ran: list[str] = []
    a = place(ran)
    b, c = beside(a), beside(a)
    task = await a.begun("build", {"name": "web"})
    assert (await b.played(task)).status == "input_required"
    await c.tasks.update(task, None, {"ok": YES, "where": accept(where="eu")})
    assert (await a.played(task)).status == "completed"


async def test_partial_answers_are_kept():
    here = place()
    task = await here.begun("build", {"name": "web"})
    await here.legs(task)
    await here.tasks.update(task, None, {"where": accept(where="eu")})
    now = await here.tasks.get(task, None)
    assert (now.status, list(now.requests)) == ("input_required", ["ok"])
    await here.tasks.update(task, None, {"ok": YES, "where": accept(where="us")})
    assert text((await here.played(task)).result) == "published web@eu"


async def test_what_does_not_fit_is_asked_again_under_another_key_and_why():
    here = place()
    task = await here.begun("build", {"name": "web"})
    await here.legs(task)
    await here.tasks.update(task, None, {"where": accept(where=["eu"])})
    now = await here.tasks.get(task, None)
    assert list(now.requests) == ["ok", "where-2"]
    asked: Any = now.requests["where-2"]
    assert asked["params"]["message"].endswith("Where to?")
    assert asked["params"]["message"] != "Where to?"


async def test_answers_to_what_is_not_open_are_ignored():
    here = place()
    task = await here.begun("build", {"name": "web"})
    await here.tasks.update(task, None, {"ok": YES, "where": accept(where="eu")})  # not asked yet
    now = await here.played(task)
    assert list(now.requests) == ["ok", "where"]
    row = await here.engine.get(task, OWNER)
    await here.tasks.update(task, None, {"nothing": YES, "ok-2": YES, "where.x": YES})
    assert await here.engine.get(task, OWNER) == row


async def test_the_first_answer_counts():
    here = place()
    task = await here.begun("build", {"name": "web"})
    await here.legs(task)
    await here.tasks.update(task, None, {"where": accept(where="eu")})
    await beside(here).tasks.update(task, None, {"where": accept(where="us"), "ok": YES})
    assert text((await here.played(task)).result) == "published web@eu"


async def test_of_two_who_answer_at_the_same_time_one_looks_again():
    here = place()
    task = await here.begun("build", {"name": "web"})
    await here.legs(task)
    engine, update = here.engine, here.engine.update
    raced: list[str] = []

    async def raced_update(row: Any) -> bool:
        if not raced:
            raced.append("other")
            engine.update = update
            await beside(here).tasks.update(task, None, {"where": accept(where="us")})
        return await update(row)

    engine.update = raced_update
    await here.tasks.update(task, None, {"where": accept(where="eu"), "ok": YES})
    assert text((await here.played(task)).result) == "published web@us"


async def test_a_refusal_in_an_update_ends_the_task():
    here = place()
    task = await here.begun("build", {"name": "web"})
    await here.legs(task)
    await here.tasks.update(task, None, {"ok": NO})
    now = await here.tasks.get(task, None)
    assert now.status == "completed"
    assert now.result is not None
    assert now.result["isError"] is True


@pytest.mark.parametrize(
    ("tool", "text_of_it"), [("give_up", "Not today."), ("explode", "The tool failed unexpectedly.")]
)
async def test_a_tool_error_is_a_result(tool, text_of_it):
    here = place()
    now = await here.played(await here.begun(tool))
    assert (now.status, now.error) == ("completed", None)
    assert now.result is not None
    assert (now.result["isError"], text(now.result)) == (True, text_of_it)


async def test_a_json_rpc_error_of_the_author_fails_the_task():
    here = place()
    now = await here.played(await here.begun("break_off"))
    assert (now.status, now.result, now.message) == ("failed", None, "No such branch")
    assert now.error == {"code": -32050, "message": "No such branch", "data": {"branch": "x"}}


async def test_one_that_asks_what_its_client_cannot_show_fails():
    here = place()
    reply = await here.call("build", {"name": "web"}, client=Client(dict(REQUIRED)))
    now = await here.played(reply.task)  # type: ignore[union-attr]
    assert now.status == "failed"
    assert now.error is not None
    assert now.error["code"] == -32021
    assert now.error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


async def test_what_a_step_reports_is_the_message_until_it_changes():
    here = place()
    task = await here.begun("build", {"name": "web"})
    shown = []
    tell = here.engine.tell

    async def noted(*told: Any) -> None:
        await tell(*told)
        shown.append((await here.tasks.get(task, None)).message)

    here.engine.tell = noted  # type: ignore[method-assign]
    await here.legs(task)
    assert shown == ["1 of 2: compiling"]
    assert (await here.tasks.get(task, None)).message is None


async def test_a_cancelled_task_stays_so():
    ran: list[str] = []
    here = place(ran)
    task = await here.begun("build", {"name": "web"})
    await here.legs(task)
    await here.tasks.cancel(task, None)
    now = await here.tasks.get(task, None)
    assert (now.status, now.requests, now.result, now.error) == ("cancelled", {}, None, None)
    row = await here.engine.get(task, OWNER)
    await here.tasks.cancel(task, None)
    await here.tasks.update(task, None, {"ok": YES, "where": accept(where="eu")})
    assert await here.legs(task) == 1
    await here.tasks.give_up(task, OWNER)
    assert await here.engine.get(task, OWNER) == row
    assert len(ran) == 1


async def test_what_a_function_did_while_its_task_was_cancelled_is_not_written_down():
    here = place(build=slow)
    task = await here.begun("work")
    DURING.append(lambda: here.tasks.cancel(task, None))
    assert await here.tasks.leg(task, OWNER) is False
    assert (await here.tasks.get(task, None)).status == "cancelled"


async def test_a_task_that_ended_holds_nothing_of_the_way_there():
    here = place()
    task = await here.begun("build", {"name": "secret-name"})
    await here.legs(task)
    await here.tasks.update(task, None, {"ok": NO})
    row = await here.engine.get(task, OWNER)
    assert row is not None
    held = str(here.sealer.data(row))
    assert "secret-name" not in held.replace(str(here.sealer.data(row).get("result")), "")


async def test_the_same_state_gets_the_same_task():
    """Security 19: a state that is sent again does not start a second machine."""
    ran: list[str] = []
    here = place(ran)
    asked = await here.call("ask_first")
    assert isinstance(asked, InputRequired)
    answered = {"state": asked.state, "responses": {"name": accept(name="Ada")}}
    task = await here.begun("ask_first", **answered)
    again = await beside(here).call("ask_first", **answered)
    assert again.task == task  # type: ignore[union-attr]
    assert text((await here.played(task)).result) == "Ada"
    again = await here.call("ask_first", **answered)
    assert (again.task, again.status) == (task, "completed")  # type: ignore[union-attr]
    assert ran.count("later") == 1


async def test_another_answer_to_the_same_state_gets_no_task():
    here = place()
    asked = await here.call("ask_first")
    assert isinstance(asked, InputRequired)
    await here.begun("ask_first", state=asked.state, responses={"name": accept(name="Ada")})
    with pytest.raises(AlreadyDone) as refused:
        await here.call("ask_first", state=asked.state, responses={"name": accept(name="Bob")})
    assert refused.value.data == {"reason": "used"}


async def test_two_calls_are_two_tasks():
    here = place()
    assert await here.begun("build", {"name": "a"}) != await here.begun("build", {"name": "a"})


async def test_another_principal_finds_no_task():
    """Security 19: foreign is unknown, word by word."""
    here = place()
    task = await here.begun("build", {"name": "a"}, principal="ada")
    unknown: list[InvalidParams] = []
    for name, who in ((task, "bob"), (task, None), ("x" * 24, "ada"), (task, "")):
        for ask in (
            here.tasks.get(name, who),
            here.tasks.update(name, who, {"ok": YES}),
            here.tasks.cancel(name, who),
        ):
            with pytest.raises(InvalidParams) as caught:
                await ask
            unknown.append(caught.value)
    assert {(each.code, each.message, str(each.data)) for each in unknown} == {
        (-32602, "There is no such task", "None")
    }
    assert (await here.tasks.get(task, "ada")).status == "working"


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "x" * 25, "ä" * 24, "x" * 24 + "\n"])
async def test_what_is_no_id_is_not_looked_for(name, monkeypatch):
    here = place()

    async def asked(*_: str) -> None:
        raise AssertionError("PostgreSQL cannot be asked for a NUL")

    monkeypatch.setattr(here.engine, "get", asked)
    with pytest.raises(InvalidParams, match="There is no such task"):
        await here.tasks.get(name, None)


async def test_nobody_has_too_many():
    here = place(max_open=2)
    for _ in range(2):
        await here.begun("build", {"name": "a"}, principal="ada")
    with pytest.raises(Busy) as refused:
        await here.begun("build", {"name": "a"}, principal="ada")
    assert refused.value.data == {"reason": "overloaded"}
    assert "too many tasks that have not ended" in refused.value.message
    task = await here.begun("build", {"name": "a"}, principal="bob")
    await here.tasks.cancel(task, "bob")
    await here.begun("build", {"name": "a"}, principal="bob")
    await here.begun("build", {"name": "a"}, principal="bob")


async def test_where_nobody_is_authenticated_all_callers_share_a_larger_limit():
    here = place()
    asked: list[int] = []
    create = here.engine.create

    async def noted(row: Any, *, at_most: int) -> bool:
        asked.append(at_most)
        return await create(row, at_most=at_most)

    here.engine.create = noted
    await here.begun("build", {"name": "a"})
    await here.begun("build", {"name": "a"}, principal="ada")
    assert asked == [10_000, 100]


async def test_a_function_has_the_time_that_was_left_when_its_process_was_told_to_stop():
    """Counted from there on, however long others took before."""
    runner = LegRunner(MemoryEngine(), "server")
    runner.stop(60)
    until = runner.until
    runner.stop(600)
    assert runner.until == until
    await runner.end(600)  # nothing runs, so that nobody waits


async def test_a_task_is_gone_when_its_time_is_over():
    here = place()
    task = await here.begun("build", {"name": "a"})
    here.now += 599
    assert (await here.played(task)).status == "input_required"
    here.now += 2
    with pytest.raises(InvalidParams):
        await here.tasks.get(task, None)
    assert await here.legs(task) == 1


async def test_what_runs_once_runs_once_in_a_task_too():
    ran: list[str] = []
    here = place(ran)
    task = await here.begun("pay_once")
    row = await here.engine.get(task, OWNER)
    assert row is not None
    await here.tasks.leg(task, OWNER)
    paying = await here.engine.get(task, OWNER)
    assert paying is not None
    assert (await here.played(task)).status == "completed"
    # The process dies before it has written down that the step ran, and another one takes over.
    here.engine._rows[task] = paying  # type: ignore[attr-defined]
    assert text((await here.played(task)).result) == "paid"
    assert ran == ["pay"]


async def test_a_task_that_is_given_up_failed():
    here = place()
    task = await here.begun("build", {"name": "a"})
    await here.tasks.give_up(task, OWNER)
    now = await here.tasks.get(task, None)
    assert (now.status, now.error) == ("failed", {"code": -32603, "message": "The task could not be finished"})


# Another build


def renamed(ran: list[str]) -> Toolbox:
    """`jobs` with a step inserted, one renamed and a question reworded."""
    toolbox = Toolbox("jobs")

    @toolbox.tool(task="optional", task_ttl=600)
    def build(name: str) -> str:
        ran.append("build")
        return then(scan, name=name)

    @toolbox.step
    def scan(name: str) -> str:
        ran.append("scan")
        return then(verify, name=name)

    @toolbox.step(aliases=("check",))
    @needs_input(ok=confirm("Really publish {name}?"), where="Where to?")
    def verify(name: str, where: str) -> str:
        ran.append("verify")
        return f"{name}@{where}"

    return toolbox


async def test_a_task_goes_on_in_another_build():
    old = place()
    task = await old.begun("build", {"name": "web"})
    await old.legs(task)
    ran: list[str] = []
    new = beside(old, renamed(ran))
    await new.tasks.update(task, None, {"ok": YES, "where": accept(where="eu")})
    now = await new.tasks.get(task, None)
    assert list(now.requests) == ["ok-2"]
    assert now.requests["ok-2"]["params"]["message"] == "Really publish web?"  # type: ignore[index, call-overload]
    await new.tasks.update(task, None, {"ok-2": YES})
    assert text((await new.played(task)).result) == "web@eu"
    assert ran == ["verify"]


async def test_a_build_that_does_not_know_a_step_leaves_the_task_to_others():
    ran: list[str] = []
    new = place(ran, build=renamed)
    task = await new.begun("build", {"name": "web"})
    await new.tasks.leg(task, OWNER)
    old = beside(new, jobs([]))
    with pytest.raises(InvalidState):
        await old.tasks.leg(task, OWNER)
    assert (await new.played(task)).status == "input_required"


async def test_an_answer_that_another_build_has_to_read_can_be_sent_again():
    ran: list[str] = []
    old = place(ran)
    task = await old.begun("build", {"name": "web"})
    await old.legs(task)
    other = Toolbox("jobs")

    @other.tool(task="optional")
    def build(name: str) -> str:
        return name

    with pytest.raises(Busy):
        await beside(old, other).tasks.update(task, None, {"ok": YES})
    assert list((await old.tasks.get(task, None)).requests) == ["ok", "where"]


# Keys


async def test_a_server_does_not_start_over_tasks_that_it_cannot_open():
    """Security 19: tasks outlive keys."""
    here = place()
    await here.begun("build", {"name": "a"})
    other = beside(here, keys=read_keys([generate_key()]))
    with pytest.raises(InvalidKey, match="which is not among the task keys"):
        await other.tasks.check()
    await beside(here, keys=(*other.keys, *here.keys)).tasks.check()


async def test_a_task_whose_key_is_gone_is_not_shown():
    here = place()
    task = await here.begun("build", {"name": "a"})
    other = beside(here, keys=read_keys([generate_key()]))
    with pytest.raises(Busy):
        await other.tasks.get(task, None)


# What is shared


DURING: list[Any] = []


def slow(_: list[str]) -> Toolbox:
    """A tool that does what stands in `DURING` while it runs."""
    toolbox = Toolbox("jobs")

    @toolbox.tool(task="optional")
    async def work() -> str:
        for act in DURING:
            await act()
        DURING.clear()
        return "done"

    return toolbox


async def test_without_the_extension_the_same_tool_is_not_a_task():
    here = place()
    asked = await here.call("build", {"name": "web"}, client=FORMS)
    assert isinstance(asked, InputRequired)
    answers = {"ok": YES, "where": accept(where="eu")}
    done = await here.call("build", {"name": "web"}, client=FORMS, state=asked.state, responses=answers)
    assert isinstance(done, Complete)
    assert done.value == "published web@eu"
