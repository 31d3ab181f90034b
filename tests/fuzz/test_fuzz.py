"""The harness in short: its seeds, what it once found, inputs of Hypothesis, and that what it asserts can fail."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.fuzz import answers, lines, messages, tokens
from tests.fuzz.__main__ import TARGETS
from tests.fuzz.genuine import may_run, may_run_pushed, payload_of, sealed
from tests.fuzz.messages import Answer
from tests.fuzz.mutations import NASTY, Members, Mutations, Raw
from tests.fuzz.samples import CALLS, RIGHT, WRONG, first_round, request
from tests.fuzz.watch import look_at, nothing_logged

ROOT = Path(__file__).parents[2]
MODULES: dict[str, Any] = {"tokens": tokens, "messages": messages, "lines": lines, "answers": answers}
MUTATIONS = {name: Mutations(module.SEEDS) for name, module in MODULES.items()}
Check = Callable[[bytes], None]

FOUND: list[tuple[str, bytes]] = [
    # Requests over stdio that nobody answered: half a pair, too many digits, too deep, params that are a list.
    ("lines", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}'),
    ("lines", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":' + b"9" * 4301 + b"}}"),
    ("lines", b'{"params":{"a":' + b"[" * 300 + b"]" * 300 + b'},"jsonrpc":"2.0","method":"tools/call","id":"x"}'),
    ("lines", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}'),
    # A level without a level, as a notification.
    ("lines", lines.hello("2025-11-25") + b'\n{"jsonrpc":"2.0","method":"logging/setLevel"}'),
]
"""Inputs that once broke what must hold."""


@pytest.fixture(scope="module", params=TARGETS)
def target(request: pytest.FixtureRequest) -> Iterator[tuple[str, Check]]:
    with MODULES[request.param].checking() as check:
        yield request.param, check


def test_every_seed_holds(target: tuple[str, Check]):
    name, check = target
    for seed in MODULES[name].SEEDS:
        check(seed)


def test_what_was_found_once_holds(target: tuple[str, Check]):
    name, check = target
    for data in (data for found, data in FOUND if found == name):
        check(data)


@settings(max_examples=150)
@given(data=st.data())
def test_whatever_becomes_of_a_seed_holds(target: tuple[str, Check], data: st.DataObject):
    name, check = target
    changed = data.draw(st.sampled_from(MODULES[name].SEEDS))
    for seed in data.draw(st.lists(st.integers(0, 2**32), min_size=1, max_size=5)):
        changed = MUTATIONS[name](changed, 16_384, seed)
    check(changed)


@settings(max_examples=100)
@given(data=st.binary(max_size=200))
def test_whatever_bytes_hold(target: tuple[str, Check], data: bytes):
    target[1](data)


junk = st.recursive(
    st.sampled_from([value for value in NASTY if not isinstance(value, (Raw, Members))])
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
contents = st.dictionaries(st.sampled_from([*RIGHT, "login", "howMany", "size", "name"]), junk, max_size=4)
responses = (
    st.fixed_dictionaries(
        {"action": st.sampled_from(["accept", "accept", "decline", "cancel", "yes"])},
        optional={"content": contents | junk},
    )
    | st.sampled_from([*RIGHT.values(), *WRONG])
    | junk
)
keys = st.sampled_from([*RIGHT, "ok-2", "day-2", "who.login-2", "other"])


@settings(max_examples=75)
@given(
    number=st.integers(0, len(CALLS)), rounds=st.lists(st.dictionaries(keys, responses, max_size=14) | junk, max_size=6)
)
def test_whatever_is_answered_holds(number: int, rounds: list[Any]):
    answers.check(json.dumps([number, *rounds]).encode())


# What is asserted can fail


def paying() -> dict[str, Any]:
    """A request to pay, with a genuine state and a yes."""
    method, params = CALLS[0]
    asked = first_round(method, params)
    return json.loads(request(method, {**params, "requestState": asked.state, "inputResponses": {"ok": RIGHT["ok"]}}))


def test_a_function_may_run_with_a_genuine_state_of_its_call_and_its_answer():
    assert may_run("pay", paying())
    assert may_run("echo", None)


@pytest.mark.parametrize(
    "change",
    [
        {"requestState": None},
        {"requestState": "A" * 300},
        {"arguments": {"amount": 6}},
        {"arguments": "%2e%2e"},
        {"name": "visit"},
        {"inputResponses": {}},
        {"inputResponses": {"ok-2": RIGHT["ok"]}},
        *({"inputResponses": {"ok": wrong}} for wrong in WRONG),
    ],
    ids=str,
)
def test_a_function_may_not_run_without(change: dict[str, Any]):
    message = paying()
    message["params"] |= change

    assert not may_run("pay", message)


def test_a_function_may_not_run_with_a_state_that_is_genuine_but_for_one_character():
    message = paying()
    state = message["params"]["requestState"]
    for at in range(len(state)):
        message["params"]["requestState"] = state[:at] + ("A" if state[at] != "A" else "B") + state[at + 1 :]
        assert not may_run("pay", message)


def test_states_are_read_as_they_are_made():
    payload = payload_of(paying()["params"]["requestState"])

    assert payload is not None
    assert payload[3:5] == ["tools/call", "pay"]
    assert payload_of(sealed(json.dumps(payload).encode())) == payload


def test_an_older_client_must_have_answered_too():
    assert may_run_pushed("pay", [RIGHT["ok"]])
    assert not may_run_pushed("pay", [RIGHT["page"], *WRONG])


@pytest.mark.parametrize(
    "message",
    [
        {"error": {"code": -32603, "message": "Internal error"}},
        {"result": {"content": [{"type": "text", "text": "The tool failed unexpectedly."}]}},
        {"error": {"code": "x", "message": ""}},
    ],
    ids=str,
)
def test_an_internal_error_is_a_finding(message: Any):
    with pytest.raises(AssertionError):
        look_at(message)


def test_an_error_in_the_log_is_a_finding():
    with pytest.raises(AssertionError, match="went wrong"), nothing_logged():
        logging.getLogger("mcp.server").error("it went wrong")


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"id": 1}, Answer(200, {}, b'{"id":1,"result":{"resultType":"complete"}}')),
        ({"id": 1}, Answer(200, {}, b'{"id":2,"result":{"resultType":"complete"}}', is_complete=True)),
        ({"id": 1}, Answer(500, {}, b'{"id":1,"result":{"resultType":"complete"}}', is_complete=True)),
        ({"id": 1}, Answer(202, {}, b"", is_complete=True)),
        (None, Answer(200, {}, b'{"id":1,"result":{"resultType":"complete"}}', is_complete=True)),
    ],
    ids=["not complete", "of another request", "another status", "no answer", "to nothing"],
)
def test_an_answer_that_is_none_to_a_message_is_a_finding(message: Any, answer: Answer):
    with pytest.raises(AssertionError):
        messages.judge(message, answer)


def test_a_request_without_an_answer_is_a_finding():
    with pytest.raises(AssertionError, match="nobody answered"):
        lines.judge(b"", lines.Out(), {1})


# How inputs are made


def test_the_same_number_makes_the_same_input_of_an_input():
    for name, module in MODULES.items():
        for number, seed in enumerate(module.SEEDS[:20]):
            assert MUTATIONS[name](seed, 4096, number) == MUTATIONS[name](seed, 4096, number)


def test_inputs_are_no_longer_than_they_may_be():
    for number in range(2000):
        seed = messages.SEEDS[number % len(messages.SEEDS)]
        assert len(MUTATIONS["messages"](seed, 500, number)) <= 500


def test_names_come_twice_and_json_that_is_none_is_written():
    made = b"".join(MUTATIONS["messages"](messages.SEEDS[1], 16_384, number) for number in range(3000))

    assert re.search(rb'"id":[^,]+,"id":', made)
    for part in (b"NaN", b"1e400", b"\\ud800", b"9" * 5000, b"[" * 300):
        assert part in made


# The entry point


def run(code: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *code], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=100
    )


def test_a_short_run_finds_nothing(tmp_path: Path):
    done = run(["-m", "tests.fuzz", "tokens", "--seconds", "1"], tmp_path)

    assert done.returncode == 0, done.stderr


def test_without_atheris_inputs_are_changed_blindly(tmp_path: Path):
    without = "import sys; sys.modules['atheris'] = None; from tests.fuzz.__main__ import main; "
    done = run(["-c", without + "main(['tokens', '--seconds', '1'])"], tmp_path)

    assert (done.returncode, done.stderr) == (0, "there is no atheris here, so inputs are changed blindly\n")


def test_what_is_found_is_kept_and_ends_the_run_and_can_be_looked_at_again(tmp_path: Path):
    found = run(
        ["-c", "from tests.fuzz.__main__ import _keeping; _keeping(lambda data: 1 / 0, 'tokens', b'junk')"], tmp_path
    )
    [file] = (tmp_path / ".fuzz").iterdir()
    again = run(["-m", "tests.fuzz", "tokens", "--replay", str(file)], tmp_path)

    assert found.returncode == 1
    assert "ZeroDivisionError" in found.stderr
    assert f"--replay .fuzz/{file.name}" in found.stderr
    assert file.read_bytes() == b"junk"
    assert again.returncode == 0, again.stderr
