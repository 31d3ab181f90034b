"""What a task holds: the call it began as, how far that is, and what came of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from pydantic import JsonValue

from mrtr_tools import base64url
from mrtr_tools.calls import Call, Channel, Client
from mrtr_tools.progress import Progress
from mrtr_tools.tasks.engine import ENDED, Status

__all__ = ["Record", "Task", "is_task_id", "owner_of", "task_id"]

Json = dict[str, JsonValue]

NOT_TAKEN: Final = ("born", "rounds", "is_task")
SIZE: Final = 18  # bytes, which are 24 characters
ID: Final = re.compile(r"[A-Za-z0-9_-]{24}")


@dataclass(slots=True, repr=False)
class Record:
    """A task as it is written down.

    Attributes:
        call: the request that made it one, as JSON: what is called, by whom, and what their client can be asked.
        began: digests of what it began with and of the request that began it, to tell a repeat from another fork of the
            call. The same request is one also where a function gave something else the second time.
        progress: how far the call is.
        requests: the questions that are open, by wire key.
        result: of a task that is ``completed``, as it goes over the wire.
        error: of one that is ``failed``: a JSON-RPC error object.
    """

    call: Json
    began: list[JsonValue]
    progress: Progress
    requests: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict[str, Mapping[str, JsonValue]])
    result: Json | None = None
    error: Json | None = None

    def to_json(self) -> Json:
        """A JSON object that `from_json` reads."""
        asked: JsonValue = {key: dict(request) for key, request in self.requests.items()}
        progress = self.progress.to_json()
        data: Json = {"call": self.call, "began": list(self.began), "progress": progress, "requests": asked}
        if self.result is not None:
            data["result"] = self.result
        if self.error is not None:
            data["error"] = self.error
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        """Read what `to_json` wrote.

        Raises:
            ValueError: another build wrote it, in a format that this one does not read.
        """
        fields: dict[str, Any] = {**data, "progress": Progress.from_json(data["progress"])}
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError("not a task") from error

    def is_repeat_of(self, other: Record) -> bool:
        """Whether the request that begins it has begun the other one already."""
        return any(mine == theirs for mine, theirs in zip(self.began, other.began, strict=True))

    def call_with(self, responses: Mapping[str, JsonValue], channel: Channel | None, lifespan: Any) -> Call:
        """The call, as if its client had sent it again with these responses."""
        told = cast("dict[str, Any]", self.call)
        client = Client(told["capabilities"], told["name"], told["version"])
        return Call(
            told["target"],
            told["arguments"],
            responses,
            principal=told["principal"],
            client=client,
            channel=channel,
            lifespan=lifespan,
            anonymous_ok=told["anonymous_ok"],
        )

    @classmethod
    def of(cls, call: Call, progress: Progress) -> Record:
        """What a call holds when it becomes a task."""
        told: Json = {
            "target": call.target,
            "arguments": dict(call.arguments),
            "principal": call.principal,
            "capabilities": dict(call.client.capabilities),
            "name": call.client.name,
            "version": call.client.version,
            "anonymous_ok": call.anonymous_ok,
        }
        return cls(told, _began(call, progress), progress)


@dataclass(frozen=True, slots=True)
class Task:
    """A task as its client sees it.

    Attributes:
        id: names it.
        status: how it is.
        message: what it is doing, for people; or None.
        created: when it began, in seconds since 1970.
        updated: when it last changed.
        ttl: seconds from its beginning on that it is kept; None for ever.
        requests: the questions that are open, by wire key, each ``{"method": ..., "params": ...}``.
        result: of one that is ``completed``, as it goes over the wire.
        error: of one that is ``failed``: a JSON-RPC error object.
    """

    id: str
    status: Status
    message: str | None
    created: float
    updated: float
    ttl: float | None
    requests: Mapping[str, Mapping[str, JsonValue]] = field(
        repr=False, default_factory=dict[str, Mapping[str, JsonValue]]
    )
    result: Mapping[str, JsonValue] | None = field(default=None, repr=False)
    error: Mapping[str, JsonValue] | None = field(default=None, repr=False)

    @property
    def has_ended(self) -> bool:
        """Whether it can change no more."""
        return self.status in ENDED


def owner_of(audience: str, principal: str | None) -> str:
    """How a store knows whose a task is, which tells nobody who that is."""
    return _digest(["task/owner", audience, principal]).hex()[:32]


def task_id(audience: str, principal: str | None, progress: Progress, step: str) -> str:
    """The id of the task that a call becomes at a step: the same when its state is sent again.

    Whoever knows the id of the call could tell it, so a task is shown to its owner alone.
    """
    place: list[JsonValue] = ["task", audience, principal, progress.call, step, progress.n]
    return base64url.encode(_digest(place)[:SIZE]).decode()


def is_task_id(text: str) -> bool:
    """Whether this can be the id of a task. Not every database can be asked for any text at all."""
    return ID.fullmatch(text) is not None


def _began(call: Call, progress: Progress) -> list[JsonValue]:
    """With the id of the call in them, so that nobody can try out what gives these."""
    taken: Json = {name: value for name, value in progress.to_json().items() if name not in NOT_TAKEN}
    sent: Json = {"call": progress.call, "state": call.state, "responses": dict(call.responses)}
    return [_digest(taken).hex()[:32], _digest(sent).hex()[:32]]


def _digest(value: JsonValue) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()
