"""Single use among real processes: forks, fifty at once, a kill between claim and effect, and a place that is gone."""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mrtr_tools import DefinitionError
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from tests.server.processes import Served, serving
from tests.server.raw_http import Answer, accept, call, posted, written
from tests.single_use.stores import redis_server
from tests.single_use.till import toolbox

SERVE = str(Path(__file__).with_name("serve.py"))
KEY = generate_key()
YES = {"ok": accept(ok=True)}
SECONDS = 20


@contextmanager
def till(folder: Path, claims: str, **more: str) -> Iterator[Served]:
    """One server of the till."""
    given = {"KEY": KEY, "CLAIMS": claims, "RAN": str(folder / "ran"), "OPEN": str(folder / "open")}
    with serving([SERVE], **given | more) as served:
        yield served


def ran(folder: Path) -> list[str]:
    """What ran, in order."""
    notes = folder / "ran"
    return notes.read_text().splitlines() if notes.exists() else []


def state(answer: Answer) -> str:
    return answer.result["requestState"]


def text(answer: Answer) -> str:
    return answer.result["content"][0]["text"]


def reason(answer: Answer) -> tuple[int, str]:
    return answer.error["code"], answer.error["data"]["reason"]


def test_fifty_sends_of_one_state_to_four_processes_happen_once(shared_claims: str, tmp_path: Path):
    """Security 4."""
    with ExitStack() as stack:
        urls = [stack.enter_context(till(tmp_path, shared_claims)).url for _ in range(4)]
        token = state(call(urls[0], "shop", {"item": "tea"}))

        def send(number: int) -> Answer:
            given = {"amount": accept(amount=5)}
            return call(urls[number % 4], "shop", {"item": "tea"}, inputResponses=given, requestState=token)

        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(send, range(50)))
        again = [send(number) for number in range(4)]
    done = [answer for answer in answers if "result" in answer.body]
    assert len(ran(tmp_path)) == 1
    assert done
    assert {text(answer) for answer in done + again} == {"tea for 5"}
    assert {reason(answer) for answer in answers if answer not in done} <= {(-31001, "in_progress")}


def test_a_fork_cannot_run_the_effect_twice_and_a_repeat_gets_what_was_left(shared_claims: str, tmp_path: Path):
    """Security 4: one state, two amounts, two machines."""
    with till(tmp_path, shared_claims) as one, till(tmp_path, shared_claims) as two:
        token = state(call(one.url, "shop", {"item": "tea"}))

        def send(url: str, amount: int) -> Answer:
            given = {"amount": accept(amount=amount)}
            return call(url, "shop", {"item": "tea"}, inputResponses=given, requestState=token)

        first, forked, repeated = send(one.url, 10), send(two.url, 999), send(two.url, 10)
    assert [line.split()[1] for line in ran(tmp_path)] == ["10"]
    assert text(first) == "tea for 10"
    assert reason(forked) == (-32602, "used")
    assert repeated.result["content"] == first.result["content"]


def test_asking_again_leaves_the_effect_to_the_next_answer(shared_claims: str, tmp_path: Path):
    with till(tmp_path, shared_claims) as one, till(tmp_path, shared_claims) as two:
        token = state(call(one.url, "shop", {"item": "tea"}))
        nothing = {"amount": accept(amount=0)}
        asked = call(two.url, "shop", {"item": "tea"}, inputResponses=nothing, requestState=token)
        given = {"amount-2": accept(amount=5)}
        done = call(one.url, "shop", {"item": "tea"}, inputResponses=given, requestState=state(asked))
    assert text(done) == "tea for 5"
    assert [line.split()[1] for line in ran(tmp_path)] == ["0", "5"]


def test_a_tool_that_asks_nothing_hands_back_first_and_happens_once(shared_claims: str, tmp_path: Path):
    """Security 4: two sends of the first request are two calls, and neither of them acts."""
    with till(tmp_path, shared_claims) as one, till(tmp_path, shared_claims) as two:
        handed = call(one.url, "fire")
        call(one.url, "fire")
        before = ran(tmp_path)
        answers = [call(url, "fire", requestState=state(handed)) for url in (two.url, one.url, two.url)]
    assert handed.result["resultType"] == "input_required"
    assert "inputRequests" not in handed.result
    assert before == []
    assert [text(answer) for answer in answers] == ["fired"] * 3
    assert ran(tmp_path) == ["fire"]


