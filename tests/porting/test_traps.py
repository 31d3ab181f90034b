"""The traps of real await-style tools, each where it bites: what a body does when it has to wait for an answer."""

import asyncio
import contextlib
import functools
import gc
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.server.elicitation import AcceptedElicitation
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mrtr_tools import Refused, Toolbox, ToolError
from mrtr_tools.calls import Call, Client, Complete, InputRequired
from mrtr_tools.errors import MissingCapability
from mrtr_tools.porting import resumable
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner
from mrtr_tools.suspension import Suspended
from mrtr_tools.testing import EVERYTHING, TESTING_KEYS, Conversation, Player, in_turn
from tests.porting.loose import Context


class Yes(BaseModel):
    confirm: bool


def player(body: Callable[..., Any], **options: Any) -> Player:
    toolbox = Toolbox("traps")
    toolbox.tool(resumable(body), name="go")
    return Player(toolbox, **options)


async def started(body: Callable[..., Any], **options: Any) -> Conversation:
    return await player(body, **options).start("go")


# 1. A broad except, and what comes after it


def test_the_suspension_is_no_exception():
    assert issubclass(Suspended, BaseException)
    assert not issubclass(Suspended, Exception)


@pytest.mark.anyio
async def test_a_swallowed_suspension_ends_the_round_with_its_question():
    """Nothing that comes after it counts: neither another ask, nor what would run once, nor the result."""
    acted: list[str] = []

    def act() -> str:
        acted.append("acted")
        return "acted"

    async def go(ctx: Context) -> str:
        for attempt in (ctx.elicit, ctx.elicit_url):
            with contextlib.suppress(BaseException):
                await attempt("Go on?", "https://example.com/" if attempt == ctx.elicit_url else Yes)
        with contextlib.suppress(BaseException):
            await ctx.once(act)
        with contextlib.suppress(BaseException):
            await ctx.gather(ctx.sample("hello"))
        return "went on without an answer"

    conversation = await started(go)

    assert list(conversation.open) == ["ask"]
    assert conversation.messages == {"ask": "Go on?"}
    assert acted == []


@pytest.mark.anyio
async def test_a_return_in_finally_is_no_result():
    async def go(ctx: Context) -> str:
        try:
            await ctx.elicit("Go on?", schema=Yes)
        finally:
            return "the end"  # noqa: B012

    conversation = await started(go)

    assert not conversation.done
    await conversation.answer(ask=True)
    assert conversation.text == "the end"


@pytest.mark.anyio
async def test_an_exception_that_is_raised_in_its_place_is_none():
    async def go(ctx: Context) -> str:
        try:
            await ctx.elicit("Go on?", schema=Yes)
        except BaseException as error:
            raise ToolError("could not ask") from error
        return "done"

    conversation = await started(go)
    assert list(conversation.open) == ["ask"]


def test_a_decorator_that_tries_again_sees_one_run_a_round():
    runs: list[int] = []

    def stubborn(function: Callable[..., Awaitable[str]]) -> Callable[..., Awaitable[str]]:
        @functools.wraps(function)
        async def tries(*args: Any, **kwargs: Any) -> str:
            for _ in range(3):
                try:
                    return await function(*args, **kwargs)
                except Exception:  # noqa: BLE001
                    continue
            return "gave up"

        return tries

    @stubborn
    async def go(ctx: Context) -> str:
        runs.append(1)
        return (await ctx.elicit("Go on?", schema=Yes)).action

    assert player(go).play("go", {}, ask=True).text == "accept"
    assert len(runs) == 2


async def plainly(asked: Awaitable[Any]) -> Any:
    return await asked


