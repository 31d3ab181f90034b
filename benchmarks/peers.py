"""Who is compared, and who of them can be measured here."""

from collections.abc import Mapping
from importlib.util import find_spec

OURS = "ours"
WITHOUT_LEAN = "ours, lean path off"
RESOLVE = "MCPServer with Resolve"
RESOLVE_SOON = "... with its schema rendered once"
LOW_LEVEL = "low-level Server by hand"
FASTMCP = "FastMCP 4"
FLOOR = "bare ASGI, pydantic, signed state"
HELLO = "hello"
ECHO = "echo of the line"


def present(contenders: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Those that can run here, and a line for each of the others."""
    missing: dict[str, str] = {}
    if find_spec("fastmcp") is None:
        missing[FASTMCP] = "it is not installed (scripts/install test)"
    here = {name: contender for name, contender in contenders.items() if name not in missing}
    return here, [f"{name} is left out: {why}" for name, why in missing.items() if name in contenders]
