from cookbook.ask_in_a_prompt import release_notes, toolbox
from mrtr_tools import Refused
from mrtr_tools.testing import Player


def test_it_asks_for_whom_and_for_what_and_then_there_are_messages() -> None:
    played = Player(toolbox).play("release_notes", {"version": "2.0"}, audience="developers", highlight="It is faster.")

    assert played.result == [
        "Write release notes for version 2.0, for developers. Begin with this: It is faster.",
        {"role": "assistant", "content": "Show me the list of changes, and I will begin."},
    ]
    assert played.messages["audience"] == "For whom are the notes on release 2.0?"
    assert played.rounds == 2


def test_a_no_makes_it_a_prompt_for_everybody() -> None:
    no = Refused("decline")
    played = Player(toolbox).play("release_notes", {"version": "2.0"}, audience=no, highlight=no)

    assert played.result == release_notes("2.0", no)
    assert "Write release notes for version 2.0, for everybody." in played.text


def test_the_highlight_may_be_left_empty() -> None:
    played = Player(toolbox).play("release_notes", {"version": "2.0"}, audience="users", highlight={})

    assert played.result == release_notes("2.0", "users")


def test_a_client_that_can_show_no_form_gets_it_as_well() -> None:
    played = Player(toolbox, capabilities={}).play("release_notes", {"version": "2.0"})

    assert played.questions == []
    assert not played.is_error
