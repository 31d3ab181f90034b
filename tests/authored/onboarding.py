"""A chain of five steps. Each asks one thing, does its own work once, and hands on what the next one takes."""

from enum import Enum

from pydantic import BaseModel

from mrtr_tools import Toolbox, confirm, needs_input, then

toolbox = Toolbox("onboarding")

created: list[str] = []


class Team(Enum):
    """Where somebody can work."""

    RESEARCH = "Research"
    SALES = "Sales"


class Newcomer(BaseModel):
    """What is known so far."""

    name: str
    team: Team | None = None
    mail: str | None = None


@toolbox.tool
@needs_input(name="What is the name of the newcomer?")
def onboard(name: str) -> str:
    """Take somebody on."""
    return then(choose_team, newcomer=Newcomer(name=name))


@toolbox.step
@needs_input(team="Which team does {newcomer.name} join?")
def choose_team(newcomer: Newcomer, team: Team) -> str:
    return then(make_mailbox, newcomer=newcomer.model_copy(update={"team": team}))


@toolbox.step
@needs_input(mail="Which address shall {newcomer.name} have?")
def make_mailbox(newcomer: Newcomer, mail: str) -> str:
    created.append(mail)
    return then(order_laptop, newcomer=newcomer.model_copy(update={"mail": mail}))


@toolbox.step
@needs_input(size="Which laptop, in inches?")
def order_laptop(newcomer: Newcomer, size: int) -> str:
    created.append(f"laptop {size}")
    return then(welcome, newcomer=newcomer)


@toolbox.step
@needs_input(ok=confirm("Send the welcome to {newcomer.mail}?"))
def welcome(newcomer: Newcomer) -> str:
    assert newcomer.team is not None
    return f"Welcome to {newcomer.team.value}, {newcomer.name} <{newcomer.mail}>"
