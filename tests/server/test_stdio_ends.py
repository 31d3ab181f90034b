"""How a server over stdio begins and ends: who serves a client, and what is left when one of the two goes."""

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from mrtr_tools.server.envelope import MAX_REQUEST
from tests.server import processes
from tests.server.raw_http import accept, envelope
from tests.server.raw_stdio import Wire, served, told

INFO = {"name": "raw", "version": "0"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": INFO}
TALKER = "tests.server.talker"

if sys.platform != "win32":
    import fcntl
    import termios

on_unix = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


@contextmanager
def process(module: str = TALKER) -> Iterator[tuple[Wire, "subprocess.Popen[bytes]"]]:
    """A server that may end in any way; what it writes to stderr can be read."""
    command, pipe = [sys.executable, processes.SERVE, "stdio", module], subprocess.PIPE
    environment = processes.environment({"PYTHONUNBUFFERED": ""})
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        watchdog = threading.Timer(60, server.kill)
        watchdog.start()
        try:
            yield Wire(server), server
        finally:
            watchdog.cancel()
            server.kill()


def message(method: str, number: int | None = None, **params: Any) -> bytes:
    numbered = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **numbered, "method": method, "params": params}).encode() + b"\n"


# The beginning


def test_a_client_of_2026_07_28_is_served_without_the_sdk():
    with served() as wire:
        wire.call(1, "has_sdk")
        assert told(wire.receive()) == "False"


def test_or_with_it_where_that_was_wished():
    with served(transport="sdk") as wire:
        wire.call(1, "has_sdk")
        assert told(wire.receive()) == "True"


def test_an_older_client_is_handed_over_with_all_that_it_has_written():
    call = message("tools/call", 2, name="greet")
    with served() as wire:
        early = message("notifications/initialized") + b"noise\r\n\r\n"
        begun = message("initialize", 1, **HELLO) + message("notifications/initialized")
        assert wire.process.stdin
        os.write(wire.process.stdin.fileno(), early + begun + call[:40])
        assert wire.receive()["result"]["protocolVersion"] == "2025-11-25"
        wire.write(call[40:-1])
        question = wire.receive()
        assert question["method"] == "elicitation/create"
        wire.write(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": accept(who="Ada")}).encode())
        done = wire.receive()
        wire.send("tools/call", 3, name="shout")
        shouted = wire.receive()

    assert (done["id"], told(done)) == (2, "Hello Ada")
    assert (shouted["id"], told(shouted)) == (3, "done")


def test_a_request_without_envelope_opens_the_older_protocol_as_in_the_sdk():
    with served() as lean, served(transport="sdk") as sdk:
        answers: list[Any] = []
        for wire in (lean, sdk):
            wire.send("tools/list", 1)
            answers.append(wire.receive())
            wire.call(2, "echo")
            answers.append(wire.receive())

    assert answers[:2] == answers[2:]


def test_a_line_that_is_too_long_decides_nothing():
    with served() as wire:
        wire.send("initialize", 1, more="x" * MAX_REQUEST)
        assert wire.receive()["error"]["code"] == -32600
        wire.call(2, "has_sdk")
        assert told(wire.receive()) == "False"


def test_a_client_that_leaves_before_it_asks_for_anything_leaves_nothing():
    with served() as wire:
        wire.write(b"noise")


# The end


def test_what_is_under_way_when_stdin_ends_is_answered(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with served() as wire:
        wire.call(1, "read_file", {"path": str(pipe)})
        wire.call(2, "has_begun")
        wire.receive()
        assert wire.process.stdin
        wire.process.stdin.close()
        pipe.write_text("in time")
        assert told(wire.receive()) == "in time"
        wire.process.stdin = None


def test_what_is_printed_and_not_flushed_does_not_come_behind_the_messages():
    with process() as (wire, server):
        wire.call(1, "print_late")
        wire.receive()
        out, err = server.communicate(timeout=processes.SECONDS)

    assert out == b""
    assert b"what is not flushed" in err
    assert server.returncode == 0


@on_unix
def test_without_stderr_what_is_printed_goes_nowhere():
    command = ["sh", "-c", 'exec "$0" "$@" 2>&-', sys.executable, processes.SERVE, "stdio", TALKER]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=processes.environment({}), stdin=pipe, stdout=pipe) as server:
        wire = Wire(server)
        wire.call(1, "shout")
        wire.call(2, "echo", {"text": "next"})
        received = [wire.receive(), wire.receive()]
        assert server.communicate(timeout=processes.SECONDS) == (b"", None)

    assert {message["id"]: told(message) for message in received} == {1: "done", 2: "next"}


@on_unix
def test_at_sigterm_what_is_under_way_is_answered_before_the_signal_ends_it(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with process() as (wire, server):
        wire.call(1, "read_file", {"path": str(pipe)})
        wire.call(2, "has_begun")
        wire.receive()
        server.send_signal(signal.SIGTERM)
        pipe.write_text("in time")

        assert told(wire.receive()) == "in time"
        assert server.wait(processes.SECONDS) == -signal.SIGTERM


@on_unix
def test_one_interrupt_ends_it_before_anything_has_come_and_while_a_call_is_under_way():
    for begin in (False, True):
        with process() as (wire, server):
            if begin:
                wire.call(1, "wait_forever")
                wire.call(2, "has_begun")
            else:
                wire.write(b"x" * (MAX_REQUEST + 1))
            wire.receive()
            server.send_signal(signal.SIGINT)
            assert server.wait(processes.SECONDS) == 0
            assert server.stderr
            assert server.stderr.read() == b""


@pytest.mark.parametrize(
    "line",
    [message("tools/call", 1, _meta=envelope(), name="echo"), message("initialize", 1, **HELLO), b"x" * 2_000_000],
    ids=["2026-07-28", "older", "too long"],
)
def test_a_client_that_reads_no_more_ends_it_without_a_word(line):
    with process() as (wire, server):
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdout.close()
        with suppress(BrokenPipeError):
            wire.write(line)
        assert server.wait(processes.SECONDS) == 0
        assert server.stderr.read() == b""
        with suppress(BrokenPipeError):
            server.stdin.close()


# What is not read


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
def test_5000_requests_of_a_client_that_does_not_read_are_all_answered_and_do_not_pile_up():
    """Security 21."""
    text = "x" * 10_000
    with served() as wire:
        wire.call("first", "echo", {"text": text})
        wire.receive()
        before = processes.peak_memory(wire.process.pid)

        def write() -> None:
            for number in range(5000):
                wire.call(number, "echo", {"text": text})

        writing = threading.Thread(target=write)
        writing.start()
        while unread(wire.process.stdout) < 50_000 or unread(wire.process.stdin) < 50_000:
            os.sched_yield()  # until both pipes are full
        assert writing.is_alive()
        answers = [wire.receive() for _ in range(5000)]
        writing.join(processes.SECONDS)

        assert sorted(answer["id"] for answer in answers) == list(range(5000))
        assert {told(answer) for answer in answers} == {text}
        held = 500 * (10 + 20)  # KiB of as many calls as are served at a time, each with its text twice on the way out
        assert processes.peak_memory(wire.process.pid) - before < held, "of 50 MB in and 100 MB out"


def unread(pipe: Any) -> int:
    """Bytes that are in a pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"1234"))[0]
