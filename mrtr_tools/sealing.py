"""Sealing what is kept, so that whoever can read or write the place where it is kept learns and changes nothing.

    sealed = key id (4) | salt (24) | AES-256-GCM(data), its tag (16) at the end

As in a state, each text has an encryption key of its own, HMAC-SHA256(sealing key, salt), and what it was sealed for is
under the seal: a text that is moved to another place does not open there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from mrtr_tools.keys import ID_SIZE, Key

__all__ = ["NONCE", "SALT", "Sealer", "cipher_of", "digest_with"]

SALT: Final = 24  # bytes
NONCE: Final = bytes(12)  # each key encrypts one text


class Sealer:
    """Seals for one purpose and one audience. Immutable, and safe to share between threads.

    Args:
        ring: the keys, the current one first: it seals, all of them open.
        audience: the name of the server.
        purpose: see `Key.derive`.
        clock: seconds since 1970.
    """

    def __init__(
        self, ring: Sequence[Key], audience: str, purpose: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._keys = {key.derive(f"{purpose}/kid", audience, ID_SIZE): key for key in reversed(ring)}
        self._seals = {key_id: HMAC(key.derive(purpose, audience), SHA256()) for key_id, key in self._keys.items()}
        self._current = ring[0].derive(f"{purpose}/kid", audience, ID_SIZE)

    @property
    def key_id(self) -> str:
        """The id of the key that seals, 8 hex digits; another one for another purpose or audience."""
        return self._current.hex()

    @property
    def key_ids(self) -> frozenset[str]:
        """The ids of all keys that open."""
        return frozenset(key_id.hex() for key_id in self._keys)

    def seal(self, data: bytes, context: bytes) -> bytes:
        """Encrypt `data` for `context`, which must be the same when it is opened."""
        salt = os.urandom(SALT)
        return self._current + salt + cipher_of(self._seals[self._current], salt).encrypt(NONCE, data, context)

    def open(self, sealed: bytes, context: bytes) -> bytes:
        """What was sealed.

        Raises:
            ValueError: no key here sealed it, that key is retired, it was changed, or it was sealed for something else.
        """
        key_id, salt, rest = sealed[:ID_SIZE], sealed[ID_SIZE : ID_SIZE + SALT], sealed[ID_SIZE + SALT :]
        key = self._keys.get(key_id)
        if key is None or (key.accept_until is not None and self._clock() > key.accept_until):
            raise ValueError("no key here has sealed it")
        try:
            return cipher_of(self._seals[key_id], salt).decrypt(NONCE, rest, context)
        except (InvalidTag, ValueError):  # the latter where there is no tag
            raise ValueError("it was changed, or sealed for something else") from None


def cipher_of(seal: HMAC, salt: bytes) -> AESGCM:
    """The cipher of one text: its key is the HMAC of its salt.

    Args:
        seal: with the sealing key set up and nothing else in it. It stays so.
        salt: of the text.
    """
    return AESGCM(digest_with(seal, salt))


def digest_with(keyed: HMAC, data: bytes) -> bytes:
    """The HMAC of `data`, with a key that was set up once: that takes longer than all the rest of it."""
    started = keyed.copy()
    started.update(data)
    return started.finalize()
