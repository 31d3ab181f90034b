"""Serve the toolbox of a module: ``python serve.py stdio|sdk|http MODULE``; sdk is stdio, but all by the SDK."""

import importlib
import sys

from mrtr_tools.server import run_http, run_stdio

if __name__ == "__main__":
    transport, module = sys.argv[1:]
    toolbox = importlib.import_module(module).toolbox
    if transport == "http":
        run_http(toolbox, port=0)
    else:
        run_stdio(toolbox, lean=transport == "stdio")
