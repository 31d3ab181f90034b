"""Questions of every kind: what goes over the wire, what must not, and how their answers are read."""

from collections.abc import Mapping
from typing import Any

import pytest

from mrtr_tools import Elicit, ElicitUrl, ListRoots, Root, Sample, Sampled, confirm
from mrtr_tools.answers import Misfit
from mrtr_tools.forms import FormError
from mrtr_tools.input_requests import Source
from mrtr_tools.questions import Draft, Question, Response, kind_of, read_response, read_roots
from mrtr_tools.sampling import read_sampled
from mrtr_tools.templates import TemplateError

FORM: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
TOOLS: list[Any] = [{"name": "search", "inputSchema": {"type": "object"}}]
HOST = "https://login.example"


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


def page(url: str, **values: object) -> object:
    """The URL that a page's template comes to."""
    return Draft.of(ElicitUrl("Open", url), None).question(values).params["url"]


# To the wire

ON_THE_WIRE: list[tuple[Source, Mapping[str, Any] | None, Question]] = [
    (
        Elicit("Who?"),
        FORM,
        Question("form", "elicitation/create", {"mode": "form", "message": "Who?", "requestedSchema": FORM}),
    ),
    (
        confirm("Sure?"),
        FORM,
        Question("confirm", "elicitation/create", {"mode": "form", "message": "Sure?", "requestedSchema": FORM}),
    ),
    (
        ElicitUrl("Sign in", f"{HOST}/in"),
        None,
        Question("url", "elicitation/create", {"mode": "url", "message": "Sign in", "url": f"{HOST}/in"}),
    ),
    (
        Sample("Sum it up"),
        None,
        Question("sample", "sampling/createMessage", {"messages": [said("Sum it up")], "maxTokens": 1000}),
    ),
    (ListRoots(), None, Question("roots", "roots/list", {})),
]
KINDS = [expected.kind for _, _, expected in ON_THE_WIRE]


@pytest.mark.parametrize(("source", "schema", "expected"), ON_THE_WIRE, ids=KINDS)
def test_a_question_goes_over_the_wire_as_the_protocol_has_it(
    source: Source, schema: Mapping[str, Any] | None, expected: Question
):
    params = {"params": expected.params} if expected.params else {}

    assert Question.made(source, schema) == expected
    assert Draft.of(source, schema).question({}) == expected
    assert expected.request(None) == {"method": expected.method, **params}
    assert kind_of(source) == expected.kind


@pytest.mark.parametrize("question", [expected for _, _, expected in ON_THE_WIRE], ids=KINDS)
def test_a_question_comes_back_from_json_as_it_was(question: Question):
    assert Question.from_json(question.to_json()) == question


def test_a_sampling_request_carries_every_option_that_was_given():
    source = Sample(
        ["Hello", said("Hi", "assistant"), "Go on"],
        max_tokens=7,
        system_prompt="Be brief",
        model_preferences={"hints": [{"name": "small"}], "speedPriority": 1},
        temperature=0.5,
        stop_sequences=("END",),
        tools=TOOLS,
        tool_choice={"mode": "required"},
    )

    assert Question.made(source, None).params == {
        "messages": [said("Hello"), said("Hi", "assistant"), said("Go on")],
        "maxTokens": 7,
        "systemPrompt": "Be brief",
        "modelPreferences": {"hints": [{"name": "small"}], "speedPriority": 1},
        "temperature": 0.5,
        "stopSequences": ["END"],
        "tools": TOOLS,
        "toolChoice": {"mode": "required"},
    }


@pytest.mark.parametrize(
    ("source", "schema", "required"),
    [
        (Elicit("Who?"), FORM, {"elicitation": {"form": {}}}),
        (confirm("Sure?"), FORM, {"elicitation": {"form": {}}}),
        (ElicitUrl("Open", HOST), None, {"elicitation": {"url": {}}}),
        (Sample("Hi"), None, {"sampling": {}}),
        (Sample("Hi", tools=TOOLS), None, {"sampling": {"tools": {}}}),
        (Sample("Hi", tool_choice={"mode": "auto"}), None, {"sampling": {"tools": {}}}),
        (ListRoots(), None, {"roots": {}}),
    ],
    ids=["form", "confirm", "url", "sample", "sample with tools", "sample with a tool choice", "roots"],
)
def test_each_kind_says_which_capability_it_needs(source: Source, schema: Any, required: dict[str, Any]):
    assert Question.made(source, schema).requires == required
    assert Draft.of(source, schema).unfilled.requires == required


