"""Attacks on states by the hundred, as their sender sees them: every edit, and every call but their own.

What is compared is the JSON-RPC error, whole. Nothing here measures time.
"""

import base64
import itertools
import json
import logging
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote

import anyio
import pytest

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Call, InputRequired
from mrtr_tools.errors import InvalidState, RequestError
from mrtr_tools.keys import generate_key
from mrtr_tools.progress import Progress
from mrtr_tools.runner import handle_call
from mrtr_tools.server.wire import error_object
from mrtr_tools.state import StateSigner
from tests.attacker import Clock
from tests.rounds_by_hand import FORMS

FROZEN: Final = {"code": -32602, "message": "Invalid or expired requestState"}
ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
JUNK: Final = "=+/. \n\0%é\u200b\ud800!"
KEYS: Final = [generate_key(), generate_key()]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """A hundred thousand refusals are as many lines of the log."""
    logger = logging.getLogger("mrtr_tools")
    before = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(before)


def shop() -> Toolbox:
    toolbox = Toolbox("shop")

    @toolbox.tool
    @needs_input(ok=confirm("Pay {amount}?"))
    def pay(amount: int) -> str:
        return "paid"

    @toolbox.tool
    @needs_input(ok=confirm("Refund {amount}?"))
    def refund(amount: int) -> str:
        return "refunded"

    @toolbox.tool
    def carry(size: int) -> str:
        return then(show, text="x" * size)

    @toolbox.step
    @needs_input(ok=confirm("Show it?"))
    def show(text: str) -> str:
        return text

    @toolbox.prompt()
    @needs_input(ok=confirm("Write to {amount}?"))
    def letter(amount: str) -> str:
        return amount

    @toolbox.resource("note://{name}")
    @needs_input(ok=confirm("Show {name}?"))
    def note(name: str) -> str:
        return name

    return toolbox


SHOP: Final = shop()


async def outcome(signer: StateSigner, call: Call) -> Any:
    """What the client gets: an error object, or None for questions."""
    try:
        reply = await handle_call(SHOP, call, signer)
    except RequestError as error:
        return error_object(error)
    assert isinstance(reply, InputRequired)
    return None


async def asked(signer: StateSigner, call: Call) -> Call:
    """The call with the state of its first round."""
    reply = await handle_call(SHOP, call, signer)
    assert isinstance(reply, InputRequired)
    assert reply.state is not None
    return replace(call, state=reply.state)


# Edits


