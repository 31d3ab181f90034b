"""A client that keeps all states and sends them again: with any answers, at the same time, late, from other clients."""

import random
from collections import Counter
from collections.abc import Callable

import anyio
import pytest
from pydantic import JsonValue

from mrtr_tools import Toolbox
from mrtr_tools.calls import Call, InputRequired
from mrtr_tools.errors import RequestError
from mrtr_tools.runner import handle_call
from mrtr_tools.single_use import Ledger, MemoryClaims
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import TESTING_KEYS
from tests.rounds_by_hand import FORMS, MUTE
from tests.single_use.orders import steps, whole
from tests.wire_by_hand import NO, YES, accept

pytestmark = pytest.mark.anyio

ANSWERS = {
    "name": [accept(name="nobody"), accept(name="Ann"), accept(name="Bob"), accept(name=3)],
    "ok": [YES, YES, YES, NO],
    "stars": [accept(stars=1), accept(stars=5)],
}


class Client:
    """It draws what it does; of one call it knows every state that it was ever given."""

    def __init__(self, toolbox: Toolbox, seed: int) -> None:
        self.toolbox = toolbox
        self.draw = random.Random(seed)
        self.now = 1_000_000.0
        self.signer = StateSigner(TESTING_KEYS, "t", ttl=600, clock=lambda: self.now)
        self.ledger = Ledger(MemoryClaims(lambda: self.now), self.signer)
        self.given: list[InputRequired] = []

    async def send(self, call: Call) -> None:
        try:
            reply = await handle_call(
                self.toolbox, call, self.signer, ledger=self.ledger, is_busy=lambda: self.draw.random() < 0.2
            )
        except RequestError:
            return
        if isinstance(reply, InputRequired):
            self.given.append(reply)

    async def send_something(self) -> None:
        asked = self.draw.choice(self.given[-4:] if self.draw.random() < 0.8 else self.given)
        answers: dict[str, JsonValue] = {
            key: self.draw.choice(ANSWERS[key.partition("-")[0]]) for key in asked.requests if self.draw.random() < 0.85
        }
        client = MUTE if self.draw.random() < 0.05 else FORMS
        await self.send(Call("order", {}, answers, asked.state, client=client))

    async def try_everything(self) -> None:
        """One call, and 25 times some of its states at the same time."""
        await self.send(Call("order", client=FORMS))
        for _ in range(25):
            async with anyio.create_task_group() as tasks:
                for _ in range(self.draw.choice([1, 1, 2, 4])):
                    tasks.start_soon(self.send_something)
            self.now += self.draw.choice([0, 0, 0, 1, 50, 100, 400])


@pytest.mark.parametrize("tool", [whole, steps], ids=["tool", "steps"])
async def test_whatever_a_client_sends_again_nothing_happens_twice(tool: Callable[..., Toolbox]):
    """Security 4."""
    effects = Counter[str]()
    toolbox, happened = tool(effects), Counter[str]()
    for seed in range(60):
        effects.clear()
        await Client(toolbox, seed).try_everything()
        del effects["quoted"]  # that is no effect: each name has its price
        assert all(times == 1 for times in effects.values()), (seed, effects)
        happened += effects
    assert min(happened.values()) > 5  # and all of it does happen
