"""What is sealed beside states: for one purpose, one server, one place."""

import pytest

from mrtr_tools.keys import generate_key, read_key
from mrtr_tools.sealing import Sealer

OLD, NEW = read_key(generate_key()), read_key(generate_key())
SEALER = Sealer([OLD], "till", "ledger/reply")


def test_what_was_sealed_opens_and_shows_nothing():
    sealed = SEALER.seal(b"hunter2", b"place")
    assert SEALER.open(sealed, b"place") == b"hunter2"
    assert b"hunter2" not in sealed
    assert SEALER.seal(b"hunter2", b"place") != sealed


@pytest.mark.parametrize(
    "other",
    [Sealer([NEW], "till", "ledger/reply"), Sealer([OLD], "tills", "ledger/reply"), Sealer([OLD], "till", "task/seal")],
    ids=["key", "server", "purpose"],
)
def test_another_key_server_or_purpose_opens_nothing(other: Sealer):
    """Security 16."""
    with pytest.raises(ValueError, match="no key here"):
        other.open(SEALER.seal(b"x", b"place"), b"place")


def test_what_is_moved_to_another_place_does_not_open():
    """Security 16."""
    with pytest.raises(ValueError, match="something else"):
        SEALER.open(SEALER.seal(b"x", b"place"), b"elsewhere")


def test_every_changed_or_missing_byte_is_found():
    sealed = SEALER.seal(b"hello", b"place")
    for place in range(len(sealed)):
        changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        for wrong in (changed, sealed[:place]):
            with pytest.raises(ValueError, match=r"no key here|something else"):
                SEALER.open(wrong, b"place")


def test_the_first_key_seals_and_all_open():
    before, after = Sealer([OLD, NEW], "till", "p"), Sealer([NEW, OLD], "till", "p")
    assert after.open(before.seal(b"x", b""), b"") == b"x"
    assert Sealer([OLD], "till", "p").open(before.seal(b"x", b""), b"") == b"x"
    assert Sealer([NEW], "till", "p").open(after.seal(b"x", b""), b"") == b"x"


def test_what_a_retired_key_sealed_does_not_open():
    """Security 14."""
    retired = read_key(generate_key(), accept_until=100)
    sealed = Sealer([retired], "till", "p", lambda: 50).seal(b"x", b"")
    assert Sealer([NEW, retired], "till", "p", lambda: 100).open(sealed, b"") == b"x"
    with pytest.raises(ValueError, match="no key here"):
        Sealer([NEW, retired], "till", "p", lambda: 100.1).open(sealed, b"")
