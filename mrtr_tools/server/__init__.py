"""Adapters: toolboxes over stdio and HTTP, and beside what an `MCPServer` serves.

Importing this imports no MCP SDK, which takes most of a second; what needs it imports it when it is called.
"""

from typing import TYPE_CHECKING

from mrtr_tools.server.run import http_app, run_http, run_stdio

if TYPE_CHECKING:
    from mrtr_tools.server.sdk import attach

__all__ = ["attach", "http_app", "run_http", "run_stdio"]


def __getattr__(name: str) -> object:
    if name == "attach":  # whoever attaches has an `MCPServer`, so the SDK is there already
        from mrtr_tools.server.sdk import attach

        return attach
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
