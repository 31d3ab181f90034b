"""The signer that a server begins with, and where its keys come from."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from mrtr_tools.keys import VARIABLE, InvalidKey, Key, generate_key, keys_from_environment, read_keys
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

__all__ = ["TTL", "Keys", "starting_signer"]

Keys = Sequence[str | Key]

TTL: Final = 3600
"""Seconds that a state lives unless ``ttl=`` says otherwise."""

_log = logging.getLogger("mrtr_tools")


def starting_signer(
    toolbox: Toolbox,
    keys: Keys | None,
    *,
    audience: str | None,
    ttl: float,
    max_age: float | None = None,
    make_key: bool = False,
) -> StateSigner:
    """A signer for the states of a toolbox. Logs once which key signs.

    Args:
        toolbox: its name is the audience unless there is one.
        keys: the ring, current first; None to take that of `MRTR_TOOLS_KEYS`, which is removed from the environment.
        audience: see `StateSigner`.
        ttl: see there.
        max_age: see there.
        make_key: without any, make one that ends with this process. Never over HTTP: no worker could tell that the next
            one has another key, and calls would fail whenever they change places.

    Raises:
        InvalidKey: there are no keys, or one cannot be used.
        ValueError: another argument cannot be used.
    """
    inherited = keys_from_environment()  # taken out in any case: whatever a step starts would inherit it
    ring = inherited if keys is None else read_keys(keys)
    made = ring is None and make_key
    if made:
        ring = [generate_key()]
    if ring is None:
        raise InvalidKey(
            "the server needs a key that all of its processes share: make one with `mrtr-tools keygen` and give it as "
            f"keys=[...] or in {VARIABLE} (which is removed once read: to start two servers in one process, read it "
            "with mrtr_tools.keys.keys_from_environment() and give keys= to both)"
        )
    signer = StateSigner(ring, audience if audience is not None else toolbox.name, ttl=ttl, max_age=max_age)
    origin = "made for this process" if made else f"the first of {len(ring)}"
    _log.info("%s: states are signed with key %s, %s", signer.audience, signer.key_id, origin)
    return signer
