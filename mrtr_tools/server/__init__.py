"""Adapters: toolboxes over stdio and HTTP, and beside what an `MCPServer` serves.

Importing this imports none of them, and no MCP SDK, which takes most of a second: each brings what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mrtr_tools.server.over_http import http_app, run_http
    from mrtr_tools.server.over_stdio import run_stdio
    from mrtr_tools.server.sdk import attach

__all__ = ["attach", "http_app", "run_http", "run_stdio"]

_FROM: Final = {"attach": "sdk", "http_app": "over_http", "run_http": "over_http", "run_stdio": "over_stdio"}

if not TYPE_CHECKING:  # to type checkers, whatever else one asked for would be there

    def __getattr__(name: str) -> object:
        if name in _FROM:
            return getattr(import_module(f"{__name__}.{_FROM[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
