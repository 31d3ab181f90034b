"""Target ``answers``: JSON as the `inputResponses` of round after round, against open questions of every kind.

The input is a list: the number of a call, then the responses of each round. Whatever they are, nothing fails in a way
nobody meant; nothing is settled that was not asked, answered and accepted; what is settled is of the type that its form
shows; and the progress goes through JSON and a state.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from pydantic_core import from_json, to_json

from mrtr_tools.calls import Call, Client
from mrtr_tools.errors import InvalidParams, StateTooLarge
from mrtr_tools.events import Finished, NeedInput, RunStep
from mrtr_tools.marks import watched
from mrtr_tools.progress import Progress, Slot
from mrtr_tools.rounds import Round
from tests.fuzz import desk
from tests.fuzz.messages import read
from tests.fuzz.samples import ALL, CALLS, RIGHT, SIGNER, WRONG

CLIENT = Client(ALL)
ASKED = [(method, params) for method, params in CALLS if params.get("name") != "greet"]
LONGEST = 16 * 1024  # characters of a text that does not say otherwise


def _number(name: str) -> int:
    return next(at for at, (_, params) in enumerate(ASKED) if name in params.values())


def _conversation(number: int, *rounds: Any) -> bytes:
    return json.dumps([number, *rounds]).encode()


SEEDS: list[bytes] = [
    *(_conversation(number, dict(RIGHT)) for number in range(len(ASKED))),
    *(
        _conversation(number, dict.fromkeys(RIGHT, wrong), dict(RIGHT))
        for number in (0, 3, 4, 5)
        for wrong in WRONG[5:]
    ),
    *(_conversation(number, {}, dict.fromkeys(RIGHT, WRONG[0])) for number in range(len(ASKED))),
    _conversation(
        _number("book"),
        {"who.login": RIGHT["who.login"]},
        {"day": {"action": "accept", "content": {"day": "1999-01-01"}}},
        {"ok": RIGHT["ok"], "day-2": RIGHT["day"]},
        {"ok": RIGHT["ok"], "ok-2": RIGHT["ok"]},
        {"ok-2": RIGHT["ok"], "ok-3": RIGHT["ok"]},
    ),
    _conversation(
        _number("fill"),
        {name: RIGHT[name] for name in ("text", "count", "many")},
        {name: RIGHT[name] for name in ("flag", "day", "price", "text")},
        dict(RIGHT),
    ),
]


@cache
def first_round(number: int) -> tuple[bytes, Mapping[str, Any]]:
    """The progress of a call that has asked, as JSON, and what it asks."""
    method, params = ASKED[number]
    machine = Round(desk.toolbox, Call.read(params, client=CLIENT, method=method))
    event = play(machine, lambda: None)
    assert isinstance(event, NeedInput)
    return to_json(machine.progress.to_json()), event.requests


def play(machine: Round, look: Callable[[], None]) -> NeedInput | Finished:
    """Run functions to the end of the round, and look at what is settled before each."""
    while isinstance(event := machine.next_event(), RunStep):
        look()
        context, made = watched(machine.toolbox.steps.of)
        try:
            machine.returned(_awaited(context.run(event.step.signature.function, **event.arguments)), made)
        except Exception as error:  # noqa: BLE001  as the runner does
            machine.raised(error)
    look()
    assert isinstance(event, (NeedInput, Finished))
    assert isinstance(event, NeedInput) or event.cause is None, repr(event.cause)
    return event


def _awaited(value: Any) -> Any:
    """What a coroutine returns that waits for nothing."""
    try:
        value.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


# What may be settled


def is_justified(request: Mapping[str, Any], response: Any, slot: Slot) -> bool:
    """Whether a response can have settled a question as it is settled."""
    if not isinstance(response, dict):
        return False
    if request["method"] != "elicitation/create":
        member = "roots" if request["method"] == "roots/list" else "content"
        return isinstance(response.get(member), (list, dict)) and slot.refused is None and not slot.is_yes
    action, content, params = response.get("action"), response.get("content"), request["params"]
    known = content if isinstance(content, dict) else {}
    if slot.refused is not None:
        said_no = action == "accept" and _is_yes_or_no(params) and list(known.values()).count(False) > 0
        return slot.value is None and (slot.refused == action or (slot.refused == "decline" and said_no))
    if action != "accept":
        return False
    if params.get("mode") == "url":
        return slot.value is True and slot.is_yes
    schema = params["requestedSchema"]
    if slot.is_yes:
        [name] = schema["properties"]
        return _is_yes_or_no(params) and known.get(name) is True and slot.value is True
    said = all(
        _is_said(spec, known[name]) for name, spec in schema["properties"].items() if known.get(name) is not None
    )
    return isinstance(content, dict) and said and _fits(schema, slot.value)


def _is_yes_or_no(params: Mapping[str, Any]) -> bool:
    schema = params.get("requestedSchema", {"properties": {}})
    return [spec["type"] for spec in schema["properties"].values()] == ["boolean"]


def _fits(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a value is of the type that its form shows: of its one property, or of all by name."""
    properties = schema["properties"]
    if value is None and not schema.get("required"):
        return True
    if len(properties) == 1:
        return all(_is_typed(spec, value) for spec in properties.values())
    named = {FIELDS.get(name, name): spec for name, spec in properties.items()}
    return isinstance(value, dict) and all(_is_typed(spec, value[name]) for name, spec in named.items())


