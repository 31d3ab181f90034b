"""`Round` by hand for what is no form: pages, a model, the roots; and for prompts and resources."""

from collections.abc import Callable
from typing import Any

import pytest

from mrtr_tools import (
    AskAgain,
    Context,
    Elicit,
    ElicitUrl,
    ListRoots,
    Refused,
    Root,
    Sample,
    Sampled,
    Toolbox,
    confirm,
    needs_input,
    then,
)
from mrtr_tools.calls import Call, Client, Complete
from mrtr_tools.errors import InvalidParams, MissingCapability
from mrtr_tools.events import Finished, NeedInput
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import (
    MUTE,
    again,
    asked,
    begin as begin_with,
    crash,
    failure,
    message as message_of,
    play,
    result,
)
from tests.wire_by_hand import CANCEL, DECLINE, TEXT, YES, accept, form

ALL = Client({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}})
ACCEPT = {"action": "accept"}
HOST = "https://login.example"
TOOLS: list[Any] = [{"name": "search", "inputSchema": {"type": "object"}}]
ROOTS = {"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]}
UNSUPPORTED = Refused("unsupported")


def begin(toolbox: Toolbox, name: str, arguments: Any = None, *, client: Client = ALL, responses: Any = None) -> Round:
    return begin_with(toolbox, name, arguments, client=client, responses=responses)


def go_on(machine: Round, responses: Any = None, *, client: Client = ALL, **more: Any) -> Round:
    return again(machine, responses, client=client, **more)


def one(annotation: Any, source: Any, *, by_function: bool = False, **options: Any) -> Toolbox:
    """A tool with one input; it gives back what it was given."""
    toolbox = Toolbox("t")

    def go(x):
        return repr(x)

    go.__annotations__ = {"x": annotation, "return": str}
    toolbox.tool(**options)(needs_input(x=(lambda: source) if by_function else source)(go))
    return toolbox


def said(*texts: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": text}} for text in texts]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 1000, **more}}


def page(url: str, text: str = "Sign in") -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"mode": "url", "message": text, "url": url}}


