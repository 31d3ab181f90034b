"""Changes to inputs that stay near to what they were: to the members of JSON, line by line, and to single bytes.

Objects are lists of members here, so that a name can be there twice; what JSON has no word for, and what its readers
disagree about, is written as it is.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

Mutate = Callable[[bytes, int], bytes]


class Members(list[Any]):
    """An object: its names with their values."""


class Raw(str):
    """Text that stands in JSON as it is."""

    __slots__ = ()


NASTY: Final[Sequence[Any]] = (
    *(None, True, False, 0, -1, 1, 2**53, 2**63, -(2**64), 10**30, 0.5, -0.0, 1e308),
    *("", " ", "true", "accept", "decline", "yes", "\0", "é", "\u202e", "\u2028", "a" * 300, "9" * 50, "1e3000000"),
    *([], Members(), [None], Members([("", None)]), [[]], "{flight.f.__globals__}", "..", "%2e%2e", "notes://a/b"),
    *map(Raw, ("1e400", "-1e400", "NaN", "Infinity", "-0", "1.0", "1E2", '"\\ud800"', '"\\u0000"', "9" * 5000)),
    *(Raw("[" * depth + "]" * depth) for depth in (70, 300, 1100)),
    *(Raw('{"a":' * depth + "1" + "}" * depth) for depth in (70, 300, 1100)),
    Raw("[" + "0," * 300 + "0]"),
    Raw("{" + ",".join(f'"k{number}":1' for number in range(300)) + "}"),
)
NAMES: Final[Sequence[str]] = (
    *("jsonrpc", "id", "method", "params", "_meta", "name", "uri", "arguments", "requestState", "inputResponses"),
    *(
        "action",
        "content",
        "result",
        "error",
        "progressToken",
        "cursor",
        "task",
        "roots",
        "role",
        "model",
        "ok",
        "ok-2",
    ),
    *(
        "text",
        "count",
        "value",
        "members",
        "who.login",
        "",
        "__proto__",
        "__class__",
        "io.modelcontextprotocol/logLevel",
    ),
)


def scrambled(data: bytes, longest: int, chance: random.Random) -> bytes:
    """Some bytes changed, put in, taken out or doubled."""
    held = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(held) + 1)
        match chance.randrange(4):
            case 0:
                held[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                held[at:at] = bytes([chance.choice(b'{}[]",:\\0 9.eE-ntf\xff')])
            case 2:
                del held[at : at + chance.choice((1, 1, 2, 8, 64))]
            case _:
                held[at:at] = held[at : at + chance.choice((1, 4, 16, 64))]
    return bytes(held[:longest])


class Mutations:
    """Makes new inputs of old ones.

    Args:
        seeds: what to begin with, and to take parts from.
        bytewise: changes bytes, given the most that there may be; `scrambled` by default.
    """

    def __init__(self, seeds: Sequence[bytes], bytewise: Mutate | None = None) -> None:
        self._seeds = seeds
        self._parts = [part for seed in seeds for line in seed.split(b"\n") for part in _parts(_read(line))]
        self._bytewise = bytewise

    def __call__(self, data: bytes, longest: int, seed: int) -> bytes:
        """A new input of at most `longest` bytes."""
        chance = random.Random(seed)
        if len(data) < 2 or chance.random() < 0.05:
            return chance.choice(self._seeds)[:longest]
        if chance.random() < 0.5:
            return self._bytes(data, longest, chance)
        try:
            changed = self._lines(data.split(b"\n"), chance)
        except RecursionError:  # so deep that nothing in here can write it
            changed = None
        if changed is None or len(changed) > longest:
            return self._bytes(data, longest, chance)
        return changed

    def _lines(self, lines: list[bytes], chance: random.Random) -> bytes | None:
        """Lines with one put in, or with one changed; None where that one is no JSON."""
        at = chance.randrange(len(lines))
        if chance.random() < 0.1:
            lines[at:at] = [chance.choice(chance.choice(self._seeds).split(b"\n"))]
            return b"\n".join(lines)
        tree = _read(lines[at])
        if tree is None:
            return None
        for _ in range(chance.choice((1, 1, 2, 3))):
            tree = self._changed(tree, chance)
        lines[at] = _written(tree).encode("utf-8", "surrogatepass")
        return b"\n".join(lines)

    def _bytes(self, data: bytes, longest: int, chance: random.Random) -> bytes:
        if self._bytewise is not None and chance.random() < 0.7:
            return self._bytewise(data, longest)
        return scrambled(data, longest, chance)

    def _changed(self, tree: Any, chance: random.Random) -> Any:
        """One value in a tree changed, its name, or whether it is there."""
        places = list(_places(tree))
        if not places:
            return self._new(chance)
        holder, at = chance.choice(places)
        name, value = holder[at] if isinstance(holder, Members) else (None, holder[at])
        match chance.randrange(7):
            case 0:
                del holder[at]
            case 1 if name is not None:
                holder.insert(at, (name, self._new(chance)))
            case 2 if name is not None:
                holder[at] = (chance.choice(NAMES), value)
            case 3 if name is not None:
                holder.append((chance.choice(NAMES), self._new(chance)))
            case 4 if isinstance(value, str) and not isinstance(value, Raw):
                new = scrambled(value.encode("utf-8", "surrogatepass"), 10_000, chance).decode("utf-8", "replace")
                holder[at] = new if name is None else (name, new)
            case 5:
                wrapped = chance.choice(([value], Members([(chance.choice(NAMES), value)])))
                holder[at] = wrapped if name is None else (name, wrapped)
            case _:
                holder[at] = self._new(chance) if name is None else (name, self._new(chance))
        return tree

    def _new(self, chance: random.Random) -> Any:
        return _copied(chance.choice(NASTY if chance.random() < 0.6 or not self._parts else self._parts))


def _read(line: bytes) -> Any:
    """A line as a tree; None for what is no JSON."""
    try:
        return json.loads(line, object_pairs_hook=Members, parse_float=Raw, parse_constant=Raw)
    except (ValueError, RecursionError):
        return None


def _written(tree: Any) -> str:
    """A tree as JSON."""
    match tree:
        case Raw():
            return str(tree)
        case Members():
            return "{" + ",".join(f"{json.dumps(name)}:{_written(value)}" for name, value in tree) + "}"
        case list():
            return "[" + ",".join(map(_written, tree)) + "]"
        case _:
            return json.dumps(tree)


def _copied(tree: Any) -> Any:
    if isinstance(tree, Members):
        return Members((name, _copied(value)) for name, value in tree)
    return [_copied(value) for value in tree] if isinstance(tree, list) else tree


def _places(tree: Any) -> Iterator[tuple[Any, int]]:
    """Where there are values: what holds each, and at which place."""
    if not isinstance(tree, list):
        return
    for at, held in enumerate(tree):
        yield tree, at
        yield from _places(held[1] if isinstance(tree, Members) else held)


def _parts(tree: Any) -> Iterator[Any]:
    for holder, at in _places(tree):
        yield holder[at][1] if isinstance(holder, Members) else holder[at]
