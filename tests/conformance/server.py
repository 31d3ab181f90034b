"""What the official conformance suite calls, made with nothing but public names.

    python tests/conformance/server.py --port 8931 --way lean

The names of tools, prompts, resources, keys and fields are the suite's; see its scenarios. All that a toolbox can do is
done by the toolbox. What is the SDK's own (completion, subscriptions, streams that are closed on the way, a schema
written by hand) is in `sdk_features.py`, beside which the toolbox is attached. Who serves a call to what is in the
toolbox depends on the way, see `run.py`.
"""

import argparse
import base64
from dataclasses import dataclass
from typing import Annotated, Literal

import anyio
import uvicorn
from pydantic import Field

from mrtr_tools import (
    Context,
    Elicit,
    ListRoots,
    Refused,
    Root,
    Sample,
    Toolbox,
    ToolError,
    confirm,
    needs_input,
    then,
)
from mrtr_tools.content import Audio, Embedded, Image
from mrtr_tools.errors import RequestError
from mrtr_tools.keys import generate_key
from mrtr_tools.server import attach, http_app
from mrtr_tools.server.envelope import MAX_REQUEST
from mrtr_tools.server.gate import App, Gate
from mrtr_tools.server.handover import SdkApp
from mrtr_tools.server.http import HttpEndpoint
from mrtr_tools.server.lean import LeanServer
from mrtr_tools.server.over_http import LOOPBACK_HOSTS, LOOPBACK_ORIGINS
from mrtr_tools.server.service import Service
from mrtr_tools.server.tasking import starting_tasks
from mrtr_tools.state import StateSigner
from mrtr_tools.tasks import MemoryEngine
from tests.conformance.sdk_features import Events, server

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = b"RIFF&\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\2\0\0\0\0\0"
PAUSE = 0.05  # seconds, as the suite wants them

toolbox = Toolbox("conformance", version="1")


# Results


@toolbox.tool
def test_simple_text() -> str:
    """Returns a text."""
    return "This is a simple text response for testing."


@toolbox.tool
def test_image_content() -> Image:
    """Returns an image."""
    return Image(PNG)


@toolbox.tool
def test_audio_content() -> Audio:
    """Returns a sound."""
    return Audio(WAV)


@toolbox.tool
def test_embedded_resource() -> Embedded:
    """Returns a resource with its content."""
    return Embedded("test://embedded-resource", "This is an embedded resource content.")


@toolbox.tool
def test_multiple_content_types() -> list[str | Image | Embedded]:
    """Returns a text, an image and a resource."""
    data = Embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return ["Multiple content types test:", Image(PNG), data]


@toolbox.tool
def test_error_handling() -> str:
    """Always fails."""
    raise ToolError("This tool intentionally returns an error for testing")


@toolbox.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Tells how far it is."""
    for reached in (0, 50, 100):
        await ctx.report_progress(reached, 100)
        await anyio.sleep(PAUSE)
    return "done"


@toolbox.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs what it does."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", message)
        await anyio.sleep(PAUSE)
    return "done"


@toolbox.tool
async def test_logging_tool(ctx: Context) -> str:
    """Logs to whom it may concern."""
    await ctx.log("info", "logged")
    return "done"


@toolbox.tool
def test_custom_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Takes an argument that travels in a header, too."""
    return region


# Questions, on the wire of 2026-07-28


@toolbox.tool(cold_answers=True)
@needs_input(user_name="What is your name?")
def test_input_required_result_elicitation(user_name: Annotated[str, Field(alias="name")]) -> str:
    """Asks for a name; a client that knows the question may send the answer along."""
    return f"Hello, {user_name}!"


@toolbox.tool
@needs_input(capital_question=Sample("What is the capital of France?", max_tokens=100))
def test_input_required_result_sampling(capital_question: str) -> str:
    """Asks the model."""
    return capital_question


@toolbox.tool
@needs_input(client_roots=ListRoots())
def test_input_required_result_list_roots(client_roots: list[Root]) -> str:
    """Asks for the roots."""
    return ", ".join(root.uri for root in client_roots)


@toolbox.tool
@needs_input(ok=confirm("Please confirm"))
def test_input_required_result_request_state() -> str:
    """Asks for a yes, and carries a state."""
    return "state-ok"


@toolbox.tool
@needs_input(
    user_name="What is your name?",
    greeting=Sample("Generate a greeting", max_tokens=50),
    client_roots=ListRoots(),
)
def test_input_required_result_multiple_inputs(
    user_name: Annotated[str, Field(alias="name")], greeting: str, client_roots: list[Root]
) -> str:
    """Asks a person, the model and the client at the same time."""
    return f"{greeting}, {user_name}: {len(client_roots)} roots"


@toolbox.tool
@needs_input(step1="Step 1: What is your name?")
def test_input_required_result_multi_round(step1: Annotated[str, Field(alias="name")]) -> str:
    """Asks twice, the second time for something else."""
    return then(favourite_colour, name=step1)


@toolbox.step
@needs_input(step2="Step 2: What is your favorite color?")
def favourite_colour(name: str, step2: Annotated[str, Field(alias="color")]) -> str:
    """The second round."""
    return f"{name} likes {step2}"


@toolbox.tool
@needs_input(ok=confirm("Shall I go on?"))
def test_input_required_result_tampered_state() -> str:
    """Its state is sent back changed."""
    return "state-ok"


@toolbox.tool
@needs_input(name="What is your name?", greeting=Sample("Generate a greeting", max_tokens=50))
def test_input_required_result_capabilities(name: str | Refused, greeting: str | Refused) -> str:
    """Asks for what the client declared, and does without the rest."""
    return f"{greeting or 'Hello'}, {name or 'you'}"


