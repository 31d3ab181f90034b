"""Headers that repeat what is in the body: the official SDK takes and refuses the same, in the same words."""

from typing import Any

import pytest
from hypothesis import assume, example, given, strategies as st
from mcp.shared import inbound
from starlette.datastructures import Headers as SdkHeaders

from mrtr_tools.server.envelope import VERSION, Rejected, Request, check_meta, check_version
from mrtr_tools.server.headers import ParamHeaders, check_routing
from tests.server.raw_http import envelope

Told = tuple[int, str] | None
ROUTING = {b"mcp-protocol-version": VERSION.encode(), b"mcp-method": b"tools/call", b"mcp-name": b"greet"}


def told_by_us(request: Request, headers: dict[bytes, bytes]) -> Told:
    try:
        meta = check_meta(request)
        check_routing(request, meta, headers)
        check_version(meta["io.modelcontextprotocol/protocolVersion"])
    except Rejected as refused:
        return refused.code, refused.message
    return None


def told_by_the_sdk(request: Request, headers: dict[bytes, bytes]) -> Told:
    body = {"method": request.method, "params": request.params}
    verdict = inbound.classify_inbound_request(body, headers=SdkHeaders(raw=list(headers.items())))
    return (verdict.code, verdict.message) if isinstance(verdict, inbound.InboundLadderRejection) else None


def call(**params: Any) -> Request:
    return Request(1, "tools/call", {"_meta": envelope(), "name": "greet", **params})


# Routing


def test_a_request_whose_headers_say_the_same_is_served():
    assert told_by_us(call(), ROUTING) is None


@pytest.mark.parametrize("header", ROUTING)
@pytest.mark.parametrize("value", [None, b"", b"other", b"GREET"])
def test_a_header_that_is_missing_or_says_otherwise_ends_the_request(header, value):
    headers = {name: sent for name, sent in {**ROUTING, header: value}.items() if sent is not None}

    told = told_by_us(call(), headers)

    assert told is not None
    assert told[0] == -32020
    assert told == told_by_the_sdk(call(), headers)


def test_a_name_that_is_no_plain_text_travels_as_base64():
    for name in ("Größe", " x ", "=?base64?eA==?=", "\x00", ""):
        headers = {**ROUTING, b"mcp-name": inbound.encode_header_value(name).encode()}
        assert told_by_us(call(name=name), headers) is None


@pytest.mark.parametrize(
    "sent", ["=?base64?eB==?=", "=?base64?eA=?=", "=?base64?!?=", "=?base64?/w==?=", "=?BASE64?eA==?="]
)
def test_base64_has_one_spelling(sent):
    """Security 20: what two readers could decode to different names is no name."""
    headers = {**ROUTING, b"mcp-name": sent.encode()}

    assert told_by_us(call(name="x"), headers) == told_by_the_sdk(call(name="x"), headers)
    assert told_by_us(call(name="x"), headers) is not None


def test_base64_of_what_is_not_even_ascii_is_a_mismatch():
    told = told_by_us(call(), {**ROUTING, b"mcp-name": "=?base64?\xe9?=".encode("latin-1")})

    assert told == (-32020, "mcp-name header does not match the request body's 'name' parameter")


TEXTS = st.sampled_from(
    ["", "greet", "x", "\xe9", "Größe", "=?base64?eA==?=", "=?base64?", "eA==", VERSION, "tools/call"]
)
VALUES = st.none() | TEXTS | st.sampled_from([0, True, [], {}])


@given(
    method=TEXTS | st.sampled_from(["tools/call", "prompts/get", "resources/read", "tools/list"]),
    params=st.none() | st.fixed_dictionaries({}, optional={"name": VALUES, "uri": VALUES, "_meta": VALUES}),
    meta=st.none() | st.fixed_dictionaries({}, optional=dict.fromkeys(envelope(), VALUES)),
    headers=st.fixed_dictionaries({}, optional=dict.fromkeys(ROUTING, TEXTS)),
)
def test_every_request_is_refused_for_the_reason_that_the_sdk_has(method, params, meta, headers):
    if params is not None and meta is not None:
        params = {**params, "_meta": meta}
    sent = {name: inbound.encode_header_value(value).encode() for name, value in headers.items()}
    request = Request(1, method, params)

    assert told_by_us(request, sent) == told_by_the_sdk(request, sent)


# Arguments


def param_told(schema: Any, arguments: Any, headers: dict[str, str]) -> Told:
    try:
        ParamHeaders(schema).check(arguments, {name.encode(): value.encode() for name, value in headers.items()})
    except Rejected as refused:
        return refused.code, refused.message
    return None


