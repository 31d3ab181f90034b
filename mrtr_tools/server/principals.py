"""Who a call belongs to, when the SDK authenticates its clients."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Literal, cast

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, principal_components

from mrtr_tools.server.envelope import INTERNAL_ERROR, Rejected

__all__ = ["Principal", "current_principal", "principal_of"]

Principal = Literal["subject", "client"] | Callable[[AccessToken], str]
"""What of an access token says who is calling: issuer, client and subject; issuer and client alone, for machines that
call for nobody; or what a function makes of it."""

_log = logging.getLogger("mrtr_tools")


def current_principal(principal: Principal) -> str | None:
    """The principal of the request that is being served, as text that no other has; None without authentication.

    Raises:
        Rejected, Exception: as `principal_of`.
    """
    token = get_access_token()
    return None if token is None else principal_of(token, principal)


def principal_of(token: AccessToken, principal: Principal) -> str:
    """The principal that an access token stands for, as text that no other has.

    Raises:
        Rejected: the token does not say who is calling.
        Exception: a function given as `principal` raised, or returned no name. The call is refused.
    """
    client, issuer, subject = principal_components(token)
    if callable(principal):
        named = cast("object", principal(token))
        if isinstance(named, str) and named:
            return json.dumps([named])
        raise TypeError(f"principal= returned {type(named).__name__}, not the name of who is calling")
    if principal == "client":
        return json.dumps([issuer, client])
    if subject:
        return json.dumps([issuer, client, subject])
    _log.error('a token of client %r names no subject: principal="client" takes all who share it for one', client)
    raise Rejected(INTERNAL_ERROR, "The access token does not say who is calling")
