"""Secrets in whole calls: where they may travel, where they must not, and that nobody is asked for one in a form."""

import logging
import traceback
from typing import Any

import pytest
from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from mrtr_tools import DefinitionError, Elicit, Refused, Sample, Toolbox, confirm, needs_input, then
from mrtr_tools.keys import generate_key
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import TESTING_KEYS, Player
from tests.attacker import Server
from tests.wire_by_hand import accept

PASSWORD, PIN, TOKEN = "password-hunter2", b"pin-hunter2", "token-hunter2"
YES = accept(ok=True)


class Login(BaseModel):
    user: str
    password: SecretStr
    pin: SecretBytes


def bank(seen: list[Any] | None = None, tokens: list[str] | None = None) -> Toolbox:
    """A step that is handed a login, and has a token made by a function before it asks for a yes."""
    toolbox = Toolbox("bank")
    issued = tokens if tokens is not None else [TOKEN]

    def token() -> SecretStr:
        return SecretStr(issued.pop(0))

    @toolbox.tool
    def order(item: str) -> str:
        return then(pay, login=Login(user="ann", password=SecretStr(PASSWORD), pin=SecretBytes(PIN)))

    @toolbox.step(carry_secrets=True)
    @needs_input(token=token)
    @needs_input(ok=confirm("Pay with {login.password} and {token}?"))
    def pay(login: Login, token: SecretStr) -> str:
        if seen is not None:
            seen.append((login, token))
        return f"paid by {login.user}"

    return toolbox


# They travel whole and sealed


def test_what_is_handed_on_and_what_a_function_made_comes_back_whole_on_another_machine(caplog):
    """Security 17: and is nowhere to be read on the way."""
    caplog.set_level(logging.DEBUG)
    seen: list[Any] = []
    asked = Server(bank()).ask("order", {"item": "tea"})

    done = Server(bank(seen, tokens=[])).end("order", {"item": "tea"}, state=asked.state, ok=YES)

    assert done.value == "paid by ann"
    ((login, token),) = seen
    assert (login.password.get_secret_value(), login.pin.get_secret_value()) == (PASSWORD, PIN)
    assert token == SecretStr(TOKEN)
    assert asked.requests["ok"]["params"]["message"] == "Pay with ********** and **********?"  # type: ignore[index, call-overload]
    assert "hunter2" not in f"{asked.state} {asked.requests} {asked!r} {caplog.text}"


def test_no_key_no_secret():
    """Security 17: the same state under another key opens nowhere, and the sealed bytes show nothing."""
    asked, again = (Server(bank()).ask("order", {"item": "tea"}) for _ in range(2))

    assert asked.state != again.state
    assert len(str(asked.state)) == len(str(again.state))
    Server(bank(), generate_key()).refuse("order", {"item": "tea"}, state=asked.state, ok=YES)


def test_another_secret_than_the_argument_is_not_taken_for_it():
    """Security 2: a value that equals an argument is not carried, and stars would equal all of them."""
    toolbox, seen = Toolbox("t"), list[str]()

    @toolbox.tool(carry_secrets=True)
    def start(given: SecretStr, kept: SecretStr) -> str:
        return then(end, given=SecretStr(TOKEN), kept=kept)

    @toolbox.step(carry_secrets=True)
    @needs_input(ok=confirm("Sure?"))
    def end(given: SecretStr, kept: SecretStr) -> str:
        seen.extend([given.get_secret_value(), kept.get_secret_value()])
        return ""

    server, sent = Server(toolbox), {"given": "sent", "kept": "sent, too"}
    asked = server.ask("start", sent)
    server.end("start", sent, state=asked.state, ok=YES)

    assert seen == [TOKEN, "sent, too"]


def test_a_default_that_is_a_secret_stays_the_one_of_the_first_round_and_is_not_in_the_schema():
    """Security 2."""

    def build(default: str) -> Toolbox:
        toolbox = Toolbox("t")

        def go(token: SecretStr = SecretStr(default)) -> str:  # noqa: B008
            return "old" if token.get_secret_value() == PASSWORD else "new"

        toolbox.tool(carry_secrets=True)(needs_input(ok=confirm("Sure?"))(go))
        return toolbox

    asked = Server(build(PASSWORD)).ask("go")

    assert Server(build(TOKEN)).end("go", state=asked.state, ok=YES).value == "old"
    assert "hunter2" not in str(build(TOKEN).tools["go"].input_schema)


@pytest.mark.parametrize("way", ["tool", "prompt", "resource", "step"])
def test_secrets_are_refused_unless_it_was_said_at_that_very_function(way: str):
    """Security 17: with what to do instead."""

    def use(token: SecretStr) -> str:
        return token.get_secret_value()

    def mark(toolbox: Toolbox, *, carry_secrets: bool = False) -> object:
        if way == "resource":
            return toolbox.resource("n://{token}", carry_secrets=carry_secrets)(use)
        return getattr(toolbox, way)(carry_secrets=carry_secrets)(use)

    toolbox = Toolbox("t")
    with pytest.raises(
        DefinitionError, match=r"'token': SecretStr is a secret.*read it in the step.*carry_secrets=True"
    ):
        mark(toolbox)
    assert not toolbox.steps.carries_secrets
    mark(toolbox, carry_secrets=True)
    assert toolbox.steps.carries_secrets


