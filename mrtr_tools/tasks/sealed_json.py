"""What stands in the tables of DBOS: JSON of a few shapes, sealed; and that nothing else is read from there.

DBOS keeps beside each text which serializer wrote it, and reads pickles where that says so, whatever serializer it was
given. Whoever could write to the database could then run code in every process.
"""

from __future__ import annotations

import base64
import binascii
import json
from importlib import import_module
from typing import Any, Final, cast

import dbos

from mrtr_tools.sealing import Sealer

__all__ = ["SealedJson", "refuse_others"]

CONTEXT: Final = b"mrtr_tools"
OTHERS: Final = {"DBOSDefaultSerializer": "gAROLg==", "DBOSPortableJSON": "null"}
"""The serializers that DBOS always has at hand, and nothing at all as each of them writes it."""

_serialization: Any = import_module("dbos._serialization")


class SealedJson(dbos.Serializer):
    """What DBOS keeps of a workflow: two texts, a yes or no, or that something went wrong. JSON, sealed."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer

    def name(self) -> str:
        """As it stands beside what it wrote."""
        return "mrtr_tools_sealed"

    def serialize(self, data: Any) -> str:
        """Write it."""
        if isinstance(data, BaseException):  # its text may hold anything
            data = {"error": type(data).__name__}
        text = json.dumps(data, allow_nan=False, separators=(",", ":")).encode()
        return base64.b64encode(self._sealer.seal(text, CONTEXT)).decode()

    def deserialize(self, serialized_data: str) -> Any:
        """Read it.

        Raises:
            ValueError: it is not what `serialize` writes.
        """
        try:
            sealed = base64.b64decode(serialized_data, validate=True)
        except (binascii.Error, TypeError):
            raise ValueError("it is not sealed") from None
        return _read(json.loads(self._sealer.open(sealed, CONTEXT)))


class NotSealed(ValueError):
    """What is to be read was written by another serializer."""


class Refusing(dbos.Serializer):
    """Stands in the place of another that DBOS would use for rows that say so, whoever wrote them.

    Args:
        name: the other's.
        ours: what is written in its place, which is that it could not be read.
    """

    def __init__(self, name: str, ours: dbos.Serializer) -> None:
        self._name = name
        self._ours = ours

    def name(self) -> str:
        """The other's."""
        return self._name

    def serialize(self, data: Any) -> str:
        """Write it as ours."""
        return self._ours.serialize(data)

    def deserialize(self, serialized_data: str) -> Any:  # noqa: ARG002
        """Refuse.

        Raises:
            NotSealed: always.
        """
        raise NotSealed(f"{self._name} is not read in a process that runs tasks of mrtr_tools")


def refuse_others(serializer: dbos.Serializer) -> None:
    """Have DBOS read nothing in this process but what `serializer` wrote; also when it no longer runs, for it leaves
    threads behind that may read a little longer.

    Raises:
        RuntimeError: this DBOS does it in some other way.
    """
    for name, nothing in OTHERS.items():
        other = getattr(_serialization, name)
        if isinstance(other, Refusing):
            continue
        setattr(_serialization, name, Refusing(other.name(), serializer))
        if not _is_refused(nothing, other.name(), serializer):
            setattr(_serialization, name, other)
            raise RuntimeError(f"this release of DBOS reads {other.name()} from its tables: use dbos>=3.4,<4")


def _read(data: Any) -> Any:
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, dict):
        found = cast("dict[str, Any]", data)
        if found.keys() == {"error"} and isinstance(found["error"], str):
            return RuntimeError(found["error"])
        if found.keys() == {"args", "kwargs"} and not found["kwargs"] and isinstance(found["args"], list):
            args = cast("list[object]", found["args"])
            if len(args) == 2 and all(isinstance(each, str) for each in args):  # noqa: PLR2004  a task and its owner
                return {"args": tuple(args), "kwargs": {}}
    raise ValueError("it is nothing that is kept there")


def _is_refused(text: str, name: str, serializer: dbos.Serializer) -> bool:
    for what in ("value", "args", "exception"):
        try:
            getattr(_serialization, f"deserialize_{what}")(text, name, serializer)
        except NotSealed:
            continue
        except Exception:  # noqa: BLE001  it was read, then, and was not what was looked for
            return False
        return False
    return True
