"""Reading keys, and what is refused. Security 11, 13 and 14."""

import binascii
import copy
import logging
import os
import re
import subprocess
import sys
import traceback
import zlib
from pathlib import Path

import pytest
from mcp.server import Server

from mrtr_tools.keys import (
    TESTING_KEY,
    VARIABLE,
    InvalidKey,
    generate_key,
    keys_from_environment,
    keys_from_file,
    raw_key,
    read_key,
    read_keys,
)
from mrtr_tools.server import attach, http_app
from mrtr_tools.server.signing import starting_signer
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import TESTING_KEYS
from mrtr_tools.tools import Toolbox

ONE = "mrtr1_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_a96bd20e"
TWO = generate_key()


def with_checksum(head):
    return f"{head}_{zlib.crc32(head.encode()):08x}"


def refusal(keys, **options):
    """The text of the error; it shows no run of six characters of what was given."""
    with pytest.raises(InvalidKey) as caught:
        read_keys(keys, **options)
    shown = "".join(traceback.format_exception(caught.value, chain=True)).split("InvalidKey: ")[-1]
    for entry in [keys] if isinstance(keys, str) else keys:
        if isinstance(entry, str):
            secret = entry.strip().removeprefix("mrtr1_")
            assert not any(secret[at : at + 6] in shown for at in range(len(secret) - 5))
    return str(caught.value)


def test_a_generated_key_has_the_documented_form_and_is_never_the_same():
    keys = {generate_key() for _ in range(50)}
    assert len(keys) == 50
    assert all(re.fullmatch(r"mrtr1_[A-Za-z0-9_-]{43}_[0-9a-f]{8}", key) for key in keys)


def test_a_generated_key_reads_back_as_its_32_bytes():
    key = generate_key()
    assert read_key(key).secret == binascii.a2b_base64(key[6:49].replace("-", "+").replace("_", "/") + "=")


def test_the_form_of_a_key_is_pinned():
    assert read_key(ONE).secret == bytes(range(32))


def test_white_space_around_a_key_does_not_count():
    """Security 14: the newline of a secret file would be another key."""
    assert read_key(f" \t{ONE}\r\n").secret == read_key(ONE).secret


@pytest.mark.parametrize("keys", [ONE, ONE.encode(), bytearray(ONE.encode())])
def test_one_text_given_as_the_list_is_refused(keys):
    """Security 14: the characters of a text are not keys."""
    assert "not one text: write [key]" in refusal(keys)


@pytest.mark.parametrize("keys", [{ONE}, {ONE: 1}, iter([ONE]), None, 5])
def test_keys_without_an_order_are_refused(keys):
    """Security 14: the first one signs, so there has to be a first one."""
    with pytest.raises(InvalidKey, match="must be a list of keys, the current one first"):
        read_keys(keys)


def test_an_empty_list_is_refused_when_it_is_read():
    """Security 14: not when the first state is signed."""
    assert refusal([]) == "keys is empty: make a key with `mrtr-tools keygen`"


@pytest.mark.parametrize("empty", ["", " ", "\n"])
def test_an_empty_entry_is_refused(empty):
    """Security 14: itsdangerous takes an empty key."""
    assert refusal([ONE, empty]) == "key 2 of keys is empty"


@pytest.mark.parametrize("again", [ONE, ONE + "\n", raw_key(bytes(range(32)))])
def test_one_key_twice_is_refused(again):
    """Security 14."""
    assert refusal([ONE, TWO, again]) == "key 3 of keys is the same as key 1"


@pytest.mark.parametrize("length", range(1, 58))
def test_a_key_that_was_cut_is_refused_at_any_length(length):
    """Security 14."""
    message = refusal([TWO, ONE[:length]])
    assert message.startswith("key 2 of keys ")
    assert "was it cut" in message or "does not begin with" in message


def test_two_keys_without_their_comma_are_refused():
    """Security 14."""
    assert "has 116 characters instead of 58: was it cut, or joined" in refusal([ONE + TWO])


def test_a_key_with_any_one_character_changed_is_refused():
    """Security 14."""
    for at in range(6, len(ONE)):
        for other in "Aa0_-+/=.é ":
            changed = ONE[:at] + other + ONE[at + 1 :]
            if changed.strip() != ONE:
                with pytest.raises(InvalidKey, match=r"checksum|characters instead of"):
                    read_key(changed)


def test_a_key_has_one_spelling():
    """Security 14: the last character of the 43 has bits to spare."""
    other = with_checksum(ONE[:48] + "9")
    assert "does not match its checksum" in refusal([other])


