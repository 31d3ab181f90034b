"""A call for a person: the conversation on stderr, the result on stdout.

Everything that a server said stands behind a bar and is escaped, so that it cannot move the cursor, hide text, or pass
for a line of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import JsonValue
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from mrtr_tools.cli.events import Answered, Asked, Asking, Detached, Ended, Event, Failed, Noted, TaskSeen
from mrtr_tools.cli.exits import INTERRUPTED
from mrtr_tools.templates import shown

__all__ = ["Terminal", "escaped", "label", "paragraph"]

MAX_LABEL: Final = 80
MAX_LINE: Final = 2000
MAX_LINES: Final = 100
MIN_WIDTH: Final = 20
UNWRAPPED: Final = 1_000_000
TAB: Final = 4
_STATUS: Final = {
    "working": "is at work",
    "input_required": "asks something",
    "completed": "is done",
    "failed": "has failed",
    "cancelled": "was cancelled",
}
_COMMANDS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e0fff]"
)


class Terminal:
    """Where a person sees a call.

    Args:
        target: what is called, as the person gave it.
    """

    def __init__(self, target: str) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._target = target
        self._begun = False
        self._passing = False
        self._shown: Mapping[type[Event], Callable[[Any], None]] = {
            Asked: self._asked,
            Asking: self._asking,
            Answered: self._answered,
            TaskSeen: self._seen,
            Detached: self._detached,
            Ended: self._ended,
            Failed: self._failed,
            Noted: self._noted,
        }

    def show(self, event: Event) -> None:
        """Print an event."""
        if self._passing and not isinstance(event, TaskSeen):
            self._passing = False
            self._console.print()
        self._shown[type(event)](event)

    def _asked(self, event: Asked) -> None:
        self._begun = True
        asker = f"{label(event.server)} ({self._target})" if event.server else self._target
        count = len(event.requests)
        told = "asks nothing, the call goes on" if not count else "asks" if count == 1 else f"asks {count} questions"
        self._line()
        self._line(f"Round {event.round}: {asker} {told}", "bold")

    def _asking(self, event: Asking) -> None:
        question = event.question
        if question.url is None:
            self._said(question.message)
        else:
            self._said(f"{question.message}\n{question.url}")
            self._line(f"Host: {_host(question.url)}", "bold")

    def _answered(self, event: Answered) -> None:
        content = event.response.content or {}
        told_already = len(content) <= 1 and not any(isinstance(value, list) for value in content.values())
        if told_already and not event.beforehand:
            return  # the prompt has left it on the screen
        names = [f"{label(name)}: " if len(content) > 1 else "" for name in content]
        values = [label(_plain(value)) for value in content.values()]
        told = ", ".join(name + value for name, value in zip(names, values, strict=True))
        told = told or {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}[event.response.action]
        self._line(f"> {told}" + ("  (--answer)" if event.beforehand else ""), "green")

    def _seen(self, event: TaskSeen) -> None:
        """How a task is; on a terminal the next time in the same place."""
        self._begun, task = True, event.task
        message = f": {task['statusMessage']}" if task.get("statusMessage") else ""
        told = Text(shown(f"Task {task['taskId']} {_STATUS.get(str(task['status']), 'is there')}{message}", MAX_LINE))
        told.stylize("cyan")
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            self._console.print(told, soft_wrap=True)
            return
        told.truncate(self._console.width - 1, overflow="ellipsis")
        self._console.control(Control((ControlType.CARRIAGE_RETURN,), (ControlType.ERASE_IN_LINE, 2)))
        self._console.print(told, end="", soft_wrap=True)
        self._passing = True

    def _detached(self, event: Detached) -> None:
        self._line(event.told, "dim")
        print(shown(event.task, MAX_LINE), flush=True)

    def _ended(self, event: Ended) -> None:
        result = event.result
        if self._begun:
            self._line()
        text = "\n".join(_blocks(result)) or _pretty(result.get("structuredContent"))
        if result.get("isError"):
            self._line(f"The tool failed: {escaped(text)}", "red")
        else:
            print(escaped(text), flush=True)

    def _failed(self, event: Failed) -> None:
        stop = event.stop
        if self._begun:
            self._line()
        if stop.code == INTERRUPTED:
            self._line(str(stop), "dim")
            return
        code = f" {stop.details['code']}" if "code" in stop.details else ""
        self._line(f"Error{code}: {stop}", "red")
        if stop.details.get("data"):
            self._said(_pretty(stop.details["data"]))

    def _noted(self, event: Noted) -> None:
        self._line(event.text, "dim")

    def _line(self, text: str = "", style: str = "") -> None:
        self._console.print(Text(escaped(text), style), soft_wrap=True)  # a server's words may be among ours

    def _said(self, text: str) -> None:
        bar = "│ " if self._console.encoding.startswith("utf") else "| "
        width = max(MIN_WIDTH, self._console.width - len(bar)) if self._console.is_terminal else UNWRAPPED
        for line in Text(paragraph(text)).wrap(self._console, width):
            self._console.print(Text(bar, "cyan") + Text(line.plain), soft_wrap=True)


def _host(url: str) -> str:
    """Where a page is, apart from the rest of its address, which may be made to look like another."""
    try:
        host = urlsplit(url).hostname or "none"
    except ValueError:
        host = "none"
    is_plain = host.isascii() and "xn--" not in host
    return label(host) + ("" if is_plain else "  (a name with letters beyond a to z: look twice)")


def label(text: str) -> str:
    """A short text of a server, on one line."""
    return shown(text, MAX_LABEL)


def paragraph(text: str) -> str:
    """A longer text of a server: its lines may break, and nothing else may happen."""
    lines = text.replace("\r\n", "\n").expandtabs(TAB).strip().split("\n")
    kept = [shown(line, MAX_LINE) for line in lines[:MAX_LINES]]
    return "\n".join(kept if len(kept) == len(lines) else [*kept, "…"])


def escaped(text: str) -> str:
    """A result, whole, with what would command the terminal made visible."""
    return _COMMANDS.sub(lambda found: found.group().encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def _blocks(result: Mapping[str, JsonValue]) -> list[str]:
    blocks = result.get("content")
    return [_block(block) for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []


def _block(block: Mapping[str, JsonValue]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text"))
        case "resource_link":
            return f"[{block.get('uri')}]"
        case kind:
            return f"[{kind}: {block.get('mimeType', 'shown by --json')}]"


def _plain(value: JsonValue) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_plain(item) for item in value) or "none"
        case _:
            return str(value)


def _pretty(value: JsonValue) -> str:
    text = "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
    return _COMMANDS.sub(lambda found: json.dumps(found.group())[1:-1], text)  # still JSON, with nothing to command
