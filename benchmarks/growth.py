"""What a round costs, and how large its state is, when many were played before: 64 questions, one after the other.

Ours is a step that hands on to itself. Theirs is a chain of resolvers, each of which takes the answer before its own.
Both go from a request in JSON to its result in JSON, without a transport.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel
from pydantic_core import from_json, to_json

from benchmarks import sdk
from benchmarks.measuring import Job, main, medians
from benchmarks.tables import Grid, Result, Row
from benchmarks.wire import CAPABILITIES, next_round
from mrtr_tools import Toolbox, needs_input, then
from mrtr_tools.calls import Call, Client
from mrtr_tools.keys import generate_key
from mrtr_tools.runner import handle_call
from mrtr_tools.server.wire import result_object
from mrtr_tools.state import StateSigner

QUESTIONS = 64
ROUNDS = (1, 2, 4, 8, 16, 32, QUESTIONS)
EARLY, LATE = 2, QUESTIONS
ANSWER = "sixteen letters."
ALLOWED = 1.3

Serve = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""From the params of a request to its result."""


toolbox = Toolbox("benchmark")


@toolbox.tool(max_rounds=QUESTIONS)
async def survey(topic: str) -> str:
    """Ask a question after the other."""
    return then(question, topic=topic, number=1)


@toolbox.step
@needs_input(answer="Question {number}: what next?")
async def question(topic: str, number: int, answer: str) -> str:
    return f"{topic}: {answer}" if number == QUESTIONS else then(question, topic=topic, number=number + 1)


def ours() -> Serve:
    client = Client(CAPABILITIES)
    signer = StateSigner([generate_key()], "benchmark")

    async def serve(params: Mapping[str, Any]) -> Mapping[str, Any]:
        return result_object(await handle_call(toolbox, Call.read(params, client=client), signer))

    return serve


def theirs() -> Serve:
    server = with_resolve()
    return lambda params: sdk.serve(server, params)


def with_resolve() -> MCPServer[Any]:
    """The same questions with `Resolve`."""
    server = sdk.new_server()

    class Answer(BaseModel):
        value: str

    async def first(topic: str) -> Elicit[Answer]:
        return Elicit("Question 1: what next?", Answer)

    def after(resolver: Callable[..., object], number: int) -> Callable[..., object]:
        async def ask(topic: str, before: Annotated[Answer, Resolve(resolver)]) -> Elicit[Answer]:
            return Elicit(f"Question {number}: what next?", Answer)

        return ask

    last: Callable[..., object] = first
    for number in range(2, QUESTIONS + 1):
        last = after(last, number)

    @server.tool()
    async def survey(topic: str, answer: Annotated[Answer, Resolve(last)]) -> str:
        """Ask a question after the other."""
        return f"{topic}: {answer.value}"

    return server


async def played(serve: Serve) -> tuple[list[bytes], list[int]]:
    """The requests of a whole call as JSON, and the length of the state after each round that asks."""
    first: dict[str, Any] = {"name": "survey", "arguments": {"topic": "trees"}}
    params, requests, lengths = first, list[bytes](), list[int]()
    while True:
        requests.append(to_json(params))
        result = await serve(params)
        if result["resultType"] != "input_required":
            break
        lengths.append(len(result["requestState"]))
        (request,) = result["inputRequests"].values()
        (field,) = request["params"]["requestedSchema"]["properties"]
        params = next_round(first, result, {field: ANSWER})
    assert len(lengths) == QUESTIONS, f"{len(lengths)} questions: {result}"
    return requests, lengths


def through_json(serve: Serve, request: bytes) -> Job:
    async def exchange() -> bytes:
        return to_json(await serve(from_json(request)))

    return exchange


def measured(quick: bool = False) -> list[Result]:
    return asyncio.run(compared(batches=8 if quick else 30, calls=5 if quick else 10))


async def compared(*, batches: int, calls: int) -> list[Result]:
    jobs: dict[str, Job] = {}
    sizes: dict[str, list[int]] = {}
    served = {"ours": ours(), "Resolve": theirs()}
    for name, serve in served.items():
        requests, sizes[name] = await played(serve)
        jobs |= {f"{name} {number}": through_json(serve, requests[number - 1]) for number in ROUNDS}
    took = await medians(jobs, batches=batches, calls=calls)
    times = {name: {f"round {number}": took[f"{name} {number}"] for number in ROUNDS} for name in served}
    states = {name: {f"round {number}": float(sizes[name][number - 1]) for number in ROUNDS} for name in served}
    rows: list[Result] = []
    for what, unit, found in (("time", "us", times), ("state", "B", states)):
        rows.append(Grid(f"{what} of a round, {unit}, ours over the other", found))
        for name, bound in (("ours", ALLOWED), ("Resolve", None)):
            late, early = found[name][f"round {LATE}"], found[name][f"round {EARLY}"]
            rows.append(Row(f"{what}, round {LATE} : round {EARLY}, {name}", late, early, unit, at_most=bound))
    return rows


if __name__ == "__main__":
    raise SystemExit(main(growth=measured))
