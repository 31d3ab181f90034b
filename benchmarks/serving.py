"""Serve one contender over HTTP, on a socket that was handed down.

    python -m benchmarks.serving MODULE:FUNCTION FILE_DESCRIPTOR

It ends when its stdin does, and so never outlives who started it.
"""

import importlib
import socket
import sys
from threading import Thread

import uvicorn


def main(contender: str, descriptor: int) -> None:
    module, _, function = contender.partition(":")
    app = getattr(importlib.import_module(f"benchmarks.contenders.{module}"), function)()
    config = uvicorn.Config(
        app, loop="uvloop", http="httptools", ws="none", access_log=False, log_level="warning", timeout_keep_alive=600
    )
    server = uvicorn.Server(config)

    def stop_with_stdin() -> None:
        sys.stdin.buffer.read()
        server.should_exit = True

    Thread(target=stop_with_stdin, daemon=True).start()
    server.run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
