"""Serve the toolbox of a module: ``python serve.py stdio|http MODULE``."""

import importlib
import sys

from mrtr_tools.server import run_http, run_stdio

if __name__ == "__main__":
    transport, module = sys.argv[1:]
    toolbox = importlib.import_module(module).toolbox
    if transport == "stdio":
        run_stdio(toolbox)
    else:
        run_http(toolbox, port=0)
