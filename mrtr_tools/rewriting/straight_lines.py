"""Functions that are a straight line of questions: each at the top level of the body, with anything between them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mrtr_tools.reading.asks import is_ask, message_of, shape_of
from mrtr_tools.reading.flows import asks_of
from mrtr_tools.reading.functions import Function, last_name
from mrtr_tools.reading.own_steps import is_gate
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.registrations import decorator, decorator_named

__all__ = ["Asked", "Line", "NotStraight", "line_of"]

_SCALARS: Final = {"str", "int", "float", "bool"}
_NOT_HERE: Final = {"response_title", "response_description"}


class NotStraight(Exception):
    """A function that is no straight line, or cannot be cut.

    Attributes:
        line: where that is seen.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True, eq=False)
class Asked:
    """One question of the line.

    Attributes:
        statement: the assignment of its result.
        result: the name that has the result.
        message: what is asked.
        annotation: what the answer is, as it is written in a parameter.
        is_gate: whether it is a yes to go ahead, asked with `confirm`.
        name: the parameter that gets the answer.
        after: the statements between it and the next one.
        dropped: statements that are not needed any more.
    """

    statement: ast.Assign
    result: str
    message: ast.expr
    annotation: str
    is_gate: bool
    name: str
    after: Sequence[ast.stmt]
    dropped: list[ast.stmt]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A function cut at its questions.

    Attributes:
        function: the function.
        registered: the decorator of its toolbox.
        first: the statements above the first question, without the docstring.
        asked: the questions.
    """

    function: Function
    registered: ast.expr
    first: Sequence[ast.stmt]
    asked: Sequence[Asked]


def line_of(project: Project, function: Function) -> Line:
    """Cut a resumable tool at its questions.

    Raises:
        NotStraight: it is none; the text says why.
    """
    registered, mark = decorator(function, {"tool"}), decorator_named(function, "resumable")
    node = function.node
    if registered is None or [*node.decorator_list] != [registered, mark]:
        raise NotStraight("it has decorators of its own between its toolbox and its body", node.lineno)
    for each in node.body:
        if isinstance(each, ast.ClassDef) or getattr(each, "decorator_list", []):
            raise NotStraight("it defines a class or a decorated function; put that above it", each.lineno)
    body = [*node.body]
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    places = [place for place, each in enumerate(body) if asks_of(project, function, ast.walk(each))]
    asked: list[Asked] = []
    taken = {*function.parameters}
    for place, end in zip(places, [*places[1:], len(body)], strict=True):
        asked.append(_asked(project, function, body[place], body[place + 1 : end], taken))
    calls = [call for call in calls_in(function) if asks_of(project, function, [call])]
    if len(calls) != len(asked):
        raise NotStraight("it asks twice in one statement", calls[0].lineno)
    return Line(function, registered, body[: places[0]], asked)


def _asked(project: Project, function: Function, statement: ast.stmt, after: list[ast.stmt], taken: set[str]) -> Asked:
    [call, *_] = asks_of(project, function, ast.walk(statement))
    if not is_ask(function.module, call, function):
        raise NotStraight(f"it asks through {ast.unparse(call.func)}", call.lineno)
    awaited = statement.value if isinstance(statement, ast.Assign) else None
    if not (isinstance(awaited, ast.Await) and awaited.value is call and isinstance(statement, ast.Assign)):
        raise NotStraight("a question stands inside of another statement", call.lineno)
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name):
        raise NotStraight("the result of a question goes to more than one name", call.lineno)
    if ast.unparse(call.func) != f"{function.context}.elicit" or {each.arg for each in call.keywords} & _NOT_HERE:
        raise NotStraight(f"{ast.unparse(call.func)} asks what no form of a parameter asks", call.lineno)
    message = message_of(call)
    if message is None:
        raise NotStraight("a question has no text", call.lineno)
    shape = shape_of(call)
    fields = _fields(function, shape)
    gate = _is_yes(shape, message, target.id) or fields == []
    annotation = "bool" if gate else _annotation(shape, call.lineno)
    if any(not _is_shown(function, each) for each in fields or ()):
        raise NotStraight(f"a form of the library may not show all of {annotation}", call.lineno)
    name, dropped = _name(function, target.id, shape, after, taken)
    taken.add(name)
    return Asked(statement, target.id, message, annotation, gate, name, after, dropped)


def _is_yes(shape: ast.expr | None, message: ast.expr, result: str) -> bool:
    if shape is None or (isinstance(shape, ast.Constant) and shape.value is None):
        return True
    texts = [part.value for part in ast.walk(message) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return isinstance(shape, ast.Name) and shape.id == "bool" and is_gate(result, " ".join(texts))


def _annotation(shape: ast.expr | None, line: int) -> str:
    if isinstance(shape, ast.Name) or (
        isinstance(shape, ast.Subscript) and last_name(shape.value) in ("Literal", "list")
    ):
        return ast.unparse(shape)
    if isinstance(shape, ast.List) and shape.elts:
        if all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in shape.elts):
            return f"Literal[{', '.join(_quoted(each) for each in shape.elts)}]"
        inner = shape.elts[0]
        if len(shape.elts) == 1 and isinstance(inner, ast.List):
            return f"list[{_annotation(inner, line)}]"
    raise NotStraight(f"{'' if shape is None else ast.unparse(shape)} is no form that an annotation tells", line)


def _fields(function: Function, shape: ast.expr | None) -> list[ast.expr] | None:
    """The annotations of the fields of a class of the file; None for what is none."""
    for node in ast.walk(function.module.source.tree):
        if isinstance(node, ast.ClassDef) and isinstance(shape, ast.Name) and node.name == shape.id:
            is_enum = any("Enum" in ast.unparse(base) for base in node.bases)
            is_plain = {ast.unparse(base) for base in node.bases} <= {"BaseModel", "TypedDict", "pydantic.BaseModel"}
            found = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
            return None if is_enum else found if found or is_plain else [node.bases[0]]
    return None


def _is_shown(function: Function, annotation: ast.expr) -> bool:
    """Whether a field is one of those that every form can show."""
    if isinstance(annotation, ast.BinOp):
        return _is_shown(function, annotation.left) and _is_shown(function, annotation.right)
    if isinstance(annotation, ast.Subscript):
        name = last_name(annotation.value)
        inner = annotation.slice.elts[0] if isinstance(annotation.slice, ast.Tuple) else annotation.slice
        return name == "Literal" or (name in ("Optional", "Annotated") and _is_shown(function, inner))
    if isinstance(annotation, ast.Constant):
        return annotation.value is None
    enums = {
        node.name
        for node in ast.walk(function.module.source.tree)
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases)
    }
    return last_name(annotation) in _SCALARS | {"date"} | enums


def _quoted(node: ast.expr) -> str:
    text = str(node.value) if isinstance(node, ast.Constant) else ""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _name(
    function: Function, result: str, shape: ast.expr | None, after: Sequence[ast.stmt], taken: set[str]
) -> tuple[str, list[ast.stmt]]:
    """What the answer is called: as the body calls it, else after its form, else as its result."""
    used = {node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)} | taken
    for each in after:
        target = each.targets[0] if isinstance(each, ast.Assign) and len(each.targets) == 1 else None
        is_data = isinstance(each, ast.Assign) and ast.unparse(each.value) == f"{result}.data"
        name = target.id if is_data and isinstance(target, ast.Name) else ""
        if name and name not in taken and _is_bound_once(function, name):
            return name, [each]
    if isinstance(shape, ast.Name) and shape.id not in _SCALARS:
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", shape.id).lower().strip("_")
        if snake not in used and snake != shape.id:
            return snake, []
    names = (result, *(f"{result}_{number}" for number in range(2, 100)))
    return next(each for each in names if each == result not in taken or each not in used), []


def _is_bound_once(function: Function, name: str) -> bool:
    bound = [node for node in ast.walk(function.node) if isinstance(node, ast.Name) and node.id == name]
    return sum(isinstance(node.ctx, ast.Store) for node in bound) == 1
