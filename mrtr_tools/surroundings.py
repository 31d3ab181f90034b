"""`Surroundings`: what the body of an await-style tool knows of its call, and what it tells its client on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from pydantic import JsonValue

from mrtr_tools import context
from mrtr_tools.asking import Asking
from mrtr_tools.asks import Asks
from mrtr_tools.calls import Client
from mrtr_tools.sessions import RequestContext, Session

__all__ = ["Surroundings"]

LEVELS: Final[tuple[str, ...]] = get_args(context.LogLevel)


class Surroundings:
    """The part of `mrtr_tools.porting.Context` that asks nothing.

    Args:
        asks: what was asked and answered so far.
        own: what a step may know about its call.
    """

    __slots__ = ("_asking", "_asks", "_own", "_session")

    def __init__(self, asks: Asks, own: context.Context) -> None:
        self._asks = asks
        self._own = own
        self._asking = Asking(asks, own)
        self._session = Session(self._asking)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"ctx.{name} is not there for a resumable tool, which may be on another machine in each round; it has what "
            "mrtr_tools.porting.Context documents"
        )

    # Telling the client

    async def log(self, *told: Any, level: str | None = None, logger_name: str | None = None, **more: Any) -> None:
        """Send a log message, ``log("info", message)`` or ``log(message, "info")``, once in the call.

        Args:
            told: the level and the message, in either order; the message alone is at ``info``.
            level: the level.
            logger_name: who says it.
            more: ``message=`` or ``data=``, and ``extra=``, which goes beside the message.
        """
        texts = [*told, *(more[name] for name in ("message", "data") if name in more)]
        levels = [level] if level is not None else [each for each in texts if len(texts) > 1 and each in LEVELS][:1]
        said = next((each for each in texts if not levels or each is not levels[0]), None)
        await self._say(levels[0] if levels else "info", said, logger_name, more.get("extra"))

    async def debug(self, message: Any, logger_name: str | None = None, extra: Mapping[str, Any] | None = None) -> None:
        """Send a log message at this level, once in the call."""
        await self._say("debug", message, logger_name, extra)

    async def info(self, message: Any, logger_name: str | None = None, extra: Mapping[str, Any] | None = None) -> None:
        """Send a log message at this level, once in the call."""
        await self._say("info", message, logger_name, extra)

    async def warning(
        self, message: Any, logger_name: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        """Send a log message at this level, once in the call."""
        await self._say("warning", message, logger_name, extra)

    async def error(self, message: Any, logger_name: str | None = None, extra: Mapping[str, Any] | None = None) -> None:
        """Send a log message at this level, once in the call."""
        await self._say("error", message, logger_name, extra)

    async def _say(self, level: str, message: Any, logger: str | None, extra: Mapping[str, Any] | None) -> None:
        data: JsonValue = message if not extra else {"msg": message, "extra": dict(extra)}
        await self._asking.log(level, data, logger)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the request is, once in the call; see `mrtr_tools.Context.report_progress`."""
        await self._asking.report_progress(progress, total, message)

    # What is known about the call

    @property
    def is_suspended(self) -> bool:
        """Whether this run ends because it waits for an answer: what a ``finally`` can ask."""
        return self._asks.is_suspended

    @property
    def session(self) -> Session:
        """The client."""
        return self._session

    @property
    def request_context(self) -> RequestContext:
        """The request, with the client and what the lifespan gave."""
        return RequestContext(self.session, self.request_id, self._own.lifespan)

    @property
    def client_capabilities(self) -> Any:
        """What the client of this request declared, as the SDK's `ClientCapabilities`."""
        return self.session.client_capabilities

    def client_supports_extension(self, extension_id: str) -> bool:
        """Whether the client of this request declared an extension."""
        declared = self._own.client.capabilities.get("extensions")
        return isinstance(declared, dict) and extension_id in declared

    @property
    def request_id(self) -> str:
        """Names the whole call; the same in each of its rounds."""
        return self._own.call_id

    @property
    def client_id(self) -> None:
        """None: clients do not give one. Who calls is `principal`."""
        return

    @property
    def call_id(self) -> str:
        """See `mrtr_tools.Context`."""
        return self._own.call_id

    @property
    def idempotency_key(self) -> str:
        """See `mrtr_tools.Context`; the same in each run of the body."""
        return self._own.idempotency_key

    @property
    def handle(self) -> str:
        """See `mrtr_tools.Context`."""
        return self._own.handle

    @property
    def round(self) -> int:
        """How often this call has asked before, from 0."""
        return self._own.round

    @property
    def principal(self) -> str | None:
        """Who makes the call, or None without authentication."""
        return self._own.principal

    @property
    def client(self) -> Client:
        """What the client of this request declared."""
        return self._own.client

    @property
    def lifespan(self) -> Any:
        """What the server's lifespan gave, or None."""
        return self._own.lifespan

    lifespan_context = lifespan