def model(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": {"type": "text", "text": text}, "model": "m", **more}


both_ways = pytest.mark.parametrize("by_function", [False, True], ids=["fixed", "made by a function"])


# A model


@both_ways
@pytest.mark.parametrize(
    ("annotation", "expected"),
    [(str, "'Tea'"), (Sampled, repr(Sampled({"type": "text", "text": "Tea"}, "m", "assistant", "endTurn")))],
    ids=["str", "Sampled"],
)
def test_what_a_model_answered_is_what_the_parameter_takes(annotation: Any, expected: str, by_function: bool):
    machine = begin(one(annotation, Sample("Tea or coffee?"), by_function=by_function), "go")

    assert play(machine) == NeedInput({"x": said("Tea or coffee?")})
    assert result(go_on(machine, {"x": model("Tea", stopReason="endTurn")})) == expected


def test_the_blocks_of_a_model_survive_the_way_through_json():
    blocks = [
        {"type": "text", "text": "I look"},
        {"type": "tool_use", "id": "1", "name": "search", "input": {"q": [1]}},
    ]
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(plan=Sample("Plan", tools=TOOLS))
    @needs_input(ok=confirm("Go?"))
    def go(plan: Sampled) -> str:
        return repr(plan.content)

    machine = begin(toolbox, "go")
    play(machine)
    machine = go_on(machine, {"plan": {"role": "assistant", "content": blocks, "model": "m", "stopReason": "toolUse"}})

    assert asked(machine) == ["ok"]
    assert result(go_on(machine, {"ok": YES})) == repr(blocks)


@both_ways
@pytest.mark.parametrize("annotation", [str, Sampled])
@pytest.mark.parametrize(
    "wrong",
    [None, "Tea", accept(x="Tea"), DECLINE, model("a\ud800"), {**model("Tea"), "content": "Tea"}],
    ids=["null", "text", "a form", "decline", "no Unicode", "no block"],
)
def test_an_answer_that_no_model_gives_is_asked_for_again_with_the_reason(
    annotation: Any, wrong: Any, by_function: bool
):
    machine = begin(one(annotation, Sample("Tea?"), by_function=by_function), "go")
    play(machine)

    event = play(second := go_on(machine, {"x": wrong}))

    assert isinstance(event, NeedInput)
    messages = event.requests["x"]["params"]["messages"]  # type: ignore[index, call-overload]
    assert [m["role"] for m in messages] == ["user", "user"]  # type: ignore[index, union-attr, call-overload]
    assert second.progress.misfits == {"x": 1}
    assert result(go_on(second, {"x": model("Yes")})).startswith(("'Yes'", "Sampled("))  # type: ignore[union-attr]


def test_after_three_answers_that_do_not_fit_the_fourth_ends_the_call():
    """Promise 5."""
    machine = begin(one(str, Sample("Tea?")), "go")
    play(machine)
    for _ in range(3):
        play(machine := go_on(machine, {"x": "no"}))

    assert failure(go_on(machine, {"x": "no"})) == (
        "No usable answer for 'x' after 4 tries. The answer of the model could not be read."
    )


@pytest.mark.parametrize("annotation", [int, bool, list[str], Sampled | str, list[Root], object, bool | Refused])
def test_a_function_that_asks_a_model_for_what_the_parameter_does_not_take_fails(annotation: Any):
    assert "Sampled" in str(crash(begin(one(annotation, Sample("Tea?"), by_function=True), "go")))


def test_a_function_may_give_what_a_model_would_have_said_instead_of_asking():
    given = Sampled({"type": "text", "text": "Tea"}, "m")

    assert result(begin(one(Sampled, given, by_function=True), "go", client=MUTE)) == repr(given)


def test_a_text_to_a_model_may_name_what_is_known_by_then():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(kind="Which kind?")
    @needs_input(poem=Sample("A {kind} about {topic}", system_prompt="You write a {kind}"))
    def write(topic: str, kind: str, poem: str) -> str:
        return poem

    machine = begin(toolbox, "write", {"topic": "tea"})
    play(machine)

    assert play(go_on(machine, {"kind": accept(kind="haiku")})) == NeedInput(
        {"poem": said("A haiku about tea", systemPrompt="You write a haiku")}
    )


# The roots


@both_ways
def test_the_roots_are_a_list(by_function: bool):
    machine = begin(one(list[Root], ListRoots(), by_function=by_function), "go")

    assert play(machine) == NeedInput({"x": {"method": "roots/list"}})
    assert result(go_on(machine, {"x": ROOTS})) == repr([Root("file:///a", "A"), Root("file:///b")])


@both_ways
@pytest.mark.parametrize(
    "wrong", [None, [], {}, DECLINE, {"roots": ["file:///a"]}, {"roots": [{"uri": "/a"}]}], ids=repr
)
def test_a_wrong_list_of_roots_is_asked_for_again(wrong: Any, by_function: bool):
    machine = begin(one(list[Root], ListRoots(), by_function=by_function), "go")
    play(machine)
    machine = go_on(machine, {"x": wrong})

    assert play(machine) == NeedInput({"x": {"method": "roots/list"}})
    assert machine.progress.misfits == {"x": 1}
    assert result(go_on(machine, {"x": {"roots": []}})) == "[]"


# A page


def gate(ran: list[str] | None = None) -> Toolbox:
    """A page before the work, without a parameter."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(page=ElicitUrl("Sign in", f"{HOST}/{{ctx.handle}}"))
    def work(ctx: Context) -> str:
        if ran is not None:
            ran.append("work")
        return ctx.handle

    return toolbox


def test_a_page_is_a_gate_and_its_url_names_the_handle_that_the_step_sees():
    machine = begin(gate(), "work")
    handle = Context(machine.progress.call, "").handle

    assert play(machine) == NeedInput({"page": page(f"{HOST}/{handle}")})
    assert result(go_on(machine, {"page": ACCEPT})) == handle


@pytest.mark.parametrize("accepted", [ACCEPT, accept(), accept(page=False), {"action": "accept", "content": "secret"}])
def test_what_comes_with_the_consent_to_a_page_is_not_read(accepted: Any):
    """Security 22: what a page is for does not pass through the client."""
    machine = begin(one(bool | Refused, ElicitUrl("Open", HOST)), "go")
    play(machine)
    machine = go_on(machine, {"x": accepted})

    assert result(machine) == "True"
    assert machine.progress.slots["x"].value is True


@pytest.mark.parametrize(("no", "told"), [(DECLINE, "declined"), (CANCEL, "cancelled")])
def test_without_consent_to_a_page_nothing_runs(no: Any, told: str):
    ran: list[str] = []
    machine = begin(gate(ran), "work")
    play(machine)

    assert told in failure(go_on(machine, {"page": no}))
    assert ran == []


@both_ways
@pytest.mark.parametrize(
    ("response", "given"), [(ACCEPT, True), (DECLINE, Refused("decline")), (CANCEL, Refused("cancel"))]
)
def test_a_parameter_for_a_page_tells_yes_from_no(response: Any, given: object, by_function: bool):
    machine = begin(one(bool | Refused, ElicitUrl("Open", f"{HOST}/in"), by_function=by_function), "go")

    assert play(machine) == NeedInput({"x": page(f"{HOST}/in", "Open")})
    assert result(go_on(machine, {"x": response})) == repr(given)


def test_what_is_no_response_to_a_page_is_asked_again_with_the_reason():
    machine = begin(gate(), "work")
    play(machine)
    machine = go_on(machine, {"page": {"action": "open"}})

    assert message_of(machine, "page") == "The answer could not be read.\nSign in"


def test_a_page_that_is_not_done_is_asked_for_again_under_another_key_and_with_the_same_handle():
    toolbox, tries = Toolbox("t"), []

    @toolbox.tool
    @needs_input(page=ElicitUrl("Pay", f"{HOST}/{{ctx.handle}}"))
    def work(ctx: Context) -> str:
        tries.append(ctx.handle)
        if len(tries) < 2:
            raise AskAgain(page="Nothing was paid yet")
        return "paid"

    machine = begin(toolbox, "work")
    play(machine)
    machine = go_on(machine, {"page": ACCEPT})

    assert play(machine) == NeedInput({"page-2": page(f"{HOST}/{tries[0]}", "Nothing was paid yet\nPay")})
    assert asked(go_on(machine, {"page": ACCEPT})) == ["page-2"], "the first consent is not the second"
    assert result(go_on(machine, {"page-2": ACCEPT})) == "paid"
    assert tries == [tries[0]] * 2


@pytest.mark.parametrize(
    "url", ["http://h.example/", "https://a@h.example/", "https://h.example/a b", "javascript:alert(1)", "https://[::1"]
)
def test_a_function_that_makes_a_page_which_must_not_be_opened_fails(url: str):
    """Security 22."""
    cause = crash(begin(one(bool | Refused, ElicitUrl("Open", url), by_function=True), "go"))

    assert "'x' cannot be asked" in str(cause)


@pytest.mark.parametrize("annotation", [str, bool, str | Refused])
def test_a_function_that_asks_for_a_page_serves_a_gate_only(annotation: Any):
    assert "gate" in str(crash(begin(one(annotation, ElicitUrl("Open", HOST), by_function=True), "go")))


@both_ways
def test_a_page_is_opened_for_nobody_where_the_adapter_says_so(by_function: bool):
    """Security 22: without a principal a page cannot compare its visitor with whoever made the call."""
    toolbox = one(bool | Refused, ElicitUrl("Open", HOST), by_function=by_function)

    ended = failure(Round(toolbox, Call("go", client=ALL, anonymous_ok=False)))

    assert ended == "A page cannot be opened for somebody whom this server does not know."
    assert asked(Round(toolbox, Call("go", client=ALL, anonymous_ok=False, principal="alice"))) == ["x"]
    assert asked(Round(toolbox, Call("go", client=ALL))) == ["x"]


def test_what_opens_no_page_needs_nobody_to_be_known():
    toolbox = one(str, Elicit("Who?"))

    assert asked(Round(toolbox, Call("go", client=ALL, anonymous_ok=False))) == ["x"]


# What the client can show


@both_ways
@pytest.mark.parametrize(
    ("annotation", "source", "capabilities", "required"),
    [
        (str, Elicit("Who?"), {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        (str, Elicit("Who?"), {"sampling": {}, "roots": {}}, {"elicitation": {"form": {}}}),
        (str, Sample("Hi"), {"elicitation": {}}, {"sampling": {}}),
        (Sampled, Sample("Hi", tools=TOOLS), {"sampling": {}}, {"sampling": {"tools": {}}}),
        (Sampled, Sample("Hi", tools=TOOLS), {"sampling": {"context": {}}}, {"sampling": {"tools": {}}}),
        (Sampled, Sample("Hi", tool_choice={"mode": "auto"}), {"sampling": {}}, {"sampling": {"tools": {}}}),
        (list[Root], ListRoots(), {"sampling": {"tools": {}}}, {"roots": {}}),
    ],
    ids=["url only", "no elicitation", "no sampling", "no tools", "context only", "no tool choice", "no roots"],
)
def test_what_the_client_did_not_declare_is_not_asked(
    annotation: Any, source: Any, capabilities: dict[str, Any], required: dict[str, Any], by_function: bool
):
    """Promise 6."""
    machine = begin(one(annotation, source, by_function=by_function), "go", client=Client(capabilities))
    with pytest.raises(MissingCapability) as caught:
        play(machine)
    assert (caught.value.code, caught.value.data) == (-32021, {"requiredCapabilities": required})


@pytest.mark.parametrize("capabilities", [{"elicitation": {}}, {"elicitation": {"form": {}}}], ids=str)
def test_a_bare_elicitation_does_not_open_pages(capabilities: dict[str, Any]):
    """Promise 6."""
    ran: list[str] = []
    with pytest.raises(MissingCapability) as caught:
        play(begin(gate(ran), "work", client=Client(capabilities)))
    assert caught.value.data == {"requiredCapabilities": {"elicitation": {"url": {}}}}
    assert ran == []


@pytest.mark.parametrize(
    ("annotation", "source", "capabilities"),
    [
        (bool | Refused, ElicitUrl("Open", HOST), {"elicitation": {"url": {}}}),
        (str, Sample("Hi"), {"sampling": {}}),
        (str, Sample("Hi", tools=TOOLS), {"sampling": {"tools": {}}}),
        (list[Root], ListRoots(), {"roots": {"listChanged": True}}),
    ],
    ids=["url", "sampling", "sampling with tools", "roots"],
)
def test_what_the_client_did_declare_is_asked(annotation: Any, source: Any, capabilities: dict[str, Any]):
    assert asked(begin(one(annotation, source), "go", client=Client(capabilities))) == ["x"]


@both_ways
@pytest.mark.parametrize(
    ("annotation", "source"),
    [
        (bool | Refused, ElicitUrl("Open", HOST)),
        (bool | Refused, confirm("Sure?")),
        (str | Refused, Sample("Hi")),
        (Sampled | Refused, Sample("Hi", tools=TOOLS)),
        (list[Root] | Refused, ListRoots()),
    ],
    ids=["url", "confirm", "text", "sample", "roots"],
)
def test_where_a_refusal_is_admitted_the_step_learns_that_it_is_not_supported(
    annotation: Any, source: Any, by_function: bool
):
    """Promise 6."""
    machine = begin(one(annotation, source, by_function=by_function), "go", client=MUTE)

    assert result(machine) == repr(UNSUPPORTED)


def everything() -> Toolbox:
    """One group with a question of each kind, and a function that must not run too early."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(
        page=ElicitUrl("Sign in", HOST),
        name="Who?",
        poem=Sample("Write"),
        plan=Sample("Plan", tools=TOOLS),
        roots=ListRoots(),
        price=lambda: 3,
    )
    def work(name: str, poem: str, plan: Sampled, roots: list[Root], price: int) -> list[str]:
        return [name, poem, plan.text, roots[0].uri, str(price)]

    return toolbox


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [
        ({}, {"elicitation": {"url": {}, "form": {}}, "sampling": {"tools": {}}, "roots": {}}),
        ({"elicitation": {}}, {"elicitation": {"url": {}}, "sampling": {"tools": {}}, "roots": {}}),
        ({"elicitation": {"url": {}}, "roots": {}}, {"elicitation": {"form": {}}, "sampling": {"tools": {}}}),
        ({"elicitation": {"form": {}, "url": {}}, "sampling": {}}, {"sampling": {"tools": {}}, "roots": {}}),
        ({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}}, {"roots": {}}),
    ],
    ids=str,
)
def test_all_that_a_group_lacks_is_told_at_once(capabilities: dict[str, Any], missing: dict[str, Any]):
    """Promise 6: before any of its functions run."""
    machine = begin(everything(), "work", client=Client(capabilities))
    ran: list[str] = []
    with pytest.raises(MissingCapability) as caught:
        play(machine, ran)
    assert caught.value.data == {"requiredCapabilities": missing}
    assert ran == []


