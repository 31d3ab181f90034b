"""The secrets that states are signed with: making them, reading them, deriving from them.

A key is text, ``mrtr1_<43 characters>_<8 hex digits>``: 32 random bytes in unpadded base64url and a CRC-32 of all that
stands before it, so that a key that was cut or mistyped is refused at start-up instead of being another key. A ring of
keys is ``[current, *older]``: the first signs, all of them verify. No error and no repr shows any part of a key.

Rotation takes three deployments, because in the middle of one some machines do not have the new key yet:

1. ``[old, new]``: everybody verifies both, and still signs with the old one;
2. ``[new, old]``: sign with the new one;
3. ``[new]``, once what the old one signed has expired: the longest `ttl` and a minute after the last machine of
   phase 1 is gone.

Each phase serves calls together with the one before and the one after it, and none may be skipped: what phase 1 signs,
phase 3 does not know. ``SECURITY.md`` says it to those who run a server.

A key that leaked is not rotated, it is dropped at once: whoever has it can sign whatever they like, until the last
machine has forgotten it or its `Key.accept_until` has passed. In a ring of texts the time stands behind the key, with
its zone: ``mrtr1_... accept_until=2026-07-28T12:00Z``.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Final, cast

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from mrtr_tools import base64url
from mrtr_tools.records import frozen

__all__ = [
    "TESTING_KEY",
    "VARIABLE",
    "InvalidKey",
    "Key",
    "generate_key",
    "keys_from_environment",
    "keys_from_file",
    "raw_key",
    "read_key",
    "read_keys",
]

VARIABLE: Final = "MRTR_TOOLS_KEYS"
PREFIX: Final = "mrtr1_"
SECRET_SIZE: Final = 32  # bytes
KEY_LENGTH: Final = len(PREFIX) + 43 + 1 + 8  # characters
MAX_FILE: Final = 64 * 1024  # bytes
PRIVATE_MODES: Final = (0o600, 0o400)
ID_SIZE: Final = 4  # bytes
YEAR_10000: Final = 253_402_300_800  # seconds since 1970
OPTION: Final = "accept_until="

TESTING_KEY: Final = "mrtr1_DLM5GUFupOtbPLyhj6bBsgKn3hPf-YD0bLlsHryxufA_f5e199e8"
"""The key of `mrtr_tools.testing`. Everybody knows it, so it is refused wherever a test did not ask for it."""


class InvalidKey(ValueError):
    """A key, or a list of them, cannot be used; the text says which one and why, and shows nothing of it."""


@frozen(eq=False)  # equality would have pytest print both secrets
class Key:
    """One secret of a ring. Made by `read_key` and `raw_key`.

    Attributes:
        secret: at least 32 bytes; used for nothing but `derive`.
        accept_until: seconds since 1970 after which nothing this key signed is taken, however it is dated; or None.

    Raises:
        InvalidKey: the secret is no bytes or too short, or `accept_until` is no time, such as one in milliseconds.
    """

    secret: bytes = field(repr=False)
    accept_until: float | None = None

    def __post_init__(self) -> None:
        secret, until = cast(object, self.secret), cast(object, self.accept_until)
        if not isinstance(secret, bytes):
            raise InvalidKey("the secret of a key must be bytes")
        if len(secret) < SECRET_SIZE:
            raise InvalidKey(f"the secret of a key must have at least {SECRET_SIZE} bytes, this one has {len(secret)}")
        if until is not None and not _is_time(until):
            raise InvalidKey("accept_until must be seconds since 1970, up to the year 9999; not milliseconds")

    def derive(self, purpose: str, audience: str, length: int = 32) -> bytes:
        """`length` bytes for one purpose and one audience (HKDF-SHA256); nothing else leaves a key.

        Args:
            purpose: such as ``state/sign``; never the same for two uses.
            audience: the server, or fleet of servers, that the derived key is for.
        """
        label = f"mrtr-tools/v1/{purpose}\0{audience}".encode()
        return HKDF(algorithm=SHA256(), length=length, salt=None, info=label).derive(self.secret)

    def id_for(self, audience: str) -> bytes:
        """The 4 bytes by which states of one audience, and logs, name this key."""
        return self.derive("kid", audience, ID_SIZE)


def generate_key() -> str:
    """A new random key, ``mrtr1_<43 characters>_<8 hex digits>``."""
    return _spelled(os.urandom(SECRET_SIZE))


def read_key(text: str, *, accept_until: float | None = None, allow_testing: bool = False) -> Key:
    """Read one key; white space around it, such as the newline at the end of a file, does not count.

    Args:
        text: what `generate_key` gave.
        accept_until: see `Key`.
        allow_testing: take the public key of testing too; for `mrtr_tools.testing` only.

    Raises:
        InvalidKey: it is no key, was cut or mistyped, or is the public key of testing.
    """
    return _read(text, "the key", accept_until, allow_testing=allow_testing)


def raw_key(secret: bytes, *, accept_until: float | None = None) -> Key:
    """A key from bytes that another system made: at least 32 of them, and random. Nothing can check that they are.

    Raises:
        InvalidKey: there are fewer than 32 bytes, or they are the public key of testing.
    """
    return _private(Key(secret, accept_until), "the key", allow_testing=False)


def read_keys(keys: Sequence[str | Key], *, allow_testing: bool = False, source: str = "keys") -> tuple[Key, ...]:
    """Read a ring of keys, the current one first.

    Args:
        keys: texts as in `read_key`, each perhaps with its ``accept_until=`` behind it, or keys that were read already.
        allow_testing: see `read_key`.
        source: where they come from, for errors.

    Raises:
        InvalidKey: this is one text instead of a list, has no order, is empty, or holds a bad key or one key twice.
    """
    given = cast(object, keys)
    if isinstance(given, (str, bytes, bytearray)):
        raise InvalidKey(f"{source} must be a list of keys, not one text: write [key]")
    if not isinstance(given, Sequence):
        raise InvalidKey(f"{source} must be a list of keys, the current one first")
    if not keys:
        raise InvalidKey(f"{source} is empty: make a key with `mrtr-tools keygen`")
    ring: list[Key] = []
    for number, entry in enumerate(keys, 1):
        name = f"key {number} of {source}"
        key = (
            _private(entry, name, allow_testing=allow_testing)
            if isinstance(entry, Key)
            else _entry(entry, name, allow_testing=allow_testing)
        )
        for earlier, other in enumerate(ring, 1):
            if other.secret == key.secret:
                raise InvalidKey(f"{name} is the same as key {earlier}")
        ring.append(key)
    return tuple(ring)


def keys_from_environment(
    environ: MutableMapping[str, str] = os.environ, *, variable: str = VARIABLE
) -> tuple[Key, ...] | None:
    """Read `MRTR_TOOLS_KEYS`, comma separated and current first, and remove it; None when it is not set.

    It is removed, even when it cannot be read, because every process that a step starts would inherit it. The system
    keeps the environment this process began with (``/proc/<pid>/environ``), so a file is the better place.

    Raises:
        InvalidKey: see `read_keys`.
    """
    text = environ.pop(variable, None)
    return None if text is None else read_keys(text.split(","), source=variable)


def keys_from_file(path: str | os.PathLike[str]) -> tuple[Key, ...]:
    """Read a file of keys, the current one first: one on a line or comma separated; ``#`` begins a comment.

    Raises:
        InvalidKey: the mode of the file is neither 0600 nor 0400 (not checked on Windows), this is a key and no path,
            or see `read_keys`.
        OSError: it cannot be read.
    """
    source = os.fspath(path)
    if source.lstrip().startswith(PREFIX) and len(source) >= KEY_LENGTH:  # an error of the system would show it
        raise InvalidKey("a file of keys is named by its path, and this is a key: give it as keys=[key]")
    with Path(path).open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)  # of what is read, whatever the path names by now
        if os.name == "posix" and mode not in PRIVATE_MODES:
            raise InvalidKey(f"{source} has mode {mode:04o} and must have 0600 or 0400: chmod 600 it")
        content = file.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise InvalidKey(f"{source} is larger than {MAX_FILE} bytes and is no file of keys")
    return read_keys(list(_entries(content.decode("utf-8-sig", "replace"))), source=source)


def _entries(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if written := line.partition("#")[0].strip():
            yield from written.split(",")


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < YEAR_10000


def _spelled(secret: bytes) -> str:
    head = PREFIX + base64url.encode(secret).decode()
    return f"{head}_{zlib.crc32(head.encode()):08x}"


def _entry(given: object, name: str, *, allow_testing: bool) -> Key:
    """A key of a ring, perhaps with the time after which nothing it signed is taken."""
    if not isinstance(given, str) or OPTION not in given:
        return _read(given, name, None, allow_testing=allow_testing)
    text, _, written = given.partition(OPTION)
    try:
        until = datetime.fromisoformat(written.strip())
    except ValueError:
        until = None
    if until is None or until.tzinfo is None:
        raise InvalidKey(f"{name} has an {OPTION} that is no time with a zone: write {OPTION}2026-07-28T12:00Z")
    return _read(text, name, until.timestamp(), allow_testing=allow_testing)


def _read(given: object, name: str, accept_until: float | None, *, allow_testing: bool) -> Key:
    return _private(Key(_secret(given, name), accept_until), name, allow_testing=allow_testing)


def _private(key: Key, name: str, *, allow_testing: bool) -> Key:
    if key.secret == _secret(TESTING_KEY, name) and not allow_testing:
        raise InvalidKey(f"{name} is the public key of testing: anybody could sign with it")
    return key


def _secret(given: object, name: str) -> bytes:
    if not isinstance(given, str):
        raise InvalidKey(f"{name} is not text: give bytes of your own through raw_key()")
    text = given.strip()
    if not text:
        raise InvalidKey(f"{name} is empty")
    if not text.startswith(PREFIX):
        raise InvalidKey(f"{name} does not begin with {PREFIX}: make one with `mrtr-tools keygen`")
    if len(text) != KEY_LENGTH:
        raise InvalidKey(
            f"{name} has {len(text)} characters instead of {KEY_LENGTH}: was it cut, or joined with another?"
        )
    try:
        secret = base64url.decode(text[len(PREFIX) : len(PREFIX) + 43].encode())
    except ValueError:
        secret = b""
    if _spelled(secret) != text:
        raise InvalidKey(f"{name} does not match its checksum: a character was changed")
    return secret
