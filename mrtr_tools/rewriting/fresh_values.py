"""Values that are new each time, such as an id or the time, where a question shows them: they are made once.

``order_id = str(uuid.uuid4())`` becomes ``order_id = await ctx.once(new_order_id)``, with a function that says what it
returns.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final

from mrtr_tools.reading.functions import Function

__all__ = ["Fresh", "fresh_value"]

_KINDS: Final = (
    (re.compile(r"secrets\.token_(hex|urlsafe)|nanoid\.generate|time\.(strftime|ctime)"), "str"),
    (re.compile(r"time\.(time|monotonic|perf_counter)|random\.(random|uniform)"), "float"),
    (re.compile(r"time\.(time_ns|monotonic_ns|perf_counter_ns)|random\.(randint|randrange)|secrets\.rand\w+"), "int"),
)
_OF_TEXT: Final = {"isoformat", "strftime", "upper", "lower", "strip", "replace", "format", "join", "hex"}
_MADE: Final = {"str": "str", "int": "int", "float": "float", "repr": "str", "hex": "str"}


@dataclass(frozen=True, slots=True, eq=False)
class Fresh:
    """A value that is made anew each time.

    Attributes:
        function: whose body makes it.
        statement: the assignment.
        name: the name that it gets.
        annotation: what it is.
    """

    function: Function
    statement: ast.Assign
    name: str
    annotation: str


def fresh_value(function: Function, call: ast.Call) -> Fresh | None:
    """What is assigned from a call, where it depends on nothing else and its kind is plain to see; else None."""
    around = [node for pair in function.module.around(call) for node in pair]
    statement = next((node for node in around if isinstance(node, ast.Assign)), None)
    if statement is None or function.context is None or not function.is_async or len(statement.targets) > 1:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or any(isinstance(node, (ast.Await, ast.Lambda)) for node in ast.walk(value)):
        return None
    annotation = _kind(function, value)
    read = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    if annotation is None or read & _local(function):
        return None
    return Fresh(function, statement, target.id, annotation)


def _local(function: Function) -> set[str]:
    """The names that only the function knows, and those around it that are no file."""
    names: set[str] = set()
    at: Function | None = function
    while at is not None:
        inside = (node for node in ast.walk(at.node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        imported = (node for node in ast.walk(at.node) if isinstance(node, (ast.Import, ast.ImportFrom)))
        names |= {*at.parameters, *(node.id for node in inside)}
        names |= {alias.asname or alias.name.partition(".")[0] for node in imported for alias in node.names}
        at = at.owner
    return names


def _kind(function: Function, value: ast.expr) -> str | None:
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return "str"
    if isinstance(value, ast.Attribute) and value.attr == "hex":
        return "str"
    if isinstance(value, ast.Subscript):
        return "str" if _kind(function, value.value) == "str" else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        kinds = {_kind(function, value.left), _kind(function, value.right)}
        return kinds.pop() if len(kinds) == 1 else None
    return _kind_of_call(function, value) if isinstance(value, ast.Call) else None


def _kind_of_call(function: Function, call: ast.Call) -> str | None:
    name = function.module.full_name(call.func) or ""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_TEXT:
        return "str"
    if re.fullmatch(r"(datetime\.)?datetime\.(now|utcnow|today)", name) and isinstance(call.func, ast.Attribute):
        return ast.unparse(call.func.value)
    if re.fullmatch(r"uuid\.uuid[1-8]", name):
        return f"{ast.unparse(call.func.value)}.UUID" if isinstance(call.func, ast.Attribute) else None
    if isinstance(call.func, ast.Name) and call.func.id in _MADE:
        return _MADE[call.func.id]
    return next((kind for pattern, kind in _KINDS if pattern.fullmatch(name)), None)