# Why it is asked again


@pytest.mark.parametrize(("source", "schema"), [(source, schema) for source, schema, _ in ON_THE_WIRE[:3]])
def test_the_reason_stands_above_the_text_that_a_person_reads(source: Source, schema: Any):
    question = Question.made(source, schema)

    request = question.request("That one is taken")

    message = f"That one is taken\n{question.params['message']}"
    assert request == {"method": question.method, "params": {**question.params, "message": message}}
    assert question == Question.made(source, schema), "the question itself is left as it was"


def test_the_reason_is_one_more_message_to_a_model():
    question = Question.made(Sample(["Write a haiku"], system_prompt="Be brief"), None)

    assert question.request("Too long") == {
        "method": "sampling/createMessage",
        "params": {
            "messages": [said("Write a haiku"), said("Too long")],
            "maxTokens": 1000,
            "systemPrompt": "Be brief",
        },
    }
    assert question.params["messages"] == [said("Write a haiku")]


def test_the_request_for_roots_has_no_place_for_a_reason():
    assert Question.made(ListRoots(), None).request("Not these") == {"method": "roots/list"}


# Templates


def test_every_text_of_a_sampling_request_is_a_template():
    draft = Draft.of(
        Sample(["About {topic}", said("Well", "assistant"), "{{{topic}}}"], system_prompt="As {who}"), None
    )

    question = draft.question({"topic": "tea", "who": "a poet"})

    assert question.params == {
        "messages": [said("About tea"), said("Well", "assistant"), said("{tea}")],
        "maxTokens": 1000,
        "systemPrompt": "As a poet",
    }
    assert sorted(field.name for text in draft.templates.values() for field in text.fields) == ["topic", "topic", "who"]


def test_a_message_that_is_an_object_is_sent_as_it_is():
    """Security 6: texts given to decorators are templates, and nothing else is."""
    message = said("{topic} {0}", "assistant")

    question = Draft.of(Sample(["Hi {topic}", message]), None).question({"topic": "tea"})

    assert question.params["messages"] == [said("Hi tea"), message]


def test_what_fills_the_text_to_a_model_is_cut_and_escaped():
    """Security 6: like the text to a person."""
    asked = Sample(["Sum up: {text}", "In short: {text}"], system_prompt="You know {text}")
    question = Draft.of(asked, None).question({"text": "a\nb\u202e" + "x" * 300})
    filled = r"a\nb\u202e" + "x" * 189 + "…"

    assert question.params["messages"] == [said(f"Sum up: {filled}"), said(f"In short: {filled}")]
    assert question.params["systemPrompt"] == f"You know {filled}"


@pytest.mark.parametrize(
    "source",
    [
        Sample("{topic} {nope}"),
        ElicitUrl("{topic}", "https://h.example/{topic}"),
        Sample("Hi", system_prompt="{topic}"),
    ],
    ids=["messages", "url", "system prompt"],
)
def test_what_a_function_asks_is_no_template(source: Source):
    """Security 6: only literals given to decorators are."""
    assert Question.made(source, None) == Draft.of(source, None).unfilled


def test_a_text_that_is_no_template_is_refused():
    for wrong in (Sample("{0}"), Sample("Hi", system_prompt="{a.__class__}"), ElicitUrl("{}", HOST)):
        with pytest.raises(TemplateError):
            Draft.of(wrong, None)


def test_a_question_without_placeholders_is_made_once():
    for text, sent in (("Hi", "Hi"), ("{{Hi}}", "{Hi}")):
        draft = Draft.of(Sample(text), None)

        assert draft.question({}) == Question.made(Sample(sent), None)
        assert draft.question({"Hi": 1}) is draft.question({})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Sample("Hi"), Sample("Hello")),
        (Sample("Hi"), Sample("Hi", max_tokens=5)),
        (Sample("Hi"), Sample("Hi", tools=TOOLS)),
        (Sample("Hi {a}"), Sample("Hi {b}")),
        (Sample("Hi"), Sample("Hi", system_prompt="Hi")),
        (ElicitUrl("Open", HOST), ElicitUrl("Open", f"{HOST}/in")),
        (ElicitUrl("Open", HOST), ElicitUrl("Visit", HOST)),
    ],
)
def test_a_question_that_changed_has_another_definition(one: Source, other: Source):
    assert Draft.of(one, None).definition != Draft.of(other, None).definition
    assert Draft.of(one, None).definition == Draft.of(one, None).definition


