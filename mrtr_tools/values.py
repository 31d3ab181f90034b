"""Annotation <-> JSON for what is handed on from step to step, for answers and for results of input functions.

What a `Codec` takes comes back as it went in, or is refused: at definition where the annotation shows it, else at the
line that hands the value on. Nothing is taken on trust: each value is loaded again at once and compared with the
original, types included. A secret is refused unless it was said that it may travel, and then it travels whole.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Final, NewType, cast, get_args, get_origin

from pydantic import ConfigDict, JsonValue, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.warnings import UnsupportedFieldAttributeWarning
from pydantic_core import PydanticSerializationError, SchemaError, from_json, to_json

from mrtr_tools.differences import differences, kind_named
from mrtr_tools.digests import digest_of
from mrtr_tools.findings import place_of, reason_of
from mrtr_tools.guards import Guard
from mrtr_tools.secret_values import holds_secret, is_secret, written_out

__all__ = ["Codec", "NotCarriable", "adapter_for"]


class NotCarriable(TypeError):
    """A value, or an annotation, that would not come back from JSON as it went in; the text says where."""


class Codec:
    """The values of one annotation into JSON and back; made once, when a function is defined.

    Models travel under the names of their fields, bytes as base64, sets and tuples as lists.

    Args:
        annotation: of the values.
        carry_secrets: whether it may hold secrets, such as `SecretStr`: what they hide then stands in the JSON.

    Attributes:
        adapter: reads and writes them.
        guard: what values of the annotation cost to read.
        has_secrets: whether it holds any.

    Raises:
        NotCarriable: JSON cannot hold the values of this annotation.
    """

    __slots__ = ("_plain", "adapter", "guard", "has_secrets")

    def __init__(self, annotation: object, *, carry_secrets: bool = False) -> None:
        self.adapter = adapter_for(annotation, carry_secrets=carry_secrets)
        core = cast("_Node", self.adapter.core_schema)
        self.guard = Guard(core)
        self.has_secrets = holds_secret(core)
        self._plain = _PLAIN.get(core["type"]) if core.keys() <= {"type", "metadata"} else None

    def dump(self, value: object) -> JsonValue:
        """The value as new JSON.

        Raises:
            NotCarriable: the value does not fit the annotation, or would not come back as it is.
        """
        if type(value) is self._plain and _travels(value):
            return cast("JsonValue", value)
        try:
            text = self.adapter.dump_json(value, by_alias=False, round_trip=True, warnings="error")
            data = cast("JsonValue", from_json(text, allow_inf_nan=False, cache_strings="keys"))
            if self.has_secrets:
                data = self._with_secrets(data, value)
                text = to_json(data)
            back = self._read(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise NotCarriable(self._why_not(value, error)) from None  # the cause shows the value
        for difference in differences(value, back, "value"):
            raise NotCarriable(difference)
        return data

    def load(self, data: JsonValue) -> Any:
        """A new value from what `dump` gave.

        Raises:
            ValueError: the data does not fit the annotation, or no longer.
        """
        if type(data) is self._plain:
            return data
        try:
            return self._read(to_json(data))
        except ValidationError as error:  # it quotes the data
            text = f"value{place_of(error, self.shape())} does not fit its annotation: {reason_of(error)}"
            raise ValueError(text) from None

    def digest(self, value: object) -> str:
        """A digest that is the same for equal values of the annotation, in every process of one build."""
        return digest_of(self.adapter.serializer, value, is_ordered=self.guard.is_ordered, by_alias=False)

    def shape(self) -> JsonValue:
        """What its JSON looks like, to tell one build's annotation from another's; None where pydantic cannot say."""
        try:
            return cast("JsonValue", self.adapter.json_schema(by_alias=False, mode="serialization"))
        except PydanticUserError:
            return None

    def _with_secrets(self, data: JsonValue, value: object) -> JsonValue:
        """The JSON of a value with its secrets in it, their bytes as whoever holds them reads them."""
        plain = self.adapter.dump_python(value, by_alias=False, round_trip=True, warnings="error")
        encoded, text = (written_out(data, plain, encoding) for encoding in ("base64", "utf8"))
        try:
            fits = encoded == text or not any(differences(value, self._read(to_json(encoded)), ""))
        except ValueError:
            fits = False
        return encoded if fits else text

    def _read(self, text: bytes) -> object:
        return self.adapter.validate_json(text, by_alias=False, by_name=True)

    def _why_not(self, value: object, error: Exception) -> str:
        """A message for a value that pydantic could not write, or not read again."""
        if isinstance(error, PydanticSerializationError):
            if "utf-8" in str(error):
                return f"value is {kind_named(value)} and holds {_NO_TEXT}"
            try:
                self.adapter.validate_python(value, strict=True, by_alias=False, by_name=True)
            except ValidationError as misfit:
                error = misfit
        if isinstance(error, ValidationError):
            return f"value{place_of(error, self.shape())} would not come back from JSON: {reason_of(error)}"
        return f"value is {kind_named(value)} and does not go into JSON as annotated"


_NO_TEXT: Final = (
    "text with a lone surrogate, or bytes that are no text in a model; such a model needs "
    "model_config = ConfigDict(ser_json_bytes='base64', val_json_bytes='base64')"
)


def adapter_for(annotation: object, *, carry_secrets: bool = False) -> TypeAdapter[Any]:
    """Pydantic's reader and writer of an annotation.

    Args:
        annotation: of the values.
        carry_secrets: whether it may hold secrets; pydantic writes stars for them.

    Raises:
        NotCarriable: pydantic has no schema for it, or it holds what must not or cannot travel.
    """
    if any(annotation is kind for kind in _BARE):  # as most are, and what is made for one is the same
        return _adapter_for_scalar(cast("type", annotation))
    try:
        with warnings.catch_warnings():  # an alias names a parameter on the wire and has no meaning in here
            warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
            adapter: TypeAdapter[Any] = TypeAdapter(_wrapped("carried", annotation), config=_TRAVELLING)
            adapter.rebuild(raise_errors=True)
    except PydanticUndefinedAnnotation as error:
        raise NotCarriable(
            f"the name {error.name!r} in it is not known where it is defined; import it there"
        ) from error
    except PydanticSchemaGenerationError as error:
        raise NotCarriable(
            f"{_spelled(annotation)} cannot travel as JSON; use a model, a dataclass or an id"
        ) from error
    except (PydanticUserError, SchemaError, TypeError, NameError, ImportError) as error:
        raise NotCarriable(f"{_spelled(annotation)} cannot travel as JSON: {_line(error)}") from error
    for path, trouble in _troubles(adapter.core_schema, "", carry_secrets=carry_secrets):
        raise NotCarriable(f"{path or _spelled(annotation)} {trouble}")
    return adapter


@cache
def _adapter_for_scalar(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=_TRAVELLING)


_wrapped: Any = NewType  # with a name of its own, a dataclass or TypedDict without a configuration takes ours
_Node = Mapping[str, Any]
# And no value stays behind: pydantic would keep thousands of short texts, of whatever call.
_TRAVELLING: Final = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64", cache_strings="keys")
_PLAIN: Final[Mapping[str, type]] = {"str": str, "int": int, "bool": bool, "none": type(None)}
_BARE: Final = (str, int, float, bool)
_INT64: Final = 2**63


def _travels(value: object) -> bool:
    """Whether a plain value needs no trial: a lone surrogate does, and an integer that JSON readers may not take."""
    if isinstance(value, str):
        return value.isascii() or value.isprintable()
    return not isinstance(value, int) or -_INT64 <= value < _INT64


# What an annotation shows: the nodes of its pydantic-core schema.

_NEVER: Final[Mapping[object, str]] = {
    "generator": "is an iterator, which can be read only once; use list[...]",
    "callable": "is a function; hand on its name, or what it returns",
    "is-subclass": "is a class; hand on its name",
}
_COMPOSED: Final = {"tuple", "list", "set", "frozenset", "dict", "model", "dataclass", "typed-dict", "named-tuple"}


def _troubles(node: _Node, path: str, *, carry_secrets: bool) -> Iterator[tuple[str, str]]:
    """What cannot or must not travel, each with the path of the field that holds it."""
    if trouble := _trouble(node) or _secret_trouble(node, carry_secrets=carry_secrets):
        yield path, trouble
    for name, part in _inner(node):
        yield from _troubles(part, f"{path}.{name}".strip(".") if name else path, carry_secrets=carry_secrets)


def _trouble(node: _Node) -> str | None:
    """What is wrong with one node itself."""
    kind = node.get("type")
    if kind == "dict" and node.get("keys_schema", {}).get("type") in _COMPOSED:
        return "has keys that JSON cannot hold; use a list of pairs, or text keys"
    if kind == "enum" and not all(isinstance(member.value, _SCALARS) for member in node["members"]):
        return f"is {node['cls'].__name__}, whose members JSON cannot hold; give them text or numbers as values"
    if node.get("config", {}).get("regex_engine") == "python-re" or isinstance(node.get("pattern"), re.Pattern):
        return "has a pattern for Python's own engine, which some texts stall; give it as text, for the default engine"
    return _NEVER.get(kind)


def _secret_trouble(node: _Node, *, carry_secrets: bool) -> str | None:
    """Why a node must not travel for the secrets in it; where they may, each has to be found at its place again."""
    if not carry_secrets:
        return _STAYS if is_secret(node) else None
    kind = node.get("type")
    if kind == "dict" and holds_secret(node.get("keys_schema")):
        return "has secrets as keys, which JSON cannot tell apart; use a list of pairs"
    if kind in ("set", "frozenset") and holds_secret(node.get("items_schema")):
        return "has secrets in a set, where none has a place of its own; use a list"
    return None


_STAYS: Final = (
    "is a secret, which does not travel; read it in the step that uses it, or give carry_secrets=True to have it "
    "sealed into the state (a form never asks for one)"
)
_SCALARS: Final = (str, int, float, type(None))


def _inner(node: _Node) -> Iterator[tuple[str, _Node]]:
    """The nodes right inside one, with the name of the field where they are one."""
    for key, part in node.items():
        if not key.endswith("schema") and key not in ("fields", "choices", "steps", "definitions"):
            continue
        rows: list[tuple[str, Any]] = [("", part)]
        if isinstance(part, list):
            rows = [("", item) for item in cast("Sequence[Any]", part)]
        elif not key.endswith("schema"):
            rows = list(cast("_Node", part).items())
        for name, row in rows:
            item = cast("object", row[0] if isinstance(row, tuple) else row)  # a choice and its label
            if isinstance(item, Mapping):
                inner = cast("_Node", item)
                yield (name or inner.get("name", "") if key == "fields" else ""), inner


def _spelled(annotation: object) -> str:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _line(problem: object) -> str:
    """A message that was written for somebody else, on one line."""
    return " ".join(str(getattr(problem, "message", problem)).split())[:200]
