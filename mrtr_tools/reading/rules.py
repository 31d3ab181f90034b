"""What `mrtr-tools check` looks for. A code keeps its meaning for ever; `cookbook/PORTING.md` has the same table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

__all__ = ["RULES", "Finding", "Rule", "Severity"]


class Severity(Enum):
    """How much it matters."""

    ERROR = "error"
    """It will not work, or may do harm."""
    WARNING = "warning"
    """It may not do what its author thinks, as what runs again in each round."""
    NOTE = "note"
    """Good to know; it fails no check."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is looked for.

    Attributes:
        code: ``MRTR`` and three digits.
        severity: how much it matters.
        title: what it is, in a few words.
        way_out: what to do about it.
    """

    code: str
    severity: Severity
    title: str
    way_out: str


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One place where a rule applies.

    Attributes:
        path: the file, as it was given.
        line: from 1.
        column: from 1.
        code: of its rule.
        reason: what is wrong in this place.
    """

    path: str
    line: int
    column: int
    code: str
    reason: str

    @property
    def rule(self) -> Rule:
        """Its rule."""
        return RULES[self.code]


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE
_ONCE: Final = "put it after the last question, or run it once: value = await ctx.once(function, ...)"

_RULES: Final = (
    Rule(
        "MRTR001",
        _E,
        "asks in the middle of a function",
        "clients of 2026-07-28 cannot be asked this way; let `mrtr-tools port` make the tool resumable, or write steps",
    ),
    Rule("MRTR002", _N, "asks in a resumable function", "what stands above it runs again in each round: keep it cheap"),
    Rule("MRTR101", _E, "acts before a question", _ONCE),
    Rule("MRTR102", _W, "by its name, acts before a question", _ONCE),
    Rule("MRTR103", _W, "waits for live data before a question", _ONCE),
    Rule("MRTR104", _W, "reads the clock before a question", "take the time after the last question, or in ctx.once"),
    Rule("MRTR105", _W, "makes a random value before a question", "make it after the last question, or in ctx.once"),
    Rule(
        "MRTR106",
        _E,
        "shows what differs from round to round",
        "a time, an id or live data makes it another question, which ends the call: make the value once, with ctx.once",
    ),
    Rule(
        "MRTR201",
        _W,
        "a broad except around a question",
        "catch what the code in it raises; let a client that cannot be asked end the tool, never go ahead",
    ),
    Rule(
        "MRTR202",
        _E,
        "a question that is swallowed",
        "a round ends inside of the question: catch Exception at most, and leave `finally` without return",
    ),
    Rule("MRTR203", _E, "a question in finally", "ask before the try, or after it"),
    Rule("MRTR204", _N, "a question in an except handler", "it is reached again only if the same error comes again"),
    Rule(
        "MRTR205",
        _W,
        "a question inside of with",
        "the block is left and entered again in each round: ask before it, and open inside of it after the answers",
    ),
    Rule(
        "MRTR206",
        _W,
        "a time limit around a question",
        "people take longer than code: use ttl= of the tool, and put the limit around the work alone",
    ),
    Rule("MRTR207", _E, "a question in a task of its own", "ask in parallel with ctx.gather, else one after the other"),
    Rule("MRTR208", _E, "a sync function that asks", "make it `async def` and await the question in it"),
    Rule("MRTR209", _E, "asks outside of a request", "ask in a tool, where there is somebody to answer"),
    Rule(
        "MRTR210",
        _E,
        "asks outside of a tool: in a middleware, or in a low-level handler",
        "ask in the tools themselves",
    ),
    Rule(
        "MRTR211",
        _W,
        "goes by the text of an error",
        "ask ctx.session.check_client_capability, or catch the error's class; texts change",
    ),
    Rule(
        "MRTR212",
        _W,
        "a live object on both sides of a question",
        "make it anew after the question from what identifies it; the next round may be on another machine",
    ),
    Rule(
        "MRTR213",
        _W,
        "a module global as the memory of a session",
        "keep it in a local variable, or in ctx.once; the next round may be on another machine",
    ),
    Rule(
        "MRTR214",
        _W,
        "a decorator that repacks the parameters",
        "give it functools.wraps and let it hand on what it gets: *args, **kwargs",
    ),
    Rule(
        "MRTR215",
        _E,
        "a secret asked in a form",
        "forms pass through the client: let a person sign in on a page (ctx.elicit_url, ElicitUrl)",
    ),
    Rule("MRTR216", _N, "hands its context to code that is not here", "check that file too: it may ask"),
    Rule(
        "MRTR217",
        _W,
        "a model that calls tools",
        "each call of a tool is a round, and clients stop at about 10: bound it, or raise max_rounds=",
    ),
    Rule(
        "MRTR218",
        _W,
        "uses what a resumable context does not have",
        "take it from the server, or from an argument; see what ctx has in cookbook/PORTING.md",
    ),
    Rule(
        "MRTR219",
        _E,
        "a field that no form shows",
        "a list shows choices: list[Literal[...]] or list[an Enum]; give the fields of a model one by one",
    ),
    Rule("MRTR301", _W, "an input that is never read", "use the answer, or do not ask; a gate is a confirm()"),
    Rule(
        "MRTR302",
        _W,
        "a yes or no that looks like a gate",
        "confirm(...) takes only a yes that was given to the very text that was shown, and ends the call on a no",
    ),
    Rule(
        "MRTR303",
        _W,
        "a destructive tool that may run twice",
        "single_use=True: a round sent again acts no second time",
    ),
    Rule(
        "MRTR304",
        _W,
        "shown, and then read anew",
        "act on what was shown: ask for the value in a group above, @needs_input(price=quote)",
    ),
    Rule("MRTR900", _E, "cannot be read", "give a file with Python code of this version"),
    Rule("MRTR901", _E, "ignored without a reason", "say why: # mrtr: ignore[MRTR103] the stock never shrinks"),
    Rule("MRTR902", _W, "ignores what is not there", "take the comment away"),
)

RULES: Final[Mapping[str, Rule]] = MappingProxyType({rule.code: rule for rule in _RULES})
"""All rules by their codes."""
