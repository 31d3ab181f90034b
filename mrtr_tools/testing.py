"""`Player`: whole conversations in memory, for authors' tests.

    played = Player(toolbox).play("get_weather", {"location": "Paris"}, github_login="octocat")
    assert played.text == "Sunny in Paris"
    assert played.questions == ["github_login"]

Every round goes through a real signer and through JSON, as it would between two machines. An upgrade between two rounds
is played with two toolboxes, the old build and the new one:

    played = Player(old, upgrades=[new]).play("get_weather", {"location": "Paris"}, github_login="octocat")

    conversation = await Player(old).start("get_weather", {"location": "Paris"})
    conversation.switch(new)
    await conversation.answer(github_login="octocat")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import anyio
from pydantic import JsonValue
from pydantic_core import from_json, to_json

from mrtr_tools.answering import in_turn, respond
from mrtr_tools.asks import ASK
from mrtr_tools.calls import Call, Client, Complete, Created, InputRequired
from mrtr_tools.errors import RequestError
from mrtr_tools.events import Event, Finished, RunStep
from mrtr_tools.keys import TESTING_KEY, read_key
from mrtr_tools.rerunning import twice
from mrtr_tools.runner import handle_call
from mrtr_tools.single_use import ClaimStore, Ledger, MemoryClaims
from mrtr_tools.state import StateSigner
from mrtr_tools.task_marks import REQUIRED
from mrtr_tools.tasks.engine import Engine
from mrtr_tools.tasks.memory import MemoryEngine
from mrtr_tools.tasks.record import owner_of
from mrtr_tools.tasks.sealing import TaskSealer
from mrtr_tools.tasks.service import TaskService
from mrtr_tools.tools import Toolbox

__all__ = ["EVERYTHING", "TESTING_KEYS", "Conversation", "Player", "in_turn", "respond"]

EVERYTHING: Final[Mapping[str, JsonValue]] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {},
    **REQUIRED,
}
"""What a client declares that can be asked anything, and knows tasks."""
TESTING_KEYS: Final = (read_key(TESTING_KEY, allow_testing=True),)
"""Keys that everybody knows; no server takes them."""
_NUMBERED: Final = re.compile(r"-\d+$")


class Failed(RequestError):
    """A task ended with a JSON-RPC error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"], error.get("data"))
        self.code = error["code"]


