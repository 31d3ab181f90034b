"""Questions as requests to a client of before 2026-07-28, on the stream of the call that asks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel, Field, JsonValue, RootModel

from mrtr_tools.server.clients import Request
from mrtr_tools.server.legacy import Push, Unanswered
from mrtr_tools.server.revisions import NotKnown, answer_from, question_for

__all__ = ["pushing"]

_log = logging.getLogger("mrtr_tools")


class _Question(BaseModel):
    """A request whose answer the SDK does not read: it knows no `method` of this name, but sends the true one."""

    to: str = Field(serialization_alias="method")
    params: dict[str, JsonValue] | None = None

    @property
    def method(self) -> str:
        return "mrtr_tools/unread"


class _Unread(RootModel[dict[str, Any]]):
    """An answer as it came."""


def pushing(ctx: Request) -> Push:
    """Asks the client of a call."""
    own_stream = ServerMessageMetadata(related_request_id=ctx.request_id)

    async def push(request: Mapping[str, JsonValue]) -> JsonValue:
        try:
            question = _Question.model_validate(_to(question_for(ctx.protocol_version, request)))
            answer = await ctx.session.send_request(cast("types.ServerRequest", question), _Unread, metadata=own_stream)
        except NotKnown as error:
            _log.warning("a question was not asked: %s", error)
            raise Unanswered(types.INVALID_PARAMS) from None
        except MCPError as error:
            _log.info("a question was answered with error %d", error.code)
            raise Unanswered(error.code) from None
        return answer_from(ctx.protocol_version, request, answer.root)

    return push


def _to(question: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {"to": question["method"], "params": question.get("params")}
