"""Target ``tokens``: bytes as a ``requestState``, before `StateSigner.loads`.

The first byte says what becomes of the others: the token itself, edits of a genuine one, bytes under a genuine
signature, or JSON under a genuine seal (as another build may have written it). The first two never open, unless
the token is a genuine one to the character; and nothing but `InvalidState` comes out of any.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pydantic_core import to_json

from mrtr_tools.calls import Call
from mrtr_tools.errors import InvalidState, MissingCapability
from mrtr_tools.progress import Progress, Slot
from mrtr_tools.rounds import Round
from mrtr_tools.state import MAX_TOKEN, REASONS, Opened, StateSigner, describe
from tests.fuzz.desk import KEY, LIFE, toolbox
from tests.fuzz.genuine import KEY_ID, payload_of, sealed, signed

NOON = 1_800_000_000
CALL = Call("book", {"city": "Rome"}, principal=None)

SIGNERS = [
    StateSigner([KEY], "fuzz", ttl=LIFE + 0.5, clock=lambda: NOON),
    StateSigner([KEY], "fuzz", ttl=LIFE, clock=lambda: NOON, seal=False),
    StateSigner([KEY], "fuzz", ttl=LIFE, clock=lambda: NOON, accept_unsealed=True),
]
SEALING, PLAIN, BOTH = SIGNERS


def _progress(**more: object) -> Progress:
    known = {"step": "confirm_booking", "n": 1, "carried": {"flight": {"number": "Rome", "price": 4}}, "same": ["city"]}
    return Progress(call="A" * 22, **{**known, **more})


GENUINE = [
    SEALING.dumps(_progress(), CALL),
    PLAIN.dumps(_progress(), CALL),
    SEALING.dumps(_progress(slots={"who": Slot("pin", "ANN")}, used={"who.login": 1}), CALL),
]


def _payload(progress: object) -> bytes:
    return to_json([1, NOON, progress, CALL.method, CALL.target, CALL.digest, None])


SEEDS = [
    *(b"\0" + token.encode() for token in GENUINE),
    b"\0",
    b"\0" + b"A" * 100 + b"." + b"A" * 43,
    b"\0" + "é\ud800".encode("utf-8", "surrogatepass"),
    b"\x01\x00\x00\x05A",
    b"\x01\x01\x01\x00.",
    b"\x02\x01" + KEY_ID + bytes(40),
    b"\x02\x02" + KEY_ID + _payload(_progress().to_json()),
    b"\x03" + _payload(_progress().to_json()),
    b"\x03" + _payload(_progress(slots={"who": Slot("pin", "ANN")}, why={"ok": "?"}, misfits={"ok": 2}).to_json()),
    b"\x03" + _payload(_progress(born=-(10**400)).to_json()),
    b"\x03" + _payload({"call": "A", "open": {"ok": ["ok", "pin", {"kind": "form", "method": "m", "params": {}}]}}),
]
WORDS = [b"-", b"_", b"=", b"+", b"/", b".", b"%2E", b"call", b"slots", b"open", b"carried", b"step", b"null", b"NaN"]


def edited(token: str, script: bytes) -> str:
    """A token after edits of four bytes each: what to do, where (two bytes), and the character."""
    for at in range(0, len(script) - 3, 4):
        what, high, low, letter = script[at : at + 4]
        place = (high * 256 + low) % (len(token) + 1)
        left, right = token[:place], token[place:]
        token = [left + chr(letter) + right[1:], left + chr(letter) + right, left + right[1:], right + left][what % 4]
    return token


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except ValueError:
        return data.decode("latin-1")


def _opened(signer: StateSigner, token: str) -> Opened | InvalidState:
    try:
        return signer.loads(token, CALL)
    except InvalidState as refused:
        return refused


def _check_opening(token: str, *, forged: bool) -> None:
    for signer in SIGNERS:
        opened = _opened(signer, token)
        if isinstance(opened, InvalidState):
            assert opened.reason in REASONS
            assert (opened.code, opened.message, opened.data) == (-32602, InvalidState.MESSAGE, None)
        else:
            assert len(token) <= MAX_TOKEN
            assert not forged or token in GENUINE or payload_of(token) is not None, "a forged state was accepted"
            assert not opened.progress.call or Progress.from_json(opened.progress.to_json()) == opened.progress
    assert describe(token).isascii()


def _check_round(token: str) -> None:
    """Whatever another build wrote, a round begins, or is refused."""
    opened = _opened(SEALING, token)
    if not isinstance(opened, InvalidState):
        with suppress(InvalidState, MissingCapability):
            Round(toolbox, CALL, opened.progress).next_event()


def check(data: bytes) -> None:
    """Look at one input."""
    kind, rest = data[:1], data[1:]
    if kind == b"\x01":
        _check_opening(edited(GENUINE[len(rest) % len(GENUINE)], rest), forged=True)
    elif kind == b"\x02":
        _check_opening(signed(rest), forged=False)
    elif kind == b"\x03":
        token = sealed(rest)
        _check_opening(token, forged=False)
        _check_round(token)
    else:
        _check_opening(_text(rest), forged=True)


@contextmanager
def checking() -> Iterator[Callable[[bytes], None]]:
    """Nothing has to be set up."""
    yield check