def test_a_group_asks_for_all_kinds_at_once_and_keeps_what_is_answered():
    machine, ran = begin(everything(), "work"), []
    event = play(machine, ran)

    assert event == NeedInput(
        {
            "page": page(HOST),
            "name": form("Who?", name=TEXT),
            "poem": said("Write"),
            "plan": said("Plan", tools=TOOLS),
            "roots": {"method": "roots/list"},
        }
    )
    machine = go_on(machine, {"page": ACCEPT, "poem": model("Roses"), "roots": ROOTS})
    assert asked(machine) == ["name", "plan"]
    last = go_on(machine, {"name": accept(name="Ann"), "plan": model("First"), "poem": model("Violets")}, client=ALL)
    assert play(last, ran) == Finished(
        Complete(["Ann", "Roses", "First", "file:///a", "3"], {"result": ["Ann", "Roses", "First", "file:///a", "3"]})
    )
    assert ran == ["price", "work"]


def test_what_a_step_hands_on_is_not_asked():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(end, poem="Roses", roots=[Root("file:///a")])

    @toolbox.step
    @needs_input(poem=Sample("Write"), roots=ListRoots())
    def end(poem: str, roots: list[Root]) -> str:
        return f"{poem} {roots}"

    assert result(begin(toolbox, "start", client=MUTE)) == f"Roses {[Root('file:///a')]}"


