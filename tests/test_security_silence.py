"""What is said when something goes wrong: never anything of what was sent, kept or handed on."""

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import anyio
import pytest
from pydantic import BaseModel, Field, SecretStr

from mrtr_tools import AskAgain, Context, Toolbox, needs_input, then
from mrtr_tools.arguments import Given
from mrtr_tools.calls import Call, Client, Complete, InputRequired, Reply
from mrtr_tools.errors import RequestError
from mrtr_tools.events import Event, Finished, NeedInput, RunStep
from mrtr_tools.keys import generate_key
from mrtr_tools.marks import Then
from mrtr_tools.progress import Open, Progress, Slot
from mrtr_tools.questions import Question, Response
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import EVERYTHING
from mrtr_tools.walk import Ask, First
from tests.wire_by_hand import accept

ARGUMENT, ANSWER, PRINCIPAL, TOKEN = "argument-hunter2", "answer-hunter2", "principal-hunter2", "token-hunter2"
KEY = generate_key()


@dataclass
class Said:
    """All that anybody is told of a request: the reply, or the exception, and the reason of an unexpected end."""

    reply: Reply | None = None
    error: Exception | None = None
    cause: Exception | None = None

    def texts(self) -> list[str]:
        errors = [error for error in (self.error, self.cause) if error is not None]
        told = str(self.reply.value) if isinstance(self.reply, Complete) else ""
        return [*("".join(traceback.format_exception(error)) for error in errors), repr(self.reply), told]


def shop(last: Callable[..., str] | None = None, pay_with: Any = SecretStr, token: str = TOKEN) -> Toolbox:
    """Takes an argument and an answer, makes a secret, and hands all of it on; `last` is what the second step does."""
    toolbox = Toolbox("shop")

    @toolbox.tool(carry_secrets=True)
    @needs_input(token=lambda: SecretStr(token))
    @needs_input(name="Who pays?")
    def order(item: str, token: SecretStr, name: Annotated[str, Field(max_length=20)]) -> str:
        return then(pay, item=item, token=token, name=f"{name}!")

    def pay(item, token, name, note, ctx):
        return last(item, token, name, note) if last else "paid"

    pay.__annotations__ = {"item": str, "token": pay_with, "name": str, "note": str, "ctx": Context, "return": str}
    pay = toolbox.step(carry_secrets=True)(needs_input(note="A note?")(pay))
    return toolbox


def send(toolbox: Toolbox, call: Call, signer: StateSigner) -> Said:
    said = Said()

    def note(event: Event) -> None:
        if isinstance(event, Finished) and event.cause is not None:
            said.cause = event.cause

    try:
        said.reply = anyio.run(handle_call, toolbox, call, signer, note)
    except RequestError as error:
        said.error = error
    return said


SIGNER = StateSigner([KEY], "shop")
CALL = Call("order", {"item": ARGUMENT}, principal=PRINCIPAL, client=Client(EVERYTHING))


def state_of(said: Said) -> str:
    assert isinstance(said.reply, InputRequired), said
    assert said.reply.state
    return said.reply.state


def under_way(toolbox: Toolbox) -> Call:
    """The call when the second step has asked its question."""
    first = send(toolbox, CALL, SIGNER)
    second = send(toolbox, replace(CALL, state=state_of(first), responses={"name": accept(name=ANSWER)}), SIGNER)
    return replace(CALL, state=state_of(second))


def forged(call: Call) -> Call:
    return replace(call, state=f"{str(call.state)[:-1]}{'A' if str(call.state)[-1] != 'A' else 'E'}")


