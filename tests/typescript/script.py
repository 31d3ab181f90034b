"""What every client plays against `server.py`, and what must come of it: the same for all of them.

Only what a revision has no words for differs, and stands in `Call.in_2025_06_18`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.typescript.server import CLOCK, PAGE, TIME

Json = dict[str, Any]

MODERN = "2026-07-28"
OLDER = "2025-11-25"
OLDEST = "2025-06-18"


@dataclass(frozen=True)
class Call:
    """One request.

    Attributes:
        method: its method.
        params: its params.
        answers: what is answered, by the message of a form or page, the last text that the model is told, or ``roots``.
        asked: what the client is asked, in any order where several are asked at once.
        ends: the result or the error, by ``result`` or ``error``.
        progress: the progress that is told.
        logs: the log messages that are sent.
        in_2025_06_18: what is different there, by attribute.
    """

    method: str
    params: Json
    answers: Json
    asked: list[Json]
    ends: Json
    progress: list[Json] = field(default_factory=list)
    logs: list[Json] = field(default_factory=list)
    in_2025_06_18: Mapping[str, Any] = field(default_factory=dict)

    def at(self, version: str) -> "Call":
        """The call as it goes at one revision."""
        if version != OLDEST:
            return self
        older = replace(self, **self.in_2025_06_18)
        return replace(older, asked=[_without_mode(question) for question in older.asked])

    def as_json(self) -> Json:
        """What a client has to know of it."""
        return {"method": self.method, "params": self.params, "answers": self.answers}

    def outcome(self, version: str) -> Json:
        """What must come of it."""
        ends = self.ends
        if self.method == "resources/read" and "result" in ends and version == MODERN:
            # Of answers nobody may keep a copy.
            ends = {"result": {**ends["result"], "ttlMs": 0, "cacheScope": "private"}}
        return {"asked": self.asked, **ends, "progress": self.progress, "logs": self.logs}


@dataclass(frozen=True)
class Session:
    """Calls of a client that declares these capabilities."""

    capabilities: Json
    calls: list[Call]

    def at(self, version: str) -> "Session":
        return replace(self, calls=[call.at(version) for call in self.calls])


# Shorthands


def _without_mode(question: Json) -> Json:
    return {**question, "params": {key: value for key, value in question["params"].items() if key != "mode"}}


def form(message: str, properties: Json, required: list[str] | None = None) -> Json:
    """The question for a form; all of its fields are required unless they are named."""
    names = list(properties) if required is None else required
    schema = {"type": "object", "properties": properties, **({"required": names} if names else {})}
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def told(text: str) -> Json:
    return {"role": "user", "content": block(text)}


def model(*messages: Json, **more: Any) -> Json:
    params = {"messages": list(messages), "maxTokens": 1000, **more}
    return {"method": "sampling/createMessage", "params": params}


def block(text: str) -> Json:
    return {"type": "text", "text": text}


def accept(**content: Any) -> Json:
    return {"action": "accept", "content": content}


def sampled(content: Json | list[Json], stop: str = "endTurn") -> Json:
    return {"role": "assistant", "model": "m-1", "content": content, "stopReason": stop}


def said(text: str) -> Json:
    """A tool's result that is one text."""
    return {"result": {"content": [block(text)], "structuredContent": {"result": text}, "isError": False}}


def failed(text: str) -> Json:
    return {"result": {"content": [block(text)], "isError": True}}


def needs(**capabilities: Any) -> Json:
    """The error of a call that cannot ask what it has to."""
    message = f"This call needs a client capability: {', '.join(capabilities)}"
    return {"error": {"code": -32021, "message": message, "data": {"requiredCapabilities": capabilities}}}


def tool(name: str, answers: Json, asked: list[Json], ends: Json, /, **arguments: Any) -> Call:
    return Call("tools/call", {"name": name, "arguments": arguments}, answers, asked, ends)


STRING = {"type": "string"}
YES_OR_NO = {"type": "boolean"}
ROOTS: Json = {"method": "roots/list", "params": {}}
FOLDERS = {"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b", "name": "B"}]}


# Forms

