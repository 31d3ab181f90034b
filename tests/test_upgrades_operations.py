"""What those who run a server change, and machines that have an older build than the state. Promise 8, Security 7."""

import logging
from typing import Any

import pytest
from pydantic import JsonValue

from mrtr_tools import Sample, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Call
from mrtr_tools.errors import InvalidState
from mrtr_tools.progress import Progress
from mrtr_tools.testing import Player
from tests.attacker import Clock, Server, message
from tests.builds import build, handing_on
from tests.rounds_by_hand import asked, begin
from tests.wire_by_hand import YES, accept

GATE = {"ok": confirm("Go?")}
NO_LONGER_FITS = {"reason": "no_longer_fits"}


def begun(toolbox: Toolbox, tool: str, arguments: Any = None) -> str:
    """The state of a call whose next answer is the yes to `ok`."""
    first = Server(toolbox).ask(tool, arguments)
    assert list(first.requests) == ["ok"]
    return str(first.state)


# What is told


def test_a_call_that_begins_anew_says_so_above_each_question() -> None:
    groups = {"a": "A?", **GATE}
    old, server = Server(build("a: str", groups)), Server(build("a: str", groups, version=1))
    first = old.ask("go")

    again = server.ask("go", state=first.state, a=accept(a="x"), ok=YES)

    told = "This has changed in the meantime; please answer again."
    assert {key: message(again, key) for key in again.requests} == {"a-2": f"{told}\nA?", "ok-2": f"{told}\nGo?"}
    once_more = server.ask("go", state=again.state, **{"ok-2": YES})
    assert message(once_more, "a-2") == "A?"


def test_a_call_that_came_too_late_says_so_above_its_question() -> None:
    clock = Clock()
    server = Server(build("", GATE), clock=clock, ttl=600)
    first = server.ask("go")
    clock.now += 700

    assert message(server.ask("go", state=first.state), "ok-2") == (
        "This was open for too long; please answer again.\nGo?"
    )


def test_a_model_is_not_told_that_a_call_begins_anew() -> None:
    """It answers for itself, and has not answered before."""
    old, server = (Server(build("a: str", {"a": Sample("A poem")}, version=version)) for version in (0, 1))
    can = {"capabilities": {"sampling": {}}}

    again = server.ask("go", state=old.ask("go", **can).state, **can)

    assert again.requests == {"a-2": old.ask("go", **can).requests["a"]}


