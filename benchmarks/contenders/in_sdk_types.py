"""What the tools made by hand say, in the types of the SDK."""

import json
from collections.abc import Mapping

import mcp_types as types

from benchmarks.contenders.by_hand import Contents, Question, State


def state_of(request_state: str | None) -> State:
    return json.loads(request_state) if request_state else {}


def contents_of(responses: Mapping[str, object] | None) -> Contents:
    return {
        key: response.content
        for key, response in (responses or {}).items()
        if isinstance(response, types.ElicitResult) and response.action == "accept" and response.content is not None
    }


def asking(question: Question) -> types.InputRequiredResult:
    form = types.ElicitRequestFormParams(message=question.message, requested_schema=question.form)
    return types.InputRequiredResult(
        input_requests={question.key: types.ElicitRequest(params=form)}, request_state=json.dumps(question.state)
    )