async def in_a_minute(asked: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(asked, 60)


@pytest.mark.filterwarnings("ignore:Exception ignored in.*:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("anyio_backend", "waiting"), [("asyncio", plainly), ("asyncio", in_a_minute), ("trio", plainly)]
)
async def test_a_body_that_tries_for_ever_does_not_stop_the_server(waiting):
    """It is left where it waits, for nothing ends it; Python tells of that when it is collected."""

    async def go(ctx: Context) -> str:
        while True:
            try:
                return (await waiting(ctx.elicit("Go on?", schema=Yes))).action
            except:  # noqa: E722
                continue

    with anyio.fail_after(5):
        conversation = await started(go)
        await conversation.answer(ask=True)
        gc.collect()

    assert conversation.text == "accept"


# 2, 3, 5. What the client can


@pytest.mark.parametrize(
    ("capabilities", "seen"),
    [({}, (False, False)), ({"elicitation": {}}, (True, False)), ({"elicitation": {"url": {}}}, (True, True))],
)
def test_a_body_that_looks_for_capabilities_sees_those_of_the_client(capabilities, seen):
    async def go(ctx: Context) -> str:
        params = ctx.request_context.session.client_params
        elicitation = params.capabilities.elicitation
        assert ctx.client_capabilities == ctx.session.client_capabilities == params.capabilities
        assert ctx.client.capabilities == capabilities
        return str((elicitation is not None, elicitation is not None and elicitation.url is not None))

    assert player(go, capabilities=capabilities).play("go").text == str(seen)


def test_a_client_that_cannot_be_asked_is_the_error_of_the_sdk_in_the_body():
    async def go(ctx: Context) -> str:
        told = []
        for ask in (lambda: ctx.elicit("?", Yes), lambda: ctx.sample("?"), ctx.list_roots):
            try:
                await ask()
            except MCPError as error:
                told.append(f"{error.code} {error} {sorted(error.data['requiredCapabilities'])}")
        return "\n".join(told)

    assert player(go, capabilities={}).play("go").text.splitlines() == [
        "-32600 Elicitation not supported ['elicitation']",
        "-32600 Sampling not supported ['sampling']",
        "-32600 List roots not supported ['roots']",
    ]


def test_a_body_that_does_not_handle_it_fails_the_request_with_what_is_missing():
    async def go(ctx: Context) -> str:
        await ctx.elicit_url("Open", "https://example.com/")
        return "done"

    with pytest.raises(MissingCapability) as missing:
        player(go, capabilities={"elicitation": {}}).play("go")

    assert missing.value.code == -32021
    assert missing.value.required == {"elicitation": {"url": {}}}


# 6. Human time


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_person_may_take_longer_than_a_timeout_around_the_ask():
    async def helper(ctx: Context, text: str) -> str:
        return (await ctx.elicit(text, schema=Yes)).action

    async def go(ctx: Context) -> str:
        with anyio.fail_after(0):
            one = await helper(ctx, "One?")
        two = await asyncio.wait_for(helper(ctx, "Two?"), 0.01)
        three = await asyncio.wait_for(ctx.elicit("Three?", schema=Yes), 0.01)
        async with asyncio.timeout(0):
            four = await helper(ctx, "Four?")
        return f"{one} {two} {three.action} {four}"

    played = await player(go).play_async("go", {}, ask=in_turn(True, False, Refused("cancel"), True))

    assert played.text == "accept accept cancel accept"


# 7. Where an ask may stand


@pytest.mark.anyio
async def test_with_and_finally_are_left_in_each_round_and_can_tell_an_end():
    left: list[bool] = []

    @asynccontextmanager
    async def connection(ctx: Context) -> AsyncIterator[str]:
        try:
            yield "open"
        finally:
            left.append(ctx.is_suspended)

    async def go(ctx: Context) -> str:
        async with connection(ctx) as state, anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.sleep, 0)
            assert not ctx.is_suspended
            action = (await ctx.elicit("Go on?", schema=Yes)).action
            return f"{state} {action}"
        return "never"

    played = await player(go).play_async("go", {}, ask=True)

    assert played.text == "open accept"
    assert left == [True, False]


def test_an_ask_in_a_handler_or_in_finally_comes_after_those_before_it():
    async def go(ctx: Context) -> str:
        said = []
        try:
            said.append((await ctx.elicit("First?", str)).data)
            raise OSError
        except OSError:
            said.append((await ctx.elicit("What now?", str)).data)
        finally:
            said.append((await ctx.elicit("And last?", str)).data)
        return " ".join(said)

    played = player(go).play("go", {}, ask=in_turn("a", "b", "c"))

    assert played.text == "a b c"
    assert list(played.messages.values()) == ["First?", "What now?", "And last?"]