TROUBLES = {
    "a step that is gone": (
        handing_on({"price": 5}, "price: int", GATE, takes="n: int", name="last"),
        "there is no step 'end'; a step that was renamed needs it in aliases=",
    ),
    "a raised version": (
        handing_on({"price": 5}, "price: int", GATE, version=2),
        "it began with version=0, and this is version=2",
    ),
    "a new parameter": (
        handing_on({"price": 5, "unit": "EUR"}, "price: int, unit: str", GATE, takes="n: int"),
        "nothing was handed on to 'end' as 'unit'; a new parameter needs a default",
    ),
    "another type": (
        handing_on({"price": {}}, "price: dict[str, int]", GATE, takes="n: int"),
        "what was handed on to 'end' as 'price' no longer fits",
    ),
    "other arguments": (
        handing_on({"price": 5}, "price: int", GATE, takes="n: str"),
        "its arguments no longer fit",
    ),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_the_log_says_why_a_call_ended_and_what_to_do_without_its_values(
    trouble: tuple[Toolbox, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Security 23: names of the author's, and no values."""
    new, because = trouble
    sent = {"n": 1234567}
    state = begun(handing_on({"price": 7654321}, "price: int", GATE, takes="n: int"), "start", sent)

    refused = Server(new).refuse("start", sent, state=state, ok=YES)

    (record,) = caplog.records
    assert (refused.data, record.levelno) == (NO_LONGER_FITS, logging.WARNING)
    assert record.getMessage().startswith(f"requestState refused: no_longer_fits: {because} (key=")
    assert "1234567" not in caplog.text
    assert "7654321" not in caplog.text
    assert state not in caplog.text


def test_the_log_says_why_a_call_began_anew(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    Server(build("", GATE, version=1)).ask("go", state=begun(build("", GATE), "go"), ok=YES)

    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.getMessage().startswith(
        "go begins anew: no_longer_fits: it began with version=0, and this is version=1 (key="
    )


# What operators change


@pytest.mark.parametrize(("ttl", "late"), [(300, True), (600, False), (3600, False)])
def test_the_ttl_of_the_machine_that_gets_the_answer_counts(ttl: float, late: bool) -> None:
    """Security 7."""
    clock, old = Clock(), Server(handing_on({}, "", GATE), ttl=600)
    state = old.ask("start").state
    clock.now += 500
    server = Server(handing_on({}, "", GATE), clock=clock, ttl=ttl)

    if late:
        assert server.refuse("start", state=state, ok=YES).data == {"reason": "expired"}
    else:
        assert not server.end("start", state=state, ok=YES).is_error


@pytest.mark.parametrize(("audience", "goes_on"), [("shop", True), ("store", False)])
def test_a_server_goes_on_with_its_calls_while_it_keeps_its_audience(audience: str, goes_on: bool) -> None:
    """Which is the name of the toolbox where none is given."""
    state = begun(build("", GATE), "go")
    server = Server(build("", GATE), audience=audience)

    if goes_on:
        assert not server.end("go", state=state, ok=YES).is_error
    else:
        assert (server.refuse("go", state=state, ok=YES).reason, server.ran) == ("unknown_key", [])


def kinds(name: str, *aliases: str, version: int = 0) -> Toolbox:
    """A prompt and a resource that go on with one step."""
    toolbox = Toolbox("kinds")

    @toolbox.step(name=name, aliases=aliases)
    @needs_input(ok=confirm("Go?"))
    def end(what: str) -> str:
        return f"the {what}"

    @toolbox.prompt(version=version)
    def greet() -> str:
        return then(end, what="greeting")

    @toolbox.resource("notes://today", version=version)
    def today() -> str:
        return then(end, what="note")

    return toolbox


@pytest.mark.parametrize(("target", "seen"), [("greet", "greeting"), ("notes://today", "note")])
def test_prompts_and_resources_are_upgraded_as_tools_are(target: str, seen: str) -> None:
    old = kinds("end")

    assert Player(old, upgrades=[kinds("last", "end")]).play(target, ok=True).text == f"the {seen}"
    for upgrade in (kinds("last"), kinds("end", version=1)):
        with pytest.raises(InvalidState) as caught:
            Player(old, upgrades=[upgrade]).play(target, ok=True)
        assert caught.value.data == NO_LONGER_FITS


# States of a newer build


def test_an_older_build_goes_on_with_the_state_of_a_newer_one_where_it_knows_the_step() -> None:
    """The new parameter is not missed, and the new question not asked."""
    handed = {"price": 5, "unit": "EUR"}
    old = handing_on({"price": 5}, "price: int, b: str", {"b": "B?"}, GATE)
    new = handing_on(handed, "price: int, unit: str, a: str, b: str", {"a": "A?", "b": "B?"}, GATE)
    first = Server(new).ask("start")
    second = Server(new).ask("start", state=first.state, a=accept(a="x"))

    server = Server(old)
    third = server.ask("start", state=second.state, b=accept(b="b"))

    assert list(third.requests) == ["ok"]
    assert server.end("start", state=third.state, ok=YES).value == "5 b"


def test_an_older_build_asks_what_it_asks_and_the_newer_one_keeps_what_it_knows() -> None:
    old, new = (build(f"a: str, {other}: str", {"a": "A?", other: "Other?"}) for other in ("b", "c"))
    first = Server(old).ask("go")
    second = Server(new).ask("go", state=first.state, a=accept(a="a"))
    assert list(second.requests) == ["c"]

    third = Server(old).ask("go", state=second.state, c=accept(c="c"))
    assert list(third.requests) == ["b-2"]
    assert Server(old).end("go", state=third.state, **{"b-2": accept(b="b")}).value == "a b"


def test_an_older_build_refuses_a_state_at_a_step_that_it_does_not_have() -> None:
    new = handing_on({}, "", GATE)
    old = build("", name="start")

    refused = Server(old).refuse("start", state=begun(new, "start"), ok=YES)

    assert refused.data == NO_LONGER_FITS


class Newer(Progress):
    """What a call has in a release of the library that keeps something more."""

    more: dict[str, JsonValue] = {}  # noqa: RUF012  read only

    def to_json(self) -> dict[str, JsonValue]:
        return {**Progress.to_json(self), **self.more}


def newer(**more: JsonValue) -> Newer:
    """As far as `ok`, and what only the newer release knows."""
    machine = begin(build("", GATE), "go")
    assert asked(machine) == ["ok"]
    known = {name: getattr(machine.progress, name) for name in Progress.__dataclass_fields__}
    progress = Newer(**known)
    progress.more = more
    return progress


def test_a_release_that_knows_all_of_a_state_of_a_newer_one_goes_on_with_it() -> None:
    server = Server(build("", GATE))

    state = server.signer.dumps(newer(), Call("go"))

    assert not server.end("go", state=state, ok=YES).is_error


@pytest.mark.parametrize("what", [{"claims": {"ok": 1}}, {"slots": {"a": ["pin", 1, None, True, "more"]}}])
def test_a_release_that_does_not_know_all_of_a_state_refuses_it(
    what: dict[str, JsonValue], caplog: pytest.LogCaptureFixture
) -> None:
    """What it would leave out may be what the newer one counts on. The caller can call again."""
    server = Server(build("", GATE))

    refused = server.refuse("go", state=server.signer.dumps(newer(**what), Call("go")), ok=YES)

    assert (refused.reason, refused.data, server.ran) == ("format", None, [])
    assert "its payload was written by another version of mrtr_tools" in caplog.text


def test_what_pins_a_question_is_the_same_in_every_release() -> None:
    """Else an upgrade of the library asks again all that is open.

    Whoever changes it on purpose says so in the changelog and records these anew.
    """
    groups = {"a": "Which one of {n}?", "b": "B?", **GATE}
    machine = begin(build("n: int, a: str, b: Literal['x', 'y'] = 'x'", groups), "go", {"n": 2})
    assert asked(machine) == ["a", "b", "ok"]

    assert machine.progress.given == "363379742f80b51b"
    assert {key: question.pin for key, question in machine.progress.open.items()} == {
        "a": "199c19229c0b6833",
        "b": "94dc82108b882fc9",
        "ok": "ed626e0aa28009d5",
    }
