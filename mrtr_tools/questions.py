"""`Question`: one of the things that can be asked, on its way to the wire and its answer on the way back.

There are five kinds: `form`, `confirm`, `url`, `sample` and `roots`. A fixed question is a `Draft`, made when a step is
defined; what a function asks is kept as it is sent. Both go over the wire as a request of the protocol, and both are
read by kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from pydantic import JsonValue
from pydantic_core import from_json, to_json

from mrtr_tools.answers import Misfit
from mrtr_tools.forms import FormError
from mrtr_tools.input_requests import Confirm, Elicit, ElicitUrl, ListRoots, Root, Sample, Sampled, Source
from mrtr_tools.templates import Template
from mrtr_tools.urls import checked_url, url_template

__all__ = ["Draft", "Kind", "Question", "Response", "kind_of", "read_response", "read_roots", "read_sampled"]

Kind = Literal["form", "confirm", "url", "sample", "roots"]
Texts = Mapping[str, str]

_FIRST: Final = "message"
_URL: Final = "url"
_SYSTEM: Final = "system"


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is sent.

    Attributes:
        kind: how its answer is read.
        method: the protocol's method.
        params: its parameters.
    """

    kind: Kind
    method: str
    params: dict[str, JsonValue]

    @property
    def requires(self) -> dict[str, JsonValue]:
        """The client capability that asking needs, as a `ClientCapabilities` object."""
        if self.kind == "url":
            return {"elicitation": {"url": {}}}
        if self.kind == "sample":
            return {"sampling": {"tools": {}} if "tools" in self.params or "toolChoice" in self.params else {}}
        return {"roots": {}} if self.kind == "roots" else {"elicitation": {"form": {}}}

    @property
    def schema(self) -> dict[str, JsonValue]:
        """The form; empty for what is no form."""
        return cast("dict[str, JsonValue]", self.params.get("requestedSchema", {}))

    def request(self, why: str | None) -> dict[str, JsonValue]:
        """The `inputRequests` entry, with the reason why it is asked again."""
        params: dict[str, JsonValue] = self.params
        if why and self.kind == "sample":
            again: JsonValue = {"role": "user", "content": {"type": "text", "text": why}}
            params = {**params, "messages": [*cast("list[JsonValue]", params["messages"]), again]}
        elif why and "message" in params:
            params = {**params, "message": f"{why}\n{params['message']}"}
        return {"method": self.method, **({"params": params} if params else {})}

    def to_json(self) -> dict[str, JsonValue]:
        """A JSON object that `from_json` turns back into an equal question."""
        return {"kind": self.kind, "method": self.method, "params": self.params}

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Question:
        """Read what `to_json` wrote."""
        return cls(
            cast("Kind", data["kind"]), cast("str", data["method"]), cast("dict[str, JsonValue]", data["params"])
        )

    @classmethod
    def made(cls, source: Source, schema: Mapping[str, JsonValue] | None) -> Question:
        """What a function asks, as it is.

        Raises:
            FormError: it has no text, text that is no Unicode, or a URL that must not be opened.
        """
        if isinstance(source, Sample):
            _check_sample(source)
        texts = _texts(source)
        if not all(isinstance(cast("object", text), str) and text.strip() for text in texts.values()):
            raise FormError("it has an empty text; say what is asked")
        question = _question(source, schema, texts)
        try:
            from_json(to_json(question.params), allow_inf_nan=False)
        except ValueError as error:
            raise FormError("it has text that is no Unicode, or is no JSON") from error
        return question


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A question made when a step is defined: its texts are templates.

    Attributes:
        source: what the author gave.
        schema: the form, or None for what is none.
        templates: its texts, by place.
        unfilled: the question with nothing filled in.
        plain: the question, when its texts name nothing and it is the same for every call; else None.

    Raises:
        TemplateError: a text is no template, or fills a place that must be fixed.
        FormError: a text is empty, or the URL must not be opened.
    """

    source: Source
    schema: Mapping[str, JsonValue] | None
    templates: Mapping[str, Template]
    unfilled: Question
    plain: Question | None

    @classmethod
    def of(cls, source: Source, schema: Mapping[str, JsonValue] | None) -> Draft:
        """Read the texts of what a decorator was given."""
        unfilled = Question.made(source, schema)
        templates = {
            place: url_template(text) if place == _URL else Template(text) for place, text in _texts(source).items()
        }
        draft = cls(source, schema, templates, unfilled, None)
        if any(template.fields for template in templates.values()):
            return draft
        filled = draft.question({})  # only doubled braces change
        return replace(draft, plain=unfilled if filled == unfilled else filled)

    @property
    def kind(self) -> Kind:
        """How its answer is read."""
        return self.unfilled.kind

    @property
    def definition(self) -> list[object]:
        """What makes it the same question: its kind, and its parameters before anything is filled in."""
        return [self.kind, self.unfilled.params]

    def question(self, values: Mapping[str, object]) -> Question:
        """The question with its texts filled in."""
        if self.plain is not None:
            return self.plain
        texts = {place: template.fill(values) for place, template in self.templates.items()}
        return _question(self.source, self.schema, texts)


def kind_of(source: Source) -> Kind:
    """How the answer to something is read."""
    match source:
        case Elicit():
            return "form"
        case Confirm():
            return "confirm"
        case ElicitUrl():
            return "url"
        case Sample():
            return "sample"
        case ListRoots():
            return "roots"


def _texts(source: Source) -> dict[str, str]:
    """The texts of a question, by place."""
    if isinstance(source, ListRoots):
        return {}
    if not isinstance(source, Sample):
        more = {_URL: source.url} if isinstance(source, ElicitUrl) else {}
        return {_FIRST: source.message, **more}
    said = [source.messages] if isinstance(source.messages, str) else source.messages
    texts = {str(place): text for place, text in enumerate(said) if isinstance(text, str)}
    return texts if source.system_prompt is None else {**texts, _SYSTEM: source.system_prompt}


def _question(source: Source, schema: Mapping[str, JsonValue] | None, texts: Texts) -> Question:
    kind = kind_of(source)
    match source:
        case Sample():
            return Question(kind, "sampling/createMessage", _sampling(source, texts))
        case ListRoots():
            return Question(kind, "roots/list", {})
        case ElicitUrl():
            url = checked_url(texts[_URL])
            return Question(kind, "elicitation/create", {"mode": "url", "message": texts[_FIRST], "url": url})
        case Elicit() | Confirm():
            params: dict[str, JsonValue] = {
                "mode": "form",
                "message": texts[_FIRST],
                "requestedSchema": dict(schema or {}),
            }
            return Question(kind, "elicitation/create", params)


def _sampling(source: Sample, texts: Texts) -> dict[str, JsonValue]:
    said = [source.messages] if isinstance(source.messages, str) else source.messages
    options: dict[str, Any] = {
        "systemPrompt": texts.get(_SYSTEM),
        "modelPreferences": source.model_preferences,
        "temperature": source.temperature,
        "stopSequences": source.stop_sequences,
        "tools": source.tools,
        "toolChoice": source.tool_choice,
    }
    return {
        "messages": [_message(message, texts.get(str(place))) for place, message in enumerate(said)],
        "maxTokens": source.max_tokens,
        **{name: _plain(value) for name, value in options.items() if value is not None},
    }


def _message(message: str | Mapping[str, JsonValue], text: str | None) -> JsonValue:
    if isinstance(message, str):
        return {"role": "user", "content": {"type": "text", "text": text if text is not None else message}}
    return dict(message)


def _plain(value: Any) -> JsonValue:
    return list(cast("Sequence[JsonValue]", value)) if isinstance(value, tuple) else value


def _check_sample(source: Sample) -> None:
    said = cast("object", source.messages)
    if said in ([], ()) or not isinstance(said, (str, list, tuple)):
        raise FormError("Sample takes a text, or a list of messages with at least one")
    for message in cast("Sequence[object]", said):
        known = isinstance(message, str) or (isinstance(message, Mapping) and {"role", "content"} <= message.keys())
        if not known:
            raise FormError('a message is a text, or {"role": ..., "content": ...}')
    if type(source.max_tokens) is not int or source.max_tokens < 1:
        raise FormError("max_tokens= is a number from 1")
    if not isinstance(cast("object", source.stop_sequences), (list, tuple, type(None))):
        raise FormError("stop_sequences= takes a list of texts")


# Answers


@dataclass(frozen=True, slots=True)
class Response:
    """A response to an elicitation."""

    action: Literal["accept", "decline", "cancel"]
    content: object


def read_response(raw: JsonValue) -> Response:
    """A response to a form or a URL.

    Raises:
        Misfit: it is none.
    """
    action = raw.get("action") if isinstance(raw, dict) else None
    if action not in ("accept", "decline", "cancel"):
        raise Misfit("The answer could not be read.")
    return Response(action, cast("dict[str, object]", raw).get("content"))


def read_sampled(raw: JsonValue) -> Sampled:
    """The response to a sampling request.

    Raises:
        Misfit: it is none.
    """
    match raw:
        case {
            "role": "assistant" | "user" as role,
            "content": (dict() | list()) as content,
            "model": str(model),
            **more,
        }:
            blocks = content if isinstance(content, list) else [content]
            if blocks and all(_is_block(block) for block in blocks):
                stop = more.get("stopReason")
                return Sampled(cast("Any", content), model, role, stop if isinstance(stop, str) else None)
        case _:
            pass
    raise Misfit("The answer of the model could not be read.")


def _is_block(block: JsonValue) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    return block["type"] != "text" or isinstance(block.get("text"), str)


def read_roots(raw: JsonValue) -> list[Root]:
    """The response to a roots request.

    Raises:
        Misfit: it is none.
    """
    listed = raw.get("roots") if isinstance(raw, dict) else None
    roots: list[Root] = []
    for root in listed if isinstance(listed, list) else [None]:
        uri = root.get("uri") if isinstance(root, dict) else None
        name = root.get("name") if isinstance(root, dict) else None
        if not isinstance(uri, str) or not uri.startswith("file://"):
            raise Misfit("The list of roots could not be read.")
        roots.append(Root(uri, name if isinstance(name, str) else None))
    return roots
