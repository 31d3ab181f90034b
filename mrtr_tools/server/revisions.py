"""Questions as clients of revisions before 2026-07-28 know them, and their answers as the core reads them.

===========  =========================================================================================
revision     what can be asked
===========  =========================================================================================
2024-11-05   the model (text, images), and the roots
2025-03-26   sounds in what the model is told
2025-06-18   forms: no defaults but of yes or no, titles of choices as `enumNames`, no choice of several
2025-11-25   pages (with an `elicitationId`), choices of several, tools for the model
===========  =========================================================================================
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Final, cast

from pydantic import JsonValue

from mrtr_tools.server.wire import sendable

__all__ = ["NotKnown", "answer_from", "askable", "question_for"]

Json = dict[str, JsonValue]

WITH_SOUNDS: Final = "2025-03-26"  # revisions are dates
WITH_FORMS: Final = "2025-06-18"
WITH_PAGES: Final = "2025-11-25"
ID_BYTES: Final = 16


class NotKnown(ValueError):
    """A question holds something that the client's revision has no words for."""


def askable(version: str, capabilities: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """What a client of this revision can be asked for, as a `ClientCapabilities` object of 2026-07-28."""
    if version >= WITH_PAGES:
        return capabilities
    known = dict(capabilities)
    if isinstance(known.pop("elicitation", None), dict) and version >= WITH_FORMS:
        known["elicitation"] = {"form": {}}  # there were no others to declare
    if isinstance(known.get("sampling"), dict):
        known["sampling"] = {}
    return known


def question_for(version: str, request: Mapping[str, JsonValue]) -> Json:
    """A question as a client of this revision reads it.

    Raises:
        NotKnown: it holds what the revision does not know.
    """
    params = dict(cast("Json", request.get("params", {})))
    if request["method"] == "sampling/createMessage" and version < WITH_PAGES:
        params["messages"] = list(_messages(version, cast("list[Json]", params["messages"])))
    elif params.get("mode") == "url":
        params["elicitationId"] = secrets.token_urlsafe(ID_BYTES)
    elif request["method"] == "elicitation/create" and version < WITH_PAGES:
        params.pop("mode", None)
        params["requestedSchema"] = _form(cast("Json", params["requestedSchema"]))
    return sendable({"method": request["method"], **({"params": params} if params else {})})


def answer_from(version: str, request: Mapping[str, JsonValue], answer: JsonValue) -> JsonValue:
    """The answer to `question_for` as one to `request`: where choices went out one by one, they come back as a list."""
    match answer:
        case {"action": "accept", "content": dict() as content} if version < WITH_PAGES:
            schema = cast("Json", cast("Json", request.get("params", {})).get("requestedSchema", {}))
            return {**answer, "content": _chosen(schema, content)}
        case _:
            return answer


# Forms


def _form(schema: Json) -> Json:
    fields = cast("dict[str, Json]", schema["properties"])
    shown: Json = {}
    for name, field in fields.items():
        shown |= _one_by_one(name, field) if field["type"] == "array" else {name: _plain(field)}
    required = [name for name in cast("list[str]", schema.get("required", [])) if name in shown]
    known = {key: value for key, value in schema.items() if key not in ("$schema", "required")}
    return {**known, "properties": shown, **({"required": cast("JsonValue", required)} if required else {})}


def _plain(field: Json) -> Json:
    """A field with its default taken off, unless it is a yes or no, and with the titles of choices beside them."""
    known = {key: value for key, value in field.items() if key != "default" or field["type"] == "boolean"}
    if "oneOf" not in known:
        return known
    choices = cast("list[Json]", known.pop("oneOf"))
    return {
        **known,
        "enum": [choice["const"] for choice in choices],
        "enumNames": [choice["title"] for choice in choices],
    }


def _one_by_one(name: str, field: Json) -> Json:
    """A choice of several as one yes or no for each."""
    about = field.get("title") or field.get("description") or name
    chosen = field.get("default")
    shown: Json = {}
    for key, value, title in _choices(name, field):
        default: Json = {"default": value in chosen} if isinstance(chosen, list) else {}
        shown[key] = {"type": "boolean", "title": title, "description": about, **default}
    return shown


def _chosen(schema: Json, content: Json) -> Json:
    left = dict(content)
    for name, field in cast("dict[str, Json]", schema.get("properties", {})).items():
        if field["type"] == "array":
            said = [(value, left.pop(key)) for key, value, _ in _choices(name, field) if key in left]
            if said or name in cast("list[str]", schema.get("required", [])):
                left[name] = [value for value, yes in said if yes is True]
    return left


def _choices(name: str, field: Json) -> Iterator[tuple[str, str, str]]:
    """Of each choice the name of its field, its value and its title."""
    items = cast("Json", field["items"])
    for choice in cast("list[Json | str]", items.get("anyOf", items.get("enum"))):
        value, title = (choice, choice) if isinstance(choice, str) else (str(choice["const"]), str(choice["title"]))
        yield f"{name}.{value}", value, title


# Sampling


def _messages(version: str, messages: list[Json]) -> Iterator[JsonValue]:
    """Messages of one block each."""
    known = ("text", "image", "audio") if version >= WITH_SOUNDS else ("text", "image")
    for message in messages:
        content = message["content"]
        for block in content if isinstance(content, list) else [content]:
            if not isinstance(block, dict) or block.get("type") not in known:
                raise NotKnown(f"a client of {version} takes {', '.join(known)} for its model, and nothing else")
            yield {**message, "content": block}