def test_another_secret_of_the_right_size_is_no_key():
    """Security 14: nothing but the output of keygen, unless it comes through `raw_key`."""
    assert "does not begin with mrtr1_" in refusal(["x" * 58])
    assert "is not text: give bytes of your own through raw_key()" in refusal([os.urandom(32)])


def test_bytes_of_ones_own_need_32_of_them():
    """Security 14."""
    assert raw_key(b"x" * 32).secret == b"x" * 32
    with pytest.raises(InvalidKey, match="at least 32 bytes, this one has 31"):
        raw_key(b"x" * 31)
    with pytest.raises(InvalidKey, match="must be bytes"):
        raw_key("x" * 32)  # pyright: ignore[reportArgumentType]


def test_the_public_key_of_testing_is_refused_by_every_door():
    """Security 13."""
    secret = read_key(TESTING_KEY, allow_testing=True).secret
    assert "key 2 of keys is the public key of testing" in refusal([ONE, TESTING_KEY])
    with pytest.raises(InvalidKey, match="public key of testing"):
        read_key(TESTING_KEY)
    with pytest.raises(InvalidKey, match="public key of testing"):
        raw_key(secret)
    with pytest.raises(InvalidKey, match="public key of testing"):
        keys_from_environment({VARIABLE: TESTING_KEY})


def test_a_test_may_ask_for_the_public_key_of_testing():
    """Security 13."""
    (key,) = read_keys([TESTING_KEY], allow_testing=True)
    assert read_keys([key], allow_testing=True) == (key,)
    with pytest.raises(InvalidKey, match="public key of testing"):
        read_keys([key])


@pytest.mark.parametrize("until", [float("nan"), float("inf"), "tomorrow", True, -1, 1_767_225_600_000])
def test_the_time_of_a_keys_retirement_must_be_a_number(until):
    """Security 14: a time that compares with nothing, or one in milliseconds, would keep a leaked key alive."""
    with pytest.raises(InvalidKey, match="seconds since 1970"):
        read_key(ONE, accept_until=until)


@pytest.mark.parametrize(
    "written",
    [
        "2026-07-28T12:00Z",
        "2026-07-28T14:00+02:00",
        "2026-07-28 12:00:00+00:00",
        " 2026-07-28T12:00:00.000Z ",
        "20260728T120000Z",
    ],
)
@pytest.mark.parametrize("source", ["list", "variable", "file"])
def test_whoever_runs_a_server_can_cut_a_key_off_without_code(tmp_path, source, written):
    """Security 14: the time stands behind the key, wherever the ring comes from."""
    old = f"{ONE} accept_until={written}"
    ways = {
        "list": lambda: read_keys([TWO, old]),
        "variable": lambda: keys_from_environment({VARIABLE: f"{TWO},{old}"}),
        "file": lambda: keys_from_file(made(tmp_path / "keys", f"# current\n{TWO}\n{old}  # leaked\n")),
    }

    current, leaked = ways[source]()

    assert (current.accept_until, leaked.accept_until) == (None, 1_785_240_000)
    assert leaked.secret == read_key(ONE).secret


@pytest.mark.parametrize(
    "written",
    [
        "",
        "tomorrow",
        "2026-07-28T12:00",
        "2026-07-28",
        "1785240000",
        "0001-01-01T00:00Z",
        f"Z,{ONE}",
        f"2026-07-28T12:00Z {ONE}",
    ],
)
def test_a_time_that_is_none_or_has_no_zone_is_refused_and_not_shown(written):
    """Security 14: what cannot be read must not leave the key alive."""
    with pytest.raises(InvalidKey, match=r"accept_until.*(2026-07-28T12:00Z|seconds since 1970)") as caught:
        read_keys([TWO, f"{ONE} accept_until={written}"])
    assert ONE[6:12] not in "".join(traceback.format_exception(caught.value))


def test_no_repr_shows_key_material():
    """Security 11."""
    key = read_key(ONE, accept_until=5)
    assert repr(key) == "Key(accept_until=5)"
    assert repr(copy.copy(key)) == str([key])[1:-1] == "Key(accept_until=5)"


def test_every_purpose_and_audience_has_keys_of_its_own():
    """Security 16."""
    key = read_key(ONE)
    derived = {key.derive(p, a) for p in ("state/sign", "state/seal", "kid") for a in ("shop", "shop-staging", "")}
    assert len(derived) == 9
    assert not any(key.secret in secret for secret in derived)


def test_derived_keys_are_pinned():
    """Security 16: another label or function would refuse every state that is out."""
    assert read_key(ONE).derive("state/sign", "shop", 8).hex() == "7e7c427a320a6b25"