@pytest.mark.parametrize(
    "source",
    [Elicit(" "), confirm(""), ElicitUrl("", HOST), Sample(""), Sample(["Hi", "\n"]), Sample("Hi", system_prompt="")],
    ids=repr,
)
def test_an_empty_text_is_no_question(source: Source):
    for make in (Question.made, Draft.of):
        with pytest.raises(FormError, match="empty text"):
            make(source, FORM)


@pytest.mark.parametrize(
    "source",
    [
        Elicit("\ud800"),
        Sample("\ud800"),
        Sample([said("\ud800")]),
        Sample("Hi", model_preferences={"hints": object()}),  # type: ignore[dict-item]
    ],
    ids=["form", "sample", "message", "no JSON"],
)
def test_what_cannot_be_sent_is_refused_when_it_is_made(source: Source):
    with pytest.raises(FormError, match="no Unicode, or is no JSON"):
        Question.made(source, FORM)


@pytest.mark.parametrize(
    "wrong",
    [
        Sample([]),
        Sample([42]),  # type: ignore[list-item]
        Sample(5),  # type: ignore[arg-type]
        Sample(said("Hi")),  # type: ignore[arg-type]
        Sample([{"role": "user"}]),
        Sample("Hi", max_tokens=0),
        Sample("Hi", temperature="hot"),  # type: ignore[arg-type]
        Sample("Hi", temperature=True),
        Sample("Hi", model_preferences=5),  # type: ignore[arg-type]
        Sample("Hi", stop_sequences=[1]),  # type: ignore[list-item]
        Sample("Hi", tools=["x"]),  # type: ignore[list-item]
        Sample("Hi", tools=[{"name": "x"}]),
        Sample("Hi", tool_choice={"mode": "zzz"}),
        Sample([{"role": "system", "content": {"type": "text", "text": "Hi"}}]),
        Sample([{"role": "user", "content": "Hi"}]),
        Sample([{"role": "user", "content": []}]),
        Sample([{"role": "user", "content": {"type": "text"}}]),
        Sample("Hi", max_tokens=True),
        Sample("Hi", max_tokens="5"),  # type: ignore[arg-type]
        Sample("Hi", stop_sequences="END"),
        Sample("Hi", temperature=float("nan")),
    ],
    ids=repr,
)
def test_a_sampling_request_that_the_protocol_does_not_know_is_refused(wrong: Sample):
    for make in (Question.made, Draft.of):
        with pytest.raises(FormError):
            make(wrong, None)


def uses(*ids: str) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": each, "name": "clock", "input": {}} for each in ids]
    return {"role": "assistant", "content": [{"type": "text", "text": "Let me see"}, *blocks]}


def results(*ids: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": [{"type": "tool_result", "toolUseId": each, "content": []} for each in ids]}


ONE_RESULT = {"role": "user", "content": {"type": "tool_result", "toolUseId": "a", "content": []}}


@pytest.mark.parametrize(
    "messages",
    [
        ["Hi", uses("a"), ONE_RESULT],
        ["Hi", uses("a", "b"), results("b", "a"), uses("c"), results("c"), "Go on"],
    ],
)
def test_a_model_is_told_what_its_tools_gave(messages):
    assert Question.made(Sample(messages, tools=[{"name": "clock", "inputSchema": {"type": "object"}}]), None)


@pytest.mark.parametrize(
    "messages",
    [
        ["Hi", uses("a")],
        ["Hi", uses("a"), "Go on"],
        ["Hi", uses("a", "b"), results("a")],
        ["Hi", uses("a"), results("b")],
        ["Hi", uses("a"), results("a", "b")],
        ["Hi", uses("a"), "Go on", results("a")],
        ["Hi", results("a")],
        ["Hi", uses("a"), results("a", role="assistant")],
        ["Hi", uses("a"), {"role": "user", "content": [*results("a")["content"], {"type": "text", "text": "Go on"}]}],
    ],
)
def test_a_use_of_a_tool_without_its_result_is_not_sent_to_a_model(messages):
    """Spec Q46, Q47."""
    for make in (Question.made, Draft.of):
        with pytest.raises(FormError, match="each tool_use has its tool_result in the next message"):
            make(Sample(messages), None)


# Pages


@pytest.mark.parametrize(
    "url",
    [
        "https://login.example",
        "https://login.example:8443/in?a=1#top",
        "HTTPS://LOGIN.EXAMPLE/in",
        "http://localhost:8000/in",
        "http://127.0.0.1/in",
        "http://[::1]:8000/in",
    ],
)
def test_a_page_is_https_or_http_on_this_machine(url: str):
    """Security 22."""
    assert page(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://login.example/",
        "http://localhost.evil.example/",
        "http://127.0.0.1.evil.example/",
        "http://2130706433/",
        "ftp://login.example/",
        "javascript:alert(1)",
        "data:text/html,hi",
        "file:///etc/passwd",
        "//login.example/",
        "/in",
        "login.example",
        " ",
        "https:",
        "https:///in",
        "https://user@login.example/",
        "https://user:password@login.example/",
        "https://login.example@evil.example/",
        "http://evil.example\\@localhost/",
        "https://login.example\\.evil.example/",
        "https://login.example/a b",
        "https://login.example/\n",
        "https://login.example/\u202e",
        "https://login.example/\u200b",
        "https://[::1",
        "https://login.example:port/",
        "https://login.example:99999/",
        "https://login.example\uff0fevil.example/",
    ],
)
def test_a_page_that_must_not_be_opened_is_refused(url: str):
    """Security 22: another scheme, a name before the host, what hides, and what programs read in different ways."""
    for make in (Question.made, Draft.of):
        with pytest.raises(FormError):
            make(ElicitUrl("Open", url), None)


