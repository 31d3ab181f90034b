"""The servers that a toolbox can be attached to."""

from __future__ import annotations

from typing import Any, Protocol, cast

from mcp.server import MCPServer, Server

__all__ = ["Host", "sdk_server"]


class FastMCP(Protocol):
    """A server of FastMCP 4, which need not be installed.

    Its own middlewares run behind the SDK's `RequestStateBoundary`, which refuses every state that it did not seal, and
    behind the SDK's check of `inputResponses`, which ends a call whose answer should be asked again. So ours have to be
    in the list of the SDK's server inside, and for that server FastMCP has no public name.
    """

    @property
    def _mcp_server(self) -> Server[Any]: ...


Host = MCPServer[Any] | Server[Any] | FastMCP


def sdk_server(host: Host) -> MCPServer[Any] | Server[Any]:
    """The server of the SDK that a host is, or has inside.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(host, (MCPServer, Server)):
        return host
    inside: object = getattr(host, "_mcp_server", None)
    if not isinstance(inside, Server):
        raise TypeError(f"attach() takes an MCPServer, a Server of the SDK, or a FastMCP 4 server, and no {type(host)}")
    return cast("Server[Any]", inside)
