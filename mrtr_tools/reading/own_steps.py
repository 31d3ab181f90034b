"""Steps, as this library's authors write them: MRTR301 to MRTR304."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from mrtr_tools.reading.asking import found
from mrtr_tools.reading.functions import Function, Module, dotted, last_name, own_nodes
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.registrations import Role, decorator, is_resumable, keyword, role_of
from mrtr_tools.reading.rules import Finding
from mrtr_tools.reading.summaries import deed_of, written

__all__ = ["check_steps", "is_destructive", "is_gate"]

_GATE_NAME: Final = re.compile(
    r"ok|okay|yes|sure|confirm(ed|ation)?|approved?|proceed|go_?ahead|agreed?|accept(ed)?|really|continue_?"
    r"|(confirm|approve|allow|really)_\w+"
)
_GATE_TEXT: Final = re.compile(
    r"\b(are you sure|really|proceed|go ahead|confirm|approve|irreversible|cannot be undone|continue)\b", re.IGNORECASE
)
_DESTRUCTIVE: Final = {
    "delete", "drop", "pay", "purge", "wipe", "destroy", "charge", "transfer", "refund", "terminate", "erase", "buy",
    "purchase", "withdraw", "uninstall", "revoke",
}  # fmt: skip


def check_steps(project: Project, module: Module) -> Iterator[Finding]:
    """Report what a step asks in vain, asks wrongly, may do twice, or shows and does not keep."""
    for function in module.functions:
        if role_of(function) is not Role.OURS or is_resumable(function):
            continue
        sources = sources_of(function)
        for name, node in sources.items():
            yield from _check_input(function, name, node, sources)
            yield from _check_shown(project, function, name, node)
        yield from _check_destructive(function, asks=bool(sources))


def sources_of(function: Function) -> Mapping[str, ast.expr]:
    """The inputs of a step, by name: where each comes from."""
    return {
        item.arg: item.value
        for each in function.node.decorator_list
        if isinstance(each, ast.Call) and last_name(each.func) == "needs_input"
        for item in each.keywords
        if item.arg not in (None, "only_if")
    }


def is_gate(name: str, text: str) -> bool:
    """Whether a yes or no is asked to go ahead, by its name or its text."""
    return _GATE_NAME.fullmatch(name.lower()) is not None or _GATE_TEXT.search(text) is not None


def is_destructive(name: str, registered: ast.expr | None) -> bool:
    """Whether a tool says that it destroys, by its annotations or its name."""
    given = keyword(registered, "annotations")
    hints: dict[str, object] = {}
    if isinstance(given, ast.Dict):
        pairs = zip(given.keys, given.values, strict=True)
        hints = {str(k.value): v.value for k, v in pairs if isinstance(k, ast.Constant) and isinstance(v, ast.Constant)}
    elif isinstance(given, ast.Call):
        hints = {each.arg or "": each.value.value for each in given.keywords if isinstance(each.value, ast.Constant)}
    told = hints.get("destructiveHint", hints.get("destructive_hint"))
    if isinstance(told, bool):
        return told
    return hints.get("readOnlyHint") is not True and re.split(r"_|(?=[A-Z])", name)[0].lower() in _DESTRUCTIVE


def _check_input(function: Function, name: str, source: ast.expr, sources: Mapping[str, ast.expr]) -> Iterator[Finding]:
    taken = function.parameters.get(name)
    kind = last_name(source.func) if isinstance(source, ast.Call) else ""
    if taken is None or kind in ("confirm", "ElicitUrl"):
        return
    if not _is_read(function, name, sources):
        yield found(function.module, source, "MRTR301", f"{function.name} asks for {name} and never reads it")
    annotation = ast.unparse(taken.annotation) if taken.annotation is not None else ""
    text = source.args[0] if isinstance(source, ast.Call) and source.args else source
    said = text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
    is_form = kind == "Elicit" or isinstance(source, ast.Constant)
    if re.match(r"(typing\.)?(Optional\[)?bool\b", annotation) and is_form and is_gate(name, said):
        yield found(function.module, source, "MRTR302", f"{name} of {function.name} is any answer to a form")


def _is_read(function: Function, name: str, sources: Mapping[str, ast.expr]) -> bool:
    in_body = (node for statement in function.node.body for node in ast.walk(statement))
    if any(isinstance(node, ast.Name) and node.id == name for node in in_body):
        return True
    for other, source in sources.items():
        if other != name and _names_it(function, source, name):
            return True
    conditions = (keyword(each, "only_if") for each in function.node.decorator_list)
    return any(condition is not None and _names_it(function, condition, name) for condition in conditions)


def _names_it(function: Function, source: ast.expr, name: str) -> bool:
    """Whether the text or the function of another input takes this one."""
    if isinstance(source, ast.Name) and (made_by := function.module.find(source.id, function.owner)) is not None:
        return name in made_by.parameters
    if isinstance(source, (ast.Name, ast.Attribute)):
        return True  # a function that is not here
    return any(
        (isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(rf"\{{{name}\b", node.value))
        or (isinstance(node, ast.arg) and node.arg == name)
        for node in ast.walk(source)
    )


def _check_shown(project: Project, function: Function, name: str, source: ast.expr) -> Iterator[Finding]:
    """What a question shows is asked for once more by the body, which then acts on something else."""
    module = function.module
    made_by = module.find(source.id, function.owner) if isinstance(source, ast.Name) else None
    if made_by is None or any(_asks_again(node) for node in own_nodes(function.node)):
        return
    reads = {dotted(call.func) for call in calls_in(made_by) if _is_live(project, module, call, made_by)}
    for call in calls_in(function):
        if dotted(call.func) in reads or dotted(call.func) == made_by.name:
            shown = f"{written(call)} is what {name} showed in line {made_by.node.lineno}, read once more"
            yield found(module, call, "MRTR304", shown)


def _is_live(project: Project, module: Module, call: ast.Call, near: Function) -> bool:
    return isinstance(module.source.parents.get(call), ast.Await) or deed_of(project, module, call, near) is not None


def _asks_again(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "AskAgain"


def _check_destructive(function: Function, *, asks: bool) -> Iterator[Finding]:
    registered = decorator(function, {"tool", "step"})
    if registered is None or not is_destructive(function.name, registered):
        return
    single = keyword(registered, "single_use")
    if isinstance(single, ast.Constant) and single.value is True:
        return
    if any(isinstance(node, ast.Attribute) and node.attr == "idempotency_key" for node in own_nodes(function.node)):
        return
    hands_on = any(last_name(call.func) == "then" for call in calls_in(function))
    if (
        asks or last_name(registered.func if isinstance(registered, ast.Call) else registered) == "step"
    ) and not hands_on:
        yield found(function.module, function.node, "MRTR303", f"{function.name} acts again when a round is sent again")