# Answers that came too early, or to something else


def test_cold_answers_are_taken_to_forms_only():
    """Security 9: never to a page, a model's or the roots."""
    toolbox = Toolbox("t")

    @toolbox.tool(cold_answers=True)
    @needs_input(page=ElicitUrl("Sign in", HOST), name="Who?", poem=Sample("Write"), roots=ListRoots())
    def work(name: str, poem: str, roots: list[Root]) -> str:
        return name

    early = {"page": ACCEPT, "name": accept(name="Ann"), "poem": model("Roses"), "roots": ROOTS}

    assert asked(begin(toolbox, "work", responses=early)) == ["page", "poem", "roots"]


@pytest.mark.parametrize(
    ("annotation", "source", "response"),
    [
        (bool | Refused, ElicitUrl("Open", HOST), ACCEPT),
        (str, Sample("Hi"), model("Hello")),
        (list[Root], ListRoots(), ROOTS),
    ],
    ids=["url", "sample", "roots"],
)
def test_answers_to_what_was_never_asked_are_not_taken(annotation: Any, source: Any, response: Any):
    """Promise 4."""
    assert asked(begin(one(annotation, source), "go", responses={"x": response})) == ["x"]


OTHER_BUILDS: dict[str, tuple[Any, Any, Any]] = {
    "another page": (ElicitUrl("Open", f"{HOST}/a"), ElicitUrl("Open", f"{HOST}/b"), ACCEPT),
    "another reason to open it": (ElicitUrl("Look", HOST), ElicitUrl("Pay", HOST), ACCEPT),
    "a page for a yes": (confirm("Pay?"), ElicitUrl("Pay?", HOST), ACCEPT),
    "a yes for a page": (ElicitUrl("Pay?", HOST), confirm("Pay?"), accept(x=True)),
    "other words to a model": (Sample("Say yes"), Sample("Say no"), model("yes")),
    "another system prompt": (Sample("Hi", system_prompt="a"), Sample("Hi", system_prompt="b"), model("yes")),
    "other tools": (Sample("Hi"), Sample("Hi", tools=TOOLS), model("yes")),
    "a person for a model": (Sample("Hi"), "Hi", accept(x="yes")),
}


