"""HTTP headers that repeat what is in the body of a request, for whoever routes it without reading that.

``MCP-Protocol-Version``, ``Mcp-Method`` and ``Mcp-Name`` come with every request, ``Mcp-Param-*`` with arguments whose
schema has an ``x-mcp-header``. Those who route and those who serve must not read two different requests, so a header
that says otherwise than the body ends the request. The texts are the official SDK's.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, cast

from pydantic import JsonValue

from mrtr_tools.arguments import MIRRORED, TOKEN
from mrtr_tools.server.envelope import HEADER_MISMATCH, NAMED_BY, PROTOCOL_VERSION, Rejected, Request

__all__ = [
    "METHOD_HEADER",
    "NAME_HEADER",
    "PARAM_PREFIX",
    "VERSION_HEADER",
    "Headers",
    "ParamHeaders",
    "check_name",
    "check_routing",
    "check_sent",
]

Headers = Mapping[bytes, bytes]
"""The headers of a request by their names in lower case, each once, without white space around their values."""

Json = dict[str, JsonValue]
Path = tuple[str, ...]

VERSION_HEADER: Final = b"mcp-protocol-version"
METHOD_HEADER: Final = b"mcp-method"
NAME_HEADER: Final = b"mcp-name"
PARAM_PREFIX: Final = "Mcp-Param-"

_SENTINEL: Final = r"=\?base64\?(.*)\?="
_DECIMAL: Final = r"(-?[0-9]+)(?:\.([0-9]+))?"

# Where a schema has schemas in it, other than under `properties`.
_ONE: Final = (
    *("items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties"),
    *("not", "if", "then", "else", "contentSchema"),
)
_LISTED: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED: Final = ("patternProperties", "dependentSchemas", "$defs", "definitions")


def check_routing(request: Request, meta: Mapping[str, JsonValue], headers: Headers) -> None:
    """Compare the headers that every request has with its body.

    Raises:
        Rejected: one is missing, or says otherwise (-32020).
    """
    sent = headers.get(VERSION_HEADER)
    if sent is None or sent.decode("latin-1") != meta[PROTOCOL_VERSION]:
        raise _mismatch("mcp-protocol-version header does not match the request envelope's protocol version")
    sent = headers.get(METHOD_HEADER)
    if sent is None or sent.decode("latin-1") != request.method:
        raise _mismatch("mcp-method header does not match the request body's method")
    named = NAMED_BY.get(request.method)
    if named is not None and request.params is not None:
        check_name(named, request.params.get(named), _text(headers, NAME_HEADER))


def check_sent(request: Request, target: str, headers: Headers) -> None:
    """Compare what there is of the headers of a request that needs none.

    Args:
        request: what came.
        target: what `Mcp-Name` stands for.
        headers: those of HTTP.

    Raises:
        Rejected: one says otherwise (-32020).
    """
    method, name = _text(headers, METHOD_HEADER), _text(headers, NAME_HEADER)
    if method is not None and method != request.method:
        raise _mismatch("mcp-method header does not match the request body's method")
    if name is not None and _decoded(name) != target:
        raise _mismatch("mcp-name header does not match what the request body names")


def check_name(named: str, target: object, sent: str | None) -> None:
    """Compare the `Mcp-Name` header with what a request is about.

    Args:
        named: the parameter that says so.
        target: what it says; None when it is not there.
        sent: the header; None when there is none.

    Raises:
        Rejected: it is missing, or says otherwise (-32020).
    """
    if target is not None and (sent is None or _decoded(sent) != target):
        raise _mismatch(f"mcp-name header does not match the request body's {named!r} parameter")


def _text(headers: Headers, name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else value.decode("latin-1")


def _decoded(value: str) -> str | None:
    """What a header stands for: itself, or the UTF-8 behind its ``=?base64?...?=``; None when that cannot be read."""
    if not value.startswith("=?") or (coded := re.fullmatch(_SENTINEL, value)) is None:
        return value
    try:
        raw = base64.b64decode(coded[1], validate=True)
        return raw.decode() if base64.b64encode(raw).decode() == coded[1] else None  # it has one spelling
    except ValueError:  # it is no base64, not even ASCII, or no UTF-8
        return None


def _mismatch(text: str) -> Rejected:
    return Rejected(HEADER_MISMATCH, text)


# Arguments


class _Annotated(NamedTuple):
    """An annotation in a schema: where it stands, the properties that lead there and nothing else, and what it says."""

    path: Path | None
    header: JsonValue
    kind: JsonValue

    @property
    def is_valid(self) -> bool:
        named = isinstance(self.header, str) and TOKEN.fullmatch(self.header) is not None
        return bool(self.path) and named and self.kind in ("string", "integer", "boolean")

    @property
    def name(self) -> str:
        return f"{PARAM_PREFIX}{self.header}"

    @property
    def argument(self) -> str:
        return repr(".".join(self.path or ()))


class ParamHeaders:
    """The arguments of one tool that travel in headers, too.

    Args:
        schema: the tool's `inputSchema`. When one of its annotations is wrong, clients ignore the tool, and nothing is
            compared.

    Attributes:
        annotated: what is compared, in the order of the schema, with the name of its header.
    """

    __slots__ = ("annotated",)

    def __init__(self, schema: Json) -> None:
        found = [
            _Annotated(path, each[MIRRORED], each.get("type")) for path, each in _positions(schema) if MIRRORED in each
        ]
        names = {each.name.lower() for each in found}
        valid = len(names) == len(found) and all(each.is_valid for each in found)
        self.annotated = [(each, each.name.lower().encode()) for each in found] if valid else []

    def check(self, arguments: Mapping[str, JsonValue], headers: Headers) -> None:
        """Compare the headers with the arguments; null is an argument that is not there.

        Raises:
            Rejected: one of a pair is missing, or says otherwise (-32020).
        """
        for each, header in self.annotated:
            sent, value = _text(headers, header), _at(arguments, each.path)
            if value is not None:
                _compare(each, value, sent)
            elif sent is not None:
                raise _mismatch(
                    f"{each.name} header is present but the request body's {each.argument} argument is absent"
                )


def _compare(annotated: _Annotated, value: JsonValue, sent: str | None) -> None:
    name, argument, written = annotated.name, annotated.argument, _written(value)
    if sent is None:
        if written is not None:
            raise _mismatch(f"{name} header is missing but the request body's {argument} argument is present")
        return
    said = _decoded(sent)
    if written is not None and said is None:
        raise _mismatch(f"{name} header carries a malformed base64 sentinel value")
    if written is None or not (said == written or (annotated.kind == "integer" and _same_number(value, said))):
        raise _mismatch(f"{name} header does not match the request body's {argument} argument")


def _written(value: JsonValue) -> str | None:
    """A value as clients write it into a header; None for one that they cannot write."""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value) if isinstance(value, (str, int, float)) else None
    except ValueError:  # thousands of digits
        return None


def _same_number(value: JsonValue, said: str | None) -> bool:
    """Whether a header says the same whole number, perhaps as ``42.0``."""
    found = re.fullmatch(_DECIMAL, said or "")
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if found is None or not whole or isinstance(value, bool) or not set(found[2] or "") <= {"0"}:
        return False
    try:
        return int(found[1]) == int(cast("float", value))
    except ValueError:
        return False


def _at(arguments: JsonValue | Mapping[str, JsonValue], path: Path | None) -> JsonValue:
    for name in path or ():
        if not isinstance(arguments, Mapping):
            return None
        arguments = arguments.get(name)
    return cast("JsonValue", arguments)


def _positions(root: Json) -> Iterator[tuple[Path | None, Json]]:
    """Every schema in a schema, and the properties that lead to it."""
    left: list[tuple[Path | None, JsonValue]] = [((), root)]
    while left:
        path, schema = left.pop()
        if isinstance(schema, dict):
            yield path, schema
            for keyword, value in schema.items():
                left.extend(_inside(path, keyword, value))


def _inside(path: Path | None, keyword: str, value: JsonValue) -> Iterator[tuple[Path | None, JsonValue]]:
    if keyword == "properties" and isinstance(value, dict):
        yield from ((None if path is None else (*path, name), schema) for name, schema in value.items())
    elif keyword in _ONE:
        yield None, value
    elif keyword in _LISTED and isinstance(value, list):
        yield from ((None, schema) for schema in value)
    elif keyword in _NAMED and isinstance(value, dict):
        yield from ((None, schema) for schema in value.values())
