"""Tools whose calls go on as tasks, and a service for them whose legs a test runs by itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mrtr_tools import Context, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.calls import Call, Client, Created, Reply
from mrtr_tools.errors import RequestError
from mrtr_tools.keys import Key, generate_key, read_keys
from mrtr_tools.runner import handle_call
from mrtr_tools.server.wire import shown
from mrtr_tools.single_use import Ledger, MemoryClaims
from mrtr_tools.state import StateSigner
from mrtr_tools.task_marks import REQUIRED
from mrtr_tools.tasks import Engine, MemoryEngine
from mrtr_tools.tasks.record import Task, owner_of
from mrtr_tools.tasks.sealing import TaskSealer
from mrtr_tools.tasks.service import TaskService

KNOWS = Client({"elicitation": {"form": {}}, **REQUIRED}, "tests", "1")
START = 1_800_000_000.0


class Broken(RequestError):
    """What an author ends a call with that must be a JSON-RPC error."""

    code = -32050


def jobs(ran: list[str]) -> Toolbox:
    """A job of three functions with two questions, and one of every end."""
    toolbox = Toolbox("jobs")

    @toolbox.tool(task="optional", task_ttl=600)
    async def build(name: str, ctx: Context) -> str:
        ran.append(f"build {ctx.idempotency_key}")
        await ctx.report_progress(1, 2, "compiling")
        return then(check, name=name)

    @toolbox.step
    @needs_input(ok=confirm("Publish {name}?"), where="Where to?")
    def check(name: str, where: str, ctx: Context) -> str:
        ran.append(f"check {ctx.idempotency_key}")
        return then(publish, what=f"{name}@{where}")

    @toolbox.step
    def publish(what: str, ctx: Context) -> str:
        ran.append(f"publish {ctx.idempotency_key}")
        return f"published {what}"

    _add_ends(toolbox, ran)
    return toolbox


def _add_ends(toolbox: Toolbox, ran: list[str]) -> None:
    @toolbox.tool(task="optional")
    def give_up() -> str:
        raise ToolError("Not today.")

    @toolbox.tool(task="optional")
    def explode() -> str:
        raise RuntimeError("the database is at 10.0.0.7")

    @toolbox.tool(task="optional")
    def break_off() -> str:
        raise Broken("No such branch", {"branch": "x"})

    @toolbox.tool(task="optional")
    def pay_once() -> str:
        return then(pay)

    @toolbox.step(single_use=True)
    def pay() -> str:
        ran.append("pay")
        return "paid"

    @toolbox.tool
    @needs_input(name="Who?")
    def ask_first(name: str) -> str:
        ran.append("ask_first")
        return then(later, name=name)

    @toolbox.step(task="required")
    def later(name: str) -> str:
        ran.append("later")
        return name


@dataclass
class Place:
    """One process of a server: its service, and the calls that come to it."""

    toolbox: Toolbox
    engine: Engine
    keys: tuple[Key, ...] = field(default_factory=lambda: read_keys([generate_key()]))
    now: float = START
    claims: MemoryClaims = field(default_factory=MemoryClaims)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.signer = StateSigner(self.keys, "jobs", clock=lambda: self.now)
        self.sealer = TaskSealer.of(self.keys, "jobs")
        self.tasks = TaskService(
            self.toolbox,
            self.engine,
            self.sealer,
            audience="jobs",
            written=shown,
            clock=lambda: self.now,
            ledger=Ledger(self.claims, self.signer),
            **self.options,
        )

    async def call(self, tool: str, arguments: Any = None, **more: Any) -> Reply:
        """One request of a client that knows tasks."""
        more = {"client": KNOWS, **more}
        return await handle_call(
            self.toolbox,
            Call(tool, arguments or {}, **more),
            self.signer,
            ledger=Ledger(self.claims, self.signer),
            start=self.tasks.start,
        )

    async def begun(self, tool: str, arguments: Any = None, **more: Any) -> str:
        """The id of the task that a call goes on as."""
        reply = await self.call(tool, arguments, **more)
        assert isinstance(reply, Created), reply
        assert reply.status == "working"
        return reply.task

    async def legs(self, task: str, principal: str | None = None, most: int = 100) -> int:
        """Run legs until the task waits or has ended; how many ran."""
        owner = owner_of("jobs", principal)
        for count in range(1, most + 1):
            if not await self.tasks.leg(task, owner):
                return count
        return most

    async def played(self, task: str, principal: str | None = None) -> Task:
        """The task where it waits or has ended."""
        await self.legs(task, principal)
        return await self.tasks.get(task, principal)


def place(ran: list[str] | None = None, build: Callable[[list[str]], Toolbox] = jobs, **options: Any) -> Place:
    """A process that keeps its tasks in memory."""
    made = Place(build([] if ran is None else ran), MemoryEngine(), options=options)
    made.engine = MemoryEngine(lambda: made.now)
    made.__post_init__()
    return made


def beside(other: Place, toolbox: Toolbox | None = None, keys: tuple[Key, ...] | None = None) -> Place:
    """Another process of the same server, perhaps of another build."""
    return Place(toolbox or other.toolbox, other.engine, keys or other.keys, other.now, other.claims, other.options)