@pytest.mark.parametrize(("tool", "again"), [("slow", 0), ("stubborn", 1)])
def test_a_kill_between_claim_and_effect(tool: str, again: int, shared_claims: str, tmp_path: Path):
    """Security 4: nobody does it again, unless the author said so; then with the same idempotency key."""
    pool = ThreadPoolExecutor(1)
    with till(tmp_path, shared_claims) as one, till(tmp_path, shared_claims) as two:
        token = state(call(one.url, tool))

        def send(url: str) -> Answer:
            return call(url, tool, inputResponses=YES, requestState=token)

        lost = pool.submit(send, one.url)
        while not ran(tmp_path):  # until it is inside
            assert not lost.done()
        meanwhile = send(two.url)
        one.process.kill()
        assert lost.exception(SECONDS) is not None
        soon = send(two.url)
        (tmp_path / "open").touch()
        with till(tmp_path, shared_claims, AHEAD="600") as later:
            first, second = send(later.url), send(later.url)
    assert reason(meanwhile) == reason(soon) == (-31001, "in_progress")
    if again:
        assert [text(first), text(second)] == ["done", "done"]
    else:
        assert reason(first) == reason(second) == (-32602, "unfinished")
    lines = ran(tmp_path)
    assert len(lines) == 1 + again
    assert len(set(lines)) == 1


def test_a_client_that_goes_away_inside_finds_what_came_of_it(shared_claims: str, tmp_path: Path):
    """Security 4: what was begun is not cut short when nobody waits for it any more, and the repeat loses nothing."""
    with till(tmp_path, shared_claims) as one, till(tmp_path, shared_claims) as two:
        sent = {"inputResponses": YES, "requestState": state(call(one.url, "slow"))}
        gone = posted(one.url, *written("tools/call", {"name": "slow", "arguments": None, **sent}))
        end = time.monotonic() + SECONDS
        while not ran(tmp_path):
            assert time.monotonic() < end
        gone.close()
        meanwhile = call(two.url, "slow", **sent)
        (tmp_path / "open").touch()
        while "error" in (answer := call(two.url, "slow", **sent)).body:
            assert reason(answer) == (-31001, "in_progress")
            assert time.monotonic() < end
    assert reason(meanwhile) == (-31001, "in_progress")
    assert text(answer) == "done"
    assert len(ran(tmp_path)) == 1


def test_a_place_for_claims_that_is_gone_refuses(tmp_path: Path):
    """Security 4: it fails closed."""
    (tmp_path / "redis").mkdir()
    with ExitStack() as stack:
        with redis_server(tmp_path / "redis") as url:
            served = stack.enter_context(till(tmp_path, url))
            token = state(call(served.url, "fire"))
        answer = call(served.url, "fire", requestState=token)
    assert reason(answer) == (-31001, "unavailable")
    assert ran(tmp_path) == []


# What does not start


def test_over_http_nobody_in_particular_uses_things_once_unless_the_server_says_so():
    """Security 12."""
    with pytest.raises(DefinitionError, match=r"charge.* may run once.*anonymous_ok=True"):
        http_app(toolbox, keys=[KEY], claims="claims")


def test_a_server_must_say_where_claims_are_kept():
    with pytest.raises(DefinitionError, match=r"charge.*claims="):
        http_app(toolbox, keys=[KEY], anonymous_ok=True)


def test_claims_for_a_toolbox_that_has_none_make_no_file(tmp_path: Path):
    plain: Any = type(toolbox)("plain")
    http_app(plain, keys=[KEY], claims=str(tmp_path / "claims"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_there_is_a_redis_for_these_tests(redis_url: str):
    assert redis_url.startswith("redis://127.0.0.1:")
