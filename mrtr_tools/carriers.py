"""`Tool`, `Prompt`, `Resource`: what a client calls, each a first step and how it is shown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Final, cast
from urllib.parse import unquote

from pydantic import JsonValue

from mrtr_tools.arguments import Arguments
from mrtr_tools.calls import Complete
from mrtr_tools.errors import DefinitionError
from mrtr_tools.findings import place_of, reason_of
from mrtr_tools.lifetimes import is_lifetime
from mrtr_tools.records import record
from mrtr_tools.results import Output
from mrtr_tools.steps import Step

__all__ = [
    "Carrier",
    "Prompt",
    "Resource",
    "Tool",
    "UriTemplate",
    "arguments_of",
    "arguments_of_uri",
    "described",
    "texts_only",
]


@record(eq=False, kw_only=True)
class Carrier:
    """A request that can ask before it is answered.

    Attributes:
        name: its name on the wire.
        title: a name for people, or None.
        description: what it does, from the docstring unless given.
        step: the function that a call begins with.
        arguments: what its caller gives.
        max_rounds: how often a call may be answered with ``input_required``.
        version: states of another version are refused.
        ttl: seconds that a state of it lives, or None for those of the server.
        cold_answers: whether its own fixed form questions may be answered in a call without state.
        single_use: whether each of its rounds, and its first step, are played once in a call.

    Raises:
        DefinitionError: one of these is out of its range, or two exclude each other.
    """

    name: str
    title: str | None
    description: str | None
    step: Step
    arguments: Arguments = field(repr=False)
    max_rounds: int = 10
    version: int = 0
    ttl: float | None = None
    cold_answers: bool = False
    single_use: bool = False

    def __post_init__(self) -> None:
        if not _counts(self.max_rounds, 1) or not _counts(self.version, 0):
            raise DefinitionError(f"{self.name}: max_rounds= is a number from 1, and version= a number from 0")
        if self.ttl is not None and not is_lifetime(self.ttl):
            raise DefinitionError(f"{self.name}: ttl= is a positive number of seconds: ttl=600 for ten minutes")
        if not isinstance(cast("object", self.cold_answers), bool):
            raise DefinitionError(f"{self.name}: cold_answers= is True or False")
        if self.cold_answers and self.step.bridge is not None:
            raise DefinitionError(f"{self.name}: cold_answers=True is for fixed questions; a resumable has none")
        if self.single_use and self.cold_answers:
            raise DefinitionError(
                f"{self.name}: cold_answers=True takes a request that can be sent for ever; single_use=True cannot"
            )

    @property
    def input_schema(self) -> dict[str, JsonValue]:
        """The schema of the arguments; inputs are not in it, for they are asked."""
        return self.arguments.schema

    def complete(self, value: object) -> Complete:
        """The reply for what the last step returned."""
        return Complete(value)


@record(eq=False, kw_only=True)
class Tool(Carrier):
    """A tool.

    Attributes:
        annotations: the protocol's `ToolAnnotations` object, or None.
        output: what it gives back, or None when its return annotation says too little.
    """

    annotations: Mapping[str, JsonValue] | None = None
    output: Output | None = field(default=None, repr=False)

    @property
    def output_schema(self) -> dict[str, JsonValue] | None:
        """The `outputSchema`, or None."""
        return self.output.schema if self.output else None

    def complete(self, value: object) -> Complete:
        """The reply for what the last step returned.

        Raises:
            ValueError: it is not what the tool's return annotation promises.
        """
        if self.output is None:
            return Complete(value)
        try:
            return Complete(value, self.output.structured(value))
        except ValueError as error:
            where, kind = self.step.signature.where, type(value).__name__
            found = f"{place_of(error, self.output.schema)}: {reason_of(error)}"
            text = f"{self.name} ended with a {kind}; {where} is annotated to return else{found}"
            raise ValueError(text) from None  # the cause shows the value, which belongs in no log


@record(eq=False, kw_only=True)
class Prompt(Carrier):
    """A prompt; its arguments are texts on the wire."""


@record(eq=False, kw_only=True)
class Resource(Carrier):
    """A resource, or all resources that a URI template stands for.

    Attributes:
        uri: its URI or URI template.
        mime_type: what it holds, or None to go by what is returned.
    """

    uri: UriTemplate
    mime_type: str | None = None


_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
MAX_URI: Final = 2048


class UriTemplate:
    """A URI with ``{name}`` in it; a name stands for one segment, or a part of one, percent-encoded.

    Raises:
        DefinitionError: it is no URI, or a variable is no name, stands there twice, or shares its segment with another.
    """

    __slots__ = ("_matches", "text", "variables")

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables = tuple(_VARIABLE.findall(text))
        plain = _VARIABLE.sub("", text)
        if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) or re.search(r"[{}\s]", plain) or not plain.isprintable():
            raise DefinitionError(f"{text!r} is no URI; write one such as notes://{{name}}")
        if len(set(self.variables)) < len(self.variables) or not all(name.isidentifier() for name in self.variables):
            raise DefinitionError(f"{text!r}: each {{name}} of a URI is a parameter's name, and stands there once")
        if any(segment.count("{") > 1 for segment in re.split(r"[/?#]", text)):
            raise DefinitionError(f"{text!r}: put a / between two names, or nobody can tell where one ends")
        parts = _VARIABLE.split(text)
        pattern = "".join(
            "([^/?#\\x00-\\x20\\x7f]+)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
        )
        self._matches = re.compile(pattern).fullmatch

    @property
    def shape(self) -> str:
        """What two templates have in common that stand for the same URIs."""
        return _VARIABLE.sub("{}", self.text)

    def match(self, uri: str) -> dict[str, JsonValue] | None:
        """The variables' values when `uri` is one of this template's, else None."""
        found = self._matches(uri) if len(uri) <= MAX_URI else None
        try:
            values = [unquote(text, errors="strict") for text in found.groups()] if found else None
        except UnicodeDecodeError:
            return None
        return None if values is None else dict(zip(self.variables, values, strict=True))


def _counts(value: object, least: int) -> bool:
    return type(value) is int and value >= least


def described(step: Step, given: str | None) -> str | None:
    """The description that was given, or the docstring."""
    return given if given is not None else inspect.getdoc(step.signature.plain)


def arguments_of(step: Step) -> Arguments:
    """The parameters of a first step that are not asked for."""
    asked = {item.name for group in step.groups for item in group.inputs}
    return Arguments(step.signature.where, {name: taken for name, taken in step.carried.items() if name not in asked})


def arguments_of_uri(step: Step, uri: UriTemplate) -> Arguments:
    """The parameters of a first step that stand in a URI.

    Raises:
        DefinitionError: the URI names others.
    """
    arguments = arguments_of(step)
    if not arguments.required <= set(uri.variables) <= arguments.names:
        raise DefinitionError(
            f"{step.signature.where}: the URI {uri.text!r} names {', '.join(uri.variables) or 'nothing'}, "
            f"but the function takes {', '.join(sorted(arguments.names)) or 'nothing'}; each {{name}} is a parameter"
        )
    return texts_only(step, arguments)


def texts_only(step: Step, arguments: Arguments) -> Arguments:
    """The arguments of a prompt or a URI, which are texts on the wire."""
    for name, schema in cast("dict[str, dict[str, JsonValue]]", arguments.schema["properties"]).items():
        if schema.get("type") in ("array", "object", "null") or "$ref" in schema:
            raise DefinitionError(
                f"{step.signature.where}: {name!r} comes as a text; annotate it with what a text can be"
            )
    return arguments
