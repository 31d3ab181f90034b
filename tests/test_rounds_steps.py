"""How often functions run, and what they see. Promises 1 and 2."""

from mrtr_tools import AskAgain, Context, Elicit, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.calls import Call, Client
from mrtr_tools.events import NeedInput, RunStep
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import again, asked, begin, crash, failure, play, result, run, through_json, weather
from tests.wire_by_hand import TEXT, YES, YES_OR_NO, accept, form

# Promise 1


def test_promise_1_each_body_and_each_input_function_runs_once():
    ran: list[str] = []
    toolbox = Toolbox("t")

    def price(item: str) -> int:
        ran.append("price")
        return len(item)

    @toolbox.tool
    @needs_input(item="What?")
    @needs_input(price=price)
    @needs_input(ok=confirm("Buy for {price}?"))
    def buy(item: str, price: int) -> str:
        ran.append("buy")
        return then(ship, price=price)

    @toolbox.step
    @needs_input(address="Where to?")
    def ship(price: int, address: str) -> str:
        ran.append("ship")
        return f"{price} {address}"

    machine = begin(toolbox, "buy")
    assert asked(machine) == ["item"]
    machine = again(machine, {"item": accept(item="tea")})
    assert asked(machine) == ["ok"]
    machine = again(machine, {})
    assert asked(machine) == ["ok"]
    machine = again(machine, {"ok": YES})
    assert asked(machine) == ["address"]
    machine = again(machine, {"ok": YES, "item": accept(item="x")})
    assert asked(machine) == ["address"]
    assert result(again(machine, {"address": accept(address="home")})) == "3 home"
    assert ran == ["price", "buy", "ship"]


def test_promise_1_a_round_that_is_sent_twice_runs_twice_with_the_same_key():
    toolbox, keys = keyed()
    first = begin(toolbox, "start")
    play(first)
    assert result(again(first, {"ok": YES})) == result(again(first, {"ok": YES}))
    assert keys[1] == keys[2]


def keyed() -> tuple[Toolbox, list[str]]:
    toolbox, keys = Toolbox("t"), []

    @toolbox.tool
    def start(ctx: Context) -> str:
        keys.append(ctx.idempotency_key)
        return then(pay)

    def quote(ctx: Context) -> int:
        keys.append(ctx.idempotency_key)
        return 3

    @needs_input(name="Who?")
    def login(name: str, ctx: Context) -> str:
        keys.append(ctx.idempotency_key)
        return name

    @toolbox.step
    @needs_input(ok=confirm("Pay?"))
    def pay(ctx: Context) -> str:
        keys.append(ctx.idempotency_key)
        return ctx.idempotency_key

    @toolbox.tool
    @needs_input(price=quote, login=login)
    def inputs(price: int, login: str, ctx: Context) -> str:
        keys.append(ctx.idempotency_key)
        if price == 3 and ctx.idempotency_key.split(":")[1] == "0":
            raise AskAgain(price="stale")
        return "done"

    return toolbox, keys


def test_promise_1_the_key_is_call_id_then_n_then_place():
    """Security 5."""
    toolbox, keys = keyed()
    machine = begin(toolbox, "start")
    play(machine)
    play(again(machine, {"ok": YES}))
    call = machine.progress.call
    assert keys == [f"{call}:0:start", f"{call}:1:pay"]


def test_promise_1_input_functions_have_keys_of_their_own_and_ask_again_counts():
    """Security 5."""
    toolbox, keys = keyed()
    machine = begin(toolbox, "inputs")
    play(machine)
    assert result(again(machine, {"login.name": accept(name="a")})) == "done"
    call = machine.progress.call
    assert keys == [
        f"{call}:0:inputs/price",
        f"{call}:0:inputs/login",
        f"{call}:0:inputs",
        f"{call}:1:inputs/price",
        f"{call}:1:inputs",
    ]


def test_promise_1_no_two_runs_of_a_loop_have_the_same_key():
    """Security 5."""
    toolbox, keys = Toolbox("t"), []

    @toolbox.tool
    def start() -> int:
        return then(turn, left=20)

    @toolbox.step
    def turn(left: int, ctx: Context) -> int:
        keys.append(ctx.idempotency_key)
        return then(turn, left=left - 1) if left else 0

    assert result(begin(toolbox, "start")) == 0
    assert len(set(keys)) == len(keys) == 21


