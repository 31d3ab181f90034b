"""Serve the toolbox of a module: ``python serve.py stdio|http MODULE[:NAME]``, NAME being ``toolbox`` unless given."""

import importlib
import sys

from mrtr_tools.server import run_http, run_stdio

if __name__ == "__main__":
    transport, place = sys.argv[1:]
    module, _, name = place.partition(":")
    toolbox = getattr(importlib.import_module(module), name or "toolbox")
    if transport == "stdio":
        run_stdio(toolbox)
    else:
        run_http(toolbox, port=0)
