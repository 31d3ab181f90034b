"""Serve the toolbox of a module: ``python serve.py stdio|sdk|http MODULE[:NAME]``, NAME being ``toolbox`` unless given.

sdk is stdio, but all by the SDK. `KEYS_FILE` may name a file of keys, `CLAIMS` a place for claims; `GRACE` is how many
seconds calls may take at the end. `TASKS` has tasks kept in memory; ``proposed`` serves those of SEP-2322, too.
"""

import importlib
import os
import sys

from mrtr_tools.server import run_http, run_stdio
from mrtr_tools.tasks import MemoryEngine

if __name__ == "__main__":
    transport, place = sys.argv[1:]
    module, _, name = place.partition(":")
    toolbox = getattr(importlib.import_module(module), name or "toolbox")
    keys_file = os.environ.get("KEYS_FILE")
    tasks = MemoryEngine() if "TASKS" in os.environ else None
    proposed = os.environ.get("TASKS") == "proposed"
    if transport != "http":
        run_stdio(toolbox, keys_file=keys_file, tasks=tasks, sep_2322_tasks=proposed, lean=transport == "stdio")
    else:
        claims, grace = os.environ.get("CLAIMS"), float(os.environ.get("GRACE", "10"))
        run_http(toolbox, keys_file=keys_file, port=0, claims=claims, anonymous_ok=claims is not None, grace=grace)
