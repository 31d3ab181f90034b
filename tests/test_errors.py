"""The families of errors, and what each says on the wire."""

import pytest
from pydantic import JsonValue

from mrtr_tools import errors
from mrtr_tools.errors import (
    DefinitionError,
    InvalidParams,
    InvalidState,
    MissingCapability,
    RequestError,
    StateTooLarge,
    ToolError,
)


def test_every_error_belongs_to_one_family():
    families = (DefinitionError, ToolError, RequestError)
    for name in errors.__all__:
        assert sum(issubclass(getattr(errors, name), family) for family in families) == 1, name
    assert issubclass(StateTooLarge, ToolError)


def test_a_refused_state_says_the_same_whatever_the_reason():
    """One frozen message; the reason is for the log."""
    refusals = [InvalidState(reason) for reason in ("bad signature", "other principal", "unknown key")]

    assert {(error.code, error.message, error.data, str(error)) for error in refusals} == {
        (-32602, "Invalid or expired requestState", None, "Invalid or expired requestState")
    }
    assert [error.reason for error in refusals] == ["bad signature", "other principal", "unknown key"]


def test_a_genuine_state_that_came_too_late_may_say_so():
    """Promise 8."""
    error = InvalidState("age", public="expired")

    assert (error.code, error.message, error.data) == (
        -32602,
        "Invalid or expired requestState",
        {"reason": "expired"},
    )
    assert isinstance(error, InvalidParams)


def test_a_missing_capability_names_what_is_required():
    required: dict[str, JsonValue] = {"elicitation": {"form": {}}}
    error = MissingCapability(required)

    assert error.code == -32021
    assert "elicitation" in error.message
    assert error.data == {"requiredCapabilities": required}
    assert error.required == required


@pytest.mark.parametrize("error", [InvalidParams("x"), InvalidParams("x", {"a": 1}), RequestError("x")])
def test_a_request_error_has_a_code_a_message_and_data(error):
    assert error.code == (-32602 if isinstance(error, InvalidParams) else -32600)
    assert str(error) == error.message == "x"
    assert error.data in (None, {"a": 1})
