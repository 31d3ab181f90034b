"""`mrtr-tools call` with somebody at the terminal."""

import json

RESOLVED = ["workItemId=4522", 'fields={"System.State": "Resolved"}']
DOWN = "\x1b[B"
CONTROL_C = "\x03"
CONTROL_D = "\x04"


def test_two_questions_are_answered_by_keystrokes(typist):
    person = typist("call", "cookbook/update_work_item.py", "update_work_item", *RESOLVED)

    person.see("Round 1: work-items (cookbook/update_work_item.py) asks")
    person.see("│ Resolving Bug #4522 requires a resolution. How was this bug resolved?")
    person.see("By Design")
    person.type(DOWN + DOWN + "\r")
    person.see("Round 2: work-items (cookbook/update_work_item.py) asks")
    person.see("│ Since this is a duplicate, which work item is the original?")
    person.see("a number):")
    person.type("the first\r")
    person.see("duplicateOfId must be a number")
    person.type("\x15" + "4301\r")

    assert person.end() == (
        0,
        "Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.\n",
    )


def test_control_c_ends_the_call_with_130_and_sends_nothing(typist, desk):
    person = typist("call", desk.url, "open_door", "who=Ann")

    person.see("ok (yes or no):")
    person.type(CONTROL_C)

    assert person.end() == (130, "")
    assert "The call was ended." in person.seen


def test_an_empty_line_offers_to_decline_and_enter_alone_is_no_yes(typist, desk):
    person = typist("call", desk.url, "open_door", "who=Ann")

    person.see("ok (yes or no):")
    person.type("\r")
    person.see("Cancel: no decision now")
    person.type(DOWN + "\r")

    assert person.end() == (1, "")
    assert "declined" in person.seen


def test_keys_from_before_the_question_do_not_answer_it(typist, desk):
    person = typist("call", desk.url, "open_door", "who=Ann")
    person.type("yes\r")

    person.see("ok (yes or no):")
    person.type("no\r")

    assert person.end() == (1, "")


def test_a_form_of_several_fields_is_asked_field_by_field(typist, desk):
    person = typist("call", desk.url, "plan")

    person.see("Your name:")
    person.type("A\r")
    person.see("Your name must have at least 2 characters")
    person.type("nn\r")
    person.see("guests (a whole number; optional): 1")
    person.type("\r")
    person.see("day (a date such as 2026-07-28):")
    person.type("2026-07-28\r")
    person.see("lunch (yes or no):")
    person.type(CONTROL_D)
    person.see("Cancel: no decision now")
    person.type("\r")
    person.see("Your name: Ann")
    person.type("\r")
    person.see("optional): 1")
    person.type("\r")
    person.see("2026-07-28): 2026-07-28")
    person.type("\r")
    person.see("lunch (yes or no):")
    person.type("y\r")
    person.see("(leave it empty)")
    person.type("\r")
    person.see("cake")
    person.type(" " + "\r")
    person.see("note (optional):")
    person.type("\r")

    code, out = person.end()
    assert code == 0
    assert json.loads(out) == {
        "name": "Ann",
        "guests": 1,
        "day": "2026-07-28",
        "lunch": True,
        "room": None,
        "extras": ["coffee", "water"],
        "note": None,
    }


def test_one_question_of_a_group_is_answered_beforehand_and_the_other_in_the_terminal(typist, desk):
    person = typist("call", desk.url, "enter", "--answer", "login=Ann")

    person.see("asks 2 questions")
    person.see("> Ann  (--answer)")
    person.see("badge (a whole number):")
    person.type("7\r")

    assert person.end() == (0, "Ann with 7\n")


def test_a_form_without_fields_is_agreed_to_in_words_and_never_by_enter(typist, scripted):
    form = {
        "method": "elicitation/create",
        "params": {"message": "Wipe the disk?", "requestedSchema": {"type": "object", "properties": {}}},
    }
    scripted.script = [
        {"resultType": "input_required", "requestState": "s", "inputRequests": {"wipe": form}},
        {"resultType": "complete", "content": [{"type": "text", "text": "kept"}]},
    ]
    person = typist("call", scripted.url, "do")

    person.see("│ Wipe the disk?")
    person.see("Agree? (yes or no):")
    person.type("\r")
    person.see("Answer after all")
    person.type("\r")
    person.see("Agree? (yes or no):")
    person.type("no\r")

    assert person.end() == (0, "kept\n")
    assert scripted.calls[1]["inputResponses"] == {"wipe": {"action": "decline"}}