REFUSED = {
    "forged": lambda call: (forged(call), SIGNER, shop()),
    "cut": lambda call: (replace(call, state=str(call.state)[:-9]), SIGNER, shop()),
    "another argument": lambda call: (replace(call, arguments={"item": "hunter2"}), SIGNER, shop()),
    "another person": lambda call: (replace(call, principal="hunter2"), SIGNER, shop()),
    "another tool": lambda call: (replace(call, target="pay"), SIGNER, shop()),
    "another key": lambda call: (call, StateSigner([generate_key()], "shop"), shop()),
    "another server": lambda call: (call, StateSigner([KEY], "bank"), shop()),
    "expired": lambda call: (call, StateSigner([KEY], "shop", clock=lambda: 10**11), shop()),
    "no longer fits": lambda call: (call, SIGNER, shop(pay_with=Annotated[SecretStr, Field(min_length=99)])),
    "another type": lambda call: (call, SIGNER, shop(pay_with=int)),
    "no secret any more": lambda call: (call, SIGNER, shop(pay_with=list[str])),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_state_that_is_refused_leaves_nothing_in_logs_errors_and_tracebacks(why: str, caplog):
    """Security 23."""
    caplog.set_level(logging.DEBUG)
    call, signer, toolbox = REFUSED[why](replace(under_way(shop()), responses={"note": accept(note=ANSWER)}))

    said = send(toolbox, call, signer)

    assert said.error is not None
    nothing_is_shown(said, caplog.text, call, signer)


class Login(BaseModel):
    user: str
    password: SecretStr


def fails(item: str, token: SecretStr, name: str, note: str) -> str:
    raise RuntimeError("the bank is closed")


def hands_on_what_does_not_fit(item: str, token: SecretStr, name: str, note: str) -> str:
    toolbox = Toolbox("t")

    @toolbox.step(carry_secrets=True)
    def never(token: Annotated[SecretStr, Field(min_length=99)]) -> str:
        return ""

    return then(never, token=token)


def hands_on_the_wrong_type(item: str, token: SecretStr, name: str, note: str) -> str:
    toolbox = Toolbox("t")

    @toolbox.step(carry_secrets=True)
    def never(logins: list[Login]) -> str:
        return ""

    return then(never, logins=[{"user": note, "password": [token, item]}])


def asks_again_for_what_was_not_asked(item: str, token: SecretStr, name: str, note: str) -> str:
    raise AskAgain(token=f"{note} {item}")


def returns_something_else(item: str, token: SecretStr, name: str, note: str) -> str:
    return {"item": item, "token": token.get_secret_value(), "note": note}  # type: ignore[return-value]


def hides_a_then(item: str, token: SecretStr, name: str, note: str) -> Any:
    return [Then(fails, {"token": token}, {"token": token.get_secret_value()})]


def exits(item: str, token: SecretStr, name: str, note: str) -> str:
    raise SystemExit(1)


@pytest.mark.parametrize(
    "last",
    [
        fails,
        hands_on_what_does_not_fit,
        hands_on_the_wrong_type,
        asks_again_for_what_was_not_asked,
        returns_something_else,
        hides_a_then,
        exits,
    ],
    ids=lambda last: last.__name__,
)
def test_a_step_that_fails_leaves_nothing_of_the_call_in_logs_errors_and_tracebacks(last: Callable[..., str], caplog):
    """Security 23: but for what its author put into an exception."""
    caplog.set_level(logging.DEBUG)
    toolbox = shop(last)
    call = replace(under_way(toolbox), responses={"note": accept(note=ANSWER)})

    said = send(toolbox, call, SIGNER)

    assert isinstance(said.reply, Complete)
    assert (said.reply.value, said.reply.is_error) == ("The tool failed unexpectedly.", True)
    assert said.cause is not None
    assert "Traceback" in caplog.text
    nothing_is_shown(said, caplog.text, call, SIGNER)


@pytest.mark.parametrize(
    "answer",
    [accept(name=ANSWER * 3), accept(other=ANSWER), {"action": ANSWER}, accept(name=[ANSWER]), ANSWER, [ANSWER]],
    ids=str,
)
def test_an_answer_that_never_fits_leaves_nothing_in_logs_errors_and_tracebacks(answer: Any, caplog):
    """Security 23: while it is asked again, and when the call gives up."""
    caplog.set_level(logging.DEBUG)
    toolbox, call = shop(), CALL
    for _ in range(4):
        call = replace(call, state=state_of(send(toolbox, call, SIGNER)), responses={"name": answer})

    said = send(toolbox, call, SIGNER)

    assert isinstance(said.reply, Complete)
    assert said.reply.is_error
    nothing_is_shown(said, caplog.text, call, SIGNER)


@pytest.mark.parametrize("item", [[ARGUMENT], {"hunter2": 1}, None, 5])
def test_arguments_that_do_not_fit_leave_nothing_in_logs_errors_and_tracebacks(item: Any, caplog):
    """Security 23."""
    caplog.set_level(logging.DEBUG)
    call = replace(CALL, arguments={"item": item})

    said = send(shop(), call, SIGNER)

    assert isinstance(said.reply, Complete)
    assert str(said.reply.value).startswith("Invalid arguments: item: ")
    nothing_is_shown(said, caplog.text, call, SIGNER)


def test_a_state_that_is_too_large_names_the_secret_and_shows_none_of_it(caplog):
    """Security 23."""
    caplog.set_level(logging.DEBUG)
    said = send(shop(token=TOKEN * 6000), CALL, SIGNER)

    assert isinstance(said.reply, Complete)
    assert "answer token (7" in str(said.reply.value)
    nothing_is_shown(said, caplog.text, CALL, SIGNER)


def test_nothing_that_is_made_on_the_way_shows_what_it_holds():
    """Security 23: a repr ends up in logs, and in what gathers errors with the variables around them."""
    values: dict[str, Any] = {"item": ARGUMENT}
    question = Question("form", "elicitation/create", {"message": ARGUMENT})
    made = [
        Given(values, (), "", values),
        First(shop().tools["order"].step, values, "pin"),
        Question("form", "elicitation/create", {"message": ARGUMENT}),
        Ask(shop().tools["order"].step.inputs["name"], question, "pin"),
        Response("accept", values),
        RunStep(shop().tools["order"].step, values),
        NeedInput({"name": {"message": ARGUMENT}}),
        Finished(Complete(ARGUMENT)),
        Progress(carried=values, slots={"name": Slot("pin", ANSWER)}, open={"name": Open("name", "pin", values)}),
        Slot("pin", ANSWER),
        Open("name", "pin", values),
        InputRequired({"name": {"message": ARGUMENT}}, ANSWER),
        replace(CALL, responses={"name": ANSWER}, state=TOKEN),
    ]

    assert "hunter2" not in repr(made)


def nothing_is_shown(said: Said, log: str, call: Call, signer: StateSigner) -> None:
    """Nothing of what was sent, kept or handed on, which all have one word in common, nor of the state and the key."""
    text = "\n".join([*said.texts(), log, repr(call), repr(signer), repr(signer.__dict__)])
    assert "hunter2" not in text
    for token in (call.state or "", KEY.removeprefix("mrtr1_")):
        pieces = {token[at : at + 10] for at in range(len(token) - 9)}
        assert not any(piece in text for piece in pieces)
