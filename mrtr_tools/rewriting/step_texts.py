"""A function that is a straight line of questions, written as steps."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mrtr_tools.reading.projects import Project
from mrtr_tools.rewriting.edits import span_of
from mrtr_tools.rewriting.handed_on import annotations_of, names_read
from mrtr_tools.rewriting.straight_lines import Asked, Line, NotStraight
from mrtr_tools.rewriting.substitutions import of_context, of_result, text_of

__all__ = ["Written", "written_as_steps"]

WIDTH: Final = 120
BOTH: Final = 2
_PLAIN: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(slots=True)
class Written:
    """The text of some steps.

    Attributes:
        text: the functions, the tool last but for its steps, without indentation.
        names: what they need of `mrtr_tools`.
        of_typing: whether they need `Literal`.
    """

    text: str = ""
    names: set[str] = field(default_factory=set[str])
    needs_literal: bool = False


def written_as_steps(project: Project, line: Line) -> Written:
    """Write a function as steps.

    Raises:
        NotStraight: it cannot be cut; the text says why.
    """
    return _Writing(project, line).write()


class _Writing:
    def __init__(self, project: Project, line: Line) -> None:
        self.line = line
        self.function = line.function
        self.source = line.function.module.source
        self.kinds = annotations_of(project, line)
        self.done = Written(names={"needs_input"})
        self.inlined = {id(each): self._inline(each) for each in line.asked}
        body = self.function.node.body
        self.replaced = [*of_context(project, self.function, (node for each in body for node in ast.walk(each)))]
        for place, asked in enumerate(line.asked):
            below = [*asked.after, *(self._message(each) for each in line.asked[place + 1 : place + 2])]
            nodes = [n for each in below if each not in asked.dropped for n in ast.walk(each)]
            if all(other.result != asked.result for other in line.asked[place + 1 :]):
                nodes += [n for each in line.asked[place + 2 :] for n in ast.walk(self._message(each))]
                nodes += [n for each in line.asked[place + 1 :] for s in each.after for n in ast.walk(s)]
            self.replaced += of_result(self.function, asked, nodes)

    def write(self) -> Written:
        """Write the tool and its steps."""
        line, node = self.line, self.function.node
        parts = [None, *line.asked] if line.first else [*line.asked]
        names = [node.name, *(f"{node.name}_with_{each.name}" for each in parts[1:] if each is not None)]
        takes = [self._takes(parts, place) for place in range(len(parts))]
        texts: list[str] = []
        for place, asked in enumerate(parts):
            following = parts[place + 1] if place + 1 < len(parts) else None
            body = self._body(self._kept(line.first if asked is None else asked.after, asked), asked, following)
            if place + 1 < len(parts):
                body += _then(names[place + 1], takes[place + 1])
                self.done.names.add("then")
            texts.append(self._step(place, names[place], takes[place], asked, body))
        self.done.text = "\n\n\n".join(texts)
        return self.done

    def _inline(self, asked: Asked) -> tuple[ast.expr, ast.stmt | None]:
        """The message itself, where the line above it gives it a name for nothing else."""
        name, node = asked.message, self.function.node
        if not isinstance(name, ast.Name):
            return asked.message, None
        uses = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name.id]
        for each in node.body:
            is_it = isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name.id and len(uses) == BOTH
            if is_it and isinstance(each, ast.Assign) and isinstance(each.value, (ast.JoinedStr, ast.Constant)):
                return each.value, each
        return asked.message, None

    def _message(self, asked: Asked) -> ast.expr:
        return self.inlined[id(asked)][0]

    def _takes(self, parts: Sequence[Asked | None], place: int) -> dict[str, str]:
        """What a step is handed: all that is read in it and below, and bound above."""
        if place == 0:
            return {}
        above = [each for each in parts[:place] if each is not None]
        read = set[str]()
        for asked in parts[place:]:
            if asked is not None:
                read |= {self._meant(name, above) for name in names_read([self._message(asked)])}
                above = [*above, asked]
                read |= {self._meant(name, above) for name in names_read(self._kept(asked.after, asked))}
        takes: dict[str, str] = {}
        for name in [each for each in self.kinds if each in read & self._bound_above(parts[:place])]:
            annotation = self.kinds[name]
            if annotation is None:
                reason = f"{name} is handed on, and nobody has written down what it is: annotate it where it is made"
                raise NotStraight(reason, self.function.node.lineno)
            takes[name] = annotation
            self.done.names |= {"Refused"} if annotation.endswith("Refused") else set()
        return takes

    def _meant(self, name: str, above: Sequence[Asked]) -> str:
        """What a name is called in steps: the answer, where it is the result of a question above."""
        return next((each.name for each in reversed(above) if each.result == name), name)

    def _kept(self, statements: Iterable[ast.stmt], asked: Asked | None) -> list[ast.stmt]:
        gone = {id(statement) for _, statement in self.inlined.values()}
        gone |= {id(statement) for statement in (asked.dropped if asked is not None else ())}
        return [each for each in statements if id(each) not in gone]

    def _bound_above(self, parts: Sequence[Asked | None]) -> set[str]:
        bound = {*self.function.parameters}
        for asked in parts:
            kept = self._kept(self.line.first if asked is None else asked.after, asked)
            names = [node for each in kept for node in ast.walk(each) if isinstance(node, ast.Name)]
            bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
            bound |= {asked.name} if asked is not None else set()
        return bound

    def _body(self, kept: Sequence[ast.stmt], before: Asked | None, following: Asked | None) -> list[str]:
        """The lines of a step's body, with the comments between its statements, without indentation."""
        lines, out = self.source.text.split("\n"), list[str]()
        previous = self._docstring_end()
        if before is not None:
            above = previous if before is self.line.asked[0] and not self.line.first else before.statement.lineno - 1
            out += self._comments(above, before.statement.end_lineno or 0, inside=True)
            previous = before.statement.end_lineno or 0
        for each in kept:
            out += self._comments(previous, each.lineno - 1)
            text = text_of(self.source, each, self.replaced)
            out += textwrap.dedent(" " * span_of(self.source, each)[1] + text).split("\n")
            previous = each.end_lineno or each.lineno
            out[-1] += lines[previous - 1][span_of(self.source, each)[3] :].rstrip()
        last = following.statement.lineno - 1 if following is not None else previous
        return [*out, *self._comments(previous, last)]

    def _comments(self, after: int, last: int, *, inside: bool = False) -> list[str]:
        """The comments and empty lines below a line, up to another one; or the comments `inside` of a statement too."""
        out: list[str] = []
        for number in range(after + 1, last + 1):
            text = self.source.text.split("\n")[number - 1].strip()
            if text.startswith("#") or (inside and number in self.source.comments):
                out.append(self.source.comments.get(number, text))
            elif not text and not inside and number > after + 1:
                out.append("")
        return out

    def _docstring_end(self) -> int:
        node = self.function.node
        first = node.body[0]
        is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return (first.end_lineno or 0) if is_docstring else first.lineno - 1

    def _step(self, place: int, name: str, takes: Mapping[str, str], asked: Asked | None, body: list[str]) -> str:
        node = self.function.node
        code = "\n".join(body)
        required, optional = [f"{each}: {kind}" for each, kind in takes.items()], list[str]()
        if place == 0:
            required, optional = self._parameters()
        if asked is not None:
            refuses = asked.is_gate or re.search(r"\bRefused\b", code) is not None
            self.done.names |= {"Refused"} if refuses else set()
            self.done.needs_literal |= "Literal[" in asked.annotation
            required.append(f"{asked.name}: {asked.annotation}{' | Refused' if refuses else ''}")
        if re.search(rf"\b{self.function.context}\.", code):
            self.done.names.add("Context as StepContext")
            required.append(f"{self.function.context}: StepContext")
        self.done.names |= {"Refused"} & set(re.findall(r"\bRefused\b", code))
        above, marks = self._marks(place, asked, {*takes, *(self.function.parameters if place == 0 else ())})
        returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
        docstring = [self._docstring()] if place == 0 and self._docstring() else []
        inside = textwrap.indent("\n".join([*docstring, *body]), "    ", lambda line: bool(line.strip()))
        return "\n".join([*above, *marks, _signature(name, [*required, *optional], returns), inside])

    def _parameters(self) -> tuple[list[str], list[str]]:
        given = self.function.node.args
        defaults = dict(zip(reversed(given.args), reversed(given.defaults), strict=False))
        named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        defaults |= {arg: default for arg, default in named if default is not None}
        required, optional = list[str](), list[str]()
        for arg in (*given.args, *given.kwonlyargs):
            if arg.arg == self.function.context:
                continue
            text = text_of(self.source, arg, ())
            if arg in defaults:
                optional.append(f"{text} = {text_of(self.source, defaults[arg], ())}")
            else:
                required.append(text)
        return required, optional

    def _docstring(self) -> str:
        first = self.function.node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            text = text_of(self.source, first, ())
            return textwrap.dedent(" " * first.col_offset + text)
        return ""

    def _marks(self, place: int, asked: Asked | None, known: set[str]) -> tuple[list[str], list[str]]:
        """What stands above a step: the function that makes its question, where that takes one, and its decorators."""
        registered = text_of(self.source, self.line.registered, ()) if place == 0 else self._toolbox() + ".step"
        marks, above = [f"@{registered}"], list[str]()
        if asked is None:
            return above, marks
        kind = "confirm" if asked.is_gate else "Elicit"
        message = self._message(asked)
        text = self._template(message, known)
        if text is not None:
            source = f"confirm({text})" if asked.is_gate else text
            self.done.names |= {"confirm"} if asked.is_gate else set()
        else:
            source = f"ask_{self.function.name}_{asked.name}"
            made = text_of(self.source, message, self.replaced)
            read = set(re.findall(r"[A-Za-z_]\w*", made)) & known
            takes = [f"{each}: {self.kinds[each] or 'object'}" for each in self.kinds if each in read]
            returns = "" if asked.is_gate else " -> Elicit"
            above = [f"def {source}({', '.join(takes)}){returns}:", f"    return {kind}({made})", "", ""]
            self.done.names.add(kind)
        marks.append(f"@needs_input({asked.name}={source})")
        return above, marks

    def _toolbox(self) -> str:
        called = self.line.registered.func if isinstance(self.line.registered, ast.Call) else self.line.registered
        return ast.unparse(called.value) if isinstance(called, ast.Attribute) else "toolbox"

    def _template(self, message: ast.expr, known: set[str]) -> str | None:
        """The text for a decorator, with ``{name}`` where the message has a name of the step; None for all else."""
        if isinstance(message, ast.Constant) and isinstance(message.value, str):
            has_braces = "{" in message.value or "}" in message.value
            return None if has_braces or "\n" in message.value else text_of(self.source, message, ())
        if not isinstance(message, ast.JoinedStr):
            return None
        parts: list[str] = []
        for each in message.values:
            if isinstance(each, ast.Constant):
                parts.append(str(each.value).replace("{", "{{").replace("}", "}}"))
            elif isinstance(each, ast.FormattedValue):
                name = self._name_in(each)
                if name is None or name.partition(".")[0] not in known:
                    return None
                spec = ast.unparse(each.format_spec)[2:-1] if each.format_spec is not None else ""
                parts.append(f"{{{name}{':' if spec else ''}{spec}}}")
        text = "".join(parts)
        return None if "\n" in text or '"' in text or "\\" in text else f'"{text}"'

    def _name_in(self, value: ast.FormattedValue) -> str | None:
        if value.conversion != -1 or (value.format_spec is not None and "{" in ast.unparse(value.format_spec)[2:-1]):
            return None
        text = ast.unparse(value.value)
        for each in self.replaced:
            text = text.replace(ast.unparse(each.node), each.text) if each.text.isidentifier() else text
        return text if _PLAIN.fullmatch(text) else None


def _then(name: str, takes: Iterable[str]) -> list[str]:
    given = [name, *(f"{each}={each}" for each in takes)]
    short = f"return then({', '.join(given)})"
    if len(short) <= WIDTH - 4:
        return [short]
    return ["return then(", *(f"    {each}," for each in given), ")"]


def _signature(name: str, parameters: Iterable[str], returns: str) -> str:
    given = [*parameters]
    short = f"async def {name}({', '.join(given)}){returns}:"
    if len(short) <= WIDTH:
        return short
    return "\n".join([f"async def {name}(", *(f"    {each}," for each in given), f"){returns}:"])
