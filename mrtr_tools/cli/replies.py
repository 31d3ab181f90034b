"""What is answered to questions, whatever they came in: a round, a task, or an older server's call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import JsonValue

from mrtr_tools.cli.events import Answered, Asked, Asking, Noted, Show
from mrtr_tools.cli.given import Given
from mrtr_tools.cli.questions import Question, Response, question_of
from mrtr_tools.cli.reasons import missing_answers

if TYPE_CHECKING:
    from mrtr_tools.cli.asking import Person

__all__ = ["Replies"]

HELP: Final = "(to decline or cancel: an empty line or Ctrl-D; to {}: Ctrl-C)"


class Replies:
    """Answers questions, as far as they can be from the command line, and else by a person.

    Args:
        given: answers that need nobody.
        person: who is asked for the others; None when nobody can be.
        show: is told what happens.
        control_c: what Ctrl-C does.

    Attributes:
        server: how the server calls itself, untrusted, or None.
        rounds: how often something was asked.
        is_attended: whether there is a person.
    """

    def __init__(self, given: Given, person: Person | None, show: Show, *, control_c: str = "end the call") -> None:
        self.server: str | None = None
        self.rounds = 0
        self.is_attended = person is not None
        self._given = given
        self._person = person
        self._show = show
        self._help = HELP.format(control_c)
        self._tried: set[str] = set()
        self._helped = False

    async def to(self, requests: Mapping[str, Any]) -> dict[str, Response]:
        """Answer what was asked together.

        Args:
            requests: input requests by key, as they came; none when a call only goes on.

        Raises:
            Stop: an answer is missing, does not fit, or is not for this client to give; or Ctrl-C.
        """
        self.rounds += 1
        questions = self._questions(requests)
        self._show(Asked(self.rounds, self.server, cast("Mapping[str, JsonValue]", requests)))
        return await self._respond(questions) if questions else {}

    def show(self, requests: Mapping[str, Any]) -> None:
        """Show what is asked, and answer nothing.

        Raises:
            Stop: it is not for this client to answer.
        """
        questions = self._questions(requests)
        self._show(Asked(self.rounds + 1, self.server, cast("Mapping[str, JsonValue]", requests)))
        for question in questions.values():
            self._show(Asking(question))

    def beforehand(self, requests: Mapping[str, Any]) -> set[str]:
        """The keys of the questions whose answers are on the command line.

        Raises:
            Stop: an answer does not fit.
        """
        return {key for key, question in self._questions(requests).items() if self._given.to(question) is not None}

    def _questions(self, requests: Mapping[str, Any]) -> dict[str, Question]:
        return {
            key: question_of(key, str(request["method"]), request.get("params") or {})
            for key, request in requests.items()
        }

    async def _respond(self, questions: Mapping[str, Question]) -> dict[str, Response]:
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
            self._show(Answered(self.rounds, question, response, beforehand))
            self._tried.add(key)  # asked once more under the same key, it was not taken
            answers[key] = response
        return answers

    async def _ask(self, question: Question) -> Response:
        if not self._helped:
            self._show(Noted(self._help))
            self._helped = True
        return await cast("Person", self._person).answer(question)