@dataclass(slots=True)
class Conversation:
    """One tool call as it is played.

    Attributes:
        reply: the last reply: questions, or the result.
        rounds: how many requests were sent.
        questions: the wire keys that were asked, in the order of asking; a key asked twice stands there twice.
        ran: the functions of the author that ran, in order; an input's function goes by its path.
        messages: the texts of the questions, by wire key, as last asked; of a sampling request, its last text.
        toolbox: the build of the tools that serves the next round; see `switch`.
        task: the id of the task that the call went on as; None while it is none. It is played to where it asks.
    """

    player: Player = field(repr=False)
    call: Call = field(repr=False)
    toolbox: Toolbox
    reply: InputRequired | Complete = field(default_factory=lambda: InputRequired({}, None))
    rounds: int = 0
    questions: list[str] = field(default_factory=list[str])
    ran: list[str] = field(default_factory=list[str])
    messages: dict[str, str] = field(default_factory=dict[str, str])
    task: str | None = None

    @property
    def done(self) -> bool:
        """Whether the call is over."""
        return isinstance(self.reply, Complete)

    @property
    def open(self) -> Mapping[str, Mapping[str, JsonValue]]:
        """The open questions by wire key, as they go over the wire; empty when the call is over."""
        return self.reply.requests if isinstance(self.reply, InputRequired) else {}

    @property
    def result(self) -> object:
        """What the last step returned, or the text of a tool error.

        Raises:
            AssertionError: the call is not over.
        """
        if not isinstance(self.reply, Complete):
            asks = ", ".join(self.open) or "another round"
            raise AssertionError(f"the call is not over; it asks for {asks}")  # noqa: TRY004  what a test expects
        return self.reply.value

    @property
    def text(self) -> str:
        """The result as text."""
        return str(self.result)

    @property
    def is_error(self) -> bool:
        """Whether the call ended with a tool error."""
        return isinstance(self.reply, Complete) and self.reply.is_error

    def fork(self) -> Conversation:
        """The same call from here on once more: a client can send a state twice, and answer otherwise."""
        return replace(self, questions=list(self.questions), ran=list(self.ran), messages=dict(self.messages))

    def switch(self, toolbox: Toolbox) -> None:
        """Let another build of the tools serve what follows, as an upgrade between two rounds does; or an older one, as
        a rolling upgrade does. It has the name of the first: servers refuse the states of another one.
        """
        self.toolbox = toolbox

    async def send(self, responses: Mapping[str, JsonValue]) -> None:
        """Send the next round with these raw ``inputResponses``.

        Raises:
            RequestError: the request cannot be served.
            Exception: what a step raised, other than `ToolError`; a client would get a tool error that says nothing.
            AssertionError: with `Player.double_run`, the round came out otherwise when it was run again.
        """
        state = self.reply.state if isinstance(self.reply, InputRequired) else None
        sent: Any = from_json(to_json({"arguments": dict(self.call.arguments), "responses": dict(responses)}))
        call = replace(
            self.call,
            arguments=sent["arguments"],
            responses=sent["responses"],
            state=state,
            principal=self.player.principal,
            client=Client(self.player.capabilities),
        )
        self.rounds += 1
        signer = self.player.signer or StateSigner(TESTING_KEYS, self.toolbox.name)
        ledger = Ledger(self.player.claims, signer)
        tasks = self._tasks(signer, ledger)
        if self.player.double_run:
            self.reply = await twice(self.toolbox, call, signer, ledger, self._note)
        elif self.task is None:
            reply = await handle_call(self.toolbox, call, signer, self._note, ledger=ledger, start=tasks.start)
            if isinstance(reply, Created):
                self.task = reply.task
            else:
                self.reply = reply
        else:
            await tasks.update(self.task, self.player.principal, call.responses)
        if self.task is not None:
            await self._play_task(tasks, self.task)
        if self.rounds <= len(self.player.upgrades):
            self.switch(self.player.upgrades[self.rounds - 1])
        for key, request in self.open.items():
            self.questions.append(key)
            self.messages[key] = _text(request)

    def _tasks(self, signer: StateSigner, ledger: Ledger) -> TaskService:
        sealer = TaskSealer.of(TESTING_KEYS, signer.audience)
        return TaskService(
            self.toolbox,
            cast("Engine", self.player.engine),
            sealer,
            audience=signer.audience,
            written=_nothing,
            clock=signer.clock,
            ledger=ledger,
            observer=self._note,
        )

    async def _play_task(self, tasks: TaskService, task: str) -> None:
        owner = owner_of(
            self.toolbox.name if self.player.signer is None else self.player.signer.audience, self.player.principal
        )
        while await tasks.leg(task, owner):
            pass
        now = await tasks.get(task, self.player.principal)
        if now.error is not None:
            raise Failed(now.error)
        if now.status == "input_required":
            self.reply = InputRequired(now.requests, None)

    def _note(self, event: Event) -> None:
        if isinstance(event, Finished) and self.task is not None:
            self.reply = event.reply
        if isinstance(event, RunStep):
            self.ran.append(event.step.name)
        elif isinstance(event, Finished) and event.cause is not None:
            raise event.cause

    async def answer(self, **answers: object) -> None:
        """Answer open questions and send the next round; see `respond`. Questions without an answer stay open."""
        await self.send(
            {
                key: respond(request, answers[name])
                for key, request in self.open.items()
                if (name := _named(key, answers))
            }
        )


