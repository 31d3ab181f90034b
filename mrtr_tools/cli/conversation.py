"""One tool call with the official client, to its end.

A server of 2026-07-28 is asked round by round. An older one sends its questions mid-call and without keys: they then go
by the name of their first field, with a number from the second time on.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from mcp import Client, StdioServerParameters, types
from pydantic import JsonValue

from mrtr_tools.cli.events import Answered, Asked, Asking, Noted, Show
from mrtr_tools.cli.exits import FAILED, Stop
from mrtr_tools.cli.given import Given
from mrtr_tools.cli.pairs import arguments_of
from mrtr_tools.cli.questions import Question, Response, question_of
from mrtr_tools.cli.reasons import missing_answers
from mrtr_tools.cli.targets import Target
from mrtr_tools.cli.terminal import label

if TYPE_CHECKING:
    from mrtr_tools.cli.asking import Person

__all__ = ["Conversation"]

MAX_ROUNDS: Final = 20
MAX_PAGES: Final = 100
HELP: Final = "(to decline or cancel: an empty line or Ctrl-D; to end the call: Ctrl-C)"
PAUSE: Final = 0.05  # seconds before a round that was asked nothing, so that no server is hammered


class Conversation:
    """One tool call.

    Args:
        target: where.
        tool: the tool's name.
        era: what the client speaks: ``auto``, ``legacy`` or a revision.
        given: answers that need nobody.
        person: who is asked for the others; None when nobody can be.
        show: is told what happens.
    """

    def __init__(self, target: Target, tool: str, *, era: str, given: Given, person: Person | None, show: Show) -> None:
        self._target = target
        self._tool = tool
        self._era = era
        self._given = given
        self._person = person
        self._show = show
        self._asked = Counter[str]()  # old clients: how often each name was asked
        self._tried: set[str] = set()
        self._who: str | None = None
        self._helped = False
        self._stopped: Stop | None = None

    async def play(self, texts: Mapping[str, str]) -> dict[str, JsonValue]:
        """Call the tool.

        Args:
            texts: its arguments as they were typed.

        Returns:
            The result as it came over the wire.

        Raises:
            Stop: wrong usage, an answer that is missing, or too many rounds.
        """
        server = self._target.url or StdioServerParameters(
            command=self._target.command[0], args=list(self._target.command[1:]), env=dict(os.environ)
        )

        async def pushed(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:  # noqa: ARG001
            return await self._pushed(params)

        logging.getLogger("mcp").addHandler(logging.NullHandler())  # what goes wrong is told by `reason_of`
        if self._person is not None and self._target.url is None:
            self._show(Noted(f"Starting {self._target.name} ..."))
        self._turn, self._scope = anyio.Lock(), anyio.CancelScope()
        async with Client(server, mode=self._era, elicitation_callback=pushed) as client:
            if client.server_info is not None:
                self._who = client.server_info.title or client.server_info.name
            arguments = arguments_of(texts, await self._schema(client))
            with self._scope:
                return _wire(await self._rounds(client, arguments))
            raise self._stopped or Stop("The call was ended.", FAILED)

    async def _schema(self, client: Client) -> Mapping[str, Any]:
        cursor, names = None, list[str]()
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            _check_kind(page.result_type)
            for tool in page.tools:
                if tool.name == self._tool:
                    return tool.input_schema
                names.append(tool.name)
            if (cursor := page.next_cursor) is None:
                break
        listed = ", ".join(label(name) for name in names) or "none"
        raise Stop(f"There is no tool {self._tool!r} on {self._target.name}; it has: {listed}")

    async def _rounds(self, client: Client, arguments: dict[str, JsonValue]) -> types.CallToolResult:
        responses: types.InputResponses | None = None
        state: str | None = None
        for number in range(1, MAX_ROUNDS + 1):
            result = await client.session.call_tool(
                self._tool, arguments, input_responses=responses, request_state=state, allow_input_required=True
            )
            if not isinstance(result, types.InputRequiredResult):
                _check_kind(result.result_type)
                return result
            if number < MAX_ROUNDS:  # what cannot be sent any more is not asked
                responses, state = await self._answers(number, result.input_requests or {}), result.request_state
        raise Stop(f"The call has not come to an end in {MAX_ROUNDS} rounds", FAILED)

    async def _answers(self, number: int, requests: types.InputRequests) -> types.InputResponses | None:
        raw = {key: _wire(request) for key, request in requests.items()}
        questions = {
            key: question_of(key, str(request["method"]), cast("dict[str, Any]", request.get("params") or {}))
            for key, request in raw.items()
        }
        self._show(Asked(number, self._who, cast("dict[str, JsonValue]", raw)))
        if not requests:
            await anyio.sleep(PAUSE)
            return None
        answers = await self._respond(number, questions)
        return {key: types.ElicitResult.model_validate(response.wire()) for key, response in answers.items()}

    async def _pushed(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Answer a question that an older server sends mid-call."""
        async with self._turn:
            raw = _wire(params)
            schema = cast("dict[str, Any]", raw.get("requestedSchema") or {})
            name = str(next(iter(schema.get("properties") or ("url",))))
            self._asked[name] += 1
            key = name if self._asked[name] == 1 else f"{name}-{self._asked[name]}"
            number = self._asked.total()
            self._show(Asked(number, self._who, {key: {"method": "elicitation/create", "params": raw}}))
            try:
                answers = await self._respond(number, {key: question_of(key, "elicitation/create", raw)})
            except Stop as stop:
                self._stopped = stop
                self._scope.cancel()
                await anyio.sleep_forever()  # nothing goes back; closing the connection ends this
                raise
            return types.ElicitResult.model_validate(answers[key].wire())

    async def _respond(self, number: int, questions: Mapping[str, Question]) -> dict[str, Response]:
        """Answer the questions of a round, those of the command line first."""
        given = {key: self._given.to(question) for key, question in questions.items()}
        again = [key for key, response in given.items() if response is not None and key in self._tried]
        missing = [question for key, question in questions.items() if given[key] is None or key in again]
        if missing and self._person is None:
            raise missing_answers(missing, again, self._given.unused)
        answers: dict[str, Response] = {}
        for key, question in questions.items():
            response, beforehand = given[key], key not in again
            self._show(Asking(question))
            if response is None or not beforehand:
                response, beforehand = await self._ask(question), False
            self._show(Answered(number, question, response, beforehand))
            self._tried.add(key)  # asked once more under the same key, it was not taken
            answers[key] = response
        return answers

    async def _ask(self, question: Question) -> Response:
        if not self._helped:
            self._show(Noted(HELP))
            self._helped = True
        return await cast("Person", self._person).answer(question)


def _check_kind(kind: str) -> None:
    """See that a result is of a kind that this client knows; the SDK lets any other pass for complete."""
    if kind != "complete":
        raise Stop(f"The server does not keep to the protocol: resultType is {label(kind)!r}", FAILED)


def _wire(model: Any) -> dict[str, Any]:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)
