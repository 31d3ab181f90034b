"""Where a server keeps the claims of steps that run once."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, TypeAlias, cast

from mrtr_tools.errors import DefinitionError
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mrtr_tools.single_use import ClaimStore, Ledger

__all__ = ["Claims", "claims_at", "starting_ledger"]

Claims: TypeAlias = "ClaimStore | str | os.PathLike[str]"
"""A store; a file for all processes of one machine; or ``redis://...`` for several machines."""

_log = logging.getLogger("mrtr_tools")


def starting_ledger(
    toolbox: Toolbox, signer: StateSigner, claims: Claims | None, *, ends_with_process: bool = False
) -> Ledger | None:
    """What keeps the claims of a toolbox; None where it has nothing of single use.

    Args:
        toolbox: what is served.
        signer: of its states.
        claims: where they are kept.
        ends_with_process: whether no other process takes these states, now or later; then memory will do.

    Raises:
        DefinitionError: something is of single use, and nothing says where that is kept.
        ImportError: claims are to be kept in Redis, and its package is not installed.
        OSError: the file cannot be made.
        sqlite3.Error: the file is something else.
    """
    steps = toolbox.steps.used_once
    if not steps:
        return None
    if claims is None and not ends_with_process:
        raise DefinitionError(
            f"{toolbox.name}: {', '.join(steps)} may run once in a call, so say where all processes of the server can "
            'see that it ran: claims="claims.sqlite3" on one machine, claims="redis://..." on several'
        )
    from mrtr_tools.single_use import Ledger, MemoryClaims

    store = MemoryClaims() if claims is None else claims_at(claims)
    _log.info("%s: what is used once is claimed in %r", signer.audience, store)
    return Ledger(store, signer)


def claims_at(claims: Claims) -> ClaimStore:
    """The store that a file or a URL stands for.

    Raises:
        ImportError: it is Redis, and its package is not installed.
        OSError: the file cannot be made.
        TypeError: it is neither a store, a file nor a URL.
        ValueError: it is empty, or the URL has another scheme.
        sqlite3.Error: the file is something else.
    """
    if not isinstance(claims, (str, os.PathLike)):
        if not all(callable(getattr(cast("object", claims), name, None)) for name in ("add", "replace", "remove")):
            raise TypeError("claims= takes a file, a redis:// URL, or a ClaimStore")
        return claims
    if not os.fspath(claims):
        raise ValueError("claims= is empty: give a file, or redis://host:port/0")
    if isinstance(claims, str) and "://" in claims:
        scheme = claims.partition("://")[0]
        if scheme not in ("redis", "rediss", "unix"):
            raise ValueError(f"claims={scheme}://... is no place for claims: give a file, or redis://host:port/0")
        try:
            from mrtr_tools.single_use.redis import RedisClaims
        except ImportError as error:
            raise ImportError("claims in Redis need its package: pip install 'mrtr-tools[redis]'") from error
        return RedisClaims(claims)
    from mrtr_tools.single_use import SqliteClaims

    return SqliteClaims(claims)
