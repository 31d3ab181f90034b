"""The signed `requestState`: a call's progress on its way through the client and back.

A client keeps this text for as long as it likes, shows it to whom it likes and sends back what it likes. So:

1. Nothing in a token is read before its signature is verified, nothing is decoded before its length is known, and there
   is one spelling: what would decode alike but is written differently is refused.
2. A token opens for the call it was minted for: same audience, method, target, arguments and principal. Nobody in
   particular (no authentication) is a principal of its own.
3. Any failure is the one `InvalidState`, alike on the wire; its `reason`, one of `REASONS`, is for the log.
4. Whether it is too old is asked last: only the very call it belongs to learns that it expired (`Opened.expired`).
5. Neither a token nor what is in it appears in a repr, a log line or an error.

The layout, where ``b64`` is unpadded base64url:

    token     = b64(body) "." b64(signature)                 signature over the text b64(body)
    body      = 01 | key id (4) | salt (24) | AES-256-GCM(payload), its tag (16) at the end
              = 02 | key id (4) | payload                    with ``seal=False``
    payload   = [1, minted at, progress, method, target, digest of the arguments, digest of the principal]

Keys: every use has its own, derived for purpose and audience (`Key.derive`): a server of another audience derives
another key id and knows none of our tokens. The AES key is new for each token, HMAC-SHA256(sealing key, salt). It
encrypts one message only, so the nonce is constant, and there is no number of messages after which random nonces would
repeat. Format, key id and salt are the additional data of the encryption, and the signature, which covers all of it, is
verified first.

itsdangerous signs, and only signs. Its `unsign` and `verify_signature` decode leniently and take endless spellings of
a signature, so they are never called: the signature is made again and compared as text, in constant time. Nothing else
needs that: key id and spelling are no secrets, and bindings are compared behind the signature, as digests that nobody
can grow letter by letter. It is never given a list of keys, because it signs with the last of a list; the key id finds
the one key.

There is no compression. It would tell the length of sealed values, and hide bombs.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from itsdangerous import Signer, want_bytes
from pydantic_core import from_json, to_json

from mrtr_tools import base64url
from mrtr_tools.calls import Call
from mrtr_tools.errors import InvalidState, StateTooLarge
from mrtr_tools.keys import ID_SIZE, InvalidKey, Key, read_keys
from mrtr_tools.lifetimes import LEEWAY, greatest_age, is_expired, is_lifetime
from mrtr_tools.progress import Progress
from mrtr_tools.records import record
from mrtr_tools.sealing import NONCE, SALT, Sealer, cipher_of, digest_with

__all__ = ["LEEWAY", "MAX_PAYLOAD", "MAX_TOKEN", "REASONS", "Opened", "StateSigner", "describe"]

MAX_PAYLOAD: Final = 64 * 1024
"""Bytes of JSON that a state may hold."""

FORMAT: Final = 1  # of the payload
SEALED: Final = b"\x01"
PLAIN: Final = b"\x02"
TAG: Final = 16
HEAD: Final = 1 + ID_SIZE  # format and key id
SEALED_HEAD: Final = HEAD + SALT

MAX_TOKEN: Final = -(-(SEALED_HEAD + MAX_PAYLOAD + TAG) * 4 // 3) + 1 + 43
"""Characters of the longest token that can be genuine."""

REASONS: Final[Mapping[str, str]] = {
    "length": "it is no text, empty, or longer than any state",
    "spelling": "it is no state of ours, was cut, or was spelled anew on the way",
    "unknown_key": "no key here has its id: another process made its own key, it is for another audience, its key "
    "was retired, or a new key signed before all machines had it",
    "signature": "it was changed, or forged",
    "seal": "it was minted with seal=False, and accept_unsealed is off",
    "format": "its payload was written by another version of mrtr_tools",
    "method": "it was minted for another method",
    "target": "it was minted for another tool",
    "arguments": "the arguments are not those it was minted for",
    "principal": "somebody else, or nobody in particular, sent it: perhaps it was stolen",
    "future": "it was minted in the future: the clocks of two machines differ by more than a minute",
}
"""Why a state was refused, and what that means, in the order of the checks. For logs, never for the wire."""


BOUND: Final = ("method", "target", "arguments", "principal")
"""What a payload has behind the progress, in its order."""


@record(shown=False)
class Opened:
    """A state that is genuine and belongs to the call it came with.

    Attributes:
        progress: where the call stands.
        expired: whether it is too old to be used; then its answers count for nothing.
    """

    progress: Progress
    expired: bool


class StateSigner:
    """Turns the progress of a call into a signed `requestState` and back. Immutable, and safe to share between threads.

    Args:
        keys: the ring, the current key first: it signs, all of them verify.
        audience: the name of the server, the same on all of its machines and different in each of its environments.
        ttl: seconds that a state lives, unless a tool has a `ttl` of its own. The reader's counts, so lowering it works
            at once.
        max_age: seconds that a call may take from its first state on, whatever the `ttl`; None for a day, or for the
            `ttl` that counts when that is longer.
        seal: encrypt. False leaves the payload readable, signed all the same.
        accept_unsealed: with `seal`, take unsealed states too, for as long as a change to sealing needs. The other way
            round needs no switch: a server that does not seal takes sealed states.
        clock: seconds since 1970.

    Attributes:
        key_id: the id of the key that signs, 8 hex digits, for logs; another one for another audience.
        seals: whether the states it mints are encrypted.
        ttl: as given.
        max_age: the greatest age of a call, but of one whose tool has a `ttl` of its own: see `greatest_age`.

    Raises:
        InvalidKey: see `read_keys`; or the signing key is to be retired, or two keys have the same id.
        ValueError: another argument cannot be used.
    """

    def __init__(
        self,
        keys: Sequence[str | Key],
        audience: str,
        *,
        ttl: float = 3600,
        max_age: float | None = None,
        seal: bool = True,
        accept_unsealed: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(cast(object, audience), str) or not audience.strip() or not audience.isprintable():
            raise ValueError("audience must name the server: the same text, in one line, on all of its machines")
        self.audience = audience
        self.ttl = _seconds("ttl", ttl)
        self._max_age = None if max_age is None else _seconds("max_age", max_age)
        self.max_age = self.greatest_age()
        self.seals = seal
        self._clock = clock
        self._accepts = (SEALED,) if seal and not accept_unsealed else (SEALED, PLAIN)
        ready = isinstance(cast(object, keys), (list, tuple)) and all(isinstance(key, Key) for key in keys)
        ring = read_keys(keys, allow_testing=ready)  # a test has to ask for the public key itself
        if ring[0].accept_until is not None:
            raise InvalidKey("the first of keys signs and cannot have accept_until: put the new key before it")
        self._ring = ring
        self._keys: dict[bytes, _Keys] = {}
        for number, key in enumerate(ring, 1):
            for form in (SEALED, PLAIN):
                derived = _Keys(key, audience, form)
                if self._keys.setdefault(derived.head, derived) is not derived:
                    raise InvalidKey(f"key {number} of keys has the id of another one, by chance: make a new one")
        self._signing = _Keys(ring[0], audience, SEALED if seal else PLAIN)
        self.key_id = self._signing.head[1:].hex()

    def __repr__(self) -> str:
        return f"StateSigner(audience={self.audience!r}, key_id={self.key_id!r})"

    @property
    def clock(self) -> Callable[[], float]:
        """Seconds since 1970."""
        return self._clock

    def sealer(self, purpose: str) -> Sealer:
        """Seals other things with the same keys for the same audience; see `Sealer`."""
        return Sealer(self._ring, self.audience, purpose, self._clock)

    def greatest_age(self, ttl: float | None = None) -> float:
        """Seconds that a call may take from its first state on.

        Args:
            ttl: that of its tool, or None for that of the server.
        """
        return greatest_age(self.ttl if ttl is None else ttl, self._max_age)

    def dumps(self, progress: Progress, call: Call) -> str:
        """Mint the state of `progress`, for `call` only. Sets `progress.born` the first time.

        Raises:
            StateTooLarge: the payload exceeds `MAX_PAYLOAD`; names the largest values.
        """
        now = int(self._clock())
        progress.born = progress.born or now
        arguments, principal = call.digest, _principal_digest(call.principal, progress.call)
        payload = to_json([FORMAT, now, progress.to_json(), call.method, call.target, arguments, principal])
        if len(payload) > MAX_PAYLOAD:
            raise StateTooLarge(_too_large(progress, len(payload)))
        body = base64url.encode(self._signing.close(payload))
        return (body + b"." + self._signing.signature(body)).decode()

    def loads(self, token: str, call: Call, ttl: float | None = None) -> Opened:
        """Open a state that came with `call`. The checks have an order, and whether it expired is not one of them.

        Args:
            token: the state as it came.
            call: the request it came with.
            ttl: seconds that a state of this tool lives, which go before those of the server; None without any.

        Raises:
            InvalidState: the token is not ours, was changed, or is not for this call.
        """
        now = self._clock()
        check = "length"
        try:
            _require(type(token) is str and 0 < len(token) <= MAX_TOKEN)
            check = "spelling"
            body, signature = token.encode("ascii").split(b".")
            raw = base64url.decode(body)
            check = "unknown_key"
            keys = self._keys[raw[:HEAD]]
            _require(keys.accept_until is None or now <= keys.accept_until)
            check = "signature"
            _require(hmac.compare_digest(keys.signature(body), signature))
            check = "seal"
            _require(raw[:1] in self._accepts)
            payload = keys.open(raw)
            check = "format"
            version, issued, data, *bound = from_json(payload, allow_inf_nan=False, cache_strings="keys")
            _require(version == FORMAT and len(bound) == len(BOUND))
            progress = Progress.from_json(data)
            belongs = [call.method, call.target, call.digest, _principal_digest(call.principal, progress.call)]
            if bound != belongs:
                check = _unlike(bound, belongs)
                raise ValueError
            check = "future"
            _require(issued <= now + LEEWAY)
            lives, age = (self.ttl, self.max_age) if ttl is None else (ttl, self.greatest_age(ttl))
            return Opened(progress, is_expired(now, minted=issued, born=progress.born, ttl=lives, max_age=age))
        except Exception:  # noqa: BLE001  whatever a client sent, there is one answer
            raise InvalidState(check, because=REASONS[check]) from None


class _Signer(Signer):
    """HMAC-SHA256 with one key, which is set up once, and spelled as all else."""

    def __init__(self, key: bytes) -> None:
        super().__init__(key, key_derivation="none", digest_method=hashlib.sha256)
        self._keyed = HMAC(key, SHA256())

    def get_signature(self, value: str | bytes) -> bytes:
        return base64url.encode(digest_with(self._keyed, want_bytes(value)))


class _Keys:
    """What one key of the ring gives for one form of token."""

    __slots__ = ("_seal", "accept_until", "head", "signature")

    def __init__(self, key: Key, audience: str, form: bytes) -> None:
        self.head = form + key.id_for(audience)
        self.accept_until = key.accept_until
        sealed = form == SEALED
        self._seal = HMAC(key.derive("state/seal", audience), SHA256()) if sealed else None
        secret = key.derive("state/sign" if sealed else "state/sign-unsealed", audience)
        self.signature = _Signer(secret).get_signature

    def close(self, payload: bytes) -> bytes:
        if self._seal is None:
            return self.head + payload
        head = self.head + os.urandom(SALT)
        return head + cipher_of(self._seal, head[HEAD:]).encrypt(NONCE, payload, head)

    def open(self, raw: bytes) -> bytes:
        if self._seal is None:
            return raw[HEAD:]
        head = raw[:SEALED_HEAD]
        return cipher_of(self._seal, head[HEAD:]).decrypt(NONCE, raw[SEALED_HEAD:], head)


def describe(token: object) -> str:
    """A token as a log may show it: the id of its key, its length and the start of its SHA-256. Never raises.

    Of one that is longer than any state, only the first `MAX_TOKEN` characters are looked at.
    """
    if not isinstance(token, str):
        return "no text"
    name = hashlib.sha256(token[:MAX_TOKEN].encode("utf-8", "surrogatepass")).hexdigest()[:8]
    try:
        key_id = base64url.decode(token[:8].encode("ascii"))[1:HEAD].hex() or "none"
    except ValueError:
        key_id = "none"
    return f"key={key_id} length={len(token)} sha256={name}"


def _require(held: bool, /) -> None:  # noqa: FBT001  a condition, not a switch
    if not held:
        raise ValueError


def _unlike(bound: Sequence[object], belongs: Sequence[object]) -> str:
    """The first thing that a state is bound to and a call does not have."""
    return next(name for name, one, other in zip(BOUND, bound, belongs, strict=True) if one != other)


def _seconds(name: str, value: object) -> float:
    if not is_lifetime(value):
        raise ValueError(f"{name} must be a positive number of seconds")
    return value


def _principal_digest(principal: str | None, call: str) -> str | None:
    """Salted with the call's id, so that the states of one person cannot be told from those of another by this."""
    return None if principal is None else hashlib.sha256(f"{call}\0{principal}".encode()).hexdigest()[:32]


def _too_large(progress: Progress, size: int) -> str:
    """Names what is large, and shows none of it."""
    largest = ", ".join(f"{name} ({length} bytes)" for length, name in progress.largest(3))
    return f"This call has to carry {size} bytes and may carry {MAX_PAYLOAD}; the largest: {largest or 'nothing'}"
