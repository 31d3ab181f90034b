"""`Session`: the client of a call, as the body of an await-style tool knows it.

It looks like the SDK's `ServerSession` as far as a tool can use that: to ask, to look at capabilities, to send log
messages and progress.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from mrtr_tools.asking import Asking
from mrtr_tools.input_requests import Sample
from mrtr_tools.progress import Slot
from mrtr_tools.response_types import raw_form
from mrtr_tools.server import dialects

if TYPE_CHECKING:
    from mrtr_tools.server.dialects import types

__all__ = ["RequestContext", "Session"]


class Session:
    """The client of a call, in place of the SDK's `ServerSession`.

    Args:
        asking: what the body asks with.
    """

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"ctx.session.{name} is not there for a resumable tool, whose client has no session; it can ask, look at "
            "capabilities, log and report progress"
        )

    @property
    def client_params(self) -> types.InitializeRequestParams:
        """What the client of this request told about itself."""
        return dialects.client_params(self._asking.context.client)

    @property
    def client_capabilities(self) -> types.ClientCapabilities:
        """What the client of this request declared."""
        return self.client_params.capabilities

    def check_client_capability(self, capability: types.ClientCapabilities) -> bool:
        """Whether the client of this request declared something."""
        return dialects.has_capability(self._asking.context.client, capability)

    def elicit(
        self, message: str, requested_schema: object = None, related_request_id: object = None, **older: object
    ) -> Coroutine[Any, Any, types.ElicitResult]:
        """Ask with a form whose schema is a dict; ``requestedSchema=`` of older SDKs is the same."""
        # mrtr: ignore[MRTR208] whoever calls this awaits what it gives
        return self.elicit_form(message, requested_schema, related_request_id, **older)

    def elicit_form(
        self,
        message: str,
        requested_schema: object = None,
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
        **older: object,
    ) -> Coroutine[Any, Any, types.ElicitResult]:
        """Ask with a form whose schema is a dict; ``requestedSchema=`` of older SDKs is the same."""
        with self._asking.asks.loudly():
            of = raw_form(older.get("requestedSchema", requested_schema))
        return self._raw(self._asking.form(message, of), {})

    def elicit_url(
        self,
        message: str,
        url: str,
        elicitation_id: str = "",  # noqa: ARG002  the SDK has it
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> Coroutine[Any, Any, types.ElicitResult]:
        """Ask for a page to be opened."""
        return self._raw(self._asking.url(message, url))

    async def _raw(self, answer: Awaitable[Slot], empty: dict[str, Any] | None = None) -> types.ElicitResult:
        slot = await answer
        if slot.refused is not None:
            return dialects.raw_elicited(cast("Any", slot.refused), None)
        return dialects.raw_elicited("accept", slot.value if isinstance(slot.value, dict) else empty)

    def create_message(
        self,
        messages: Sequence[object],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        include_context: str | None = None,  # noqa: ARG002  the SDK has it
        temperature: float | None = None,
        stop_sequences: Sequence[str] | None = None,
        metadata: object = None,  # noqa: ARG002  the SDK has it
        model_preferences: object = None,
        tools: Sequence[object] | None = None,
        tool_choice: object = None,
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> Coroutine[Any, Any, types.CreateMessageResult | types.CreateMessageResultWithTools]:
        """Ask the client's model. `include_context` and `metadata` stay here: a client may ignore them, and most do."""
        source = Sample(
            dialects.plain(messages),
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            temperature=temperature,
            stop_sequences=stop_sequences,
            model_preferences=dialects.plain(model_preferences),
            tools=dialects.plain(tools),
            tool_choice=dialects.plain(tool_choice),
        )
        return self._message(self._asking.sample(source), with_tools=tools is not None or tool_choice is not None)

    async def _message(
        self, answer: Awaitable[Slot], *, with_tools: bool
    ) -> types.CreateMessageResult | types.CreateMessageResultWithTools:
        return dialects.sampled((await answer).value, with_tools=with_tools)

    def list_roots(self) -> Coroutine[Any, Any, types.ListRootsResult]:
        """Ask for the client's folders."""
        return self._roots(self._asking.roots())

    async def _roots(self, answer: Awaitable[Slot]) -> types.ListRootsResult:
        return dialects.roots((await answer).value)

    async def send_elicit_complete(self, elicitation_id: str) -> None:
        """Do nothing: since 2026-07-28 the protocol does not tell a client that a page is done."""

    async def send_log_message(
        self,
        level: str,
        data: JsonValue,
        logger: str | None = None,
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> None:
        """Send a log message; what an earlier run sent is not sent again."""
        await self._asking.log(level, data, logger)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the request is; what an earlier run told is not told again."""
        await self._asking.report_progress(progress, total, message)

    async def send_progress_notification(
        self,
        progress_token: object,  # noqa: ARG002  the SDK has it
        progress: float,
        total: float | None = None,
        message: str | None = None,
        related_request_id: object = None,  # noqa: ARG002  the SDK has it
    ) -> None:
        """Tell how far the request is; it always goes to the token of this request."""
        await self._asking.report_progress(progress, total, message)


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The request of a call, in place of the SDK's.

    Attributes:
        session: the client.
        request_id: names the whole call, and so is the same in each of its rounds.
        lifespan_context: what the server's lifespan gave.
        meta: None: what a request has beside its parameters is the adapter's.
        request: None, likewise.
    """

    session: Session
    request_id: str
    lifespan_context: Any
    meta: None = None
    request: None = None
