"""What a client says in a measurement, and what it wants to hear: a wrong answer ends the benchmark."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from benchmarks.contenders import texts
from benchmarks.wire import Encode, next_round

Message = Mapping[str, Any]

Talk = Generator[bytes, Message, None]
"""Yields what to send, for ever, and is sent the message that came back."""

ASKED, DONE = "input_required", "complete"


class WrongAnswer(Exception):
    """A server answered something else."""


@dataclass(frozen=True)
class ToolCall:
    """A call from its first round to its last.

    Attributes:
        params: of the first request.
        content: what is answered, by the names of the fields that are asked for.
        messages: what is asked, one round after the other.
        text: what the tool says in the end.
    """

    params: Message
    content: Message
    messages: tuple[str, ...]
    text: str


TWO_ROUNDS = ToolCall(
    {"name": "get_weather", "arguments": {"location": "New York"}},
    {"name": "octocat"},
    (texts.LOGIN,),
    texts.weather("New York", "octocat"),
)
THREE_ROUNDS = ToolCall(
    {"name": "update_work_item", "arguments": {"work_item": 4522, "state": "Resolved"}},
    {"resolution": "Duplicate", "original": 4301},
    (texts.RESOLUTION.format(work_item=4522), texts.ORIGINAL),
    texts.work_item_done(4522, "Resolved", "Duplicate", 4301),
)


def calls(encode: Encode, call: ToolCall) -> Talk:
    """The whole call again and again, each round with the state of the one before."""
    while True:
        params = call.params
        for number, text in enumerate(call.messages, 1):
            result = _result((yield encode(number, "tools/call", params)), ASKED)
            (question,) = result["inputRequests"].values()
            _compare(question["params"]["message"], text)
            params = next_round(call.params, result, call.content)
        result = _result((yield encode(len(call.messages) + 1, "tools/call", params)), DONE)
        _compare(result["content"][0]["text"], call.text)


def repeated(request: bytes, result_type: str) -> Talk:
    """The same request again and again."""
    while True:
        _result((yield request), result_type)


def echoed(request: bytes) -> Talk:
    """The same line again and again, to somebody who only says it back."""
    sent = from_json(request)
    while True:
        _compare((yield request), sent)


def _result(message: Message, result_type: str) -> Message:
    result = message.get("result", {})
    if result.get("resultType") != result_type or result.get("isError"):
        raise WrongAnswer(f"not {result_type}: {message}")
    return result


def _compare(heard: object, wanted: object) -> None:
    if heard != wanted:
        raise WrongAnswer(f"{heard!r} in place of {wanted!r}")
