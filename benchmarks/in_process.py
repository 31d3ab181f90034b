"""One round of get_weather in process, against what the SDK's tool handler takes for the same question.

Ours is `handle_call`, which opens and signs the state. Theirs is the handler alone (`sdk.handler`), the part in which
`Resolve` works: it is handed a request that was checked and opened, and its state is sealed after it.
"""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field

from benchmarks import sdk
from benchmarks.measuring import Job, main, medians
from benchmarks.tables import Row
from benchmarks.wire import CAPABILITIES, next_round
from mrtr_tools import Toolbox, needs_input
from mrtr_tools.calls import Call, Client, InputRequired
from mrtr_tools.keys import generate_key
from mrtr_tools.runner import handle_call
from mrtr_tools.state import Opened, StateSigner

QUESTION = "Please provide your GitHub username"
ARGUMENTS = {"location": "New York"}
CONTENT = {"name": "octocat"}
KINDS = {"async": "get_weather", "sync": "get_weather_in_a_thread"}
ALLOWED = 0.25


toolbox = Toolbox("benchmark")


@toolbox.tool
@needs_input(github_login=QUESTION)
async def get_weather(location: str, github_login: Annotated[str, Field(alias="name")]) -> str:
    """Current weather, for GitHub users."""
    return f"Current weather in {location} for {github_login}: 72°F"


@toolbox.tool
@needs_input(github_login=QUESTION)
def get_weather_in_a_thread(location: str, github_login: Annotated[str, Field(alias="name")]) -> str:
    """Current weather, for GitHub users."""
    return f"Current weather in {location} for {github_login}: 72°F"


def with_resolve() -> MCPServer[Any]:
    """The same two tools with `Resolve`."""
    server = sdk.new_server()

    class Login(BaseModel):
        name: str

    async def ask(location: str) -> Elicit[Login]:
        return Elicit(QUESTION, Login)

    def ask_in_a_thread(location: str) -> Elicit[Login]:
        return Elicit(QUESTION, Login)

    @server.tool()
    async def get_weather(location: str, login: Annotated[Login, Resolve(ask)]) -> str:
        """Current weather, for GitHub users."""
        return f"Current weather in {location} for {login.name}: 72°F"

    @server.tool()
    def get_weather_in_a_thread(location: str, login: Annotated[Login, Resolve(ask_in_a_thread)]) -> str:
        """Current weather, for GitHub users."""
        return f"Current weather in {location} for {login.name}: 72°F"

    return server


async def our_calls(tool: str, signer: StateSigner) -> list[Call]:
    """The two requests of a call."""
    client = Client(CAPABILITIES)
    first = Call(tool, ARGUMENTS, client=client)
    asked = await handle_call(toolbox, first, signer)
    assert isinstance(asked, InputRequired)
    responses = {"github_login": {"action": "accept", "content": CONTENT}}
    return [first, Call(tool, ARGUMENTS, responses, asked.state, client=client)]


async def their_calls(tool: str, server: MCPServer[Any]) -> list[Mapping[str, Any]]:
    """The same two requests to the SDK's server."""
    first = {"name": tool, "arguments": ARGUMENTS}
    return [first, next_round(first, await sdk.serve(server, first), CONTENT)]


async def jobs(signer: StateSigner) -> dict[str, Job]:
    """All that is timed: ours, theirs, and theirs as it may be soon, by kind and round."""
    server = with_resolve()
    found: dict[str, Job] = {}
    for kind, tool in KINDS.items():
        for number, call in enumerate(await our_calls(tool, signer), 1):
            found[f"ours {kind} {number}"] = lambda call=call: handle_call(toolbox, call, signer)
        for number, params in enumerate(await their_calls(tool, server), 1):
            found[f"theirs {kind} {number}"] = theirs = await sdk.handler(server, params)
            found[f"soon {kind} {number}"] = sdk.with_schema_rendered_once(theirs)
    return found


async def parts(signer: StateSigner) -> dict[str, Job]:
    """What a round consists of beside the machine: reading the request, and the state."""
    first, second = await our_calls("get_weather", signer)
    progress = signer.loads(second.state or "", second).progress
    params = {
        "name": second.target,
        "arguments": ARGUMENTS,
        "inputResponses": second.responses,
        "requestState": second.state,
    }

    async def read() -> Call:
        return Call.read(params, client=second.client)

    async def loads() -> Opened:
        return signer.loads(second.state or "", second)

    async def dumps() -> str:
        return signer.dumps(progress, first)

    return {"Call.read, before it": read, "StateSigner.loads, in it": loads, "StateSigner.dumps, in round 1": dumps}


def measured(quick: bool = False) -> list[Row]:
    return asyncio.run(compared(batches=25 if quick else 80, calls=20))


async def compared(*, batches: int, calls: int) -> list[Row]:
    signer = StateSigner([generate_key()], "benchmark")
    inside = await parts(signer)
    took = await medians(await jobs(signer) | inside, batches=batches, calls=calls)
    rows: list[Row] = []
    for kind, bound in (("async", ALLOWED), ("sync", None)):
        for number in (1, 2):
            ours, theirs, soon = (took[f"{who} {kind} {number}"] for who in ("ours", "theirs", "soon"))
            what = f"get_weather, {kind}, round {number}: ours : Resolve"
            rows += [Row(what, ours, theirs, at_most=bound), Row("    ... with its schema rendered once", ours, soon)]
    return rows + [Row(f"{name} : ours, async, round 2", took[name], took["ours async 2"]) for name in inside]


if __name__ == "__main__":
    raise SystemExit(main(in_process=measured))
