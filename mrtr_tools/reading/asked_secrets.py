"""Secrets that are asked in forms: MRTR215."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from mrtr_tools.reading.asking import found
from mrtr_tools.reading.asks import is_ask, message_of, shape_of
from mrtr_tools.reading.functions import Function, Module, last_name
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.rules import Finding

__all__ = ["check_secrets", "hidden_fields", "is_secret"]

_SECRET: Final = re.compile(
    r"(^|_)(pass(word|phrase|code|wd)?|pwd|secret|token|api_?key|apikey|access_key|private_key|credentials?|pin|cvv|cvc"
    r"|otp|totp|mfa|mfa_code|one_time_code|ssn|card_number|iban|bearer|cookie)(_|$)"
)
_SAID: Final = re.compile(
    r"\b(password|passphrase|api[ -]?key|access token|auth(entication)? token|bearer token|private key|secret key"
    r"|client secret|one-time (code|password)|mfa code|otp|cvv|pin code)\b",
    re.IGNORECASE,
)
_NO_SECRET: Final = re.compile(
    r"(^|_)(max|min|num|number|count|use|has|reset|rotate|forgot|page|next)(_|$)|tokens|secrets"
)


def is_secret(name: str) -> bool:
    """Whether a field is named like a secret."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return _SECRET.search(snake) is not None and _NO_SECRET.search(snake) is None


def check_secrets(project: Project, module: Module) -> Iterator[Finding]:
    """Report forms that ask for what must not go through a client."""
    for function in module.functions:
        if function in project.asking:
            for call in calls_in(function):
                if is_ask(module, call, function) and last_name(call.func) in ("elicit", "elicit_form"):
                    yield from _check_form(function, call)
        for name, node in _inputs(function):
            if is_secret(name):
                yield found(module, node, "MRTR215", f"{function.name} asks for {name} in a form")


def _check_form(function: Function, call: ast.Call) -> Iterator[Finding]:
    shape, said = shape_of(call), message_of(call)
    hidden = hidden_fields(function, shape)
    fields = [name for name in _fields(function, shape) if is_secret(name) or name in hidden]
    if fields:
        yield found(function.module, call, "MRTR215", f"{function.name} asks for {', '.join(fields)} in a form")
    elif isinstance(shape, ast.Name) and shape.id == "str":
        texts = [part.value for part in ast.walk(said) if isinstance(part, ast.Constant)] if said is not None else []
        for text in texts:
            if isinstance(text, str) and (match := _SAID.search(text)) is not None:
                yield found(
                    function.module, call, "MRTR215", f"{function.name} asks for a {match[0].lower()} in a form"
                )
                return


def hidden_fields(function: Function, shape: ast.expr | None) -> list[str]:
    """The fields of a form that are secrets of pydantic, which no form may ask for."""
    found: list[str] = []
    for node in ast.walk(function.module.source.tree):
        if isinstance(node, ast.ClassDef) and isinstance(shape, ast.Name) and node.name == shape.id:
            annotated = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            secret = [each for each in annotated if re.search(r"\bSecret(Str|Bytes)?\b", ast.unparse(each.annotation))]
            found += [ast.unparse(each.target) for each in secret]
    return found


def _fields(function: Function, shape: ast.expr | None) -> Iterator[str]:
    """The names in a form: of a class of this file, of a schema that is written out, of a model made on the spot."""
    if isinstance(shape, ast.Name):
        yield from _fields_of_name(function, shape.id)
    elif isinstance(shape, ast.Dict):
        for key, value in zip(shape.keys, shape.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "properties" and isinstance(value, ast.Dict):
                yield from (str(each.value) for each in value.keys if isinstance(each, ast.Constant))
    elif isinstance(shape, ast.Call) and last_name(shape.func) in ("create_model", "make_dataclass", "TypedDict"):
        yield from (each.arg for each in shape.keywords if each.arg is not None)


def _fields_of_name(function: Function, name: str) -> Iterator[str]:
    for node in ast.walk(function.module.source.tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
            yield from (each.id for each in fields if isinstance(each, ast.Name))
        elif isinstance(node, ast.Assign) and not isinstance(node.value, ast.Name):
            is_it = any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            yield from _fields(function, node.value if is_it else None)


def _inputs(function: Function) -> Iterator[tuple[str, ast.AST]]:
    for each in function.node.decorator_list:
        if isinstance(each, ast.Call) and last_name(each.func) == "needs_input":
            for item in each.keywords:
                is_form = isinstance(item.value, (ast.Constant, ast.JoinedStr)) or (
                    isinstance(item.value, ast.Call) and last_name(item.value.func) == "Elicit"
                )
                if item.arg is not None and is_form:
                    yield item.arg, item.value