def test_a_result_that_is_kept_for_a_repeat_holds_no_secret() -> None:
    """Security 17: not with carry_secrets=True either, for it goes to the client."""

    def issue() -> SecretStr:
        return SecretStr("token")

    for carry_secrets in (False, True):
        with pytest.raises(DefinitionError, match=r"issue.*a result holds no secret"):
            Toolbox("t").tool(single_use=True, carry_secrets=carry_secrets)(issue)


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_whether_secrets_are_carried_is_yes_or_no(wrong: Any):
    with pytest.raises(DefinitionError, match="carry_secrets= is True or False"):
        Toolbox("t").tool(name="t", carry_secrets=wrong)(lambda: "")


def test_a_wrong_default_of_a_secret_is_not_shown():
    """Security 23: it stands in the author's code, and would stand in a log."""

    def use(token: SecretStr = PASSWORD) -> str:  # type: ignore[assignment]
        return ""

    with pytest.raises(DefinitionError, match="its default is none of its values") as caught:
        Toolbox("t").tool(carry_secrets=True)(use)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


# Nobody is asked for one in a form


ASKED = [SecretStr, SecretStr | None, SecretStr | Refused, list[SecretStr], Login, dict[str, SecretStr], Secret[int]]


def asking(annotation: Any, source: Any) -> Toolbox:
    def use(token):
        return ""

    use.__annotations__ = {"token": annotation, "return": str}
    toolbox = Toolbox("t")
    toolbox.tool(carry_secrets=True)(needs_input(token=source)(use))
    return toolbox


@pytest.mark.parametrize("annotation", ASKED, ids=str)
@pytest.mark.parametrize(
    "source", ["Your password?", Elicit("Your password?"), Elicit("Which?", choices=["a"])], ids=str
)
def test_a_form_that_asks_for_a_secret_is_refused_at_definition(annotation: Any, source: Any):
    """Security 17: clients keep and show what is filled into forms, and the protocol forbids it."""
    with pytest.raises(DefinitionError, match=r"'token' cannot be asked: a form must not ask for a secret.*ElicitUrl"):
        asking(annotation, source)


class Asked(BaseModel):
    """A form of one field, as a function may give it."""

    token: str


class Hidden(BaseModel):
    token: SecretStr


@pytest.mark.parametrize("annotation", ASKED, ids=str)
@pytest.mark.parametrize(
    "made", [Elicit("Password?"), Elicit("Which?", choices=["a"]), Elicit("Password?", form=Asked)], ids=str
)
def test_a_function_that_makes_a_form_for_a_secret_asks_nobody(annotation: Any, made: Elicit, caplog):
    """Security 17: the call ends, and the log says what to do instead."""
    done = Server(asking(annotation, lambda: made)).end("use")

    assert (done.value, done.is_error) == ("The tool failed unexpectedly.", True)
    assert "a form must not ask for a secret; send the person to a page of your own with ElicitUrl" in caplog.text


@pytest.mark.parametrize("annotation", [str, dict[str, str], Asked])
def test_a_form_with_a_secret_in_it_is_shown_to_nobody(annotation: Any, caplog):
    """Security 17: nor where its answer would be no secret."""
    done = Server(asking(annotation, lambda: Elicit("Password?", form=Hidden))).end("use")

    assert done.is_error
    assert "a form must not ask for a secret" in caplog.text


def test_a_model_is_asked_for_no_secret_either():
    """Security 17."""
    with pytest.raises(DefinitionError, match="its answer is a Sampled"):
        asking(SecretStr, Sample("Make one up"))


# Unsealed states hold none


def test_a_call_that_would_mint_an_unsealed_state_runs_nothing():
    """Security 17: whoever wrote `seal=False` did not think of it."""
    server = Server(bank(), seal=False)
    with pytest.raises(DefinitionError, match=r"bank: its states may hold secrets.*leave seal= out"):
        server.send("order", {"item": "tea"})
    assert server.ran == []

    with pytest.raises(DefinitionError, match="leave seal= out"):
        Player(bank(), signer=StateSigner(TESTING_KEYS, "t", seal=False)).play("order", {"item": "tea"}, ok=True)


def test_an_unsealed_state_is_fine_where_no_secret_is():
    toolbox = Toolbox("t")

    @toolbox.tool(carry_secrets=True)
    @needs_input(ok=confirm("Sure?"))
    def go(n: int) -> str:
        return str(n)

    server = Server(toolbox, seal=False)
    assert server.end("go", {"n": 1}, state=server.ask("go", {"n": 1}).state, ok=YES).value == "1"


def test_a_secret_that_only_an_inner_function_takes_counts_as_well():
    """Security 17."""
    toolbox = Toolbox("t")

    @needs_input(token=lambda: SecretStr(TOKEN))
    def account(token: SecretStr) -> str:
        return "account"

    @toolbox.tool(carry_secrets=True)
    @needs_input(account=account)
    def use(account: str) -> str:
        return account

    assert toolbox.steps.carries_secrets
    with pytest.raises(DefinitionError, match="leave seal= out"):
        Server(toolbox, seal=False).send("use")