FIELDS = {"howMany": "count"}


def _is_said(spec: Mapping[str, Any], raw: Any) -> bool:
    """Whether what came for a property can mean one: a person typed it, or their client read it so."""
    match spec["type"]:
        case "array":
            return isinstance(raw, list)
        case "boolean":
            return isinstance(raw, bool) or str(raw).strip().lower() in ("true", "false", "")
        case "integer" | "number":
            return isinstance(raw, (int, float, str)) and not isinstance(raw, bool)
        case _:
            return isinstance(raw, str)


def _is_typed(spec: Mapping[str, Any], value: Any) -> bool:
    choices = spec.get("enum") or [choice["const"] for choice in spec.get("oneOf") or spec.get("anyOf") or ()]
    match spec["type"]:
        case "array":
            few = isinstance(value, list) and spec.get("minItems", 0) <= len(value) <= spec.get("maxItems", 100)
            return few and len(set(value)) == len(value) and all(_is_typed(spec["items"], item) for item in value)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return type(value) is int and abs(value) < 2**1023 and _is_within(spec, value)
        case "number":
            return type(value) in (int, float) and math.isfinite(value) and _is_within(spec, value)
        case _:
            return isinstance(value, str) and (value in choices if choices else _is_short(spec, value))


def _is_within(spec: Mapping[str, Any], value: float) -> bool:
    return spec.get("minimum", value) <= value <= spec.get("maximum", value)


def _is_short(spec: Mapping[str, Any], value: str) -> bool:
    return spec.get("minLength", 0) <= len(value) <= spec.get("maxLength", LONGEST)


# One input


def check(data: bytes) -> None:
    """Look at one input."""
    given = read(data)
    if not isinstance(given, list) or not given:
        return
    number = given[0] % len(ASKED) if type(given[0]) is int else 0
    method, params = ASKED[number]
    progress, requests = first_round(number)
    for responses in given[1:12]:
        sent = {**params, "requestState": "state", "inputResponses": responses}
        try:
            call = Call.read(sent, client=CLIENT, method=method)
        except InvalidParams:
            continue
        before = Progress.from_json(from_json(progress))
        settled = dict(before.slots)
        machine = Round(desk.toolbox, call, before)
        event = play(machine, _Looking(machine, requests, settled))
        if isinstance(event, Finished):
            return
        progress, requests = _carried(machine, call), event.requests


class _Looking:
    """Looks at what a round has settled so far, beyond what was settled before."""

    def __init__(self, machine: Round, requests: Mapping[str, Any], settled: dict[str, Slot]) -> None:
        self._machine = machine
        self._requests = requests
        self._seen = settled
        self._open = {key.partition("-")[0]: key for key in requests}

    def __call__(self) -> None:
        inputs, responses = self._machine.step.inputs, self._machine.call.responses
        for path, slot in self._machine.progress.slots.items():
            if self._seen.get(path) == slot:
                continue
            self._seen[path] = slot
            key = self._open.get(path)
            if key is None:
                assert inputs[path].maker is not None, f"{path} is settled and was not asked"
            else:
                assert is_justified(self._requests[key], responses.get(key), slot), f"{path} is settled by no answer"


def _carried(machine: Round, call: Call) -> bytes:
    """The progress after a round, which another machine reads."""
    progress = to_json(machine.progress.to_json())
    assert from_json(progress, allow_inf_nan=False) == machine.progress.to_json()
    with suppress(StateTooLarge):
        assert SIGNER.loads(SIGNER.dumps(machine.progress, call), call).progress == machine.progress
    return progress


@contextmanager
def checking() -> Iterator[Callable[[bytes], None]]:
    """Nothing has to be set up."""
    yield check
