"""What a question stands in: MRTR201 to MRTR207, and MRTR211."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from mrtr_tools.reading.asking import found, is_ported
from mrtr_tools.reading.asks import is_ask
from mrtr_tools.reading.flows import asks_of
from mrtr_tools.reading.functions import Function, Module, last_name
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.rules import Finding
from mrtr_tools.reading.summaries import written

__all__ = ["check_surroundings", "is_parallel"]

_PARALLEL: Final = {"gather", "create_task", "ensure_future", "start_soon", "start", "wait", "as_completed"}
_LIMITED: Final = {"wait_for", "fail_after", "fail_at", "move_on_after", "move_on_at", "timeout", "timeout_at"}
_SNIFFED: Final = re.compile(
    r"not support|unsupport|elicit|sampling|capab|back.?channel|method not found|-32\d\d\d", re.IGNORECASE
)
_BROAD: Final = {"Exception"}
_WHOLE: Final = {"BaseException", "CancelledError", "BaseExceptionGroup"}


def check_surroundings(project: Project, module: Module) -> Iterator[Finding]:
    """Report what around a question will not do what it did."""
    for function in module.functions:
        if function not in project.asking:
            continue
        reported: set[tuple[ast.AST, str]] = set()
        for call in asks_of(project, function, calls_in(function)):
            for node, code, reason in _around(function, call):
                if code == "MRTR207" and is_ported(project, function) and _asks_alone(function, node):
                    continue
                if (node, code) not in reported:
                    reported.add((node, code))
                    yield found(module, node, code, reason)


def is_parallel(function: Function, call: ast.Call) -> ast.Call | None:
    """What runs a question beside other things, if that is so: ``asyncio.gather(...)``, but not ``ctx.gather(...)``."""
    for child, parent in function.module.around(call):
        if not isinstance(parent, ast.Call) or child is parent.func or last_name(parent.func) not in _PARALLEL:
            continue
        receiver = parent.func.value if isinstance(parent.func, ast.Attribute) else None
        if not (isinstance(receiver, ast.Name) and receiver.id in function.contexts):
            return parent
    return None


def _asks_alone(function: Function, node: ast.AST) -> bool:
    """Whether something is given questions of the body itself and nothing else, whose order is sure."""
    return isinstance(node, ast.Call) and all(
        isinstance(each, ast.Call) and is_ask(function.module, each, function) for each in node.args
    )


def _around(function: Function, call: ast.Call) -> Iterator[tuple[ast.AST, str, str]]:
    asked = f"{written(call)} in line {call.lineno}"
    if (parallel := is_parallel(function, call)) is not None:
        yield parallel, "MRTR207", f"{asked} is asked in {written(parallel)}"
    for child, parent in function.module.around(call):
        if isinstance(parent, ast.Call) and last_name(parent.func) in _LIMITED and child is not parent.func:
            yield parent, "MRTR206", f"{written(parent)} limits how long a person may take for {asked}"
        elif isinstance(parent, (ast.With, ast.AsyncWith)) and child in parent.body:
            yield from _around_with(parent, asked)
        elif isinstance(parent, (ast.Try, ast.TryStar)):
            yield from _around_try(parent, child, asked)
        elif isinstance(parent, ast.ExceptHandler):
            yield call, "MRTR204", f"{asked} is asked only after an error"


def _around_with(node: ast.With | ast.AsyncWith, asked: str) -> Iterator[tuple[ast.AST, str, str]]:
    for item in node.items:
        opened = item.context_expr
        name = last_name(opened.func if isinstance(opened, ast.Call) else opened)
        shown = ast.unparse(opened)[:60]
        if name in _LIMITED:
            yield node, "MRTR206", f"{shown} limits how long a person may take for {asked}"
        elif name in ("TaskGroup", "create_task_group", "open_nursery"):
            yield node, "MRTR205", f"{shown} is left in the middle by {asked}"
        elif name != "suppress":
            yield node, "MRTR205", f"{shown} is left and entered again in each round, for {asked} is inside of it"
        elif isinstance(opened, ast.Call):
            for each in opened.args:
                yield from _around_handler(node, last_name(each), asked, goes_on=True)


def _around_try(node: ast.Try | ast.TryStar, child: ast.AST, asked: str) -> Iterator[tuple[ast.AST, str, str]]:
    if child in node.finalbody:
        yield child, "MRTR203", f"{asked} is asked in finally, also when the round is about to end"
        return
    leaving = [part for each in node.finalbody for part in ast.walk(each) if isinstance(part, (ast.Return, ast.Break))]
    for each in leaving:
        yield each, "MRTR202", f"it leaves `finally`, and so swallows {asked}"
    if child not in node.body:
        return
    for handler in node.handlers:
        caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for each in caught:
            name = "" if each is None else last_name(each)
            yield from _around_handler(handler, name, asked, goes_on=not _ends(handler.body))
        if handler.name and _reads_text(handler):
            yield handler, "MRTR211", f"what happens after {asked} depends on the words of an error"


def _around_handler(node: ast.AST, name: str, asked: str, *, goes_on: bool) -> Iterator[tuple[ast.AST, str, str]]:
    if (name in ("", *_WHOLE)) and not (isinstance(node, ast.ExceptHandler) and _raises(node.body)):
        yield node, "MRTR202", f"it catches all that {asked} raises, the end of the round as well"
    elif name in _BROAD:
        what = "goes ahead" if goes_on else "hides"
        yield node, "MRTR201", f"it {what} whatever goes wrong in {asked}, a client that cannot be asked as well"


def _ends(body: list[ast.stmt]) -> bool:
    """Whether a handler gives up: it raises, or returns something that is no yes."""
    last = body[-1]
    if isinstance(last, ast.Return):
        return not (isinstance(last.value, ast.Constant) and last.value.value is True)
    return isinstance(last, (ast.Raise, ast.Continue, ast.Break))


def _raises(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise) and body[-1].exc is None


def _reads_text(handler: ast.ExceptHandler) -> bool:
    for node in (part for each in handler.body for part in ast.walk(each)):
        if isinstance(node, (ast.If, ast.IfExp, ast.While)) and handler.name in {
            name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)
        }:
            texts = [part.value for part in ast.walk(node.test) if isinstance(part, ast.Constant)]
            if any(isinstance(text, (str, int)) and _SNIFFED.search(str(text)) for text in texts):
                return True
    return False
