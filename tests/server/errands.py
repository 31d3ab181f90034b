"""Tools that go on as tasks, and a server of them that knows who is calling: the token of each person is their name."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Mount

from mrtr_tools import Context, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.errors import RequestError
from mrtr_tools.keys import generate_key
from mrtr_tools.server import attach, http_app
from mrtr_tools.tasks import MemoryEngine
from tests.server.raw_http import FORMS, Answer, request, serving

EXTENSION = "io.modelcontextprotocol/tasks"
KNOWS: dict[str, Any] = {**FORMS, "extensions": {EXTENSION: {}}}
POLLS = 5000

toolbox = Toolbox("errands")


@toolbox.tool
def greet(name: str = "you") -> str:
    """Never a task."""
    return f"Hello {name}"


@toolbox.tool
def shop(where: str = "town") -> str:
    """Asks two questions in its task, and then another."""
    return then(choose, where=where)


@toolbox.step(task="optional", task_ttl=600)
@needs_input(bread="Which bread?", milk="How much milk?")
async def choose(where: str, bread: str, milk: int, ctx: Context) -> str:
    await ctx.report_progress(1, 2, "paying")
    await ctx.log("info", "paying")
    return then(pay, what=f"{bread} and {milk} l of milk in {where}")


@toolbox.step
@needs_input(ok=confirm("Pay {what}?"))
def pay(what: str) -> str:
    return f"Bought {what}"


@toolbox.tool(task="required")
@needs_input(who="Who waits?")
def wait_for(who: str) -> str:
    """Asks first, and is a task then."""
    return f"{who} waited"


@toolbox.tool(task="optional")
async def queue(ctx: Context) -> str:
    """Never comes to its end."""
    await ctx.report_progress(3, 10, "still there")
    await anyio.sleep_forever()
    return "served"


@toolbox.tool(task="optional")
def lose_the_list() -> str:
    """Ends with a tool error."""
    raise ToolError("The list is lost.")


class ShopBurnt(RequestError):
    """What no tool error is enough for."""

    code = -32050


@toolbox.tool(task="optional")
def burn_the_shop() -> str:
    """Ends with a JSON-RPC error."""
    raise ShopBurnt("The shop is no more.", {"since": "today"})


@toolbox.prompt()
def plan() -> str:
    """A prompt that comes to a step which may be a task."""
    return then(write_plan)


@toolbox.step(task="optional")
@needs_input(day="Which day?")
def write_plan(day: str) -> str:
    return f"Plan {day}."


class Clock:
    """The time, which a test can put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


class Tokens:
    """Takes any name."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="app", scopes=[], subject=token)


def app(served: Toolbox = toolbox, *, engine: MemoryEngine | None = None, **options: Any) -> Starlette:
    """The server behind bearer tokens."""
    tasks = engine or MemoryEngine()
    inner = http_app(served, keys=[generate_key()], tasks=tasks, principal="subject", **options)
    return Starlette(
        routes=[Mount("/", RequireAuthMiddleware(inner, required_scopes=[]))],
        middleware=[Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(Tokens()))],
        lifespan=inner.lifespan,
    )


def attached(*, engine: MemoryEngine) -> Starlette:
    """The same tools on a server of the SDK that has others as well."""
    auth = AuthSettings(issuer_url=AnyHttpUrl("https://id.example"), resource_server_url=None, required_scopes=[])
    server = MCPServer("errands", auth=auth, token_verifier=Tokens())
    attach(toolbox, server, keys=[generate_key()], tasks=engine)
    return server.streamable_http_app()


class Desk:
    """The server at a URL, and those who come to it."""

    def __init__(self, url: str, clock: Clock, engine: MemoryEngine | None = None) -> None:
        self.url = url
        self.clock = clock
        self.engine = engine or MemoryEngine(clock)
        self.open: list[tuple[str, str]] = []

    def ask(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        person: str = "ada",
        capabilities: Mapping[str, Any] = KNOWS,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request of somebody."""
        told = {"Authorization": f"Bearer {person}", **(headers or {})}
        return request(self.url, method, params or {}, capabilities=capabilities, headers=told)

    def call(self, tool: str, arguments: Any = None, *, person: str = "ada", **params: Any) -> dict[str, Any]:
        """The result of a call by a client that knows tasks."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments, **params}, person=person).result
        if result["resultType"] == "task":
            self.open.append((result["taskId"], person))
        return result

    def get(self, task: str, **options: Any) -> dict[str, Any]:
        """How a task is."""
        return self.ask("tasks/get", {"taskId": task}, **options).result

    def update(self, task: str, *, person: str = "ada", **responses: Any) -> dict[str, Any]:
        """Answer questions of a task."""
        return self.ask("tasks/update", {"taskId": task, "inputResponses": responses}, person=person).result

    def cancel(self, task: str, **options: Any) -> dict[str, Any]:
        """Cancel a task."""
        return self.ask("tasks/cancel", {"taskId": task}, **options).result

    def until(self, task: str, status: str, **options: Any) -> dict[str, Any]:
        """The task when it has come to a status."""
        for _ in range(POLLS):
            told = self.get(task, **options)
            if told["status"] == status:
                return told
        raise AssertionError(f"{task} did not come to be {status}")

    def shopping(self) -> str:
        """A task that asks for bread and milk."""
        task = self.call("shop")["taskId"]
        self.until(task, "input_required")
        return task


@contextmanager
def desk(made: Callable[..., Starlette] = app, **options: Any) -> Iterator[Desk]:
    """Serve it; what is left open is cancelled in the end, for a server waits for what runs."""
    clock = Clock()
    engine = MemoryEngine(clock)
    with serving(made(engine=engine, **options)) as url:
        at = Desk(url, clock, engine)
        try:
            yield at
        finally:
            clock.ahead = 0
            for task, person in at.open:
                at.ask("tasks/cancel", {"taskId": task}, person=person)
