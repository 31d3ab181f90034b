"""Instances behind nginx are restarted one after the other while calls of three rounds go through them.

    python -m tests.load.rolling_restart --calls 2000 --restarts 12

Every second restart is by SIGTERM, the others by SIGKILL. A client sends a request again, as it was, when it got no
answer, one of nginx that there was nobody, or -31001. It ends with exit code 1 when a call was lost, a result is wrong,
an instance ended badly on SIGTERM, or a step ran twice that was not lost with a process that was killed.
"""

import argparse
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

from mrtr_tools.keys import generate_key
from tests.load.account import Account, Told, read_notes, settle
from tests.server.nginx import INSTANCES, NGINX, free_ports, is_taken, nginx
from tests.server.processes import environment
from tests.server.raw_http import Answer, accept, call

RELAY = str(Path(__file__).with_name("relay.py"))
CLIENTS = 24
SECONDS = 30  # for an instance to start or to end
TRIES = 100
ROUNDS = 3  # of a call that is not handed on
BUSY = -31001


class Instance:
    """One server, started again and again at its port."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._port = port
        self.start()

    def start(self) -> None:
        program = ["-m", "mrtr_tools.cli", "run", RELAY, "--http", "--port", str(self._port), "--shed"]
        keys = ["--keys-file", str(self._folder / "keys")]
        with (self._folder / f"log-{self._port}").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *program, *keys],
                env=environment({"NOTES": str(self._folder / "notes")}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait(self) -> None:
        end = time.monotonic() + SECONDS
        while not is_taken(self._port):
            assert self.process.poll() is None, "an instance did not start"
            assert time.monotonic() < end, "an instance takes too long to start"
            time.sleep(0.02)

    def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        return self.process.wait(SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(SECONDS)


class Clients:
    """Threads that play calls, as many as they are allowed to."""

    def __init__(self, url: str, told: Told) -> None:
        self._url = url
        self._told = told
        self._allowed = threading.Semaphore(0)
        self._is_over = False
        self._rounds = 0
        self._change = threading.Condition()

    def allow(self, calls: int, *, wait_for: int) -> None:
        """Let more calls begin; wait until so many rounds of all calls are over."""
        self._allowed.release(calls)
        with self._change:
            assert self._change.wait_for(lambda: self._rounds >= wait_for, 4 * SECONDS), "no call goes on"

    def give_up(self, calls: int) -> None:
        """Send nothing any more, and let nobody wait."""
        self._is_over = True
        self._allowed.release(calls)

    def play(self, order: int) -> None:
        self._allowed.acquire()
        answers: dict[str, Any] = {}
        state: str | None = None
        while (result := self._send(order, requestState=state, inputResponses=answers)) is not None:
            if result["resultType"] == "complete":
                self._told.results[order] = result["content"][0]["text"]
                return
            state, asked = result["requestState"], result.get("inputRequests", {})
            given = {"digit": accept(digit=order % 10), "ok": accept(ok=True)}
            answers = {key: given[key] for key in asked}
            with self._change:
                self._told.handed_on += not asked

    def _send(self, order: int, **params: Any) -> Any:
        """The result of one round; None when there is none to be had."""
        for tries in range(TRIES):
            if self._is_over:
                break
            try:
                answer = call(self._url, "begin", {"order": order}, **params)
            except (OSError, HTTPException) as error:
                why = type(error).__name__
            else:
                why = not_served(answer)
                with self._change:
                    self._told.sessions += "mcp-session-id" in answer.headers
                    self._rounds += why is None
                    self._change.notify_all()
                if why is None:
                    return answer.body.get("result")
            self._told.again[order][why] += 1
            time.sleep(random.uniform(0, 0.02 * min(tries + 1, 20)))
        return None


def not_served(answer: Answer) -> str | None:
    """Why a request may be sent again; None when it was served."""
    if answer.status in (502, 503, 504):
        return str(answer.status)
    error = answer.body.get("error")
    return error["data"]["reason"] if error and error["code"] == BUSY else None


@contextmanager
def fleet(folder: Path) -> Iterator[tuple[str, list[Instance]]]:
    """The instances, and the URL of nginx in front of them."""
    (folder / "notes").mkdir()
    (folder / "keys").touch(mode=0o600)
    (folder / "keys").write_text(generate_key())
    port = free_ports()
    with ExitStack() as stack:
        instances: list[Instance] = []
        for number in range(1, INSTANCES + 1):
            instances.append(Instance(folder, port + number))
            stack.callback(instances[-1].close)
        for each in instances:
            each.wait()
        yield stack.enter_context(nginx(folder, port)), instances


def play(folder: Path, calls: int, restarts: int) -> tuple[Account, Told, list[int]]:
    """Play all calls; gives the account, what clients saw, and the exit codes of instances that ended on SIGTERM."""
    told, killed, codes = Told(), set[int](), list[int]()
    with fleet(folder) as (url, instances), ThreadPoolExecutor(CLIENTS) as pool:
        clients = Clients(url, told)
        played = [pool.submit(clients.play, order) for order in range(1, calls + 1)]
        ways = itertools.cycle((signal.SIGTERM, signal.SIGKILL))
        allowed = 0
        try:
            for turn, instance, how in zip(range(restarts), itertools.cycle(instances), ways, strict=False):
                more = calls * (turn + 1) // restarts - allowed
                allowed += more
                into = random.uniform(0.2, 0.8)  # somewhere in the middle of them
                clients.allow(more, wait_for=round(ROUNDS * (allowed - more + into * more)))
                pid, code = instance.process.pid, instance.end(how)
                if how == signal.SIGKILL:
                    killed.add(pid)
                else:
                    codes.append(code)
                instance.start()
                instance.wait()
        except BaseException:
            clients.give_up(calls)
            raise
        for each in played:
            each.result()
        codes.extend(instance.end(signal.SIGTERM) for instance in instances)
    return settle(range(1, calls + 1), told, read_notes(folder / "notes"), killed), told, codes


def report(account: Account, told: Told, codes: list[int]) -> bool:
    """Print what happened; gives whether it may happen."""
    again = sum(told.again.values(), Counter[str]())
    print(f"lost: {len(account.lost)} {account.lost[:10]}")
    print(f"wrong: {len(account.wrong)} {account.wrong[:10]}; without a step: {len(account.missing)}")
    print(f"sent again: {again.total()} {dict(again)}")
    print(f"handed on by a process that was stopping: {told.handed_on}")
    print(f"steps run again, killed inside: {named(account.inside)}")
    print(f"steps run again, killed before their answer had come: {named(account.unanswered)}")
    print(f"steps run twice for no such reason: {named(account.twice)}")
    print(f"exit codes after SIGTERM: {dict(Counter(codes))}; answers with a session: {told.sessions}")
    return account.is_good and not any(codes) and not told.sessions


def named(places: list[tuple[int, str]]) -> str:
    """How many steps, and of which orders."""
    return f"{len(places)} ({', '.join(f'{order} {step}' for order, step in sorted(places))})" if places else "0"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--restarts", type=int, default=12)
    given = parser.parse_args()
    if NGINX is None:
        print("there is no nginx here; nothing was tried")
        return 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o711)  # noqa: PTH101 - started by root, nginx has workers that are not
        is_good = report(*play(Path(name), given.calls, given.restarts))
    took = time.monotonic() - begun
    print(f"{given.calls} calls, {given.restarts} restarts, {took:.0f} s: {'good' if is_good else 'BAD'}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
