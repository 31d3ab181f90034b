"""The shapes of parameters are those of the protocol, for which the official SDK's models stand."""

from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from mcp_types import methods
from pydantic import ValidationError

from mrtr_tools.server.envelope import VERSION
from mrtr_tools.server.shapes import METHODS, fits
from tests.server.raw_http import envelope

PREFIX = "io.modelcontextprotocol/"
TEXT = st.text(st.characters(codec="utf-8"), max_size=3)
ODD = st.sampled_from([None, True, 0, 7, 1.0, 1.5, "", "x", "dark", "info", "debug", [], ["x"], [None], {}, {"x": {}}])


def fits_the_sdk(method: str, params: Any) -> bool:
    try:
        methods.validate_client_request(method, VERSION, params)
    except ValidationError:
        return False
    return True


def objects(required: dict[str, Any] | None = None, **optional: Any) -> st.SearchStrategy[Any]:
    """Objects that are mostly right: a member may be anything, or not be there."""
    return st.fixed_dictionaries(
        {name: strategy | ODD for name, strategy in (required or {}).items()},
        optional={name: strategy | ODD for name, strategy in {**optional, "more": ODD}.items()},
    )


ICONS = st.lists(objects({"src": TEXT}, mimeType=TEXT, sizes=st.lists(TEXT, max_size=2), theme=TEXT), max_size=2)
CAPABILITIES = objects(
    elicitation=objects(form=objects(), url=objects()),
    sampling=objects(context=objects(), tools=objects()),
    roots=objects(),
    experimental=objects(x=objects()),
    extensions=objects(x=objects()),
)
META = objects(
    {f"{PREFIX}protocolVersion": st.just(VERSION), f"{PREFIX}clientCapabilities": CAPABILITIES},
    **{
        f"{PREFIX}clientInfo": objects(
            {"name": TEXT, "version": TEXT}, title=TEXT, description=TEXT, websiteUrl=TEXT, icons=ICONS
        ),
        f"{PREFIX}logLevel": TEXT,
        "progressToken": TEXT,
    },
)
PARAMS = objects({"_meta": META, "name": TEXT, "uri": TEXT}, arguments=objects(a=TEXT), cursor=TEXT)


def test_there_is_a_shape_for_what_a_toolbox_serves():
    of_the_sdk = {method for method, version in methods.CLIENT_REQUESTS if version == VERSION}

    assert of_the_sdk == METHODS | {"completion/complete", "subscriptions/listen"}


@pytest.mark.parametrize("method", METHODS)
@given(params=PARAMS)
@example(params={"_meta": envelope(), "name": "x", "uri": "x"})
@example(params={"_meta": envelope(), "name": "x", "uri": "x", "arguments": None, "cursor": None})
@example(params={"_meta": envelope(), "name": "x", "uri": "x", "arguments": {"a": 1}, "cursor": ""})
@example(params={"_meta": envelope(progressToken=1.0), "name": "x", "uri": "x"})
@example(params={})
def test_a_request_fits_when_the_sdk_says_so(method, params):
    assert fits(method, params) == fits_the_sdk(method, params)


@pytest.mark.parametrize("method", METHODS)
def test_a_right_request_fits_and_one_without_envelope_does_not(method):
    assert fits(method, {"_meta": envelope(), "name": "x", "uri": "x"})
    assert not fits(method, {"name": "x", "uri": "x"})


def test_answers_and_state_are_looked_at_by_the_core():
    """One that cannot be read is asked again, or has the one text of refused states."""
    params: Any = {"_meta": envelope(), "name": "x", "inputResponses": ["?"], "requestState": 7}

    assert fits("tools/call", params)
