"""What a step may ask of the other side: a person, their model, or the client itself.

Authors make these, in `needs_input` or as what an input function returns. In `needs_input` their texts are templates
over the step's parameters; returned from a function they are sent as they are. See the protocol's pages on
elicitation, sampling and roots, revision 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from pydantic import JsonValue

from mrtr_tools.records import frozen

__all__ = ["Confirm", "Elicit", "ElicitUrl", "ListRoots", "Root", "Sample", "Sampled", "Source", "confirm"]


@frozen
class Elicit:
    """A form for the person on the other side.

    Attributes:
        message: the question.
        form: the type of the form, when it is not that of the parameter (a flat model, dataclass or TypedDict).
        choices: what may be chosen, as values or as ``{value: label}``; many when the parameter is a list.
    """

    message: str
    form: type | None = field(default=None, kw_only=True)
    choices: Sequence[object] | Mapping[str, str] | None = field(default=None, kw_only=True)


@frozen
class Confirm:
    """A yes that must be given; made by `confirm`."""

    message: str


def confirm(message: str) -> Confirm:
    """Ask for a yes: one required boolean without a default.

    Only an accepted form that says true is a yes. An accepted form that says false is a refusal, one without the field
    is asked again. As an input it is a gate and needs no parameter; where there is one it must admit `Refused`.
    """
    return Confirm(message)


@frozen
class ElicitUrl:
    """A page for the person to open, for what must not pass through the client: secrets, payments, a sign-in elsewhere.

    Accepting is consent to open the page, not its end. The step that follows looks whether the page has done its work;
    when it has not, it can wait a bounded time, or ask again with `AskAgain`. As an input it is a gate like `confirm`.

    The URL must hold nothing about the person and nothing that lets one in. Name ``{ctx.handle}`` in it, and let the
    page sign its visitor in and compare who that is with the one who made the call (`Context.principal`): somebody else
    may have been sent the link.

    Attributes:
        message: why the page is to be opened.
        url: https, or http on this machine; templates fill places behind the host only, and are quoted.
    """

    message: str
    url: str


@frozen
class Sample:
    """A question to the client's model. The answer is a `Sampled`, or its text where the parameter is a ``str``.

    In `needs_input`, what its texts name is shown as in any question: on one line, and cut at 200 characters. A longer
    text comes from an input function. Deprecated by the protocol since 2026-07-28, like `ListRoots`, and kept until it
    goes.

    Attributes:
        messages: what to say: a text from the user, or messages, each a text or ``{"role": ..., "content": ...}``.
        max_tokens: the most that the model may write, in tokens.
        system_prompt: how it should behave.
        model_preferences: the protocol's object of hints and priorities.
        temperature: how freely it writes.
        stop_sequences: texts that end it.
        tools: the protocol's tool objects, for clients that declare ``sampling.tools``; running them is up to the step.
        tool_choice: the protocol's object, such as ``{"mode": "required"}``.
    """

    messages: str | Sequence[str | Mapping[str, JsonValue]]
    max_tokens: int = field(default=1000, kw_only=True)
    system_prompt: str | None = field(default=None, kw_only=True)
    model_preferences: Mapping[str, JsonValue] | None = field(default=None, kw_only=True)
    temperature: float | None = field(default=None, kw_only=True)
    stop_sequences: Sequence[str] | None = field(default=None, kw_only=True)
    tools: Sequence[Mapping[str, JsonValue]] | None = field(default=None, kw_only=True)
    tool_choice: Mapping[str, JsonValue] | None = field(default=None, kw_only=True)


@frozen
class Sampled:
    """What a model answered.

    Attributes:
        content: the protocol's content block, or a list of them, as they came.
        model: which model it was.
        role: ``assistant``, or ``user``.
        stop_reason: why it stopped, such as ``endTurn`` or ``toolUse``; None when it does not say.
    """

    content: dict[str, Any] | list[dict[str, Any]]
    model: str
    role: Literal["assistant", "user"] = "assistant"
    stop_reason: str | None = None

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The content as a list of blocks."""
        return self.content if isinstance(self.content, list) else [self.content]

    @property
    def text(self) -> str:
        """The text blocks, one after the other; empty when there are none."""
        return "".join(str(block.get("text", "")) for block in self.blocks if block.get("type") == "text")


@frozen
class ListRoots:
    """Asks the client for the folders it opened to the server; the answer is a ``list[Root]``.

    Deprecated by the protocol since 2026-07-28, like `Sample`, and kept until it goes.
    """


@frozen
class Root:
    """A folder or file of the client's.

    Attributes:
        uri: a ``file://`` URI.
        name: a name for people, or None.
    """

    uri: str
    name: str | None = None


Source = Elicit | Confirm | ElicitUrl | Sample | ListRoots
"""Whatever can be asked."""
