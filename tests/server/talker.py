"""Tools that meddle with the process they run in."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
from anyio import from_thread

from mrtr_tools import Toolbox, needs_input

toolbox = Toolbox("talker")

begun = anyio.Event()
cancelled = anyio.Event()


@toolbox.tool
@needs_input(who="Who are you?")
def greet(who: str) -> str:
    return f"Hello {who}"


@toolbox.tool
def echo(text: str = "") -> str:
    return text


@toolbox.tool
def shout() -> str:
    print('{"jsonrpc": "2.0", "id": 1, "result": {}}', flush=True)
    subprocess.run([sys.executable, "-c", "print('a child speaks')"], check=True)
    os.write(1, b"even so\n")
    return "done"


@toolbox.tool
def listen() -> str:
    return repr(sys.stdin.read())


@toolbox.tool
def name_of_a_file() -> dict:
    return os.fsdecode(b"caf\xe9")  # type: ignore[return-value] - without a schema, so that nobody looks at it before


@toolbox.tool
def environment() -> str:
    """What a child process would find."""
    return str([name for name in os.environ if name.startswith("MRTR")])


@toolbox.tool
def read_file(path: str) -> str:
    """In a thread; of a named pipe it waits for somebody to write into it."""
    from_thread.run_sync(begun.set)
    return Path(path).read_text()


@toolbox.tool
def has_sdk() -> str:
    return str("mcp" in sys.modules)


@toolbox.tool
def print_late() -> str:
    print("what is not flushed")
    return "printed"


@toolbox.tool
async def wait_forever() -> str:
    begun.set()
    try:
        await anyio.sleep_forever()
    finally:
        cancelled.set()
    return "never"


@toolbox.tool
async def has_begun() -> str:
    await begun.wait()
    return "yes"


@toolbox.tool
async def was_cancelled() -> str:
    await cancelled.wait()
    return "True"
