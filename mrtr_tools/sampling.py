"""What is asked of a model, as the protocol sends it, and what a model answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import JsonValue

from mrtr_tools.answers import Misfit
from mrtr_tools.choices import FormError
from mrtr_tools.input_requests import Sample, Sampled

__all__ = ["SYSTEM", "check_sample", "read_sampled", "sampling_params"]

SYSTEM: Final = "system"
"""The place of the system prompt among the texts of a request."""


def check_sample(source: Sample) -> None:
    """See that the protocol knows what is to be sent.

    Raises:
        FormError: it does not.
    """
    said, choice = cast("Any", source.messages), cast("object", source.tool_choice)
    for fits, told in (
        (said not in ([], ()) and isinstance(said, (str, list, tuple)), "Sample takes a text, or at least one message"),
        (
            isinstance(said, str) or _all(_is_message, cast("object", said)),
            'a message is a text, or {"role": "user" or "assistant", "content": one block or a list of them}',
        ),
        (type(source.max_tokens) is int and source.max_tokens > 0, "max_tokens= is a number from 1"),
        (type(cast("object", source.temperature)) in (int, float, type(None)), "temperature= is a number"),
        (_all(lambda text: isinstance(text, str), source.stop_sequences), "stop_sequences= takes a list of texts"),
        (
            isinstance(cast("object", source.model_preferences), (Mapping, type(None))),
            "model_preferences= is an object",
        ),
        (_all(_is_tool, source.tools), 'tools= takes a list of {"name": ..., "inputSchema": {...}}'),
        (choice is None or _is_choice(choice), 'tool_choice= is {"mode": "auto"}, or "required", or "none"'),
    ):
        if not fits:
            raise FormError(told)
    if not isinstance(said, str) and not _is_balanced(cast("Sequence[object]", said)):
        raise FormError("each tool_use has its tool_result in the next message, of the user, which holds nothing else")


def _all(fits: Callable[[object], bool], given: object) -> bool:
    return given is None or (isinstance(given, (list, tuple)) and all(map(fits, cast("Sequence[object]", given))))


def _is_message(message: object) -> bool:
    if isinstance(message, str):
        return True
    match cast("Any", message):
        case {"role": "user" | "assistant", "content": content}:
            return content != [] and _all(
                _is_block, cast("object", content if isinstance(content, list) else [content])
            )
        case _:
            return False


def _is_balanced(messages: Sequence[object]) -> bool:
    """Whether each use of a tool is followed by its result before anything else is said."""
    used: set[str] = set()
    for message in messages:
        blocks = _blocks(message)
        results = {str(block.get("toolUseId")) for block in blocks if block["type"] == "tool_result"}
        if results != used:
            return False
        if results and (len(results) < len(blocks) or cast("Any", message)["role"] != "user"):
            return False
        used = {str(block.get("id")) for block in blocks if block["type"] == "tool_use"}
    return not used


def _blocks(message: object) -> Sequence[Mapping[str, object]]:
    content = () if isinstance(message, str) else cast("Any", message)["content"]
    return cast("Any", content if isinstance(content, (list, tuple)) else [content])


def _is_tool(tool: object) -> bool:
    match tool:
        case {"name": str(), "inputSchema": {}}:
            return True
        case _:
            return False


def _is_choice(choice: object) -> bool:
    match cast("Any", choice):
        case {"mode": mode}:
            return mode in ("auto", "required", "none")
        case _:
            return choice == {}


def sampling_params(source: Sample, texts: Mapping[str, str]) -> dict[str, JsonValue]:
    """The parameters of `sampling/createMessage`, with these texts in their places."""
    said = [source.messages] if isinstance(source.messages, str) else source.messages
    options: dict[str, Any] = {
        "systemPrompt": texts.get(SYSTEM),
        "modelPreferences": source.model_preferences,
        "temperature": source.temperature,
        "stopSequences": source.stop_sequences,
        "tools": source.tools,
        "toolChoice": source.tool_choice,
    }
    return {
        "messages": [_message(message, texts.get(str(place))) for place, message in enumerate(said)],
        "maxTokens": source.max_tokens,
        **{name: _plain(value) for name, value in options.items() if value is not None},
    }


def _message(message: str | Mapping[str, JsonValue], text: str | None) -> JsonValue:
    if isinstance(message, str):
        return {"role": "user", "content": {"type": "text", "text": text if text is not None else message}}
    return dict(message)


def _plain(value: Any) -> JsonValue:
    return list(cast("Sequence[JsonValue]", value)) if isinstance(value, tuple) else value


def read_sampled(raw: JsonValue) -> Sampled:
    """The response to a sampling request.

    Raises:
        Misfit: it is none.
    """
    match raw:
        case {
            "role": "assistant" | "user" as role,
            "content": (dict() | list()) as content,
            "model": str(model),
            **more,
        }:
            blocks = content if isinstance(content, list) else [content]
            if blocks and all(_is_block(block) for block in blocks):
                stop = more.get("stopReason")
                return Sampled(cast("Any", content), model, role, stop if isinstance(stop, str) else None)
        case _:
            pass
    raise Misfit("The answer of the model could not be read.")


def _is_block(block: object) -> bool:
    match cast("Any", block):
        case {"type": "text", **more}:
            return isinstance(more.get("text"), str)
        case {"type": str()}:
            return True
        case _:
            return False