def test_each_pass_of_a_loop_asks_for_itself():
    passes: list[int] = []

    async def go(ctx: Context) -> str:
        while True:
            answer = await ctx.elicit("Which number?", response_type=int)
            if answer.data > 10:
                return str(answer.data)
            passes.append(answer.data)

    played = player(go).play("go", {}, ask=in_turn(1, 2, 30))

    assert played.text == "30"
    assert played.questions == ["ask", "ask-2", "ask-3"]
    assert passes == [1, 1, 2, 1, 2]


# 8, 9. What differs from round to round


def asks_otherwise(*messages: str) -> Player:
    left = list(messages)

    async def go(ctx: Context) -> str:
        await ctx.elicit("First?", schema=Yes)
        await ctx.elicit(left.pop(0), schema=Yes)
        return "done"

    return player(go)


@pytest.mark.anyio
async def test_a_question_that_has_moved_is_an_error_that_names_both():
    """Security 1."""
    conversation = await asks_otherwise("Pay 100 EUR?", "Pay 900 EUR?").start("go")
    await conversation.answer(ask=True)

    with pytest.raises(TypeError) as loud:
        await conversation.send({"ask-2": {"action": "accept", "content": {"confirm": True}}})

    assert "the question at 'ask-2' has moved: this time it is form 'Pay 900 EUR?'" in str(loud.value)
    assert "before it was form 'Pay 100 EUR?'" in str(loud.value)
    assert "ctx.once" in str(loud.value)


@pytest.mark.anyio
async def test_an_answered_question_that_has_moved_is_an_error_too():
    """Security 1."""
    left = ["Delete a?", "Delete a?", "Delete b?"]

    async def go(ctx: Context) -> str:
        with contextlib.suppress(BaseException):
            await ctx.elicit(left.pop(0), schema=Yes)
        await ctx.elicit("Sure?", schema=Yes)
        return "deleted"

    conversation = await started(go)
    await conversation.answer(ask=True)

    with pytest.raises(TypeError, match="the question at 'ask' has moved: this time it is form 'Delete b"):
        await conversation.answer(**{"ask-2": True})


@pytest.mark.anyio
async def test_of_a_moved_question_the_client_is_told_nothing_more_than_that_it_failed():
    asking = asks_otherwise("Pay 100 EUR?", "Pay 900 EUR?")
    signer, client = StateSigner(TESTING_KEYS, "traps"), Client(EVERYTHING)
    state, reply = None, None
    for responses in ({}, {"ask": {"action": "accept", "content": {"confirm": True}}}, {}):
        reply = await handle_call(asking.toolbox, Call("go", {}, responses, state, client=client), signer)
        state = reply.state if isinstance(reply, InputRequired) else None

    assert reply == Complete("The tool failed unexpectedly.", is_error=True)


def test_a_form_that_has_changed_is_another_question():
    async def go(ctx: Context) -> str:
        return (await ctx.elicit("Which?", [str(random.random())])).action

    with pytest.raises(TypeError, match="'ask' has moved"):
        player(go).play(
            "go", {}, ask=lambda asked: asked["params"]["requestedSchema"]["properties"]["value"]["enum"][0]
        )


# 10, 11, 14. Secrets, live objects, many rounds


def test_a_form_never_asks_for_a_secret():
    from pydantic import SecretStr

    class Login(BaseModel):
        password: SecretStr

    async def go(ctx: Context) -> str:
        return (await ctx.elicit("Log in", schema=Login)).action

    with pytest.raises(TypeError, match="a form must not ask for a secret"):
        player(go).play("go")


def test_a_body_that_never_stops_asking_is_stopped():
    async def go(ctx: Context) -> str:
        while True:
            await ctx.elicit("Again?", schema=Yes)

    played = player(go).play("go", {}, ask=True)

    assert played.is_error
    assert played.text == "The call asked 10 times without an end, at 'go'."


# 15. Tasks and threads beside the body


@pytest.mark.anyio
async def test_an_ask_in_a_task_of_its_own_is_an_error_that_says_what_to_write():
    async def confirm(ctx: Context) -> None:
        await ctx.elicit("Sure?", schema=Yes)

    async def go(ctx: Context) -> str:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(confirm, ctx)
            tasks.start_soon(confirm, ctx)
        return "done"

    with pytest.raises(RuntimeError, match=r"asks in a task or thread beside its own.*ctx\.gather"):
        await started(go)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # trio runs it in the task that waits for the thread