@pytest.mark.parametrize(
    "url",
    [
        "https://{x}/",
        "https://{x}.example/",
        "https://login.{x}/",
        "https://login.example{x}",
        "https://login.example:{x}/",
        "https://user{x}@login.example/",
        "https://{{x}}.{x}/",
        "http://localhost{x}",
    ],
)
def test_a_place_in_or_before_the_host_is_refused(url: str):
    """Security 22: a value could name another host."""
    with pytest.raises((TemplateError, FormError)):
        Draft.of(ElicitUrl("Open", url), None)


@pytest.mark.parametrize(
    ("url", "filled"),
    [
        ("https://login.example/{x}", "https://login.example/a"),
        ("https://login.example/{x}/in", "https://login.example/a/in"),
        ("https://login.example?{x}", "https://login.example?a"),
        ("https://login.example#{x}", "https://login.example#a"),
        ("https://login.example/in?user={x}&to={x}#{x}", "https://login.example/in?user=a&to=a#a"),
        ("https://login.example/login.example{x}", "https://login.example/login.examplea"),
        ("https://login.example/{{{x}}}", "https://login.example/{a}"),
    ],
)
def test_a_place_behind_the_host_is_filled(url: str, filled: str):
    assert page(url, x="a") == filled


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("a/b", "a%2Fb"),
        ("../../admin", "..%2F..%2Fadmin"),
        ("?next=evil", "%3Fnext%3Devil"),
        ("#top&a=1", "%23top%26a%3D1"),
        ("@evil.example", "%40evil.example"),
        ("a b\n", "a%20b%0A"),
        ("%2F", "%252F"),
        ("\\", "%5C"),
        ("\u202eé", "%E2%80%AE%C3%A9"),
        (7, "7"),
    ],
)
def test_what_fills_a_place_stays_one_part_of_the_url(value: object, quoted: str):
    """Security 22."""
    assert page(f"{HOST}/in/{{x}}/done", x=value) == f"{HOST}/in/{quoted}/done"


def test_what_fills_a_place_is_never_cut():
    """Security 22: a shorter name is another's name."""
    assert page(f"{HOST}/{{x}}", x="y" * 200) == f"{HOST}/{'y' * 200}"
    with pytest.raises(ValueError, match="200"):
        page(f"{HOST}/{{x}}", x="y" * 201)


@pytest.mark.parametrize(
    ("url", "value"), [("{x}", "."), ("{x}", ".."), (".{x}", "."), ("{x}.", "."), ("{x}{x}", "."), ("%2e{x}", ".")]
)
def test_a_dot_segment_cannot_climb_in_a_url(url: str, value: str):
    """Security 22: every browser opens ``/in/../admin`` as ``/admin``, however the dots are written."""
    with pytest.raises(ValueError, match="dots"):
        page(f"{HOST}/in/{url}/admin", x=value)


@pytest.mark.parametrize("value", ["...", "a.", ".a", "..a", "a..b"])
def test_dots_within_a_part_of_a_url_are_dots(value: str):
    assert page(f"{HOST}/in/{{x}}/admin", x=value) == f"{HOST}/in/{value}/admin"