def test_keys_come_from_the_environment_with_the_current_one_first():
    ring = keys_from_environment({VARIABLE: f"{ONE}, {TWO}\n"})
    assert ring
    assert [key.secret for key in ring] == [read_key(ONE).secret, read_key(TWO).secret]


def test_an_environment_without_the_variable_has_no_keys():
    assert keys_from_environment({}) is None


def test_reading_the_environment_removes_the_variable(monkeypatch):
    """Security 11: a subprocess that a step starts does not inherit it."""
    monkeypatch.setenv(VARIABLE, ONE)
    assert keys_from_environment()
    show = [sys.executable, "-c", f"import os; print(os.environ.get({VARIABLE!r}))"]
    assert subprocess.run(show, capture_output=True, text=True, check=True).stdout == "None\n"


@pytest.mark.parametrize("text", ["", " ", f"{ONE},", f",{ONE}", ONE[:-1], f"{ONE},{ONE}", f"{ONE} {TWO}"])
def test_a_variable_that_cannot_be_read_is_an_error_and_removed_all_the_same(text):
    """Security 11, 14: ``"".split(",")`` is one empty key."""
    environ = {VARIABLE: text}
    with pytest.raises(InvalidKey, match=VARIABLE):
        keys_from_environment(environ)
    assert environ == {}


def test_importing_reads_no_keys():
    """Security 13: only the start of a server does."""
    script = f"import os, mrtr_tools.state; print(os.environ[{VARIABLE!r}])"
    environ = {**os.environ, VARIABLE: "untouched", "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "untouched\n"


def made(path, text, mode=0o600):
    path.write_bytes(text.encode())
    path.chmod(mode)
    return path


def test_a_file_holds_keys_on_lines_or_between_commas_with_comments(tmp_path):
    three = generate_key()
    text = f"# made in spring, für alle\n{ONE}  # current\n\n  {TWO}, {three}\r\n"
    ring = keys_from_file(made(tmp_path / "keys", text))
    assert [key.secret for key in ring] == [read_key(text).secret for text in (ONE, TWO, three)]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    assert len(keys_from_file(made(tmp_path / "keys", f"\ufeff{ONE}"))) == 1


@pytest.mark.parametrize("mode", [0o400, 0o600])
def test_a_file_that_only_its_owner_may_read_is_taken(tmp_path, mode):
    """Security 11."""
    assert keys_from_file(str(made(tmp_path / "keys", ONE, mode)))


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o606, 0o700, 0o444, 0o601])
def test_a_file_with_any_other_mode_is_refused(tmp_path, mode):
    """Security 11."""
    with pytest.raises(InvalidKey, match=f"has mode {mode:04o} and must have 0600 or 0400: chmod 600 it"):
        keys_from_file(made(tmp_path / "keys", ONE, mode))


def test_the_mode_that_counts_is_that_of_the_file_behind_a_link(tmp_path):
    """Security 11."""
    link = tmp_path / "link"
    link.symlink_to(made(tmp_path / "keys", ONE, 0o644))
    with pytest.raises(InvalidKey, match="0644"):
        keys_from_file(link)


@pytest.mark.parametrize("text", ["", "# nothing\n", f"{ONE},", ONE[:-1], f"{ONE}\n{ONE}", "\xff"])
def test_a_file_without_good_keys_is_refused_by_its_name(tmp_path, text):
    """Security 14."""
    path = made(tmp_path / "keys", text)
    with pytest.raises(InvalidKey, match=re.escape(str(path))) as caught:
        keys_from_file(path)
    assert ONE[10:30] not in str(caught.value)


def test_a_key_given_as_the_path_is_refused_and_not_shown():
    """Security 11: the error of the system would quote it."""
    with pytest.raises(InvalidKey, match=r"give it as keys=\[key\]") as caught:
        keys_from_file(ONE)
    assert ONE[6:12] not in "".join(traceback.format_exception(caught.value))


def test_a_large_file_is_no_file_of_keys(tmp_path):
    with pytest.raises(InvalidKey, match="is no file of keys"):
        keys_from_file(made(tmp_path / "keys", "#" * 70_000))


def test_a_file_that_is_missing_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        keys_from_file(tmp_path / "keys")


# How a server begins: every door


def stdio_signer(toolbox, **options):
    """What `run_stdio` begins with."""
    return starting_signer(toolbox, **{"keys": None, "audience": None, "ttl": 60, "make_key": True, **options})


def attached(toolbox, **options):
    return attach(toolbox, Server("author"), **options)


DOORS = pytest.mark.parametrize("serve", [http_app, attached, stdio_signer])


