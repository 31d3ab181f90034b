"""What others reported of this kind of software: size and limits.

Nothing of it is left out. What is said of bodies and lines that are too long is tested with real servers, in
`tests/server/test_http.py` and `test_stdio.py`.
"""

import inspect
import re
from collections.abc import Callable

import pytest

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.server import http_app, run_http, run_stdio
from mrtr_tools.server.envelope import MAX_REQUEST
from mrtr_tools.state import MAX_PAYLOAD, MAX_TOKEN
from tests.attacker import Server


def test_too_much_to_carry_is_refused_with_its_size_the_limit_and_the_biggest_part() -> None:
    """Reported as agentgateway/agentgateway#3578: three megabytes handed on; the limit is far below any proxy's."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(show, report="x" * 3 * 2**20, title="Report")

    @toolbox.step
    @needs_input(ok=confirm("Show {title}?"))
    def show(report: str, title: str) -> str:
        return report

    done = Server(toolbox).end("start")

    assert done.is_error
    told = re.fullmatch(
        rf"This call has to carry (\d+) bytes and may carry {MAX_PAYLOAD}; the largest: (.*)", str(done.value)
    )
    assert told is not None, done
    assert 3 * 2**20 < int(told[1]) < 3 * 2**20 + 500
    assert told[2].startswith("value report (3145730 bytes), ")
    assert MAX_PAYLOAD <= 2**20 // 16
    assert "xxx" not in str(done.value)


def test_what_no_question_interrupts_does_not_have_to_fit_a_state() -> None:
    """The budget is that of a state, and without a question there is none.

    Reported as agentgateway/agentgateway#3578.
    """
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> int:
        return then(count, report="x" * 3 * 2**20)

    @toolbox.step
    def count(report: str) -> int:
        return len(report)

    assert Server(toolbox).end("start").value == 3 * 2**20


def test_an_argument_that_is_handed_on_unchanged_costs_no_bytes() -> None:
    """Reported as agentgateway/agentgateway#3578: it is bound, not carried."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def start(report: str) -> int:
        return then(count, report=report)

    @toolbox.step
    @needs_input(ok=confirm("Count?"))
    def count(report: str) -> int:
        return len(report)

    server = Server(toolbox)
    small, large = (server.ask("start", {"report": "x" * size}) for size in (1, 500_000))

    assert len(str(small.state)) == len(str(large.state)) < 500


def test_a_state_of_more_than_a_megabyte_is_refused_by_its_length() -> None:
    """Whatever carried it, the same limit holds; the adapters refuse the body before that.

    Reported as ChronoAIProject/NyxID#1461.
    """
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return "done"

    assert Server(toolbox).refuse("start", state="A" * 1_200_000).reason == "length"
    assert MAX_TOKEN < MAX_REQUEST, "the longest state that can be genuine, and its call, fit into a body"


@pytest.mark.parametrize("start", [run_stdio, run_http, http_app])
def test_the_limit_of_a_message_is_the_same_wherever_it_comes_from(start: Callable[..., object]) -> None:
    """Reported as ChronoAIProject/NyxID#1461: one number, one option, over HTTP and stdio."""
    limit = inspect.signature(start).parameters["max_request"]

    assert (limit.default, MAX_REQUEST) == (MAX_REQUEST, 1024 * 1024)