def test_the_message_of_a_page_is_a_template_like_any_other():
    draft = Draft.of(ElicitUrl("Sign in to {bank}", f"{HOST}/{{bank}}"), None)

    assert draft.question({"bank": "A\nB/C"}).params == {
        "mode": "url",
        "message": r"Sign in to A\nB/C",
        "url": f"{HOST}/A%0AB%2FC",
    }


# Answers


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_a_response_to_a_form_or_page_has_one_of_three_actions(action: Any):
    assert read_response({"action": action}) == Response(action, None)
    assert read_response({"action": action, "content": {"a": 1}, "more": 2}) == Response(action, {"a": 1})


@pytest.mark.parametrize(
    "raw", [None, "accept", [], {}, {"action": "ACCEPT"}, {"action": None}, {"action": ["accept"]}], ids=repr
)
def test_what_is_no_response_to_a_form_does_not_fit(raw: Any):
    with pytest.raises(Misfit, match="could not be read"):
        read_response(raw)


TEXT = {"type": "text", "text": "Hello"}
CALLED: dict[str, Any] = {"type": "tool_use", "id": "1", "name": "search", "input": {}}


@pytest.mark.parametrize(
    ("raw", "expected", "text"),
    [
        ({"role": "assistant", "content": TEXT, "model": "m"}, Sampled(TEXT, "m"), "Hello"),
        ({"role": "user", "content": TEXT, "model": "m"}, Sampled(TEXT, "m", "user"), "Hello"),
        (
            {"role": "assistant", "content": [TEXT, CALLED, TEXT], "model": "m", "stopReason": "toolUse", "_meta": {}},
            Sampled([TEXT, CALLED, TEXT], "m", "assistant", "toolUse"),
            "HelloHello",
        ),
        (
            {"role": "assistant", "content": {"type": "image", "data": "", "mimeType": "image/png"}, "model": "m"},
            Sampled({"type": "image", "data": "", "mimeType": "image/png"}, "m"),
            "",
        ),
        ({"role": "assistant", "content": TEXT, "model": "m", "stopReason": 7}, Sampled(TEXT, "m"), "Hello"),
    ],
    ids=["one block", "the user's", "many blocks", "no text", "a wrong stop reason"],
)
def test_what_a_model_said_is_read_as_it_came(raw: Any, expected: Sampled, text: str):
    assert read_sampled(raw) == expected
    assert expected.text == text
    assert [block["type"] for block in expected.blocks if block["type"] == "text"] == ["text"] * text.count("Hello")


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        "Hello",
        {"action": "decline"},
        {"role": "assistant", "content": TEXT},
        {"role": "assistant", "model": "m"},
        {"content": TEXT, "model": "m"},
        {"role": "system", "content": TEXT, "model": "m"},
        {"role": "assistant", "content": "Hello", "model": "m"},
        {"role": "assistant", "content": TEXT, "model": None},
        {"role": "assistant", "content": ["Hello"], "model": "m"},
        {"role": "assistant", "content": [TEXT, {"text": "Hello"}], "model": "m"},
        {"role": "assistant", "content": {"type": 7}, "model": "m"},
        {"role": "assistant", "content": {"type": "text", "text": 5}, "model": "m"},
        {"role": "assistant", "content": {"type": "text"}, "model": "m"},
    ],
    ids=repr,
)
def test_what_no_model_says_does_not_fit(raw: Any):
    with pytest.raises(Misfit, match="answer of the model could not be read"):
        read_sampled(raw)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"roots": []}, []),
        ({"roots": [{"uri": "file:///a"}]}, [Root("file:///a")]),
        (
            {"roots": [{"uri": "file:///a", "name": "A", "_meta": {}}, {"uri": "file:///b", "name": 7}]},
            [Root("file:///a", "A"), Root("file:///b")],
        ),
    ],
    ids=["none", "one", "two"],
)
def test_roots_are_read_with_their_names(raw: Any, expected: list[Root]):
    assert read_roots(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {},
        {"action": "decline"},
        {"roots": None},
        {"roots": {}},
        {"roots": "file:///a"},
        {"roots": [None]},
        {"roots": ["file:///a"]},
        {"roots": [{"name": "A"}]},
        {"roots": [{"uri": "https://h.example/"}]},
        {"roots": [{"uri": "/a"}]},
        {"roots": [{"uri": "file:///a"}, {"uri": 7}]},
    ],
    ids=repr,
)
def test_what_is_no_list_of_roots_does_not_fit(raw: Any):
    with pytest.raises(Misfit, match="list of roots could not be read"):
        read_roots(raw)
