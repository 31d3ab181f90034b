"""The tools of `await_style` over HTTP, each round on another process, in both eras; those that are refused, refused.

Both numbers are printed: ``pytest -rP tests/porting/test_await_style.py``.
"""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import cycle
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client import ClientRequestContext

from mrtr_tools import DefinitionError
from mrtr_tools.answering import respond
from mrtr_tools.keys import generate_key
from mrtr_tools.testing import EVERYTHING, Player
from tests.porting.await_style import CASES, TRAPS, Case, toolbox
from tests.porting.refusals import FOLDER, REFUSALS, Refusal
from tests.server import processes
from tests.server.processes import Served
from tests.server.raw_http import request
from tests.server.sdk_client import text_of

INSTANCES = 3
IDS = [f"{case.tool}-{number}" for number, case in enumerate(CASES)]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    """Servers that share a key, and nothing else."""
    claims = str(tmp_path_factory.mktemp("claims") / "claims.db")
    given = {"MRTR_TOOLS_KEYS": generate_key(), "CLAIMS": claims}
    with ExitStack() as stack:
        served = [processes.http_process("tests.porting.await_style", **given) for _ in range(INSTANCES)]
        yield [stack.enter_context(each) for each in served]


def answering(case: Case) -> Callable[[Mapping[str, Any]], Any]:
    """A client that knows the answers of a case."""
    left: dict[str, Any] = {
        text: list(given) if isinstance(given, list) else given for text, given in case.answers.items()
    }

    def answer(asked: Mapping[str, Any]) -> Any:
        params = asked.get("params") or {}
        about = {"roots/list": "roots", "sampling/createMessage": "model"}.get(asked["method"]) or params["message"]
        given = left[about]
        one_by_one = isinstance(given, list) and about != "roots" and params.get("message") not in _MANY
        return respond(asked, given.pop(0) if one_by_one else given)

    return answer


_MANY = ("Many?", "Several?")


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_each_round_of_an_await_style_tool_comes_to_another_process(fleet, case):
    answer, urls = answering(case), cycle(served.url for served in fleet)
    params: dict[str, Any] = {"name": case.tool, "arguments": dict(case.arguments)}
    keys: list[str] = []

    result = request(next(urls), "tools/call", params, capabilities=EVERYTHING).result
    while result["resultType"] == "input_required":
        keys += result["inputRequests"]
        given = {key: answer(asked) for key, asked in result["inputRequests"].items()}
        more = {**params, "requestState": result["requestState"], "inputResponses": given}
        result = request(next(urls), "tools/call", more, capabilities=EVERYTHING).result

    assert (result["content"][0]["text"], result.get("isError", False)) == (case.text, False)
    assert keys == ["ask", *(f"ask-{number}" for number in range(2, len(keys) + 1))]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_client_of_2025_is_asked_by_the_same_tool_in_mid_call(fleet, case):
    result = anyio.run(called_in_2025, fleet[0].url, case)

    assert (text_of(result), result.is_error) == (case.text, False)


async def called_in_2025(url: str, case: Case) -> types.CallToolResult:
    """The result of a call by the SDK's client."""
    answer = answering(case)

    def raw(method: str, params: Any) -> dict[str, Any]:
        return {"method": method, "params": params.model_dump(by_alias=True, mode="json", exclude_none=True)}

    async def elicit(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult.model_validate(answer(raw("elicitation/create", params)))

    async def sample(
        context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        return types.CreateMessageResult.model_validate(answer(raw("sampling/createMessage", params)))

    async def roots(context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate(answer({"method": "roots/list"}))

    with anyio.fail_after(20):
        async with Client(
            url,
            mode="legacy",
            elicitation_callback=elicit,
            sampling_callback=sample,
            list_roots_callback=roots,
        ) as client:
            return await client.call_tool(case.tool, dict(case.arguments))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_an_await_style_tool_does_the_same_when_each_of_its_rounds_is_run_twice(case):
    answer = answering(case)
    conversation = anyio.run(played_twice, case, answer)

    assert conversation.text == case.text


async def played_twice(case: Case, answer: Callable[[Mapping[str, Any]], Any]) -> Any:
    conversation = await Player(toolbox, double_run=True).start(case.tool, case.arguments)
    while not conversation.done:
        await conversation.send({key: answer(asked) for key, asked in conversation.open.items()})
    return conversation


# Those that are refused


def loaded(refusal: Refusal) -> Any:
    spec = importlib.util.spec_from_file_location(refusal.file, refusal.path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("refusal", [each for each in REFUSALS if each.said], ids=lambda each: each.file)
def test_what_the_bridge_can_see_it_is_loud_about(refusal):
    def first_of(asked: Mapping[str, Any]) -> object:
        return asked["params"]["requestedSchema"]["properties"]["value"]["enum"][0]

    answers = {key: first_of if answer is None else answer for key, answer in refusal.answers.items()}
    with pytest.raises((DefinitionError, TypeError, RuntimeError)) as loud:
        Player(loaded(refusal).toolbox).play(refusal.tool, dict(refusal.arguments), **answers)

    assert refusal.said in str(loud.value)


def test_each_file_that_is_refused_stands_in_the_table():
    assert sorted(FOLDER.glob("*.py")) == sorted(refusal.path for refusal in REFUSALS)


def test_a_file_that_is_refused_has_the_line_that_is_named():
    for refusal in REFUSALS:
        assert refusal.line in refusal.path.read_text()


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: each.file)
def test_the_check_refuses_it_and_names_the_line_and_the_reason(refusal):
    command = [sys.executable, "-m", "mrtr_tools.cli", "check", str(refusal.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    places = [
        f":{number}" for number, line in enumerate(refusal.path.read_text().splitlines(), 1) if refusal.line in line
    ]

    assert done.returncode == 1, done.stderr
    found = re.split(r"\n(?=\S)", done.stdout)  # the way out stands below, indented
    told = [each for each in found if any(place in each.partition(" ")[0] for place in places)]
    assert any(refusal.reason in line.lower() for line in told), done.stdout


def test_all_the_traps_are_shown():
    tools = {case.tool for case in CASES}
    shown = {trap for each in (*CASES, *REFUSALS) for trap in each.traps}

    assert shown == set(TRAPS)
    assert tools == set(toolbox.tools)
    assert len(tools) + len(REFUSALS) >= 30
    print(f"{len(tools)} await-style tools run on the bridge in both eras, {len(REFUSALS)} are refused with a reason")
