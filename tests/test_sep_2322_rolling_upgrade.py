"""SEP-2322, "Use cases for request state", 1: a rolling upgrade, message by message, with rounds built by hand."""

import pytest

from mrtr_tools.calls import Call
from mrtr_tools.events import Finished, NeedInput
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import FORMS, play, through_json
from tests.server import logins
from tests.wire_by_hand import TEXT, accept, form

GITHUB = form("Please provide your GitHub username", github_login=TEXT)
GOOGLE = form("Please provide your Google username", google_login=TEXT)
MICROSOFT = form("Please provide your Microsoft username", microsoft_login=TEXT)


@pytest.mark.parametrize(("tool", "keep"), [("link", True), ("link_cold", False)], ids=["with a state", "without one"])
def test_of_two_logins_the_one_that_an_upgrade_replaces_is_asked_and_the_one_that_it_keeps_is_not(
    tool: str, keep: bool
):
    # 1. The client calls the tool, and comes to an instance with the old version.
    first = Round(logins.before, Call(tool, client=FORMS))

    # 2. That asks for both logins. It has nothing to keep; where cold answers are taken, it sends no state either.
    assert play(first) == NeedInput({"github_login": GITHUB, "google_login": GOOGLE}, keep=keep)

    # 3. The client calls again with both answers, and comes to an instance with the new version.
    answers = {"github_login": accept(github_login="octocat"), "google_login": accept(google_login="cat@gmail")}
    again = Call(tool, responses=answers, state="state" if keep else None, client=FORMS)
    second = Round(logins.after, again, through_json(first.progress) if keep else None)

    # 4. That asks for the login that it misses, and for no other. The one that it has is in the state.
    assert play(second) == NeedInput({"microsoft_login": MICROSOFT}, keep=True)
    assert {path: slot.value for path, slot in second.progress.slots.items()} == {"github_login": "octocat"}

    # 5. The client calls a third time, with that answer and the state of step 4.
    answers = {"microsoft_login": accept(microsoft_login="cat@outlook")}
    last = Call(tool, responses=answers, state="state", client=FORMS)
    third = Round(logins.after, last, through_json(second.progress))

    # 6. Now the request has all that the server needs, and it answers in full.
    event = play(third)
    assert isinstance(event, Finished)
    assert event.reply.value == "octocat is cat@outlook at Microsoft"
    assert not event.reply.is_error
