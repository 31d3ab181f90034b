"""`Question`: one of the things that can be asked, on its way to the wire and its answer on the way back.

There are five kinds: `form`, `confirm`, `url`, `sample` and `roots`. A fixed question is a `Draft`, made when a step is
defined; what a function asks is kept as it is sent. Both go over the wire as a request of the protocol, and both are
read by kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Final, Literal, cast, get_args

from pydantic import JsonValue
from pydantic_core import from_json, to_json

from mrtr_tools.answers import Misfit
from mrtr_tools.forms import FormError
from mrtr_tools.input_requests import Confirm, Elicit, ElicitUrl, ListRoots, Root, Sample, Source
from mrtr_tools.records import record
from mrtr_tools.sampling import SYSTEM, check_sample, sampling_params
from mrtr_tools.templates import Template
from mrtr_tools.urls import checked_url, url_template

__all__ = ["Asked", "Draft", "Kind", "Question", "Response", "kind_of", "kinds_of", "read_response", "read_roots"]

Kind = Literal["form", "confirm", "url", "sample", "roots"]
Texts = Mapping[str, str]

_FIRST: Final = "message"
_ASKED: Final[dict[type[Source], Kind]] = {
    Elicit: "form",
    Confirm: "confirm",
    ElicitUrl: "url",
    Sample: "sample",
    ListRoots: "roots",
}
_URL: Final = "url"
_REQUIRED: Final[Mapping[Kind, Mapping[str, JsonValue]]] = {
    "form": {"elicitation": {"form": {}}},
    "confirm": {"elicitation": {"form": {}}},
    "url": {"elicitation": {"url": {}}},
    "sample": {"sampling": {}},
    "roots": {"roots": {}},
}
_TOOLS: Final[Mapping[str, JsonValue]] = {"sampling": {"tools": {}}}
_USES_TOOLS: Final = frozenset({"tools", "toolChoice"})


@record
class Question:
    """A question as it is sent.

    Attributes:
        kind: how its answer is read.
        method: the protocol's method.
        params: its parameters.
        text: its `request` as JSON, for a question that is sent often; else empty.
    """

    kind: Kind
    method: str
    params: dict[str, JsonValue] = field(repr=False)
    text: bytes = field(default=b"", repr=False, compare=False)

    @property
    def requires(self) -> Mapping[str, JsonValue]:
        """The client capability that asking needs, as a `ClientCapabilities` object."""
        return _TOOLS if self.kind == "sample" and not _USES_TOOLS.isdisjoint(self.params) else _REQUIRED[self.kind]

    @property
    def schema(self) -> dict[str, JsonValue]:
        """The form; empty for what is no form."""
        return cast("dict[str, JsonValue]", self.params.get("requestedSchema", {}))

    def request(self, why: str | None) -> dict[str, JsonValue]:
        """The `inputRequests` entry, with the reason why it is asked again."""
        if self.text and not why:
            return cast("dict[str, JsonValue]", from_json(self.text, cache_strings="keys"))
        params = cast(
            "dict[str, JsonValue]", from_json(to_json(self.params), cache_strings="keys")
        )  # new: it may be changed
        if why and self.kind == "sample":
            again: JsonValue = {"role": "user", "content": {"type": "text", "text": why}}
            params["messages"] = [*cast("list[JsonValue]", params["messages"]), again]
        elif why and "message" in params:
            params["message"] = f"{why}\n{params['message']}"
        request: dict[str, JsonValue] = {"method": self.method, "params": params}
        return request if params else {"method": self.method}

    def written(self, why: str | None) -> bytes:
        """`request` as JSON.

        Raises:
            ValueError: the reason is no Unicode text.
        """
        return self.text if self.text and not why else to_json(self.request(why))

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
            check_sample(source)
        texts = _texts(source)
        if not all(isinstance(cast("object", text), str) and text.strip() for text in texts.values()):
            raise FormError("it has an empty text; say what is asked")
        question = _question(source, schema, texts)
        try:
            from_json(to_json(question.params), allow_inf_nan=False, cache_strings="keys")
        except ValueError as error:
            raise FormError("it has text that is no Unicode, or is no JSON") from error
        return question


class Asked(Mapping[str, Mapping[str, JsonValue]]):
    """The questions of a round by wire key, as they go over the wire; each look at one gives a new object.

    Args:
        questions: by wire key, each with the reason why it is asked again.
    """

    __slots__ = ("_questions",)

    def __init__(self, questions: Mapping[str, tuple[Question, str | None]]) -> None:
        self._questions = questions

    def __getitem__(self, key: str) -> dict[str, JsonValue]:
        question, why = self._questions[key]
        return question.request(why)

    def __iter__(self) -> Iterator[str]:
        return iter(self._questions)

    def __len__(self) -> int:
        return len(self._questions)

    def written(self) -> bytes:
        """All of it as JSON, of which nothing is made anew that was written when it was defined.

        Raises:
            ValueError: a reason is no Unicode text.
        """
        entries = [b"%b:%b" % (to_json(key), asked.written(why)) for key, (asked, why) in self._questions.items()]
        return b"{%b}" % b",".join(entries)


@record(eq=False)
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
        plain = unfilled if filled == unfilled else filled
        return replace(draft, plain=replace(plain, text=to_json(plain.request(None))))

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
    return next(kind for asked, kind in _ASKED.items() if isinstance(source, asked))


def kinds_of(annotation: object) -> set[Kind]:
    """The kinds of the questions that a function with this return annotation may make."""
    if isinstance(annotation, type) and issubclass(annotation, tuple(_ASKED)):
        return {kind for asked, kind in _ASKED.items() if issubclass(annotation, asked)}
    return {kind for part in get_args(annotation) for kind in kinds_of(part)}


def _texts(source: Source) -> dict[str, str]:
    """The texts of a question, by place."""
    if isinstance(source, ListRoots):
        return {}
    if not isinstance(source, Sample):
        more = {_URL: source.url} if isinstance(source, ElicitUrl) else {}
        return {_FIRST: source.message, **more}
    said = [source.messages] if isinstance(source.messages, str) else source.messages
    texts = {str(place): text for place, text in enumerate(said) if isinstance(text, str)}
    return texts if source.system_prompt is None else {**texts, SYSTEM: source.system_prompt}


def _question(source: Source, schema: Mapping[str, JsonValue] | None, texts: Texts) -> Question:
    kind = kind_of(source)
    match source:
        case Sample():
            return Question(kind, "sampling/createMessage", sampling_params(source, texts))
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


# Answers


@record(shown=False)
class Response:
    """A response to an elicitation."""

    action: Literal["accept", "decline", "cancel"]
    content: JsonValue


def read_response(raw: JsonValue) -> Response:
    """A response to a form or a URL.

    Raises:
        Misfit: it is none.
    """
    action = raw.get("action") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or action not in ("accept", "decline", "cancel"):
        raise Misfit("The answer could not be read.")
    return Response(action, raw.get("content"))


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