GUEST = {"type": "string", "title": "Your name", "minLength": 1, "maxLength": 40}
COUNT = {"type": "integer", "minimum": 1, "maximum": 9}
ORDER = form(
    "What would you like?",
    {
        "guest": GUEST,
        "size": {"type": "string", "enum": ["S", "M"], "default": "M"},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["milk", "sugar"]}, "default": ["milk"]},
        "count": {**COUNT, "default": 1},
        "share": {"type": "number", "default": 0.5},
        "gift": {"type": "boolean", "default": True},
    },
    required=["guest"],
)
OLD_ORDER = form(
    "What would you like?",
    {
        "guest": GUEST,
        "size": {"type": "string", "enum": ["S", "M"]},
        "extras.milk": {"type": "boolean", "title": "milk", "description": "extras", "default": True},
        "extras.sugar": {"type": "boolean", "title": "sugar", "description": "extras", "default": False},
        "count": COUNT,
        "share": {"type": "number"},
        "gift": {"type": "boolean", "default": True},
    },
    required=["guest"],
)


def again(question: Json, reason: str) -> Json:
    """The same question with a reason above it."""
    params = question["params"]
    return {**question, "params": {**params, "message": f"{reason}\n{params['message']}"}}


ONE = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
MANY = [{"const": "s", "title": "Small"}, {"const": "m", "title": "Medium"}]
CHOICES = [
    form("Which colour?", {"one": {"type": "string", "oneOf": ONE}}),
    form("Which sizes?", {"many": {"type": "array", "items": {"anyOf": MANY}}}),
    form("Which letters?", {"plain": {"type": "array", "items": {"type": "string", "enum": ["A", "B"]}}}),
]


def yes_or_no(of: str, title: str) -> Json:
    """One choice of several, where there are no such lists."""
    return {"type": "boolean", "title": title, "description": of}


OLD_CHOICES = [
    form("Which colour?", {"one": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}}),
    form("Which sizes?", {"many.s": yes_or_no("many", "Small"), "many.m": yes_or_no("many", "Medium")}, []),
    form("Which letters?", {"plain.A": yes_or_no("plain", "A"), "plain.B": yes_or_no("plain", "B")}, []),
]
WHO = form("Who are you?", {"name": STRING})
DELETE = form("Delete a.txt?", {"ok": YES_OR_NO})
DAY = form("Which day?", {"day": STRING})
TOO_MANY = "count must be at most 9."

FORMS = [
    replace(
        tool(
            "fill_in",
            {"What would you like?": accept(guest="Ada")},
            [ORDER],
            said("Order(guest='Ada', size='M', extras=['milk'], count=1, share=0.5, gift=True)"),
        ),
        in_2025_06_18={"asked": [OLD_ORDER]},
    ),
    replace(
        tool(
            "fill_in",
            {
                "What would you like?": accept(
                    guest="Bob", size="S", extras=["sugar", "milk"], count=2, share=0.25, gift=False
                )
            },
            [ORDER],
            said("Order(guest='Bob', size='S', extras=['sugar', 'milk'], count=2, share=0.25, gift=False)"),
        ),
        in_2025_06_18={
            "answers": {
                "What would you like?": accept(
                    guest="Bob",
                    size="S",
                    count=2,
                    share=0.25,
                    gift=False,
                    **{"extras.milk": False, "extras.sugar": True},
                )
            },
            "asked": [OLD_ORDER],
            "ends": said("Order(guest='Bob', size='S', extras=['sugar'], count=2, share=0.25, gift=False)"),
        },
    ),
    replace(
        tool(
            "fill_in",
            {
                "What would you like?": accept(guest="Eve", count=10),
                f"{TOO_MANY}\nWhat would you like?": accept(guest="Eve", count=9),
            },
            [ORDER, again(ORDER, TOO_MANY)],
            said("Order(guest='Eve', size='M', extras=['milk'], count=9, share=0.5, gift=True)"),
        ),
        in_2025_06_18={"asked": [OLD_ORDER, again(OLD_ORDER, TOO_MANY)]},
    ),
    replace(
        tool(
            "choose",
            {
                "Which colour?": accept(one="g"),
                "Which sizes?": accept(many=["s", "m"]),
                "Which letters?": accept(plain=["B"]),
            },
            CHOICES,
            said("g ['s', 'm'] ['B']"),
        ),
        in_2025_06_18={
            "answers": {
                "Which colour?": accept(one="g"),
                "Which sizes?": accept(**{"many.s": True, "many.m": True}),
                "Which letters?": accept(**{"plain.A": False, "plain.B": True}),
            },
            "asked": OLD_CHOICES,
        },
    ),
    tool("greet", {"Who are you?": accept(name="Ada ☃")}, [WHO], said("Hello, Ada ☃")),
    tool("greet", {"Who are you?": {"action": "decline"}}, [WHO], said("Hello, whoever you are (decline)")),
    tool("greet", {"Who are you?": {"action": "cancel"}}, [WHO], said("Hello, whoever you are (cancel)")),
    tool("delete", {"Delete a.txt?": accept(ok=True)}, [DELETE], said("a.txt is deleted"), file="a.txt"),
    tool(
        "delete", {"Delete a.txt?": accept(ok=False)}, [DELETE], failed("The question 'ok' was declined."), file="a.txt"
    ),
    tool(
        "delete",
        {"Delete a.txt?": {"action": "cancel"}},
        [DELETE],
        failed("The question 'ok' was cancelled."),
        file="a.txt",
    ),
    tool(
        "book",
        {"Which day?": accept(day="Sunday"), "That day is full\nWhich day?": accept(day="Monday")},
        [DAY, again(DAY, "That day is full")],
        said("Booked for Monday"),
    ),
]


