"""Asks a person in the terminal, field by field; on stderr, so that stdout has the result alone.

Nobody answers by accident: keys that were typed before a question was there do not count, a yes is typed, and Enter
alone leaves empty what may be empty, unless the server proposes something.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, cast

import questionary
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output, create_output
from pydantic import JsonValue
from questionary import Choice

from mrtr_tools.cli.exits import INTERRUPTED, Stop
from mrtr_tools.cli.questions import Misfit, Question, Response, Spec, checked, choices_of, yes_or_no
from mrtr_tools.cli.terminal import label

__all__ = ["Person"]

EMPTY: Final = "\0empty"
HINTS: Final[Mapping[str, str]] = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "date": "a date such as 2026-07-28",
    "date-time": "a date and time such as 2026-07-28T09:30Z",
    "email": "an e-mail address",
    "uri": "an address such as https://example.com",
}


class Leave(Exception):
    """The person does not want to answer, at least not now."""


class Person:
    """Whoever sits at the terminal."""

    def __init__(self) -> None:
        self._input: Input = create_input()
        self._output: Output = create_output(stdout=sys.stderr)

    async def answer(self, question: Question) -> Response:
        """Ask a question that is on the screen already.

        Raises:
            Stop: Ctrl-C.
        """
        content: dict[str, JsonValue] = {}
        self._forget_keys()
        while True:
            try:
                if question.url is not None:
                    return Response("accept" if await self._consent("Open this page, and go on?") else "decline")
                if not question.fields:
                    return Response("accept", {}) if await self._consent("Agree?") else Response("decline")
                for name, spec in question.fields.items():
                    await self._fill(content, name, spec, required=name in question.required)
                return Response("accept", content)
            except Leave:
                if (action := await self._leave()) is not None:
                    return Response(action)

    def _forget_keys(self) -> None:
        clear_typeahead(self._input)
        if sys.platform != "win32":
            import termios

            termios.tcflush(sys.stdin, termios.TCIFLUSH)

    async def _fill(self, content: dict[str, JsonValue], name: str, spec: Spec, *, required: bool) -> None:
        """One field of the form; what it has already is proposed, else its default."""
        proposed = content.pop(name, spec.get("default"))
        choices = choices_of(spec)
        hints = [label(str(spec["description"]))] if spec.get("description") else []
        if not choices:
            hints += [HINTS[kind] for kind in (spec.get("format"), spec.get("type")) if kind in HINTS]
        hints += [] if required else ["optional"]
        asked = label(str(spec.get("title", name))) + (f" ({'; '.join(hints)})" if hints else "") + ":"
        if spec.get("type") == "array":
            value = await self._several(asked, name, spec, proposed)
            if not value and not required and not spec.get("default"):
                return
        elif choices:
            value = await self._one(asked, choices, proposed, required=required)
        else:
            value = await self._text(asked, name, spec, proposed, required=required)
        if value is not None:
            content[name] = value

    async def _one(
        self, asked: str, choices: list[tuple[str, str]], proposed: JsonValue, *, required: bool
    ) -> JsonValue:
        offered = [Choice(label(title), value) for value, title in choices]
        if not required:
            offered.append(Choice("(leave it empty)", EMPTY))
        values = [cast("str", choice.value) for choice in offered]
        start = proposed if isinstance(proposed, str) and proposed in values else None if required else EMPTY
        picked = await self._ask(
            questionary.select(
                asked, offered, start, instruction="(arrow keys, Enter)", input=self._input, output=self._output
            )
        )
        return None if picked == EMPTY else cast("str", picked)

    async def _several(self, asked: str, name: str, spec: Spec, proposed: JsonValue) -> JsonValue:
        ticked = proposed if isinstance(proposed, list) else []
        offered = [Choice(label(title), value, checked=value in ticked) for value, title in choices_of(spec)]
        return await self._ask(
            questionary.checkbox(
                asked,
                offered,
                validate=lambda picked: _misfit(name, spec, list(picked)) or True,
                instruction="(arrow keys, space ticks, Enter ends)",
                input=self._input,
                output=self._output,
            )
        )

    async def _text(self, asked: str, name: str, spec: Spec, proposed: JsonValue, *, required: bool) -> JsonValue:
        text = await self._line(asked, lambda text: _misfit(name, spec, _meant(text, spec)), _typed(proposed))
        if text.strip():
            return _read(name, spec, _meant(text, spec))
        if required:
            raise Leave
        return None

    async def _consent(self, asked: str) -> bool:
        """To a page, or to a form without fields: accepting it is all there is to answer."""
        text = await self._line(f"{asked} (yes or no):", lambda text: "yes or no?" if yes_or_no(text) is None else None)
        if (said := yes_or_no(text)) is None:
            raise Leave
        return said

    async def _line(self, asked: str, misfit: Callable[[str], str | None], proposed: str = "") -> str:
        """One line; it is empty, or has no misfit."""

        def fits(text: str) -> str | bool:
            return not text.strip() or misfit(text) or True

        return await self._ask(questionary.text(asked, proposed, validate=fits, input=self._input, output=self._output))

    async def _leave(self) -> Literal["decline", "cancel"] | None:
        choices = [
            Choice("Answer after all", EMPTY),
            Choice("Decline: the answer is no", "decline"),
            Choice("Cancel: no decision now", "cancel"),
        ]
        picked = await self._ask(
            questionary.select(
                "No answer?", choices, instruction="(arrow keys, Enter)", input=self._input, output=self._output
            )
        )
        return None if picked == EMPTY else picked

    async def _ask(self, prompt: questionary.Question) -> Any:
        bindings = KeyBindings()
        bindings.add(Keys.ControlD, eager=True)(_leave_key)
        bindings.add(Keys.SIGINT, eager=True)(_interrupt_key)
        own = prompt.application.key_bindings
        prompt.application.key_bindings = merge_key_bindings([*([own] if own else []), bindings])
        try:
            return await prompt.unsafe_ask_async()
        except EOFError:
            raise Leave from None
        except KeyboardInterrupt:  # as an exception that does not tear down the event loop
            raise Stop("The call was ended.", INTERRUPTED) from None


def _leave_key(event: KeyPressEvent) -> None:
    event.app.exit(exception=EOFError)


def _interrupt_key(event: KeyPressEvent) -> None:
    event.app.exit(exception=KeyboardInterrupt)


def _typed(proposed: JsonValue) -> str:
    """A default as somebody would type it; nothing when it is not what it looks like."""
    if proposed is None:
        return ""
    text = ("yes" if proposed else "no") if isinstance(proposed, bool) else str(proposed)
    return text if label(text) == text else ""


def _meant(text: str, spec: Spec) -> JsonValue:
    said = yes_or_no(text) if spec.get("type") == "boolean" else None
    return text if said is None else said


def _read(name: str, spec: Spec, value: JsonValue) -> JsonValue:
    """The value as it is sent.

    Raises:
        Misfit: it does not fit the field.
    """
    schema = cast("dict[str, JsonValue]", {"properties": {name: spec}, "required": []})
    return checked({name: value}, schema).get(name)


def _misfit(name: str, spec: Spec, value: JsonValue) -> str | None:
    try:
        _read(name, spec, value)
    except Misfit as misfit:
        return label(str(misfit))
    return None
