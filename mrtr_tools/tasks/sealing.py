"""A task under seal: whoever can read or write the place where tasks are kept learns and changes nothing.

Each task has a key of its own, and only that is wrapped by the ring of the server, so that a new ring costs one small
write a task and never touches what it holds. What is sealed is sealed for one task, one owner and one use: rows that
are swapped, or parts of them, do not open. Whoever can write there can still put back what was there before, or
delete it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from pydantic import JsonValue
from pydantic_core import from_json, to_json

from mrtr_tools.keys import Key
from mrtr_tools.sealing import NONCE, SALT, Sealer, cipher_of
from mrtr_tools.tasks.engine import Row

__all__ = ["PURPOSE", "TaskSealer"]

PURPOSE: Final = "task/seal"
SIZE: Final = 32  # bytes of the key of a task

Json = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class TaskSealer:
    """Seals what tasks hold, with a ring of keys that outlives them.

    Attributes:
        ring: wraps the keys of tasks; the first of it those of new ones.
    """

    ring: Sealer

    @classmethod
    def of(cls, keys: Sequence[Key], audience: str) -> TaskSealer:
        """The sealer of a server."""
        return cls(Sealer(keys, audience, PURPOSE))

    def wrapped(self, row: Row) -> Row:
        """The row with a new key."""
        return replace(row, key_id=self.ring.key_id, key=self.ring.seal(os.urandom(SIZE), _context(row, "key")))

    def rewrapped(self, row: Row) -> Row:
        """The row with its key wrapped by the current one of the ring.

        Raises:
            ValueError: no key of the ring has wrapped it.
        """
        key = self.ring.open(row.key, _context(row, "key"))
        return replace(row, key_id=self.ring.key_id, key=self.ring.seal(key, _context(row, "key")))

    def with_data(self, row: Row, data: Json) -> Row:
        """The row with this in it, for its version, its status and its time."""
        return replace(row, data=self._seal(row, to_json(data), _data_context(row)))

    def data(self, row: Row) -> Json:
        """What is in a row.

        Raises:
            ValueError: it was not sealed for this row, its version, status and time, or by no key of the ring.
        """
        return cast("Json", from_json(self._open(row, row.data, _data_context(row)), cache_strings="keys"))

    def sealed_message(self, row: Row, message: str) -> bytes:
        """A message for a row of any version."""
        return self._seal(row, message.encode("utf-8", "backslashreplace"), _context(row, "message"))

    def message(self, row: Row) -> str | None:
        """The message of a row; None when there is none, or an empty one took its place.

        Raises:
            ValueError: as for `data`.
        """
        if row.message is None:
            return None
        return self._open(row, row.message, _context(row, "message")).decode() or None

    def _keyed(self, row: Row) -> HMAC:
        return HMAC(self.ring.open(row.key, _context(row, "key")), SHA256())

    def _seal(self, row: Row, data: bytes, context: bytes) -> bytes:
        salt = os.urandom(SALT)
        return salt + cipher_of(self._keyed(row), salt).encrypt(NONCE, data, context)

    def _open(self, row: Row, sealed: bytes, context: bytes) -> bytes:
        try:
            return cipher_of(self._keyed(row), sealed[:SALT]).decrypt(NONCE, sealed[SALT:], context)
        except Exception:  # noqa: BLE001  whatever is wrong with it, nobody reads it
            raise ValueError("a task was changed where it is kept, or its key is gone") from None


def _context(row: Row, use: str) -> bytes:
    return json.dumps([row.id, row.owner, use]).encode()


def _data_context(row: Row) -> bytes:
    return json.dumps([row.id, row.owner, "data", row.version, row.status, row.created, row.expires]).encode()