async def test_an_ask_in_a_thread_is_an_error():
    async def go(ctx: Context) -> str:
        def work() -> str:
            return anyio.from_thread.run(ctx.elicit, "Sure?", Yes).action

        return await anyio.to_thread.run_sync(work)

    with pytest.raises(RuntimeError, match="asks in a task or thread beside its own"):
        await started(go)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_suspended_body_leaves_nothing_behind():
    async def work() -> None:
        await asyncio.sleep(0)

    async def go(ctx: Context) -> str:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(work())
            return (await ctx.elicit("Go on?", schema=Yes)).action

    before = asyncio.all_tasks()
    conversation = await started(go)
    gc.collect()

    assert list(conversation.open) == ["ask"]
    assert asyncio.all_tasks() == before
    await conversation.answer(ask=True)
    assert conversation.text == "accept"


@pytest.mark.anyio
async def test_an_ask_that_is_awaited_when_its_body_has_ended_is_an_error():
    kept: list[Any] = []

    async def go(ctx: Context) -> str:
        kept.append(ctx.elicit("Later?", schema=Yes))
        return "done"

    await started(go)

    with pytest.raises(RuntimeError, match="has ended"):
        await kept[0]


@pytest.mark.anyio
async def test_a_context_that_was_kept_asks_nothing_when_its_body_has_ended():
    kept: list[Context] = []

    async def go(ctx: Context) -> str:
        kept.append(ctx)
        return "done"

    await started(go)

    with pytest.raises(RuntimeError, match="has ended"):
        await kept[0].elicit("Too late?", schema=Yes)


# 16. Messages and progress


class Heard:
    """A channel that notes what goes through it."""

    def __init__(self) -> None:
        self.told: list[object] = []

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append((progress, total, message))

    async def log(self, level: str, data: object, logger: str | None) -> None:
        self.told.append((level, data, logger))


@pytest.mark.anyio
async def test_log_messages_and_progress_go_out_in_one_round_only():
    async def go(ctx: Context) -> str:
        await ctx.info("begun", logger_name="go")
        await ctx.report_progress(1, 2)
        await ctx.elicit("Go on?", schema=Yes)
        await ctx.log("warning", "half way")
        await ctx.log("written otherwise", level="error")
        await ctx.log(message="as FastMCP", level="debug", extra={"more": 1})
        await ctx.session.send_log_message("notice", "by the session")
        await ctx.elicit("And on?", schema=Yes)
        await ctx.session.send_progress_notification("token", 2, 2)
        await ctx.warning("w")
        await ctx.error("e")
        await ctx.debug("d")
        return "done"

    toolbox = player(go).toolbox
    signer, client = StateSigner(TESTING_KEYS, "traps"), Client(EVERYTHING)
    yes = {"action": "accept", "content": {"confirm": True}}
    heard: list[list[object]] = []
    state, reply = None, None
    for responses in ({}, {"ask": yes}, {}, {"ask-2": yes}):
        channel = Heard()
        reply = await handle_call(toolbox, Call("go", {}, responses, state, client=client, channel=channel), signer)
        state = reply.state if isinstance(reply, InputRequired) else None
        heard.append(channel.told)

    assert reply == Complete("done", {"result": "done"})
    assert heard == [
        [("info", "begun", "go"), (1, 2, None)],
        [
            ("warning", "half way", None),
            ("error", "written otherwise", None),
            ("debug", {"msg": "as FastMCP", "extra": {"more": 1}}, None),
            ("notice", "by the session", None),
        ],
        [],
        [(2, 2, None), ("warning", "w", None), ("error", "e", None), ("debug", "d", None)],
    ]


# 4, 17, 18. Classes, dialects, decorators


def test_an_answer_is_of_the_very_class_of_the_sdk():
    async def go(ctx: Context) -> str:
        answer = await ctx.elicit("Go on?", schema=Yes)
        return f"{type(answer) is AcceptedElicitation} {type(answer.data) is Yes}"

    assert player(go).play("go", {}, ask=True).text in ("True True", "False True")
