"""Names that changed from version 1 of the SDK to version 2, and to FastMCP 4, which a toolbox needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import libcst as cst

__all__ = ["BRIDGE", "CONTEXT_MODULES", "GONE", "LOOKED_UP", "MOVED_OPTIONS", "OF_V1", "V1", "moved", "without"]

V1: Final = "mcp.server.fastmcp"
V2: Final = "mcp.server.mcpserver"
OF_V1: Final = (V1, "mcp.server.FastMCP")
"""What the full names of imports begin with that only version 1 of the SDK has."""
CONTEXT_MODULES: Final = {
    "fastmcp",
    "fastmcp.server",
    "fastmcp.server.context",
    V1,
    f"{V1}.server",
    V2,
    f"{V2}.context",
}
"""Where the context of await-style tools is imported from."""

BRIDGE: Final = "mrtr_tools.porting"
"""Where the bridge is."""

LOOKED_UP: Final = {"fastmcp.server.dependencies.get_context", "fastmcp.dependencies.get_context"}
"""What looks the context of a request up, where it is no parameter."""

MOVED_OPTIONS: Final = {
    "host", "port", "mount_path", "sse_path", "message_path", "streamable_http_path", "json_response",
    "stateless_http", "event_store", "retry_interval", "transport_security",
}  # fmt: skip
"""What `FastMCP(...)` of the SDK took, and `run(...)` takes since."""

GONE: Final = {"_mcp_server", *(f"settings.{name}" for name in MOVED_OPTIONS)}
"""What a server had by these names, and has no more."""

_MOVED: Final[Mapping[str, str]] = {"fastmcp.tools.tool": "fastmcp.tools", "fastmcp.prompts.prompt": "fastmcp.prompts"}
_RENAMED: Final[Mapping[str, str]] = {"FastMCP": "MCPServer", "McpError": "MCPError"}


def moved(node: cst.ImportFrom) -> cst.ImportFrom:
    """An import of version 1 as one of version 2; others come back as they are. Names keep their name in the file."""
    if node.module is None or node.relative or isinstance(node.names, cst.ImportStar):
        return node
    name = cst.Module([]).code_for_node(node.module)
    if name == V1 or name.startswith(f"{V1}."):
        after = V2 if name in (V1, f"{V1}.server") else V2 + name.removeprefix(V1)
    elif name in _MOVED:
        after = _MOVED[name]
    elif name in ("mcp", "mcp.server", "mcp.shared.exceptions"):
        after = name
    else:
        return node
    names = [_renamed(alias) for alias in node.names]
    if after == name and all(new is old for new, old in zip(names, node.names, strict=True)):
        return node
    return node.with_changes(module=cst.parse_expression(after), names=names)


def _renamed(alias: cst.ImportAlias) -> cst.ImportAlias:
    name = alias.name.value if isinstance(alias.name, cst.Name) else ""
    if name not in _RENAMED:
        return alias
    kept = alias.asname or cst.AsName(cst.Name(name))
    return alias.with_changes(name=cst.Name(_RENAMED[name]), asname=kept)


def without(node: cst.ImportFrom, name: str) -> cst.ImportFrom | None:
    """An import without one of its names; None where nothing is left."""
    if isinstance(node.names, cst.ImportStar):
        return node
    left = [
        alias for alias in node.names if cst.Module([]).code_for_node(alias.name) != name or alias.asname is not None
    ]
    if not left:
        return None
    if len(left) < len(node.names) and left[-1] is not node.names[-1]:
        left[-1] = left[-1].with_changes(comma=node.names[-1].comma)
    return node.with_changes(names=left)
