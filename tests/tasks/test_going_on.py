"""When a call goes on as a task, and what is different once it is one. Rounds by hand: nothing keeps or runs any."""

from dataclasses import replace
from typing import Any

import pytest

from mrtr_tools import AskAgain, DefinitionError, Elicit, Refused, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.calls import Call, Client
from mrtr_tools.errors import MissingCapability
from mrtr_tools.events import NeedInput, RunStep, StartTask
from mrtr_tools.rounds import Round
from mrtr_tools.task_marks import REQUIRED
from tests.rounds_by_hand import MUTE, again, failure, play_on, result, run, through_json
from tests.wire_by_hand import YES, accept

KNOWS = Client({"elicitation": {"form": {}}, **REQUIRED})


def cloud(ran: list[str], use: Any = "optional") -> Toolbox:
    """A tool that asks, and a step that goes on as a task and asks as well."""
    toolbox = Toolbox("cloud")

    @toolbox.tool
    @needs_input(size="How large?")
    def start(size: int) -> str:
        ran.append("start")
        return then(provision, size=size)

    @toolbox.step(task=use)
    @needs_input(ok=confirm("Pay for {size}?"))
    def provision(size: int) -> str:
        ran.append("provision")
        return then(attach_disk, size=size)

    @toolbox.step
    @needs_input(disk="Which disk?")
    def attach_disk(size: int, disk: str) -> str:
        ran.append("attach_disk")
        return f"{size} {disk}"

    return toolbox


def begin(toolbox: Toolbox, tool: str, *, can_start: bool = True, client: Client = KNOWS, **call: Any) -> Round:
    return Round(toolbox, Call(tool, call.pop("arguments", {}), client=client, **call), can_start=can_start)


def go_on(machine: Round, responses: Any = None, *, can_start: bool = True, client: Client = KNOWS) -> Round:
    """The next round, outside of a task."""
    call = replace(machine.call, responses=responses or {}, state="state", client=client)
    return Round(machine.toolbox, call, through_json(machine.progress), can_start=can_start)


def as_task(machine: Round, responses: Any = None) -> Round:
    """The next round of a call that is a task."""
    progress = through_json(machine.progress)
    progress.is_task = True
    return Round(machine.toolbox, replace(machine.call, responses=responses or {}), progress)


def test_a_step_is_a_task_before_it_asks():
    ran: list[str] = []
    machine = begin(cloud(ran), "start")
    assert isinstance(play_on(machine), NeedInput)
    machine = go_on(machine, {"size": accept(size=3)})
    assert play_on(machine) == StartTask()
    assert (ran, machine.step.name) == (["start"], "provision")
    assert machine.next_event() == StartTask()


def test_a_task_goes_on_where_the_round_stood_and_asks_there():
    ran: list[str] = []
    machine = go_on(begin(cloud(ran), "start"), {})
    play_on(machine)
    machine = go_on(machine, {"size": accept(size=3)})
    assert play_on(machine) == StartTask()
    machine = as_task(machine)
    assert list(play_on(machine).requests) == ["ok"]  # type: ignore[union-attr]
    machine = as_task(machine, {"ok": YES})
    assert list(play_on(machine).requests) == ["disk"]  # type: ignore[union-attr]
    assert result(as_task(machine, {"disk": accept(disk="ssd")})) == "3 ssd"
    assert ran == ["start", "provision", "attach_disk"]


@pytest.mark.parametrize(
    ("client", "can_start"), [(Client({"elicitation": {"form": {}}}), True), (KNOWS, False)], ids=["client", "server"]
)
def test_where_a_task_is_optional_a_call_goes_on_without_one(client, can_start):
    ran: list[str] = []
    machine = begin(cloud(ran), "start", client=client, can_start=can_start)
    play_on(machine)
    machine = go_on(machine, {"size": accept(size=3)}, client=client, can_start=can_start)
    event = play_on(machine)
    assert isinstance(event, NeedInput)
    assert list(event.requests) == ["ok"]


