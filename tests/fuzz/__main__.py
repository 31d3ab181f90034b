"""Fuzzing: inputs made up by a machine that watches which code they reach, until one does what none may do.

    python -m tests.fuzz TARGET                 20 seconds, as `.ci/run` does
    python -m tests.fuzz TARGET --seconds 3600 --seed 0 --corpus .fuzz/TARGET
    python -m tests.fuzz TARGET --replay .fuzz/TARGET-...

TARGET is one of

    tokens      a `requestState`, before `StateSigner.loads`
    messages    the body of a POST, through the application that `http_app` makes
    lines       what a client writes over stdio, through what `run_stdio` serves it with
    answers     `inputResponses` against open questions of every kind, round after round

and the file of its name beside this one says what must hold. An input that breaks it ends the run with an exit code
other than 0, and is kept under ``.fuzz/``, as is one that never ends (``timeout-...``) or takes too much memory
(``oom-...``). `--replay` shows it again, uninstrumented and in a debugger if you like. Then it becomes a test where the
fault was, or an entry of `FOUND` in ``test_fuzz.py``.

Inputs begin with what the target's `SEEDS` make, and go on from whatever reached something new; with `--corpus` that is
kept in a folder, for the next long run. One run uses one core. `atheris` has wheels for Linux on x86-64; elsewhere
inputs are changed blindly, which finds less.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.mutations import Mutations

Check = Callable[[bytes], None]

TARGETS = ("tokens", "messages", "lines", "answers")
KEPT = Path(".fuzz")
LONGEST = 16 * 1024  # bytes of an input
HANGS = 20  # seconds after which an input counts as one that never ends
MEMORY = 2048  # MiB that the process may take

# What is watched for new ground: ours, and what of the SDK reads messages.
WATCHED = ["mrtr_tools", "mcp.shared.inbound", "mcp.shared.jsonrpc_dispatcher", "mcp.server._streamable_http_modern"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run, or replay; the exit code is 0 when nothing was found."""
    options = _options(argv)
    target, atheris = _loaded(options.target, instrumented=not options.replay)
    with ExitStack() as stack:
        check = stack.enter_context(target.checking())
        for file in options.replay:
            check(file.read_bytes())
        if not options.replay:
            keeping = partial(_keeping, check, options.target)
            _blindly(target, keeping, options) if atheris is None else _guided(atheris, target, keeping, options)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=TARGETS, metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=20, help="how long (20)")
    parser.add_argument("--seed", type=int, default=1, help="of the random changes; 0 for another one each time (1)")
    parser.add_argument("--corpus", type=Path, help="a folder that keeps what reached something new")
    parser.add_argument(
        "--replay", type=Path, nargs="+", metavar="FILE", default=(), help="look at these inputs and at no others"
    )
    return parser.parse_args(argv)


def _loaded(name: str, *, instrumented: bool) -> tuple[Any, Any]:
    """The target, and atheris where there is one."""
    module = f"tests.fuzz.{name}"
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        return importlib.import_module(module), None
    with atheris.instrument_imports(include=WATCHED) if instrumented else nullcontext():
        return importlib.import_module(module), atheris


def _keeping(check: Check, name: str, data: bytes) -> None:
    """Look at an input; keep one that breaks what must hold, and end the process."""
    try:
        check(data)
    except BaseException:  # noqa: BLE001  whatever comes out is a finding
        traceback.print_exc()
        KEPT.mkdir(exist_ok=True)
        file = KEPT / f"{name}-{hashlib.sha256(data).hexdigest()[:16]}"
        file.write_bytes(data)
        print(f"\nFOUND: {file}\nagain: python -m tests.fuzz {name} --replay {file}", file=sys.stderr, flush=True)
        os._exit(1)  # whatever is running in here may be what is broken


def _guided(atheris: Any, target: Any, check: Check, options: argparse.Namespace) -> None:
    """Run under libFuzzer, which ends the process."""
    KEPT.mkdir(exist_ok=True)
    arguments = {
        "max_total_time": options.seconds,
        "seed": options.seed,
        "max_len": LONGEST,
        "timeout": HANGS,
        "rss_limit_mb": MEMORY,
        "artifact_prefix": f"{KEPT}/",  # of what hangs, or takes too much memory
        "print_final_stats": 1,
        "verbosity": 0 if options.corpus is None else 1,
    }
    given = [f"-{name}={value}" for name, value in arguments.items()]
    if options.corpus is not None:
        options.corpus.mkdir(parents=True, exist_ok=True)
        given.append(str(options.corpus))
    mutations = Mutations(target.SEEDS, partial(_bytewise, atheris))
    atheris.Setup([sys.argv[0], *given], check, custom_mutator=mutations)
    atheris.Fuzz()


def _bytewise(atheris: Any, data: bytes, longest: int) -> bytes:
    return atheris.Mutate(data, longest)  # which is another function once `Fuzz` was called


def _blindly(target: Any, check: Check, options: argparse.Namespace) -> None:
    print("there is no atheris here, so inputs are changed blindly", file=sys.stderr)
    mutations, end = Mutations(target.SEEDS), time.monotonic() + options.seconds
    chance, held = random.Random(options.seed or None), list(target.SEEDS)
    while time.monotonic() < end:
        data = mutations(chance.choice(held), LONGEST, chance.getrandbits(32))
        check(data)
        held[chance.randrange(len(held))] = data if chance.random() < 0.5 else chance.choice(target.SEEDS)


if __name__ == "__main__":
    main()