def two_hundred() -> Iterator[tuple[StateSigner, Call]]:
    """Four kinds of call, of somebody and of nobody, sealed and not; some carry a few kilobytes."""
    signers = [StateSigner(KEYS[:1], "shop", clock=Clock(), seal=seal) for seal in (True, False)]
    for number in range(200):
        method, target, arguments = [
            ("tools/call", "pay", {"amount": number}),
            ("prompts/get", "letter", {"amount": str(number)}),
            ("resources/read", f"note://n{number}", {}),
            ("tools/call", "carry", {"size": 3000 if number % 20 == 3 else number % 20}),
        ][number % 4]
        principal = ["alice", None][number // 4 % 2]
        yield signers[number // 8 % 2], Call(target, arguments, method=method, principal=principal, client=FORMS)


def changes(token: str, chance: random.Random) -> Iterator[str]:
    """One character changed, at every place; of a long token at both ends and in between."""
    places = range(len(token)) if len(token) < 1000 else [*range(80), *range(80, len(token) - 80, 41)]
    for at in {*places, *range(len(token) - 80, len(token))}:
        neighbour = ALPHABET[ALPHABET.index(token[at]) ^ 1] if token[at] in ALPHABET else "A"
        yield token[:at] + (chance.choice(ALPHABET + JUNK) if at % 3 == 0 else neighbour) + token[at + 1 :]
    for at in chance.sample(range(len(token)), 12):
        yield token[:at] + token[at + 1 :]
        yield token[:at] + chance.choice(ALPHABET + JUNK) + token[at:]


def truncations(token: str) -> Iterator[str]:
    for at in {*range(0, len(token), -(-len(token) // 20)), *range(len(token) - 8, len(token))}:
        yield token[:at]
        yield token[at + 1 :]


def concatenations(token: str, other: str) -> Iterator[str]:
    body, signature = token.split(".")
    body2, signature2 = other.split(".")
    yield from (token + token, f"{token}.{token}", token + other, f"{token}.{other}", f"{token},{other}")
    yield from (f"{body}.{signature2}", f"{body2}.{signature}", f"{body}.{signature}.{signature2}")
    yield from (f"{signature}.{body}", f"{body}{body2}.{signature}", f"{body}.{signature}{signature2}", f"{body}..")
    yield from (body, signature, f"{body}.", f".{signature}", f"{body}{signature}", f".{token}", f"{token}.")


def encodings(token: str) -> Iterator[str]:
    body, signature = token.split(".")
    padded = body + "=" * (-len(body) % 4)
    raw = base64.urlsafe_b64decode(padded)
    yield from (token.replace("-", "+").replace("_", "/"), f"{padded}.{signature}", f"{token}=", f"{body}=.{signature}")
    yield from (token.upper(), token.lower(), token.swapcase(), token[::-1], token.title())
    yield from (f" {token}", f"{token} ", f"{token}\n", f"\ufeff{token}", f"{token}\0", f'"{token}"', repr(token))
    yield from (quote(token, safe="").replace(".", "%2E"), "".join(f"%{ord(letter):02X}" for letter in token))
    yield from (
        token.encode().hex(),
        base64.b64encode(token.encode()).decode(),
        token.encode("utf-16").decode("latin-1"),
    )
    yield from (json.dumps(token), "\n".join(token[at : at + 76] for at in range(0, len(token), 76)))
    yield from (f"{raw.hex()}.{signature}", f"{base64.b85encode(raw).decode()}.{signature}", raw.decode("latin-1"))
    yield "".join(chr(0xFEE0 + ord(letter)) if letter.isalnum() else letter for letter in token)


def test_every_edit_of_200_states_is_refused_alike():
    """Security 15: changes, cuts, joins and other spellings; the sender learns nothing of how near it was."""

    async def attack() -> int:
        chance, tried = random.Random(7), 0
        tokens = [(signer, await asked(signer, call)) for signer, call in two_hundred()]
        for (signer, call), (_, next_call) in itertools.pairwise([*tokens, tokens[0]]):
            token, other = str(call.state), str(next_call.state)
            edits = {*changes(token, chance), *truncations(token), *concatenations(token, other), *encodings(token)}
            for edit in edits - {token}:
                refused = await outcome(signer, replace(call, state=edit))
                assert refused == FROZEN, f"{refused} for {edit!r} in place of {token!r}"
                tried += 1
            assert await outcome(signer, call) is None
        return tried

    assert anyio.run(attack) > 60_000


# Calls


@dataclass(frozen=True)
class Place:
    """A server: what its states are bound to, besides the call."""

    key: int
    audience: str
    seal: bool

    @property
    def signer(self) -> StateSigner:
        return StateSigner([KEYS[self.key]], self.audience, clock=Clock(), seal=self.seal)


PLACES: Final = [Place(*each) for each in itertools.product((0, 1), ("shop", "shop-staging"), (True, False))]
SENDERS: Final = (None, "alice", "bob")


def cross(calls: list[Call]) -> Iterator[tuple[Place, Call, Place, Call, bool]]:
    """Every state and every place and call it is sent to, and whether it belongs there.

    A server that seals takes no unsealed state; one that does not takes both.
    """
    for made, at in itertools.product(itertools.product(PLACES, calls), repeat=2):
        same_server = (made[0].key, made[0].audience) == (at[0].key, at[0].audience)
        readable = made[0].seal or not at[0].seal
        yield *made, *at, made[1] == at[1] and same_server and readable


def test_a_state_is_taken_by_its_own_call_on_its_own_server_and_by_no_other():
    """Security 8, 12, 16: other tools, prompts, resources, arguments, callers, keys and audiences, all alike."""
    calls = [
        Call(target, arguments, method=method, principal=principal, client=FORMS)
        for principal in SENDERS
        for method, target, arguments in [
            ("tools/call", "pay", {"amount": 1}),
            ("tools/call", "pay", {"amount": 2}),
            ("tools/call", "refund", {"amount": 1}),
            ("prompts/get", "letter", {"amount": "1"}),
            ("prompts/get", "letter", {"amount": "2"}),
            ("resources/read", "note://a", {}),
            ("resources/read", "note://b", {}),
        ]
    ]

    async def attack() -> tuple[int, int]:
        signers = {place: place.signer for place in PLACES}
        minted = {(place, id(call)): (await asked(signers[place], call)).state for place in PLACES for call in calls}
        taken = refused = 0
        for made_at, made_for, at, call, belongs in cross(calls):
            found = await outcome(signers[at], replace(call, state=minted[made_at, id(made_for)]))
            assert found == (None if belongs else FROZEN), (made_at, made_for, at, call)
            taken, refused = taken + belongs, refused + (not belongs)
        return taken, refused

    # Of the pairs of modes all but one can be read; everything else must be the same.
    own = len(calls) * 4 * 3
    assert anyio.run(attack) == (own, (len(calls) * len(PLACES)) ** 2 - own)


def test_a_state_is_bound_to_its_method_even_where_names_are_the_same():
    """Security 8: no toolbox has one name twice, but two builds may have one name for two things."""
    fields = [("tools/call", "prompts/get", "resources/read"), ("a", "b"), ({"x": 1}, {"x": 2}, {}), SENDERS]
    calls = [
        Call(target, arguments, method=method, principal=who)
        for method, target, arguments, who in itertools.product(*fields)
    ]
    for seal in (True, False):
        signer = StateSigner(KEYS, "shop", clock=Clock(), seal=seal)
        for made_for in calls:
            token = minted(signer, made_for)
            assert [call for call in calls if opens(signer, token, call)] == [made_for]


def minted(signer: StateSigner, call: Call) -> str:
    return signer.dumps(Progress(), call)


def opens(signer: StateSigner, token: str, call: Call) -> bool:
    try:
        signer.loads(token, call)
    except InvalidState:
        return False
    return True