@dataclass(slots=True)
class Player:
    """Plays calls of a toolbox.

    Attributes:
        toolbox: whose tools are called.
        capabilities: what the client declares, a `ClientCapabilities` object.
        principal: who calls.
        signer: mints the states; to test what expires, give one with a clock of your own and `TESTING_KEYS`. By
            default each toolbox has one for its name, as a server has.
        claims: keeps what is used once.
        engine: keeps the calls that go on as tasks, by default in memory; nothing of it runs but when a conversation
            goes on.
        upgrades: other builds of the toolbox, to test what becomes of calls under way: the first serves the second
            round, the next one the third, and the last one the rest.
        double_run: run every round twice from the same state, and fail with what differs: the functions that run, the
            questions, the result. What a tool does to the world is then done twice too. No call goes on as a task then.
    """

    toolbox: Toolbox
    capabilities: Mapping[str, JsonValue] = field(default_factory=lambda: EVERYTHING)
    principal: str | None = None
    signer: StateSigner | None = None
    claims: ClaimStore = field(default_factory=MemoryClaims)
    engine: Engine | None = None
    upgrades: Sequence[Toolbox] = ()
    double_run: bool = False

    def __post_init__(self) -> None:
        if self.engine is None:
            self.engine = MemoryEngine(self.signer.clock) if self.signer is not None else MemoryEngine()

    async def start(self, tool: str, arguments: Mapping[str, JsonValue] | None = None) -> Conversation:
        """Send the first round of a call; the arguments are as in `play_async`.

        Raises:
            RequestError: the request cannot be served.
        """
        method = "resources/read" if ":" in tool else "tools/call"
        method = "prompts/get" if tool in self.toolbox.prompts else method
        conversation = Conversation(self, Call(tool, arguments or {}, method=method), self.toolbox)
        await conversation.send({})
        return conversation

    async def play_async(
        self, tool: str, arguments: Mapping[str, JsonValue] | None = None, /, **answers: object
    ) -> Conversation:
        """Call a tool, get a prompt or read a resource, and answer what it asks, to its end.

        Args:
            tool: the name of the tool or prompt, or the URI of the resource.
            arguments: by their names on the wire.
            answers: by input: see `respond`. An answer serves every time that its input is asked; `in_turn` gives
                another each time. The inputs of an input's function go by their path: ``**{"login.user": "ada"}``.

        Raises:
            RequestError: a request cannot be served.
            AssertionError: something is asked that has no answer here.
        """
        steps = [step for build in (self.toolbox, *self.upgrades) for step in build.steps]
        known = {path for step in steps for path in (*step.inputs, *([ASK] if step.bridge is not None else []))}
        if unknown := [name for name in answers if _NUMBERED.sub("", name) not in known]:
            raise AssertionError(
                f"{self.toolbox!r} has no input {unknown[0]!r}; it has {', '.join(sorted(known)) or 'none'}"
            )
        conversation = await self.start(tool, arguments)
        while not conversation.done:
            if missing := [key for key in conversation.open if _named(key, answers) is None]:
                raise AssertionError(
                    f"{tool} asks for {missing[0]!r}: {conversation.messages[missing[0]]!r}; give it an answer"
                )
            await conversation.answer(**answers)
        return conversation

    def play(self, tool: str, arguments: Mapping[str, JsonValue] | None = None, /, **answers: object) -> Conversation:
        """`play_async`, for tests that are not async."""
        try:
            return anyio.run(lambda: self.play_async(tool, arguments, **answers))
        except RuntimeError as error:
            if not str(error).startswith("Already running"):
                raise
            raise RuntimeError("an async test plays with: await player.play_async(...)") from None


def _text(request: Mapping[str, Any]) -> str:
    params = request.get("params", {})
    said = [params] if "message" in params else params.get("messages", [])
    texts = [each.get("message") or _spoken(each["content"]) for each in said if "content" in each or "message" in each]
    return texts[-1] if texts else ""


def _nothing(*_: object) -> dict[str, JsonValue]:
    """What a conversation needs of how a result goes over the wire."""
    return {}


def _spoken(content: Any) -> str:
    """The text of a message to a model: of its one block, or of several."""
    blocks = cast("list[Mapping[str, str]]", content if isinstance(content, list) else [content])
    return "".join(block.get("text", "") for block in blocks)


def _named(key: str, answers: Mapping[str, object]) -> str | None:
    """Under which name the answer to a wire key is given: the key, or the input it is for."""
    return key if key in answers else name if (name := _NUMBERED.sub("", key)) in answers else None
