"""The signer that a server begins with, and where its keys come from."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from mrtr_tools.keys import VARIABLE, InvalidKey, Key, generate_key, keys_from_environment, keys_from_file, read_keys
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

__all__ = ["TTL", "Keys", "KeysFile", "given_keys", "given_signer", "starting_signer"]

Keys = Sequence[str | Key]
KeysFile = str | os.PathLike[str]

TTL: Final = 3600
"""Seconds that a state lives unless ``ttl=`` says otherwise."""

_log = logging.getLogger("mrtr_tools")


def starting_signer(
    toolbox: Toolbox,
    keys: Keys | None,
    *,
    keys_file: KeysFile | None = None,
    audience: str | None,
    ttl: float,
    max_age: float | None = None,
    make_key: bool = False,
) -> StateSigner:
    """A signer for the states of a toolbox. Logs once which key signs, and which are cut off at what time.

    Args:
        toolbox: its name is the audience unless there is one.
        keys: the ring, current first; None to take that of `keys_file` or of `MRTR_TOOLS_KEYS`, which is removed from
            the environment in any case.
        keys_file: a file of keys, see `keys_from_file`; in place of `keys`.
        audience: see `StateSigner`.
        ttl: see there.
        max_age: see there.
        make_key: without any, make one that ends with this process. Never over HTTP: no worker could tell that the next
            one has another key, and calls would fail whenever they change places.

    Raises:
        InvalidKey: there are no keys, or one cannot be used.
        OSError: the file cannot be read.
        ValueError: another argument cannot be used.
    """
    ring = given_keys(keys, keys_file)
    made = ring is None and make_key
    if made:
        ring = read_keys([generate_key()])
    if ring is None:
        raise InvalidKey(
            "the server needs a key that all of its processes share: make one with `mrtr-tools keygen` and give it as "
            f"keys=[...], in a file as keys_file=, or in {VARIABLE} (which is removed once read: to start two servers "
            "in one process, read it with mrtr_tools.keys.keys_from_environment() and give keys= to both)"
        )
    signer = StateSigner(ring, audience if audience is not None else toolbox.name, ttl=ttl, max_age=max_age)
    _tell(signer, "made for this process" if made else f"the first of {len(ring)}")
    for key in ring:
        if key.accept_until is not None:
            until = datetime.fromtimestamp(key.accept_until, UTC).isoformat(timespec="seconds")
            _log.info("%s: key %s counts until %s", signer.audience, key.id_for(signer.audience).hex(), until)
    return signer


def given_keys(
    keys: Keys | None, keys_file: KeysFile | None, *, name: str = "keys", variable: str = VARIABLE
) -> tuple[Key, ...] | None:
    """The ring that a server is given, in one of three ways; None when it is given none.

    Args:
        keys: the ring, current first.
        keys_file: a file of keys in place of it.
        name: what `keys` is called where it is given, for errors; `keys_file` is called that and ``_file``.
        variable: of the environment, for when both are None. It is taken out in any case: whatever a step starts would
            inherit it.

    Raises:
        InvalidKey: one cannot be used, or they are given in two ways.
        OSError: the file cannot be read.
    """
    ring = keys_from_environment(variable=variable)
    if keys is not None and keys_file is not None:
        raise InvalidKey(f"{name}= and {name}_file= are two ways to give the same keys: give one of them")
    if keys is not None:
        return read_keys(keys, source=name)
    return ring if keys_file is None else keys_from_file(keys_file)


def given_signer(toolbox: Toolbox, signer: StateSigner) -> StateSigner:
    """A signer that the author made, for a server that begins with it. Logs once which key signs.

    It was not made from `MRTR_TOOLS_KEYS`, or that is gone already; what is there is removed all the same.

    Raises:
        DefinitionError: the toolbox carries secrets, and the signer does not seal.
    """
    from mrtr_tools.runner import require_seal

    os.environ.pop(VARIABLE, None)
    require_seal(toolbox, signer)
    _tell(signer, "of the signer that was given")
    return signer


def _tell(signer: StateSigner, origin: str) -> None:
    _log.info("%s: states are signed with key %s, %s", signer.audience, signer.key_id, origin)
