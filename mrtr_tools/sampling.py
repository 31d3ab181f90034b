"""What is asked of a model, as the protocol sends it, and what a model answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    said = cast("object", source.messages)
    if said in ([], ()) or not isinstance(said, (str, list, tuple)):
        raise FormError("Sample takes a text, or a list of messages with at least one")
    for message in cast("Sequence[object]", said):
        known = isinstance(message, str) or (isinstance(message, Mapping) and {"role", "content"} <= message.keys())
        if not known:
            raise FormError('a message is a text, or {"role": ..., "content": ...}')
    if type(source.max_tokens) is not int or source.max_tokens < 1:
        raise FormError("max_tokens= is a number from 1")
    if not isinstance(cast("object", source.stop_sequences), (list, tuple, type(None))):
        raise FormError("stop_sequences= takes a list of texts")


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


def _is_block(block: JsonValue) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    return block["type"] != "text" or isinstance(block.get("text"), str)