@pytest.mark.parametrize("keys", [TESTING_KEYS, [TESTING_KEY], [ONE, *TESTING_KEYS]], ids=["read", "text", "second"])
@DOORS
def test_no_server_starts_with_the_public_key_of_testing(serve, keys):
    """Security 13: neither as text, nor as it was read already."""
    with pytest.raises(InvalidKey, match="public key of testing"):
        serve(Toolbox("t"), keys=keys)


@pytest.mark.parametrize("given", ["keys", "read keys", "a file", "nothing"])
@DOORS
def test_a_server_that_starts_takes_the_keys_out_of_the_environment(monkeypatch, tmp_path, serve, given):
    """Security 11: also where it uses others, for a step could start a process all the same."""
    monkeypatch.setenv(VARIABLE, ONE)
    file = made(tmp_path / "keys", TWO)
    options = {"keys": {"keys": [TWO]}, "read keys": {"keys": [read_key(TWO)]}, "a file": {"keys_file": file}}

    serve(Toolbox("t"), **options.get(given, {}))

    assert VARIABLE not in os.environ


@pytest.mark.parametrize(
    "wrong", [{"keys": [ONE[:-1]]}, {"keys_file": "nowhere"}, {"keys": [ONE], "keys_file": "nowhere"}]
)
@DOORS
def test_a_server_that_refuses_its_keys_takes_them_out_of_the_environment_as_well(monkeypatch, serve, wrong):
    """Security 11."""
    monkeypatch.setenv(VARIABLE, ONE)

    with pytest.raises((InvalidKey, FileNotFoundError)):
        serve(Toolbox("t"), **wrong)

    assert VARIABLE not in os.environ


def test_a_server_with_a_signer_of_its_authors_takes_them_out_as_well(monkeypatch):
    """Security 11."""
    monkeypatch.setenv(VARIABLE, ONE)

    attached(Toolbox("t"), signer=StateSigner([TWO], "t"))

    assert VARIABLE not in os.environ


@DOORS
def test_a_server_takes_its_keys_from_a_file_and_says_which_one_signs_and_which_is_cut_off(
    caplog, monkeypatch, tmp_path, serve
):
    """Security 14: before those of the environment; and nothing of a key is in the log."""
    caplog.set_level(logging.INFO, "mrtr_tools")
    monkeypatch.setenv(VARIABLE, ONE)
    file = made(tmp_path / "keys", f"{TWO}\n{ONE} accept_until=2026-07-28T14:00+02:00\n")

    serve(Toolbox("shop"), keys_file=str(file))

    signs, cut = (key.id_for("shop").hex() for key in keys_from_file(file))
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert said == [
        f"shop: states are signed with key {signs}, the first of 2",
        f"shop: key {cut} counts until 2026-07-28T12:00:00+00:00",
    ]
    assert not any(key[at : at + 6] in caplog.text for key in (ONE, TWO) for at in range(6, 43))


def test_a_server_with_a_signer_of_its_authors_says_which_key_signs(caplog):
    """Security 14."""
    caplog.set_level(logging.INFO, "mrtr_tools")
    signer = StateSigner([TWO], "shop")

    attached(Toolbox("t"), signer=signer)

    assert caplog.messages == [f"shop: states are signed with key {signer.key_id}, of the signer that was given"]


@DOORS
def test_keys_are_given_in_one_way(tmp_path, serve):
    """Security 14: of two rings, nobody could tell which one signs."""
    with pytest.raises(InvalidKey, match="keys= and keys_file= are two ways to give the same keys: give one"):
        serve(Toolbox("t"), keys=[ONE], keys_file=made(tmp_path / "keys", TWO))


@pytest.mark.parametrize(
    "other", [{"keys": [ONE]}, {"keys_file": "keys"}, {"audience": "t"}, {"ttl": 60}, {"max_age": 60}], ids=str
)
def test_nothing_is_given_beside_a_signer(other):
    """It would do nothing, and look as if it did."""
    with pytest.raises(ValueError, match="signer= has keys, an audience and times of its own"):
        attached(Toolbox("t"), signer=StateSigner([TWO], "t"), **other)


@DOORS
def test_a_file_that_cannot_be_read_stops_the_server_and_no_key_is_made_in_its_place(tmp_path, serve):
    """Security 13: neither over stdio, where one may be made when nothing was said."""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        serve(Toolbox("t"), keys_file=tmp_path / "nowhere")
    with pytest.raises(InvalidKey, match="is empty"):
        serve(Toolbox("t"), keys_file=made(tmp_path / "keys", "# none yet\n"))