@toolbox.tool
@needs_input(answer=Sample("Think", max_tokens=50))
def test_missing_capability(answer: str) -> str:
    """Cannot do without a model."""
    return answer


@toolbox.tool
@needs_input(name="What is your name?")
async def test_streaming_elicitation(name: str) -> str:
    """Asks; nothing but the result may come over the stream."""
    return name


@toolbox.prompt()
@needs_input(user_context="What context should the prompt use?")
def test_input_required_result_prompt(user_context: Annotated[str, Field(alias="context")]) -> str:
    """Asks before it gives its messages."""
    return f"Use this context: {user_context}"


# Questions, to clients of 2025-11-25


@toolbox.tool
@needs_input(answer=Sample("{prompt}", max_tokens=100))
def test_sampling(prompt: str, answer: str) -> str:
    """Asks the model what it is told to."""
    return f"LLM response: {answer}"


@dataclass
class User:
    username: Annotated[str, Field(description="User's response")]
    email: Annotated[str, Field(description="User's email address")]


@toolbox.tool
@needs_input(user=Elicit("{message}"))
def test_elicitation(message: str, user: User | Refused) -> str:
    """Asks what it is told to."""
    return f"User response: {user}"


@dataclass
class Defaults:
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


@toolbox.tool
@needs_input(answer="Please review")
def test_elicitation_sep1034_defaults(answer: Defaults | Refused) -> str:
    """Shows a default in every kind of field."""
    return f"Elicitation completed: {answer}"


# Resources


@toolbox.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@toolbox.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    return PNG


@toolbox.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> dict[str, object]:  # noqa: A002 - the suite's name
    """Data by id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@toolbox.resource("test://watched-resource", mime_type="text/plain")
def watched_resource() -> str:
    """Somebody subscribes to it."""
    return "watched"


# Prompts


@toolbox.prompt()
def test_simple_prompt() -> str:
    """One message."""
    return "This is a simple prompt for testing."


@toolbox.prompt()
def test_prompt_with_arguments(
    arg1: Annotated[str, Field(description="First test argument")],
    arg2: Annotated[str, Field(description="Second test argument")],
) -> str:
    """One message with two arguments in it."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@toolbox.prompt()
def test_prompt_with_embedded_resource(
    resource_uri: Annotated[str, Field(alias="resourceUri", description="URI of the resource to embed")],
) -> list[str | Embedded]:
    """A resource, and what to do with it."""
    return [
        Embedded(resource_uri, "Embedded resource content for testing."),
        "Please process the embedded resource above.",
    ]


@toolbox.prompt()
def test_prompt_with_image() -> list[str | Image]:
    """An image, and what to do with it."""
    return [Image(PNG), "Please analyze the image above."]


# Tasks


@toolbox.tool
def greet(name: str) -> str:
    """No task."""
    return f"Hello, {name}!"


@toolbox.tool(task="optional")
async def slow_compute(seconds: float, label: str = "") -> str:
    """Takes its time."""
    await anyio.sleep(seconds)
    return f"Computed {label}"


@toolbox.tool(task="required")
async def failing_job() -> str:
    """Ends with a tool error."""
    await anyio.sleep(1)
    raise ToolError("This job fails.")


class Broken(RequestError):
    """Ends a request with a JSON-RPC error."""

    code = -32603


@toolbox.tool(task="optional")
async def protocol_error_job() -> str:
    """Ends with a JSON-RPC error."""
    raise Broken("This job is broken.")


@toolbox.tool
def confirm_delete(filename: str) -> str:
    """Asks in its task."""
    return then(delete, filename=filename)


@toolbox.step(task="optional")
@needs_input(confirm=confirm("Delete {filename}?"))
def delete(filename: str) -> str:
    return f"Deleted {filename}"


@dataclass
class Entry:
    name: str
    confirm: bool


@toolbox.tool
def multi_input() -> str:
    """Asks two questions in its task."""
    return then(take_both)


@toolbox.step(task="optional")
@needs_input(first=Elicit("The first?"), second=Elicit("The second?"))
def take_both(first: Entry, second: Entry) -> str:
    return f"{first.name} and {second.name}"


@toolbox.tool(task="required")
@needs_input(user_name="What is your name?")
async def test_tool_with_task(user_name: Annotated[str, Field(alias="name")]) -> str:
    """Asks first, and goes on as a task."""
    return f"Hello, {user_name}!"


def app(way: str) -> App:
    """The application that serves in this way."""
    keys = [generate_key()]
    if way == "alone":
        return http_app(toolbox, keys=keys, tasks=MemoryEngine(), anonymous_ok=True)
    signer, engine = StateSigner(keys, toolbox.name), MemoryEngine()
    attach(toolbox, server, signer=signer, tasks=engine, task_keys=keys, anonymous_ok=True)
    behind: App = server.streamable_http_app(event_store=Events(), retry_interval=100)
    if way == "sdk":
        return behind
    tasks = starting_tasks(toolbox, signer, None, engine, task_keys=keys)
    service = Service(toolbox, signer, tasks=tasks, anonymous_ok=True)
    lean = LeanServer(service, identity={"name": "conformance", "version": "1"}, alone=False)
    gate = Gate(LOOPBACK_HOSTS, LOOPBACK_ORIGINS, MAX_REQUEST)
    return HttpEndpoint(gate, lean, SdkApp(lambda: behind), service=service)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--way", choices=["alone", "lean", "sdk"], required=True)
    given = parser.parse_args()
    # h11, for httptools leaves white space around the values of headers, and the suite sends some.
    uvicorn.run(app(given.way), port=given.port, http="h11", access_log=False)
