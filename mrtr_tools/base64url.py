"""base64url without padding (RFC 4648, section 5): how states, keys and ids of calls are spelled."""

from __future__ import annotations

import binascii
from typing import Final

__all__ = ["decode", "encode"]

_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_STANDARD: Final = bytes.maketrans(b"-_+/=", b"+/!!!")  # what is not of base64url becomes what is of no base64


def encode(raw: bytes) -> bytes:
    """The bytes as characters of ASCII."""
    return binascii.b2a_base64(raw, newline=False).rstrip(b"=").translate(_URL_SAFE)


def decode(text: bytes) -> bytes:
    """The bytes of `text`, which must be just as `encode` writes them.

    Raises:
        ValueError: it is not, or is no base64url at all.
    """
    padded = text.translate(_STANDARD) + b"=" * (-len(text) % 4)
    raw = binascii.a2b_base64(padded, strict_mode=True)
    rest = len(raw) % 3  # bytes in the last characters, some bits of which say nothing and must be 0
    if rest and binascii.b2a_base64(raw[-rest:], newline=False) != padded[-4:]:
        raise ValueError("it has another spelling")
    return raw
