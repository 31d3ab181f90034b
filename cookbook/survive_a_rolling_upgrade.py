"""Upgrade a tool while people are answering: what they answered is kept where its question still stands.

    mrtr-tools call cookbook/survive_a_rolling_upgrade.py link_accounts

`before` is the build that runs, `toolbox` the one that replaces it, on one machine after the other. A call may begin on
an old machine and go on with a new one: its answers travel in the signed state, each tied to the question that was
asked. Of the two logins one is replaced, and that one alone is asked for. The step that saves them has a new name, and
`aliases` has the old one; its new parameter has a default, for calls that come without it. The test beside this file
plays the upgrade: `Player(before, upgrades=[toolbox])`. UPGRADING.md tells the outcome of every other change.
"""

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.server import run_stdio

accounts: dict[str, str] = {}

# The build that runs

before = Toolbox("accounts")


@before.tool(name="link_accounts")
@needs_input(github="Please provide your GitHub username", google="Please provide your Google username")
def link_accounts_before(github: str, google: str) -> str:
    """Link your accounts with each other."""
    return then(save, github=github, other=google)


@before.step
@needs_input(ok=confirm("Link {github} with {other}?"))
def save(github: str, other: str) -> str:
    accounts[github] = other
    return f"{github} is linked with {other}"


# The build that replaces it; the name of the toolbox stays, for states are bound to it

toolbox = Toolbox("accounts")


@toolbox.tool
@needs_input(github="Please provide your GitHub username", microsoft="Please provide your Microsoft username")
def link_accounts(github: str, microsoft: str) -> str:
    """Link your accounts with each other."""
    return then(link, github=github, other=microsoft, note="with Microsoft")


@toolbox.step(aliases=("save",))
@needs_input(ok=confirm("Link {github} with {other}?"))
def link(github: str, other: str, note: str = "with Google, before the upgrade") -> str:
    accounts[github] = other
    return f"{github} is linked with {other} ({note})"


if __name__ == "__main__":
    run_stdio(toolbox)
