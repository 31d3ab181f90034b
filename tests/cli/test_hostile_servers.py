"""What a server says, wherever it says it, cannot command the terminal of whoever calls it."""

import json
from typing import Any

import pytest

CLEAR = "\x1b[2J\x1b[1;1H\x9b31m\x07\x00\r\u202e"
VISIBLE = r"\x1b[2J\x1b[1;1H\x9b31m\x07\x00"
DOWN = "\x1b[B"


def tame(*texts: str) -> bool:
    """Whether a terminal would show these as they are, line by line."""
    return all(character.isprintable() or character == "\n" for text in texts for character in text)


def asking(message: str = "Which?", key: str = "q", **properties: Any) -> dict[str, Any]:
    return asking_for(properties, message, key)


def asking_for(properties: dict[str, Any], message: str = "Which?", key: str = "q") -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    request = {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}
    return {"resultType": "input_required", "requestState": "s", "inputRequests": {key: request}}


def test_the_names_of_a_tools_arguments_are_escaped(command, scripted):
    """Security 6: they are listed where one is given that is not among them."""
    properties = {f"a{CLEAR}": {"type": "string"}}
    scripted.tool = {"name": "do", "inputSchema": {"type": "object", "properties": properties}}

    done = command("call", scripted.url, "do", "b=1")

    assert (done.returncode, done.stdout) == (2, "")
    assert f"it takes: a{VISIBLE}" in done.stderr
    assert tame(done.stderr)


def test_the_names_of_tools_are_escaped(command, scripted):
    """Security 6: they are listed where there is none of the name."""
    scripted.tool = {"name": f"do{CLEAR}", "inputSchema": {"type": "object"}}

    done = command("call", scripted.url, "nothing")

    assert done.returncode == 2
    assert VISIBLE in done.stderr
    assert tame(done.stderr)


@pytest.mark.parametrize(
    "asked",
    [
        asking(f"Which{CLEAR}?", a={"type": "string"}),
        asking(key=f"q{CLEAR}", a={"type": "string"}),
        asking(a={"type": "string", "enum": [f"x{CLEAR}", "y"]}),
        asking(a={"type": "string", "oneOf": [{"const": f"x{CLEAR}", "title": f"X{CLEAR}"}]}),
        asking_for({f"a{CLEAR}": {"type": "string"}, f"b{CLEAR}": {"type": "string"}}),
    ],
    ids=["message", "key", "choice", "titled choice", "two fields"],
)
def test_a_question_without_an_answer_is_told_with_what_it_holds_escaped(command, scripted, asked):
    """Security 6."""
    scripted.script = [asked]

    done = command("call", scripted.url, "do")

    assert done.returncode == 2
    assert VISIBLE in done.stderr
    assert tame(done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ({"type": "integer", "title": f"T{CLEAR}"}, "ten"),
        ({"type": "boolean", "title": f"T{CLEAR}"}, "perhaps"),
        ({"type": "string", "title": f"T{CLEAR}", "minLength": 5}, "x"),
        ({"type": "string", "title": f"T{CLEAR}", "enum": ["a"]}, "x"),
    ],
)
def test_the_title_of_a_field_is_escaped_where_an_answer_does_not_fit(command, scripted, spec, answer):
    """Security 6: a title is said back to the person, with what is wrong."""
    scripted.script = [asking(a=spec)]

    done = command("call", scripted.url, "do", "--answer", f"q={answer}")

    assert done.returncode == 2
    assert f"T{VISIBLE}" in done.stderr
    assert tame(done.stdout, done.stderr)


def test_the_name_of_a_field_is_escaped_where_an_answer_does_not_fit(command, scripted):
    """Security 6."""
    scripted.script = [asking_for({f"a{CLEAR}": {"type": "integer"}})]

    done = command("call", scripted.url, "do", "--answer", "q=ten")

    assert f"a{VISIBLE}" in done.stderr
    assert tame(done.stdout, done.stderr)


@pytest.mark.parametrize(
    "data", [None, f"d{CLEAR}", {f"k{CLEAR}": f"v{CLEAR}"}, [f"d{CLEAR}"]], ids=["none", "text", "object", "list"]
)
def test_an_error_is_escaped_with_its_data(command, scripted, data):
    """Security 6."""
    scripted.script = [{"code": -32042, "message": f"Broken{CLEAR}", "data": data}]

    done = command("call", scripted.url, "do")

    assert (done.returncode, done.stdout) == (1, "")
    assert f"Error -32042: Broken{VISIBLE}" in done.stderr
    assert tame(done.stderr)