def test_where_it_is_required_a_client_that_knows_none_is_told_so():
    ran: list[str] = []
    machine = begin(cloud(ran, "required"), "start", client=Client({"elicitation": {"form": {}}}))
    play_on(machine)
    machine = go_on(machine, {"size": accept(size=3)}, client=Client({"elicitation": {"form": {}}}))
    run_first = machine.next_event()
    assert isinstance(run_first, RunStep)
    with pytest.raises(MissingCapability) as missing:
        run(machine)
    assert missing.value.data == {"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}


def test_a_tool_that_has_to_be_one_refuses_such_a_client_before_it_asks():
    machine = begin(tool_of("required"), "count", client=Client({"elicitation": {"form": {}}}))
    with pytest.raises(MissingCapability):
        machine.next_event()


def test_one_that_has_to_be_a_task_ends_where_nothing_keeps_any():
    assert failure(begin(tool_of("required"), "count", can_start=False)) == "This cannot be done as a task here."


def test_nobody_in_particular_has_a_task():
    """Security 19: whoever has the id of a task of nobody's has the task."""
    required = begin(tool_of("required"), "count", anonymous_ok=False)
    assert failure(required) == "This cannot be done as a task here."
    event = play_on(begin(tool_of("optional"), "count", anonymous_ok=False))
    assert isinstance(event, NeedInput)
    known = begin(tool_of("optional"), "count", anonymous_ok=False, principal="ada")
    play_on(known)
    assert play_on(go_on(known, {"upto": accept(upto=3)})) == StartTask()


def tool_of(use: Any) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool(task=use)
    @needs_input(upto="How far?")
    def count(upto: int) -> str:
        if upto > 9:
            raise AskAgain(upto="That is too far")
        return f"counted to {upto}"

    return toolbox


def test_a_tool_asks_in_ordinary_rounds_and_is_a_task_before_it_runs():
    """SEP-2322: the two workflows one after the other."""
    machine = begin(tool_of("optional"), "count")
    assert list(play_on(machine).requests) == ["upto"]  # type: ignore[union-attr]
    machine = go_on(machine, {"upto": accept(upto=3)})
    assert play_on(machine) == StartTask()
    assert result(as_task(machine)) == "counted to 3"


def test_what_a_tool_asks_again_is_asked_in_the_task():
    machine = begin(tool_of("optional"), "count")
    play_on(machine)
    machine = go_on(machine, {"upto": accept(upto=30)})
    assert play_on(machine) == StartTask()
    machine = as_task(machine)
    assert list(play_on(machine).requests) == ["upto-2"]  # type: ignore[union-attr]
    assert result(as_task(machine, {"upto-2": accept(upto=4)})) == "counted to 4"


def test_a_key_is_answered_once_in_a_task_even_with_what_does_not_fit():
    """A key is never used again in the life of a task; outside of one, the same question keeps its key."""
    toolbox = tool_of("optional")
    outside = begin(toolbox, "count")
    play_on(outside)
    assert list(play_on(go_on(outside, {"upto": accept(upto="many")})).requests) == ["upto"]  # type: ignore[union-attr]

    inside = as_task(outside)
    assert list(play_on(inside).requests) == ["upto"]  # type: ignore[union-attr]
    inside = as_task(inside, {"upto": accept(upto="many"), "upto-2": accept(upto=1)})
    assert list(play_on(inside).requests) == ["upto-2"]  # type: ignore[union-attr]
    inside = as_task(inside, {"upto": accept(upto=5)})
    assert list(play_on(inside).requests) == ["upto-2"]  # type: ignore[union-attr]
    assert result(as_task(inside, {"upto-2": accept(upto=5)})) == "counted to 5"


def test_a_question_that_a_function_made_keeps_its_text_under_its_next_key():
    toolbox, made = Toolbox("t"), []

    def which() -> Elicit:
        made.append("which")
        return Elicit("Which one?", choices=["a", "b"])

    @toolbox.tool(task="optional")
    @needs_input(pick=which)
    def choose(pick: str) -> str:
        return pick

    machine = begin(toolbox, "choose")
    play_on(machine)
    machine = as_task(machine, {"pick": accept(pick="z")})
    asked = play_on(machine)
    assert isinstance(asked, NeedInput)
    [(key, request)] = asked.requests.items()
    assert key == "pick-2"
    assert "Which one?" in request["params"]["message"]  # type: ignore[index, operator]
    assert result(as_task(machine, {"pick-2": accept(pick="b")})) == "b"
    assert made == ["which"]


def test_misfits_still_end_a_task():
    machine = as_task(begin(tool_of("optional"), "count"))
    for key in ("upto", "upto-2", "upto-3"):
        assert list(play_on(machine).requests) == [key]  # type: ignore[union-attr]
        machine = as_task(machine, {key: accept(upto="many")})
    play_on(machine)
    assert failure(as_task(machine, {"upto-4": accept(upto="many")})).startswith("No usable answer for 'upto'")


def test_a_task_asks_as_often_as_it_must():
    """Clients stop after ten rounds of a call; nobody counts those of a task."""
    toolbox = Toolbox("t")

    @toolbox.tool(task="optional")
    def start() -> str:
        return then(ask, left=25)

    @toolbox.step
    @needs_input(ok=confirm("Go on?"))
    def ask(left: int) -> str:
        return then(ask, left=left - 1) if left > 1 else "done"

    machine = begin(toolbox, "start")
    assert play_on(machine) == StartTask()
    machine, keys = as_task(machine), []
    while isinstance(event := play_on(machine), NeedInput):
        [key] = event.requests
        keys.append(key)
        machine = as_task(machine, {key: YES})
    assert len(set(keys)) == 25
    assert result(machine) == "done"


def test_a_task_is_never_handed_back():
    """A task is moved on by whoever keeps it: not to give way to others, and not so that something can be claimed."""
    toolbox = Toolbox("t")

    @toolbox.tool(task="optional")
    def start() -> str:
        return then(pay)

    @toolbox.step(single_use=True)
    def pay() -> str:
        return "paid"

    machine = as_task(begin(toolbox, "start"))
    event = machine.next_event()
    assert isinstance(event, RunStep)
    going = event.step.signature.function()
    machine.returned(going, [going])  # type: ignore[list-item]
    assert not machine.hand_back()
    event = machine.next_event()
    assert isinstance(event, RunStep)
    assert event.claim is not None


def test_a_step_within_a_task_goes_on_in_the_same_one():
    toolbox = Toolbox("t")

    @toolbox.tool(task="optional")
    def start() -> str:
        return then(more)

    @toolbox.step(task="required")
    def more() -> str:
        return "more"

    assert result(as_task(begin(toolbox, "start"))) == "more"


def test_only_tools_go_on_as_tasks():
    toolbox = Toolbox("t")

    @toolbox.prompt
    def ask_for(what: str) -> str:
        return then(write, what=what)

    @toolbox.step(task="optional")
    def write(what: str) -> str:
        return what

    @toolbox.prompt
    def insist() -> str:
        return then(must)

    @toolbox.step(task="required")
    def must() -> str:
        return "no"

    assert result(begin(toolbox, "ask_for", method="prompts/get", arguments={"what": "x"})) == "x"
    assert failure(begin(toolbox, "insist", method="prompts/get")) == "This cannot be done as a task here."


def test_refusals_and_tool_errors_end_a_task_as_everywhere():
    toolbox = Toolbox("t")

    @toolbox.tool(task="optional")
    @needs_input(name="Who?")
    def greet(name: str | Refused) -> str:
        if not name:
            raise ToolError("Nobody is there.")
        return f"Hello {name}"

    machine = as_task(begin(toolbox, "greet"))
    play_on(machine)
    assert failure(as_task(machine, {"name": {"action": "decline"}})) == "Nobody is there."


def test_a_client_that_asks_nothing_of_a_person_is_not_asked_in_a_task_either():
    machine = as_task(begin(tool_of("optional"), "count", client=MUTE))
    with pytest.raises(MissingCapability):
        machine.next_event()


def test_the_progress_of_a_task_is_that_of_a_call_and_says_that_it_is_one():
    machine = begin(tool_of("optional"), "count")
    play_on(machine)
    assert "is_task" not in machine.progress.to_json()
    task = as_task(machine)
    assert through_json(task.progress) == task.progress
    assert again(machine).progress.is_task is False


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"task": "always"}, 'task= is "optional" or "required"'),
        ({"task": True}, 'task= is "optional" or "required"'),
        ({"task_ttl": 60}, "task_ttl= goes with it"),
        ({"task": "optional", "task_ttl": 0}, "task_ttl= is a positive number of seconds"),
        ({"task": "optional", "task_ttl": float("nan")}, "task_ttl= is a positive number of seconds"),
    ],
)
def test_what_is_said_of_tasks_is_checked(options, told):
    toolbox = Toolbox("t")

    def work() -> str:
        return "x"

    for define in (toolbox.tool, toolbox.step):
        with pytest.raises(DefinitionError, match=told):
            define(**options)(work)