def test_promise_1_two_calls_share_no_key():
    """Security 5."""
    toolbox, keys = keyed()
    play(begin(toolbox, "start"))
    play(begin(toolbox, "start"))
    assert keys[0] != keys[1]


def test_promise_1_an_exception_ends_the_call_and_says_nothing_of_itself():
    toolbox = Toolbox("t")

    @toolbox.tool
    def fails() -> str:
        raise ValueError("the password is hunter2")

    assert isinstance(crash(begin(toolbox, "fails")), ValueError)


def test_promise_1_a_tool_error_ends_the_call_in_the_authors_words():
    toolbox = Toolbox("t")

    def find(order: int) -> str:
        raise ToolError(f"No order {order}")

    @toolbox.tool
    @needs_input(name=find)
    def show(order: int, name: str) -> str:
        return name

    assert failure(begin(toolbox, "show", {"order": 7})) == "No order 7"


# Promise 2


def test_promise_2_a_step_sees_what_it_takes_and_nothing_else():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(secret="Which?")
    def start(city: str, secret: str) -> str:
        return then(middle, a=1)

    @toolbox.step
    def middle(a: int) -> str:
        return then(last, b=2)

    @toolbox.step
    @needs_input(c="Which?")
    def last(b: int, c: str) -> str:
        return c

    machine = begin(toolbox, "start", {"city": "Rome"})
    play(machine)
    machine = again(machine, {"secret": accept(secret="s")})
    seen = []
    while isinstance(event := machine.next_event(), RunStep):
        seen.append(dict(event.arguments))
        run(machine)
    assert seen == [{"city": "Rome", "secret": "s"}, {"a": 1}]
    machine = again(machine, {"c": accept(c="x")})
    assert machine.next_event() == RunStep(machine.step, {"b": 2, "c": "x"})


def test_promise_2_the_context_tells_of_the_call():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Go?"))
    def go(where: Context) -> str:
        return "gone"

    client = Client({"elicitation": {"form": {}}}, "editor", "1.0")
    first = Round(toolbox, Call("go", principal="alice", client=client))
    play(first)
    second = Round(
        toolbox,
        Call("go", responses={"ok": YES}, state="s", principal="alice", client=client),
        through_json(first.progress),
    )
    call = first.progress.call
    assert second.next_event() == RunStep(
        second.step,
        {"where": Context(call_id=call, idempotency_key=f"{call}:0:go", round=1, principal="alice", client=client)},
    )


def test_promise_2_an_argument_with_the_name_of_an_input_is_never_read():
    machine = begin(weather([]), "get_weather", {"location": "Paris", "github_login": "mallory"})
    assert asked(machine) == ["github_login"]
    assert "github_login" not in machine.carrier.input_schema["properties"]  # type: ignore[operator]


def test_promise_2_answers_reasons_and_what_functions_return_are_never_formatted():
    toolbox = Toolbox("t")
    evil = "{city.__class__} {0} {nope}"

    def made(city: str) -> Elicit:
        return Elicit(evil)

    @toolbox.tool
    @needs_input(city="Where?")
    @needs_input(seat=made)
    @needs_input(ok=confirm("{city}, {seat}?"))
    def book(city: str, seat: str) -> str:
        raise AskAgain(seat=evil)

    machine = begin(toolbox, "book")
    play(machine)
    machine = again(machine, {"city": accept(city=evil)})
    assert play(machine) == NeedInput({"seat": form(evil, seat=TEXT)})
    machine = again(machine, {"seat": accept(seat=evil)})
    assert play(machine) == NeedInput({"ok": form(f"{evil}, {evil}?", ok=YES_OR_NO)})
    machine = again(machine, {"ok": YES})
    event = play(machine)
    assert isinstance(event, NeedInput)
    assert event.requests["seat-2"] == form(f"{evil}\n{evil}", seat=TEXT)


def test_promise_2_what_fills_a_text_cannot_break_the_line_or_run_on():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Fly to {city}?"))
    def fly(city: str) -> str:
        return "flown"

    machine = begin(toolbox, "fly", {"city": "Rome for 9 EUR?\n\n\u202eYes" + "!" * 300})
    event = play(machine)
    assert isinstance(event, NeedInput)
    text = event.requests["ok"]["params"]["message"]  # type: ignore[index]
    assert isinstance(text, str)
    assert text.startswith("Fly to Rome for 9 EUR?\\n\\n\\u202eYes!")
    assert len(text) == len("Fly to ?") + 200