@pytest.mark.parametrize("is_error", [False, True], ids=["a result", "a tool error"])
@pytest.mark.parametrize(
    "content", [{"type": "text", "text": f"done{CLEAR}"}, {"type": "resource_link", "name": "x", "uri": f"x:{CLEAR}"}]
)
def test_a_result_is_escaped(command, scripted, content, is_error):
    """Security 6."""
    scripted.script = [{"resultType": "complete", "content": [content], "isError": is_error}]

    done = command("call", scripted.url, "do")

    assert done.returncode == (1 if is_error else 0)
    assert tame(done.stdout, done.stderr)


def test_structured_content_is_escaped(command, scripted):
    """Security 6."""
    scripted.script = [{"resultType": "complete", "content": [], "structuredContent": {f"k{CLEAR}": f"v{CLEAR}"}}]

    done = command("call", scripted.url, "do")

    assert f"v{VISIBLE}".replace(r"\x1b", r"\u001b")[:8] in done.stdout
    assert tame(done.stdout, done.stderr)


@pytest.mark.parametrize(
    "result",
    [
        {"resultType": f"done{CLEAR}"},
        {"resultType": "complete", "content": [{"type": f"text{CLEAR}"}]},
        {"resultType": "input_required", "inputRequests": {f"q{CLEAR}": {"method": f"m{CLEAR}"}}},
        {"resultType": "input_required", "inputRequests": {"q": {"method": "elicitation/create", "params": CLEAR}}},
    ],
)
def test_what_breaks_the_protocol_is_escaped(command, scripted, result):
    """Security 6."""
    scripted.script = [result]

    done = command("call", scripted.url, "do")

    assert done.returncode == 1
    assert done.stderr
    assert tame(done.stdout, done.stderr)


@pytest.mark.parametrize("script", [[{"code": -32042, "message": CLEAR, "data": CLEAR}], [asking(CLEAR, key=CLEAR)]])
def test_programs_get_all_of_it_as_it_was_in_ascii(command, scripted, script):
    """Security 6: in JSON, where it commands nothing."""
    scripted.script = script

    done = command("call", scripted.url, "do", "--json")

    assert done.stdout.isascii()
    assert tame(done.stdout, done.stderr)
    assert json.dumps(CLEAR)[1:-1] in done.stdout


def test_in_a_terminal_titles_hints_choices_and_misfits_are_escaped(typist, scripted):
    """Security 6: what is asked field by field."""
    scripted.script = [
        asking(
            f"Which{CLEAR}?",
            number={"type": "integer", "title": f"N{CLEAR}", "description": f"D{CLEAR}"},
            choice={"type": "string", "oneOf": [{"const": "x", "title": f"X{CLEAR}"}, {"const": "y", "title": "Y"}]},
        ),
        {"resultType": "complete", "content": [{"type": "text", "text": f"done{CLEAR}"}]},
    ]
    person = typist("call", scripted.url, "do")

    person.see(f"│ Which{VISIBLE}")
    person.see(f"N{VISIBLE}")
    person.see(f"D{VISIBLE}")
    person.type("ten\r")
    person.see(f"N{VISIBLE}")
    person.type("\x15" + "10\r")
    person.see(f"X{VISIBLE}")
    person.type(DOWN + "\r")

    code, out = person.end()
    assert (code, tame(out)) == (0, True)
    assert scripted.calls[1]["inputResponses"]["q"]["content"] == {"number": 10, "choice": "y"}


@pytest.mark.parametrize("target", [f"no{CLEAR}.py".replace("\0", ""), f"x{CLEAR}://y".replace("\0", "")])
@pytest.mark.parametrize("subcommand", [["call"], ["run"]], ids=["call", "run"])
def test_what_was_pasted_into_the_command_is_escaped_too(command, subcommand, target):
    """Security 6: a server's page may say what to paste."""
    done = command(*subcommand, target, *(["do"] if subcommand == ["call"] else []))

    assert (done.returncode, done.stdout) == (2, "")
    assert r"\x1b[2J" in done.stderr
    assert tame(done.stderr)
