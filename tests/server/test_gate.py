"""What comes in over HTTP, whoever serves it then."""

import json
from typing import Any

import pytest

from mrtr_tools.server.gate import Gate, Refused
from tests.server.asgi import Sent

HOSTS = ["mcp.example.com", "localhost", "localhost:*", "[::1]:*"]
ORIGINS = ["https://example.com", "http://localhost:*"]
TYPE = ("Content-Type", "application/json")


def admit(*headers: tuple[str, str], method: str = "POST", limit: int = 1000) -> Any:
    given = [("Host", "mcp.example.com"), ("Content-Length", "10"), TYPE]
    kept = [each for each in given if each[0] not in dict(headers)]
    return Gate(HOSTS, ORIGINS, limit).admit(Sent(headers=[*kept, *headers], method=method).scope)


def refused(*headers: tuple[str, str], **options: Any) -> tuple[int, str]:
    with pytest.raises(Refused) as error:
        admit(*headers, **options)
    status, body = error.value.response.status, error.value.response.body
    return status, json.loads(body)["error"]["message"] if body.startswith(b"{") else body.decode()


def test_headers_come_out_by_name_without_white_space_around_their_values():
    headers = admit(("Mcp-Name", "  greet \t"), ("Accept", "application/json"), ("Accept", "text/event-stream "))

    assert headers[b"mcp-name"] == b"greet"
    assert headers[b"accept"] == b"application/json, text/event-stream", "two lines of a list are one list"
    assert admit(("Cookie", "a=1"), ("Cookie", "b=2"))[b"cookie"] == b"a=1; b=2"


@pytest.mark.parametrize("host", ["mcp.example.com", "localhost", "localhost:8000", "localhost:0", "[::1]:65535"])
def test_a_host_that_was_named_is_let_in(host):
    assert admit(("Host", host))


NO_HOSTS = """
evil.example mcp.example.com:80 mcp.example.com. localhost: localhost:* localhost:8o [::1] localhost:80@evil.example
localhost:123456 localhost:-1 localhost:٣ xlocalhost localhost.evil:80
"""


@pytest.mark.parametrize("host", ["", *NO_HOSTS.split()])
def test_any_other_host_is_not(host):
    """Security 20: a name is compared as a whole."""
    sent = ("Host", host.encode().decode("latin-1"))

    assert refused(sent) == (421, "Invalid Host header")


@pytest.mark.parametrize("origin", ["https://example.com", "http://localhost:3000"])
def test_a_page_that_was_named_is_let_in(origin):
    assert admit(("Origin", origin))


@pytest.mark.parametrize(
    "origin", ["", "null", "https://example.com:443", "https://example.com.evil", "http://localhost"]
)
def test_any_other_page_is_not(origin):
    """Security 20: an origin is compared as a whole, and null is none."""
    assert refused(("Origin", origin)) == (403, "Invalid Origin header")


def test_null_cannot_be_allowed():
    with pytest.raises(ValueError, match="lets in anybody"):
        Gate(HOSTS, ["null"], 1)


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", "application/json; charset=utf-8"])
def test_json_is_let_in(kind):
    assert admit(("Content-Type", kind))


@pytest.mark.parametrize("kind", ["", "text/plain", "application/jsonx", "text/plain; application/json", "application"])
def test_any_other_media_type_is_not(kind):
    """Security 20: a page of anywhere may send what is no JSON without asking."""
    assert refused(("Content-Type", kind)) == (400, "Invalid Content-Type header")
    assert admit(("Content-Type", kind), method="GET")


@pytest.mark.parametrize("coding", ["gzip", "identity", ""])
def test_what_is_coded_is_not_let_in(coding):
    """Security 20: whoever looks at bodies on the way must be able to read them."""
    assert refused(("Content-Encoding", coding)) == (415, "A body must not have a Content-Encoding")


ONCE = """
Authorization Host Origin Content-Type Content-Length Content-Encoding Transfer-Encoding
MCP-Protocol-Version Mcp-Method Mcp-Name Mcp-Session-Id Mcp-Param-Region Mcp-Made-Up
"""


@pytest.mark.parametrize("name", ONCE.split())
def test_what_may_stand_there_once_does(name):
    """Security 20: of two, one reader takes the first and another the last."""
    assert refused((name, "x"), (name, "x")) == (400, f"{name.lower()} header appears more than once")


def test_two_lengths_of_one_body_end_the_connection():
    """Security 20: a second request can hide where one reader takes the body to end."""
    with pytest.raises(Refused) as error:
        admit(("Transfer-Encoding", "chunked"))

    assert error.value.response.status == 400
    assert (b"connection", b"close") in error.value.response.headers


@pytest.mark.parametrize("length", ["1001", "9" * 5000])
def test_a_body_that_will_be_too_long_is_not_waited_for(length):
    assert refused(("Content-Length", length)) == (413, "A message may have 1000 bytes")


@pytest.mark.parametrize("length", ["", "-1", "+1", "1_0", "0x1", "1.0", "٣".encode().decode("latin-1")])
def test_a_length_is_a_number(length):
    assert refused(("Content-Length", length)) == (400, "Content-Length must be a number")


def test_the_log_says_what_to_allow_and_no_more_than_fits_in_a_line(caplog):
    refused(("Host", "evil.example\xe9" + "x" * 5000))
    refused(("Origin", "https://evil.example"))

    assert "a request for host 'evil.example\\xe9xxx" in caplog.text
    assert "'https://evil.example'" in caplog.text
    assert len(caplog.text) < 500
