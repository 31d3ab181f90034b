"""Await-style bodies and clients made up by Hypothesis: a body sees each answer once, and in its place.

A generated body is a tree of asks, of what runs once, of branches that ask together, and of helpers that run once and
ask inside. Its result is all that it saw.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from hypothesis import given, settings, strategies as st

from mrtr_tools import Toolbox
from mrtr_tools.porting import resumable
from mrtr_tools.testing import Conversation, Player
from tests.porting.loose import Context

few = settings(max_examples=40)

Plan = tuple[Any, ...]
"""``("ask", text, swallows)``, ``("once",)``, ``("all", plans)`` or ``("helper", plans)``."""
leaves = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(["Same?", "Same?", "Other?"]), st.booleans()), st.tuples(st.just("once"))
)
plans = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(["all", "helper"]), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=6,
)
bodies = st.lists(plans, min_size=1, max_size=4)


@dataclass
class Ran:
    """What ran once, by the order of running, over all rounds."""

    count: int = 0

    def once(self) -> int:
        self.count += 1
        return self.count


@dataclass(frozen=True)
class Body:
    """Plays a plan."""

    ran: Ran
    ctx: Context

    async def play(self, step: Plan) -> str:
        match step:
            case ("ask", text, swallows):
                return await self.ask(text, swallows=swallows)
            case ("once",):
                return f"once {await self.ctx.once(self.ran.once)}"
            case ("all", steps):
                return str(await self.ctx.gather(*map(self.play, steps)))
            case _:
                return str(await self.ctx.once(self.in_turn, step[1]))

    async def in_turn(self, steps: list[Plan]) -> str:
        return " ".join([await self.play(inner) for inner in steps])

    async def ask(self, text: str, *, swallows: bool) -> str:
        try:
            return (await self.ctx.elicit(text, response_type=str)).data
        except BaseException:
            if swallows:
                return "went on"
            raise


def body_of(plan: list[Plan], ran: Ran) -> Toolbox:
    toolbox = Toolbox("bodies")

    @toolbox.tool(max_rounds=200)
    @resumable
    async def go(ctx: Context) -> str:
        return await Body(ran, ctx).in_turn(plan)

    return toolbox


async def talk(toolbox: Toolbox, answer: Callable[[Conversation], Mapping[str, Any]]) -> Conversation:
    conversation = await Player(toolbox).start("go")
    while not conversation.done:
        await conversation.send(answer(conversation))
    return conversation


def accept(text: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"value": text}}


def by_key(conversation: Conversation) -> Mapping[str, Any]:
    """All answers at once; each tells the key that it was asked under."""
    return {key: accept(f"<{key}>") for key in conversation.open}


def asks_in(plan: Plan) -> int:
    """How many asks a plan has."""
    return 1 if plan[0] == "ask" else sum(map(asks_in, plan[1])) if len(plan) > 1 else 0


@few
@given(bodies, st.data())
def test_withheld_split_and_repeated_answers_come_to_the_same_end(plan: list[Plan], data: st.DataObject):
    """Each ask is answered once, nothing runs twice, and no key serves two questions."""
    straight, split = Ran(), Ran()
    sent: dict[str, Any] = {}

    def now_and_then(conversation: Conversation) -> Mapping[str, Any]:
        # At least every third round brings something, or the call would never end.
        hurry = conversation.rounds % 3 == 0
        keys = data.draw(st.lists(st.sampled_from(sorted(conversation.open)), min_size=int(hurry), unique=True))
        repeated = data.draw(st.lists(st.sampled_from(sorted(sent) or ["unknown"]), unique=True))
        now = {key: accept(f"<{key}>") for key in keys}
        sent.update(now)
        return {**{key: accept("stale") for key in repeated if key not in conversation.open}, **now}

    one = anyio.run(talk, body_of(plan, straight), by_key)
    other = anyio.run(talk, body_of(plan, split), now_and_then)

    asked = sum(map(asks_in, plan))
    assert sorted(one.messages) == sorted(other.messages)
    assert len(one.messages) == asked
    assert one.text.count("<") == other.text.count("<") == asked
    assert "stale" not in other.text
    assert "went on" not in one.text + other.text
    assert straight.count == split.count


@few
@given(bodies)
def test_a_body_that_is_played_twice_differs_in_nothing(plan: list[Plan]):
    async def twice() -> Conversation:
        conversation = await Player(body_of(plan, Ran()), double_run=True).start("go")
        while not conversation.done:
            await conversation.send(by_key(conversation))
        return conversation

    assert anyio.run(twice).text == anyio.run(talk, body_of(plan, Ran()), by_key).text