@pytest.mark.parametrize(("old", "new", "response"), OTHER_BUILDS.values(), ids=list(OTHER_BUILDS))
def test_a_question_that_another_build_asks_differently_is_asked_again(old: Any, new: Any, response: Any):
    """Promise 4."""
    annotation = str if isinstance(old, Sample) else bool | Refused
    machine = begin(one(annotation, old), "go")
    play(machine)
    machine = go_on(machine, {"x": response}, toolbox=one(annotation, new))

    assert len(asked(machine)) == 1
    assert machine.progress.slots == {}
    assert machine.progress.misfits == {}


@pytest.mark.parametrize(
    ("annotation", "source", "response"),
    [
        (bool | Refused, ElicitUrl("Open", HOST), ACCEPT),
        (str, Sample("Hi", system_prompt="Be brief"), model("Hello")),
        (list[Root], ListRoots(), ROOTS),
    ],
    ids=["url", "sample", "roots"],
)
def test_a_question_that_stands_takes_its_answer_from_another_build(annotation: Any, source: Any, response: Any):
    """Promise 4."""
    machine = begin(one(annotation, source), "go")
    play(machine)

    assert isinstance(play(go_on(machine, {"x": response}, toolbox=one(annotation, source))), Finished)


def test_a_key_is_never_used_again_once_it_was_answered():
    """Security 3: also where a model and a page are asked in a loop."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(turn, said=[])

    @toolbox.step
    @needs_input(page=ElicitUrl("Sign in", HOST), line=Sample("Next line"))
    def turn(said: list[str], line: str) -> str:
        return "\n".join([*said, line]) if len(said) == 2 else then(turn, said=[*said, line])

    machine, keys = begin(toolbox, "start"), []
    sent: dict[str, Any] = {}
    for line in ("a", "b", "c"):
        keys += (now := asked(machine))
        sent |= {key: ACCEPT if key.startswith("page") else model(line) for key in now}
        machine = go_on(machine, sent)

    assert keys == ["page", "line", "page-2", "line-2", "page-3", "line-3"]
    assert result(machine) == "a\nb\nc"


# Prompts and resources


def asking(decorate: Callable[[Toolbox], Any], ran: list[str]) -> Toolbox:
    """The same steps behind a prompt and a resource: a question, work, and a yes in the next step."""
    toolbox = Toolbox("t")

    @decorate(toolbox)
    @needs_input(tone="Which tone for {name}?")
    def first(name: str, tone: str, count: int = 2) -> str:
        ran.append("first")
        return then(second, line=f"{name} {tone} {count}")

    @toolbox.step
    @needs_input(ok=confirm("Use {line}?"))
    def second(line: str) -> str:
        ran.append("second")
        return line

    return toolbox


WAYS: dict[str, tuple[Callable[[Toolbox], Any], str, str, dict[str, Any]]] = {
    "prompt": (lambda box: box.prompt(), "prompts/get", "first", {"name": "Ann", "count": "3"}),
    "resource": (lambda box: box.resource("n://{name}/{count}"), "resources/read", "n://Ann/3", {}),
}


@pytest.mark.parametrize(("decorate", "method", "target", "arguments"), WAYS.values(), ids=list(WAYS))
def test_prompts_and_resources_are_played_like_tools(
    decorate: Any, method: str, target: str, arguments: dict[str, Any]
):
    ran: list[str] = []
    machine = Round(asking(decorate, ran), Call(target, arguments, client=ALL, method=method))

    assert play(machine) == NeedInput({"tone": form("Which tone for Ann?", tone=TEXT)})
    machine = go_on(machine, {"tone": accept(tone="kind")})
    assert message_of(machine, "ok") == "Use Ann kind 3?"
    machine = go_on(machine, {"ok": YES})
    assert play(machine) == Finished(Complete("Ann kind 3"))
    assert ran == ["first", "second"]


@pytest.mark.parametrize(("decorate", "method", "target", "arguments"), WAYS.values(), ids=list(WAYS))
def test_a_no_ends_prompts_and_resources_too(decorate: Any, method: str, target: str, arguments: dict[str, Any]):
    machine = Round(asking(decorate, []), Call(target, arguments, client=ALL, method=method))
    play(machine)

    assert "declined" in failure(go_on(machine, {"tone": DECLINE}))


@pytest.mark.parametrize(
    ("method", "target", "arguments", "words"),
    [
        ("prompts/get", "first", {}, "name: Field required"),
        ("prompts/get", "first", {"name": 7}, "name: Input should be a valid string"),
        ("prompts/get", "first", {"name": "Ann", "count": "three"}, "count: Input should be a valid integer"),
        ("prompts/get", "first", {"name": "Ann", "count": ["3"]}, "count: Input should be a valid integer"),
        ("resources/read", "n://Ann/three", {}, "count: Input should be a valid integer"),
        ("resources/read", f"n://Ann/{'9' * 1500}x", {}, "count: "),
        ("resources/read", f"n://Ann/{'9' * 5000}", {}, "Unknown resource"),
        ("prompts/get", "second", {}, "Unknown prompt"),
        ("resources/read", "n://Ann", {}, "Unknown resource"),
        ("tools/call", "first", {"name": "Ann"}, "Unknown tool"),
    ],
)
def test_wrong_arguments_of_prompts_and_resources_are_the_callers_fault(
    method: str, target: str, arguments: dict[str, Any], words: str
):
    """A tool's are a tool error, which a model can mend."""
    toolbox = asking(WAYS["prompt" if method == "prompts/get" else "resource"][0], ran := [])
    with pytest.raises(InvalidParams) as caught:
        Round(toolbox, Call(target, arguments, client=ALL, method=method))
    assert caught.value.code == -32602
    assert words in caught.value.message
    assert ran == []


def test_a_uri_that_is_no_unicode_is_the_callers_fault():
    """Security 21: as in the arguments of a tool."""
    toolbox = asking(WAYS["resource"][0], [])
    with pytest.raises(InvalidParams):
        Round(toolbox, Call("n://\ud800/3", client=ALL, method="resources/read"))


def test_an_input_of_a_prompt_is_no_argument_of_it():
    toolbox = asking(WAYS["prompt"][0], [])
    arguments = {"name": "Ann", "tone": "evil", "ok": "true"}

    assert asked(Round(toolbox, Call("first", arguments, client=ALL, method="prompts/get"))) == ["tone"]
    assert toolbox.prompts["first"].arguments.names == {"name", "count"}


def test_what_a_resource_shows_of_its_uri_is_escaped():
    """Security 6."""
    toolbox = asking(WAYS["resource"][0], [])
    machine = Round(toolbox, Call("n://a%0Ab%E2%80%AE/3", client=ALL, method="resources/read"))

    assert message_of(machine, "tone") == r"Which tone for a\nb\u202e?"
