"""Answers as a client gives them: the plain values of a test become responses of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from pydantic import BaseModel, JsonValue
from pydantic_core import from_json, to_json

from mrtr_tools.answers import choices_of
from mrtr_tools.choices import wire_text
from mrtr_tools.input_requests import Root, Sampled
from mrtr_tools.marks import Refused

__all__ = ["in_turn", "respond"]


def in_turn(*answers: object) -> Callable[[Mapping[str, JsonValue]], object]:
    """An answer that is another one each time: ``play("pick", date=in_turn("Monday", "Tuesday"))``."""
    left = iter(answers)

    def answer(request: Mapping[str, JsonValue]) -> object:
        for given in left:
            return given
        raise AssertionError(f"asked more than {len(answers)} times: {dict(request)}")

    return answer


def respond(request: Mapping[str, JsonValue], answer: object) -> JsonValue:
    """The response to a question, as a client gives it.

    Args:
        request: the question, ``{"method": ..., "params": ...}``.
        answer: for a form, the value of its only field; or all fields, in a dict or an instance of the form's type; a
            choice may be given as the value it stands for. For a page, whether it is opened. For a model, what it says,
            as a text, a `Sampled`, or the protocol's object. For roots, a list of `Root` or of URIs. For any of them
            `Refused`, or a callable that gets `request` and gives one of these.
    """
    if callable(answer) and not isinstance(answer, type):
        answer = cast("Callable[[Any], object]", answer)(request)
    if isinstance(answer, Refused):
        return {"action": answer.action}
    if request["method"] == "sampling/createMessage":
        return _sampled(answer)
    if request["method"] == "roots/list":
        roots = [root if isinstance(root, Root) else Root(str(root)) for root in cast("list[object]", answer)]
        return {"roots": [{"uri": root.uri, **({"name": root.name} if root.name else {})} for root in roots]}
    params = cast("dict[str, Any]", request["params"])
    if params.get("mode") == "url":
        return {"action": "accept" if answer else "decline"}
    properties = cast("dict[str, dict[str, Any]]", params["requestedSchema"]["properties"])
    given = _fields(answer)
    content = {next(iter(properties)): answer} if given is None else given
    shown = {name: _shown(value, properties.get(name, {})) for name, value in content.items()}
    return {"action": "accept", "content": cast("JsonValue", from_json(to_json(shown)))}


def _sampled(answer: object) -> JsonValue:
    if isinstance(answer, Sampled):
        stop = {"stopReason": answer.stop_reason} if answer.stop_reason else {}
        return {"role": answer.role, "content": cast("JsonValue", answer.content), "model": answer.model, **stop}
    if isinstance(answer, str):
        return {"role": "assistant", "content": {"type": "text", "text": answer}, "model": "test"}
    return cast("JsonValue", answer)


def _fields(answer: object) -> dict[str, object] | None:
    """The fields of an answer that gives several, by their names on the wire; None for a single value."""
    if isinstance(answer, dict):
        return cast("dict[str, object]", answer)
    if isinstance(answer, BaseModel):
        return {each.alias or name: getattr(answer, name) for name, each in type(answer).model_fields.items()}
    if is_dataclass(answer) and not isinstance(answer, type):
        return {each.name: getattr(answer, each.name) for each in fields(answer)}
    return None


def _shown(value: object, spec: dict[str, Any]) -> object:
    """A value as a form shows it: choices stand there as text."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_shown(item, spec.get("items", {})) for item in cast("list[object]", value)]
    return wire_text(value) if choices_of(spec) is not None else value
