"""How often a client comes back, on a clock that jumps to whatever is next."""

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, cast

import anyio
import pytest
import trio
from mcp import ClientSession, MCPError, types
from trio.testing import MockClock

from mrtr_tools.client import DetailedTask, follow, patience

ASKED = types.ElicitRequest(
    params=types.ElicitRequestFormParams(message="Which?", requested_schema={"type": "object", "properties": {}})
)


def at_once(work: Callable[[], Awaitable[None]]) -> None:
    trio.run(work, clock=MockClock(autojump_threshold=0))


class Session:
    """A server that answers at once: ``tasks/get`` with the next of `tasks`; `seen` is when which method came."""

    def __init__(self, *tasks: DetailedTask) -> None:
        self.tasks = list(tasks)
        self.seen: list[tuple[str, float]] = []
        self._began = anyio.current_time()

    async def send_request(self, request: types.Request[Any, Any], result_type: object) -> object:
        self.seen.append((request.method, round(anyio.current_time() - self._began, 3)))
        return self.tasks.pop(0) if request.method == "tasks/get" else types.EmptyResult()


def task(status: Any = "working", poll: int | None = None, **more: Any) -> DetailedTask:
    return DetailedTask(task_id="t", status=status, poll_interval_ms=poll, **more)


def test_a_task_is_looked_at_at_once_and_then_as_often_as_it_says_each_time():
    """Spec D30."""

    async def work() -> None:
        session = Session(task(poll=2000), task(poll=500), task(), task("cancelled"))
        await follow(cast("ClientSession", session), "t")
        assert session.seen == [("tasks/get", 0), ("tasks/get", 2), ("tasks/get", 2.5), ("tasks/get", 3.5)]

    at_once(work)


@pytest.mark.parametrize(("thinks", "then"), [(0.5, 2), (7, 7)])
def test_the_time_that_an_answer_takes_counts(thinks, then):
    """So that a task is neither looked at sooner than its server wants, nor later than that."""

    async def answer(requests: types.InputRequests) -> dict[str, Any]:
        await anyio.sleep(thinks)
        return {key: {"action": "decline"} for key in requests}

    async def work() -> None:
        session = Session(task("input_required", 2000, input_requests={"q": ASKED}), task("cancelled"))
        await follow(cast("ClientSession", session), "t", answer=answer)
        assert session.seen == [("tasks/get", 0), ("tasks/update", thinks), ("tasks/get", then)]

    at_once(work)


def test_questions_are_left_to_somebody_else_where_nobody_answers_here():
    async def work() -> None:
        session = Session(task("input_required", input_requests={"q": ASKED}), task("cancelled"))
        await follow(cast("ClientSession", session), "t")
        assert [method for method, _ in session.seen] == ["tasks/get", "tasks/get"]

    at_once(work)


def test_what_was_not_begun_is_sent_again_later_and_later_for_a_quarter_of_a_minute():
    async def work() -> None:
        began, times = anyio.current_time(), list[float]()

        async def send() -> None:
            times.append(anyio.current_time() - began)
            raise MCPError(-31001, "send it again later")

        with pytest.raises(MCPError):
            await patience.patiently(send)
        pauses = [after - before for before, after in pairwise(times)]
        assert len(times) == 7
        assert all(delay / 2 <= pause <= delay for pause, delay in zip(pauses, patience.DELAYS, strict=True))
        assert 7 < times[-1] < 16

    at_once(work)


def test_another_error_is_not_sent_again():
    async def work() -> None:
        sent: list[int] = []

        async def send() -> None:
            sent.append(1)
            raise MCPError(-32602, "There is no such task")

        with pytest.raises(MCPError):
            await patience.patiently(send)
        assert sent == [1]

    at_once(work)
