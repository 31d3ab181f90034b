"""One misfortune at any point of a call, and a client that sends again what was not answered: effects happen once."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

import pytest
from pydantic import JsonValue

from mrtr_tools import Toolbox
from mrtr_tools.calls import Call, Complete, InputRequired, Reply
from mrtr_tools.errors import AlreadyDone, Busy
from mrtr_tools.runner import handle_call
from mrtr_tools.single_use import Ledger, MemoryClaims
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import TESTING_KEYS
from tests.rounds_by_hand import FORMS
from tests.single_use.orders import steps, whole
from tests.wire_by_hand import YES, accept

pytestmark = pytest.mark.anyio

Misfortune = Literal["not written", "written and not told", "killed before", "killed after"]
T = TypeVar("T")

MOST = 20  # requests of one call; the longest needs 14


class Killed(BaseException):
    """The process is no more: nothing of it does anything from then on."""


@dataclass
class Machine:
    """Claims in memory, as one process after the other sees them; one operation, counted from 0, meets a misfortune."""

    at: int
    how: Misfortune
    claims: MemoryClaims
    operations: int = 0
    is_dead: bool = False

    async def _do(self, operation: Callable[[], Awaitable[T]]) -> T:
        if self.is_dead:
            raise Killed
        number, self.operations = self.operations, self.operations + 1
        if number == self.at and self.how in ("not written", "killed before"):
            self._fail()
        done = await operation()
        if number == self.at:
            self._fail()
        return done

    def _fail(self) -> None:
        if self.how in ("killed before", "killed after"):
            self.is_dead = True
            raise Killed
        raise ConnectionError

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        return await self._do(lambda: self.claims.add(name, value, keep))

    async def replace(self, name: str, old: bytes, new: bytes, keep: float) -> bool:
        return await self._do(lambda: self.claims.replace(name, old, new, keep))

    async def remove(self, name: str, old: bytes) -> bool:
        return await self._do(lambda: self.claims.remove(name, old))


class Story:
    """One call with one misfortune, and one reply that gets lost."""

    def __init__(self, toolbox: Toolbox, at: int, how: Misfortune, lost: int) -> None:
        self.told_as = f"{toolbox!r}: operation {at} {how}, reply {lost} lost"
        self.toolbox = toolbox
        self.lost = lost
        self.now = 1_000_000.0
        self.machine = Machine(at, how, MemoryClaims(lambda: self.now))
        self.signer = StateSigner(TESTING_KEYS, "t", ttl=24 * 3600, clock=lambda: self.now)
        self.ledger = Ledger(self.machine, self.signer)

    async def told(self) -> Reply | str:
        """How it ends: the last reply, or why there is none."""
        call, names, replies = Call("order", client=FORMS), iter(["nobody", *["Ann"] * 9]), 0
        for _ in range(MOST):
            try:
                reply = await handle_call(self.toolbox, call, self.signer, ledger=self.ledger)
            except Busy:
                self.now += 40
                continue
            except AlreadyDone as refused:
                return str(cast("dict[str, str]", refused.data)["reason"])
            except Killed:
                self.machine.is_dead = False
                continue
            replies += 1
            if replies - 1 == self.lost:
                continue
            if isinstance(reply, Complete):
                return reply
            assert isinstance(reply, InputRequired)
            answers: dict[str, JsonValue] = {key: self._answer(key, names) for key in reply.requests}
            call = Call("order", {}, answers, reply.state, client=FORMS)
        raise AssertionError("it has no end")

    def _answer(self, key: str, names: Iterator[str]) -> JsonValue:
        match key.partition("-")[0]:
            case "name":
                return accept(name=next(names))
            case "stars":
                return accept(stars=5)
            case _:
                return YES


END = {
    whole: Complete("Ann 2, 5 stars", {"result": "Ann 2, 5 stars"}),
    steps: Complete("sealed", {"result": "sealed"}),
}
Tool = Callable[..., Toolbox]
tools = pytest.mark.parametrize("tool", END, ids=["tool", "steps"])


async def ends(tool: Tool, *misfortunes: Misfortune, **options: Any) -> list[tuple[str, Reply | str, Counter[str]]]:
    """How a call ends with each misfortune at each point and each reply lost, and what it did how often."""
    effects = Counter[str]()
    toolbox = tool(effects, **options)
    plain = Story(toolbox, -1, "not written", -1)
    assert await plain.told() == END[tool]
    found: list[tuple[str, Reply | str, Counter[str]]] = []
    for how in misfortunes:
        for at in range(plain.machine.operations):
            for lost in (-1, 1, 2, 3):
                effects.clear()
                story = Story(toolbox, at, how, lost)
                found.append((story.told_as, await story.told(), effects.copy()))
    assert len(found) > 60
    return found


def most(effects: Counter[str]) -> int:
    """How often anything happened at most. A price for another name is another price."""
    return max((times - (what == "quoted") for what, times in effects.items()), default=0)


@tools
async def test_a_place_for_claims_that_fails_once_changes_nothing(tool: Tool):
    """Security 4."""
    for story, end, effects in await ends(tool, "not written", "written and not told"):
        assert end == END[tool], story
        assert most(effects) == 1, story


@tools
async def test_a_process_that_is_killed_repeats_nothing_and_says_so_where_nobody_knows(tool: Tool):
    """Security 4."""
    told = await ends(tool, "killed before", "killed after")
    for story, end, effects in told:
        assert end in ("unfinished", END[tool]), story
        assert most(effects) <= 1, story
    assert {isinstance(end, str) for _, end, _ in told} == {True, False}


@tools
async def test_a_process_that_is_killed_is_followed_by_another_where_the_author_says_so(tool: Tool):
    """Security 4: once more at most, for it is killed once."""
    told = await ends(tool, "killed before", "killed after", on_crash="rerun")
    for story, end, effects in told:
        assert isinstance(end, Complete), story
        assert not end.is_error, story
        assert most(effects) <= 2, story
    assert {most(effects) for _, _, effects in told} >= {1, 2}