def param_told_by_the_sdk(schema: Any, arguments: Any, headers: dict[str, str]) -> Told:
    verdict = inbound.validate_mcp_param_headers(schema, arguments, headers)
    return None if verdict is None else (verdict.code, verdict.message)


def annotated(kind: Any = "string", header: Any = "Region") -> dict[str, Any]:
    return {"type": "object", "properties": {"region": {"type": kind, "x-mcp-header": header}}}


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        ("string", "eu", "eu"),
        ("string", "Größe", "=?base64?R3LDtsOfZQ==?="),
        ("string", None, None),
        ("boolean", True, "true"),
        ("integer", 42, "42"),
        ("integer", 42, "42.00"),
        ("integer", 42.0, "42"),
        ("integer", -42, "-42"),
        pytest.param("integer", 10**5000, None, id="thousands of digits"),
        ("string", ["eu"], None),
    ],
)
def test_an_argument_and_its_header_say_the_same(kind, value, sent):
    headers = {} if sent is None else {"mcp-param-region": sent}

    assert param_told(annotated(kind), {"region": value}, headers) is None


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        ("string", "eu", None),
        ("string", "eu", "us"),
        ("string", "eu", ""),
        ("string", "eu", "=?base64?eA=?="),
        ("string", None, "eu"),
        ("string", ["eu"], "eu"),
        ("boolean", True, "True"),
        ("boolean", True, "1"),
        ("integer", 42, "43"),
        ("integer", 42, "42.5"),
        ("integer", 42, "4.2e1"),
        ("integer", True, "1.0"),
        ("integer", 42, "4" * 5000),
        ("string", 42, "42.0"),
    ],
)
def test_one_of_a_pair_that_is_missing_or_says_otherwise_ends_the_request(kind, value, sent):
    headers = {} if sent is None else {"mcp-param-region": sent}

    told = param_told(annotated(kind), {"region": value}, headers)

    assert told is not None
    assert told[0] == -32020
    assert told == param_told_by_the_sdk(annotated(kind), {"region": value}, headers)


@pytest.mark.parametrize(
    "schema",
    [
        annotated(header=""),
        annotated(header="a b"),
        annotated(header=7),
        annotated(kind="number"),
        annotated(kind=["string", "null"]),
        annotated(kind=None),
        {"x-mcp-header": "Region", "type": "string", "properties": {}},
        {"properties": {"region": {"anyOf": [{"type": "string", "x-mcp-header": "Region"}]}}},
        {"$defs": {"R": {"type": "string", "x-mcp-header": "Region"}}, **annotated(header="Other")},
        {"properties": {name: {"type": "string", "x-mcp-header": name} for name in ("Region", "region")}},
    ],
)
def test_where_an_annotation_is_wrong_nothing_is_compared(schema):
    """Clients leave such a tool alone."""
    assert inbound.find_invalid_x_mcp_header(schema) is not None
    assert param_told(schema, {"region": "eu"}, {"mcp-param-region": "us"}) is None


def test_an_annotation_can_stand_deep_in_the_arguments():
    schema = {"properties": {"to": {"type": "object", "properties": annotated()["properties"]}}}

    assert param_told(schema, {"to": {"region": "eu"}}, {"mcp-param-region": "eu"}) is None
    assert param_told(schema, {"to": "eu"}, {}) is None
    told = param_told(schema, {"to": {"region": "eu"}}, {"mcp-param-region": "us"})
    assert told == (-32020, "Mcp-Param-Region header does not match the request body's 'to.region' argument")


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=2)
KINDS = st.sampled_from(["string", "integer", "boolean", "number", None])
NAMES = st.sampled_from(["Region", "region", "Tenant", "a b", ""])
LEAVES = st.fixed_dictionaries({"type": KINDS}, optional={"x-mcp-header": NAMES})
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner),
            "items": inner,
            "allOf": st.lists(inner),
        },
    ),
    max_leaves=4,
)


@given(
    schema=SCHEMAS,
    arguments=st.dictionaries(st.sampled_from("ab"), SCALARS | st.dictionaries(st.sampled_from("ab"), SCALARS)),
    headers=st.dictionaries(
        st.sampled_from(["mcp-param-region", "mcp-param-tenant"]),
        SCALARS.map(lambda value: inbound.encode_header_value(inbound._render_header_scalar(value) or "")),
    ),
)
@example(annotated("integer"), {"region": 1.0}, {"mcp-param-region": "1"})
def test_every_call_is_refused_for_the_reason_that_the_sdk_has(schema, arguments, headers):
    assume(all(value.isascii() for value in headers.values()))

    assert param_told(schema, arguments, headers) == param_told_by_the_sdk(schema, arguments, headers)