# A page

SIGN_IN: Json = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Sign in, please", "url": PAGE},
}
NO_PAGES = {"asked": [], "ends": said("not signed in: unsupported")}
PAGES = [
    replace(
        tool("sign_in", {"Sign in, please": {"action": "accept"}}, [SIGN_IN], said("signed in")),
        in_2025_06_18=NO_PAGES,
    ),
    replace(
        tool("sign_in", {"Sign in, please": {"action": "decline"}}, [SIGN_IN], said("not signed in: decline")),
        in_2025_06_18=NO_PAGES,
    ),
]


# The model, and the roots

SAY = model(told("Say hello"), maxTokens=10, systemPrompt="Be brief", temperature=0.5, stopSequences=["END", "STOP"])
USE: Json = {"type": "tool_use", "id": "u1", "name": "clock", "input": {"zone": "UTC"}}
NOON: Json = {"type": "tool_result", "toolUseId": "u1", "content": [block("noon")]}
MODEL = [
    tool("ask_model", {"Say hello": sampled(block("hello"))}, [SAY], said("hello"), word="hello"),
    replace(
        tool(
            "ask_model_with_tools",
            {TIME: sampled([block("Let me see."), USE], "toolUse"), "noon": sampled(block("It is noon."))},
            [
                model(told(TIME), tools=[CLOCK], toolChoice={"mode": "auto"}),
                model(
                    told(TIME),
                    {"role": "assistant", "content": [USE]},
                    {"role": "user", "content": [NOON]},
                    tools=[CLOCK],
                ),
            ],
            said("m-1: It is noon."),
        ),
        in_2025_06_18={"asked": [], "ends": needs(sampling={"tools": {}})},
    ),
    tool("list_folders", {"roots": FOLDERS}, [ROOTS], said("A=file:///a, B=file:///b")),
]


# Several

EVERYTHING = {"name": "Ada", "answer": "Hi", "folders": ["file:///a", "file:///b"]}
EVERYTHING_AS_TEXT = """{
  "name": "Ada",
  "answer": "Hi",
  "folders": [
    "file:///a",
    "file:///b"
  ]
}"""
SEVERAL = [
    tool(
        "ask_all",
        {"Your name?": accept(name="Ada"), "Greet somebody": sampled(block("Hi")), "roots": FOLDERS},
        [form("Your name?", {"name": STRING}), model(told("Greet somebody")), ROOTS],
        {
            "result": {
                "content": [block(EVERYTHING_AS_TEXT)],
                "structuredContent": EVERYTHING,
                "isError": False,
            }
        },
    ),
    tool(
        "travel",
        {
            "From where?": accept(start="BER"),
            "From BER to where?": accept(end="LIS"),
            "Pay for BER-LIS?": accept(ok=True),
        },
        [
            form("From where?", {"start": STRING}),
            form("From BER to where?", {"end": STRING}),
            form("Pay for BER-LIS?", {"ok": YES_OR_NO}),
        ],
        said("BER-LIS is paid"),
    ),
]


