"""What await-style tools get back: results, errors and capabilities as the classes of the SDK and of FastMCP.

Such a tool looks with `match` and `isinstance` at what it is given, so these are the very classes, or classes of both.
The SDK is imported when a tool asks; FastMCP only where the tool has brought it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from pydantic import BaseModel, JsonValue

from mrtr_tools.calls import Client
from mrtr_tools.questions import Kind

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.elicitation import (
        AcceptedElicitation,
        AcceptedUrlElicitation,
        CancelledElicitation,
        DeclinedElicitation,
    )
    from mcp.shared.exceptions import MCPError
    from typing_extensions import TypeVar

    T = TypeVar("T", bound=BaseModel, default=Any)
    Elicited = AcceptedElicitation[T] | DeclinedElicitation | CancelledElicitation
    Root = types.Root
    UrlElicited = AcceptedUrlElicitation | DeclinedElicitation | CancelledElicitation

__all__ = [
    "Refusal",
    "cannot_be_asked",
    "client_params",
    "elicited",
    "has_capability",
    "plain",
    "raw_elicited",
    "refused",
    "roots",
    "sampled",
    "url_elicited",
]

Refusal = Literal["decline", "cancel"]
VERSION: Final = "2026-07-28"
_FASTMCP: Final = "fastmcp.server.elicitation"


def elicited(data: object) -> AcceptedElicitation[Any]:
    """An accepted form, as both dialects know it."""
    return _accepted(sys.modules.get(_FASTMCP)).model_construct(data=data)


def refused(refusal: Refusal) -> DeclinedElicitation | CancelledElicitation:
    """A form or page that was declined or cancelled."""
    from mcp.server.elicitation import CancelledElicitation, DeclinedElicitation

    return DeclinedElicitation() if refusal == "decline" else CancelledElicitation()


def url_elicited() -> AcceptedUrlElicitation:
    """A page that the person agreed to open."""
    from mcp.server.elicitation import AcceptedUrlElicitation

    return AcceptedUrlElicitation()


def raw_elicited(
    action: Literal["accept", "decline", "cancel"], content: Mapping[str, Any] | None
) -> types.ElicitResult:
    """The result of `session.elicit`."""
    import mcp_types as types

    return types.ElicitResult(action=action, content=None if content is None else dict(content))


@functools.lru_cache(maxsize=2)
def _accepted(fastmcp: Any) -> type[AcceptedElicitation[Any]]:
    from mcp.server.elicitation import AcceptedElicitation

    theirs = getattr(fastmcp, "AcceptedElicitation", AcceptedElicitation)
    if issubclass(theirs, AcceptedElicitation):
        return AcceptedElicitation
    both = type("AcceptedElicitation", (AcceptedElicitation, theirs), {"__doc__": AcceptedElicitation.__doc__})
    return cast("type[AcceptedElicitation[Any]]", both)


def sampled(answer: JsonValue, *, with_tools: bool) -> types.CreateMessageResult | types.CreateMessageResultWithTools:
    """The result of `session.create_message`."""
    import mcp_types as types

    result = types.CreateMessageResultWithTools if with_tools else types.CreateMessageResult
    return result.model_validate(answer)


def roots(listed: JsonValue) -> types.ListRootsResult:
    """The result of `session.list_roots`."""
    import mcp_types as types

    return types.ListRootsResult.model_validate({"roots": listed})


_NOT_SUPPORTED: Final[Mapping[Kind, str]] = {"sample": "Sampling not supported", "roots": "List roots not supported"}


def cannot_be_asked(kind: Kind, required: Mapping[str, JsonValue]) -> MCPError:
    """What the SDK raises when a client cannot be asked, in its words; with what the client would have to declare."""
    import mcp_types as types
    from mcp.shared.exceptions import MCPError

    told = _NOT_SUPPORTED.get(kind, "Elicitation not supported")
    return MCPError(types.INVALID_REQUEST, told, {"requiredCapabilities": dict(required)})


def client_params(client: Client) -> types.InitializeRequestParams:
    """What a client told about itself, as `session.client_params` has it."""
    import mcp_types as types

    return types.InitializeRequestParams(
        protocol_version=VERSION,
        capabilities=types.ClientCapabilities.model_validate(dict(client.capabilities)),
        client_info=types.Implementation(name=client.name or "", version=client.version or ""),
    )


def has_capability(client: Client, capability: types.ClientCapabilities) -> bool:
    """Whether a client declared something, as `session.check_client_capability` sees it."""
    from mcp.server.connection import Connection

    declared = SimpleNamespace(client_capabilities=client_params(client).capabilities)
    return Connection.check_capability(cast("Connection", declared), capability)


def plain(value: Any) -> Any:
    """Models of the SDK in what is sent, as the protocol has them."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in cast("Sequence[Any]", value)]
    return value
