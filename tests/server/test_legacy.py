"""The loop for older clients, and the shapes they know; without an SDK."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from mrtr_tools.calls import Call, Client, Complete
from mrtr_tools.errors import InvalidParams, MissingCapability
from mrtr_tools.server.legacy import Unanswered, handle_legacy_call
from tests.server.desk import toolbox
from tests.server.raw_http import accept

FORMS = Client({"elicitation": {}})


class Person:
    """Answers questions in turn, and remembers them."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Mapping[str, Any]] = []

    async def push(self, request: Mapping[str, Any]) -> Any:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def play(tool: str, person: Person, *, client: Client = FORMS) -> Complete:
    with anyio.fail_after(10):
        return await handle_legacy_call(toolbox, Call(tool, client=client), person.push)


@pytest.mark.anyio
async def test_a_question_is_pushed_and_its_answer_ends_the_call():
    person = Person(accept(who="Ada"))

    assert (await play("greet", person)).value == "Hello Ada"
    assert [request["params"]["message"] for request in person.asked] == ["Who are you?"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "misfit", [{}, {"action": "maybe"}, {"action": "accept"}, accept(who=7), accept(other="x"), None]
)
async def test_what_does_not_fit_is_asked_again(misfit):
    person = Person(misfit, accept(who="Ada"))

    assert (await play("greet", person)).value == "Hello Ada"
    assert len(person.asked) == 2


@pytest.mark.anyio
async def test_what_never_fits_ends_with_a_tool_error():
    person = Person(*[{"action": "accept"}] * 10)

    reply = await play("greet", person)

    assert reply.is_error
    assert len(person.asked) == 4


@pytest.mark.anyio
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_refusal_is_an_answer(action):
    assert (await play("perhaps", Person({"action": action}))).value == f"Nobody ({action})"
    assert (await play("greet", Person({"action": action}))).is_error


@pytest.mark.anyio
@pytest.mark.parametrize("answer", [accept(ok=False), {"action": "decline"}, Unanswered(-32601)])
async def test_without_a_yes_nothing_is_deleted(answer):
    reply = await play("delete", Person(answer))

    assert reply.is_error
    assert reply.value != "deleted"


@pytest.mark.anyio
async def test_an_error_in_place_of_an_answer_ends_the_call_with_words():
    """Reported as dougborg/katana-openapi-client#436: forms declared, "method not found" answered."""
    reply = await play("greet", Person(Unanswered(-32601)))

    assert reply == Complete("The client could not answer the request for 'who' (error -32601).", is_error=True)


@pytest.mark.anyio
async def test_a_client_that_cannot_be_asked_gets_the_error_before_anything_runs():
    with pytest.raises(MissingCapability) as refused:
        await play("greet", Person(), client=Client())
    assert refused.value.required == {"elicitation": {"form": {}}}
    assert (await play("perhaps", Person(), client=Client())).value == "Nobody (unsupported)"


@pytest.mark.anyio
async def test_the_tools_own_limit_ends_a_call_that_never_stops_asking():
    person = Person(*[accept(n=1)] * 10)

    reply = await play("never_enough", person)

    assert reply.is_error
    assert len(person.asked) == 4


@pytest.mark.anyio
async def test_an_unknown_tool_is_an_error_of_the_caller():
    with pytest.raises(InvalidParams, match="Unknown tool"):
        await play("nobody", Person())


@pytest.mark.anyio
async def test_the_questions_of_a_group_are_out_at_the_same_time():
    """The first is answered only once the second was asked, too."""
    arrived: dict[str, anyio.Event] = {"First name?": anyio.Event(), "Last name?": anyio.Event()}

    async def push(request: Mapping[str, Any]) -> Any:
        message = request["params"]["message"]
        arrived[message].set()
        for event in arrived.values():
            await event.wait()
        return accept(first="Ada") if message == "First name?" else accept(last="Lovelace")

    with anyio.fail_after(10):
        reply = await handle_legacy_call(toolbox, Call("both", client=FORMS), push)

    assert reply.value == "Ada Lovelace"


@pytest.mark.anyio
async def test_an_error_takes_the_other_questions_of_the_group_back():
    taken_back: list[str] = []

    async def push(request: Mapping[str, Any]) -> Any:
        if request["params"]["message"] == "First name?":
            raise Unanswered(-32600)
        try:
            await anyio.sleep_forever()
        finally:
            taken_back.append(request["params"]["message"])

    with anyio.fail_after(10):
        reply = await handle_legacy_call(toolbox, Call("both", client=FORMS), push)

    assert reply.is_error
    assert taken_back == ["Last name?"]
