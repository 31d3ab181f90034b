"""What a step may know of its call, and how it reaches the client meanwhile."""

from dataclasses import replace

import pytest
from pydantic import JsonValue

from mrtr_tools import Context
from mrtr_tools.calls import Call, Client
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import FORMS, again, begin, play, tool

CALL_ID = "AAAAAAAAAAAAAAAAAAAAAA"
HERE = Context(call_id=CALL_ID, idempotency_key=f"{CALL_ID}:0:pay")


class Notes:
    """A channel that writes down what goes through it."""

    def __init__(self) -> None:
        self.sent: list[tuple[object, ...]] = []

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.sent.append(("progress", progress, total, message))

    async def log(self, level: str, data: JsonValue, logger: str | None) -> None:
        self.sent.append(("log", level, data, logger))


# The handle


def test_a_handle_is_the_same_in_every_round_of_a_call_and_another_in_every_call():
    later = replace(HERE, round=5, idempotency_key=f"{CALL_ID}:3:ship", principal="alice", client=FORMS)

    assert later.handle == HERE.handle
    assert replace(HERE, call_id="BAAAAAAAAAAAAAAAAAAAAA").handle != HERE.handle


def test_a_handle_tells_nothing_of_the_call_id_and_fits_into_a_url():
    """Security 22: 128 bits that are not the call id, nor a part of it."""
    assert HERE.handle != CALL_ID
    assert not set(HERE.handle) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert len(HERE.handle) == 22


def test_a_handle_is_the_same_on_every_machine_and_in_every_version():
    """Pages hold on to it while a call is under way, also through a redeploy."""
    assert HERE.handle == "SpNzkfthc0mSEqcCUpYXaA"


def test_a_step_and_the_texts_of_its_questions_see_the_same_handle():
    seen: list[str] = []

    def pay(ctx: Context) -> str:
        seen.append(ctx.handle)
        return ctx.handle

    machine = begin(tool(pay), "pay")
    play(machine)

    assert seen == [Context(machine.progress.call, "").handle]


# What a step is told


def test_a_step_is_told_what_its_request_brought():
    told: list[Context] = []

    def pay(ctx: Context) -> str:
        told.append(ctx)
        return "paid"

    channel, lifespan = Notes(), {"db": object()}
    client = Client({"elicitation": {}}, "claude", "1.0")
    call = Call("pay", client=client, principal="alice", channel=channel, lifespan=lifespan)
    machine = Round(tool(pay), call)
    play(machine)

    (ctx,) = told
    name = machine.progress.call
    assert ctx == Context(name, f"{name}:0:pay", 0, "alice", client, lifespan)
    assert ctx.lifespan is lifespan
    assert ctx.channel is channel


def test_a_context_shows_neither_its_lifespan_nor_its_channel():
    shown = repr(replace(HERE, lifespan="sqlite://password@db", channel=Notes()))

    assert "password" not in shown
    assert "Notes" not in shown


# Progress and logs


@pytest.mark.anyio
async def test_progress_and_logs_go_through_the_channel():
    channel = Notes()
    ctx = replace(HERE, channel=channel)

    await ctx.report_progress(1)
    await ctx.report_progress(2.5, total=10, message="half way")
    await ctx.log("info", "started")
    await ctx.log("error", {"code": 7}, logger="billing")

    assert channel.sent == [
        ("progress", 1, None, None),
        ("progress", 2.5, 10, "half way"),
        ("log", "info", "started", None),
        ("log", "error", {"code": 7}, "billing"),
    ]


@pytest.mark.anyio
async def test_without_a_channel_progress_and_logs_go_nowhere():
    await HERE.report_progress(1, 2, "half way")
    await HERE.log("info", "started")


def test_contexts_are_equal_whatever_channel_they_have():
    """So that a unit test can compare them."""
    assert replace(HERE, channel=Notes()) == HERE


def test_another_round_has_its_own_channel():
    channels: list[object] = []

    def pay(name: str, ctx: Context) -> str:
        channels.append(ctx.channel)
        return name

    first, second = Notes(), Notes()
    box = tool(pay, {"name": "Who?"})
    machine = Round(box, Call("pay", client=FORMS, channel=first))
    play(machine)
    machine = again(machine, {"name": {"action": "accept", "content": {"name": "Ann"}}})
    machine.call = replace(machine.call, channel=second)
    play(machine)

    assert channels == [second]