# Progress and log messages, prompts and resources

COUNTED = replace(
    tool(
        "count", {"How far?": accept(limit=2)}, [form("How far?", {"limit": {"type": "integer"}})], said("counted to 2")
    ),
    progress=[{"progress": reached, "total": 2, "message": f"{reached} of 2"} for reached in (1, 2)],
    logs=[{"level": "info", "logger": "counter", "data": {"reached": reached}} for reached in (1, 2)],
)
REGION = form("Which region?", {"region": STRING})
OTHERS = [
    COUNTED,
    Call(
        "prompts/get",
        {"name": "poem", "arguments": {"topic": "sea"}},
        {"In which mood?": accept(mood="wild")},
        [form("In which mood?", {"mood": STRING})],
        {"result": {"description": "A poem.", "messages": [told("Write about sea."), told("Be wild.")]}},
    ),
    Call(
        "resources/read",
        {"uri": "memo://rain"},
        {"Which region?": accept(region="north"), "Sum it up": sampled(block("wet"))},
        [REGION, model(told("Sum it up"))],
        {"result": {"contents": [{"uri": "memo://rain", "mimeType": "text/plain", "text": "rain of north: wet"}]}},
    ),
]

TALKATIVE = Session(
    {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}},
    FORMS + PAGES + MODEL + SEVERAL + OTHERS,
)
"""A client that can be asked everything."""

SILENT = Session(
    {},
    [
        tool("greet", {}, [], said("Hello, whoever you are (unsupported)")),
        tool("sign_in", {}, [], said("not signed in: unsupported")),
        tool("delete", {}, [], needs(elicitation={"form": {}}), file="a.txt"),
        tool("ask_model", {}, [], needs(sampling={}), word="hello"),
        tool("ask_model_with_tools", {}, [], needs(sampling={"tools": {}})),
        tool("list_folders", {}, [], needs(roots={})),
        tool("ask_all", {}, [], needs(elicitation={"form": {}}, sampling={}, roots={})),
        Call("prompts/get", {"name": "poem", "arguments": {"topic": "sea"}}, {}, [], needs(elicitation={"form": {}})),
        Call("resources/read", {"uri": "memo://a"}, {}, [], needs(elicitation={"form": {}}, sampling={})),
    ],
)
"""A client that can be asked nothing."""

SESSIONS = [TALKATIVE, SILENT]
TOOLS = [
    "fill_in",
    "choose",
    "greet",
    "delete",
    "book",
    "sign_in",
    "ask_model",
    "ask_model_with_tools",
    "list_folders",
    "ask_all",
    "travel",
    "count",
]
LISTED = {"tools": TOOLS, "prompts": ["poem"], "resources": ["memo://{name}"]}
"""The names of what there is."""


def check(played: list[Json], version: str) -> None:
    """Holds what came of the sessions at one revision against the script; `client.mjs` says how it is told.

    Raises:
        AssertionError: something else came of them.
    """
    for told, session in zip(played, SESSIONS, strict=True):
        assert {**told, "outcomes": []} == {"version": version, "server": "asker", "listed": LISTED, "outcomes": []}
        for outcome, call in zip(told["outcomes"], session.at(version).calls, strict=True):
            assert _in_order(_plain(outcome, version)) == _in_order(call.outcome(version)), call.params


def _plain(outcome: Json, version: str) -> Json:
    """The outcome without what is different each time, or no part of the result."""
    for question in outcome["asked"]:
        page = question["params"].get("mode") == "url"
        identity = question["params"].pop("elicitationId", None)
        assert (identity is not None) == (page and version == OLDER), question
    if "result" not in outcome:
        return outcome
    result = {key: value for key, value in outcome["result"].items() if key not in ("_meta", "resultType")}
    return {**outcome, "result": result}


def _in_order(outcome: Json) -> Json:
    """Questions of a group go out at the same time, so their order says nothing."""
    return {**outcome, "asked": sorted(outcome["asked"], key=repr)}
