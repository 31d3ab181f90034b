import base64

import pytest
from hypothesis import given, strategies as st

from mrtr_tools import base64url


@given(st.binary(max_size=100))
def test_bytes_come_back_from_what_they_are_spelled_as(raw: bytes):
    text = base64url.encode(raw)

    assert text == base64.urlsafe_b64encode(raw).rstrip(b"=")
    assert base64url.decode(text) == raw


@pytest.mark.parametrize(
    "text", [b"Q", b"QR", b"QUI=", b"QUJD\n", b" QUJD", b"QUJD!!!!", b"+/+/", b"QU.JD", "Q\u00dcJD".encode()]
)
def test_there_is_one_spelling(text: bytes):
    with pytest.raises(ValueError, match=r".+"):
        base64url.decode(text)


@given(st.binary(max_size=12))
def test_what_is_taken_is_what_would_be_written(text: bytes):
    try:
        raw = base64url.decode(text)
    except ValueError:
        return
    assert base64url.encode(raw) == text
