"""What runs once in a call, whatever is sent again: what is claimed for it, and what is kept of it.

A client can send a state again, and answer otherwise. So not the state is claimed but the effect: a step by its place
in the call, and on a tool each round as well. Nothing in here keeps a claim; that is `single_use`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from pydantic import JsonValue

from mrtr_tools.calls import Call
from mrtr_tools.progress import Progress
from mrtr_tools.records import record
from mrtr_tools.values import Codec

__all__ = ["Claim", "OnCrash", "Once", "claim_rest", "claim_round", "claim_step"]

OnCrash = Literal["refuse", "rerun"]
"""What becomes of a step whose process ended inside it: nobody runs it again, or the next who asks for it does."""

ROUND: Final = "round"
STEP: Final = "step"


@record
class Once:
    """That a step runs once.

    Attributes:
        name: what claims call the step: the oldest of its names, so that every build claims the same.
        result: what the step returns, into JSON and back.
        on_crash: what becomes of it when its process ends inside it.
    """

    name: str
    result: Codec = field(repr=False)
    on_crash: OnCrash = "refuse"


@record
class Claim:
    """What must be claimed before a driver goes on.

    Attributes:
        place: what is claimed, without the server: the call and where it stands. The same in all forks of the call.
        inputs: a digest of what it would be done with.
        request: a digest of the request that it would be done for; the same request is a repeat also where a function
            gives something else the second time. Empty where `inputs` tell as much.
        born: when the call's first state was minted, in seconds since 1970.
        on_crash: as in `Once`.
        ttl: seconds that a state of the tool lives, or None for those of the server.
    """

    place: tuple[str, ...]
    inputs: str
    born: int
    on_crash: OnCrash = "refuse"
    ttl: float | None = None
    request: str = ""


def claim_step(progress: Progress, once: Once, call: Call, ttl: float | None = None) -> Claim:
    """The claim on the current step, which the call came to by `then` as often as its progress says."""
    place = (STEP, progress.call, once.name, str(progress.visits.get(once.name, 0)))
    taken = {
        "given": progress.given,
        "defaults": progress.defaults,
        "carried": progress.carried,
        "same": sorted(progress.same),
        "answers": {path: [slot.value, slot.refused] for path, slot in progress.slots.items()},
    }
    sent = [call.state, dict(call.responses)]
    return Claim(place, _digest(place, taken), progress.born, once.on_crash, ttl, _digest(place, sent))


def claim_round(
    progress: Progress, responses: Mapping[str, JsonValue], on_crash: OnCrash, ttl: float | None = None
) -> Claim:
    """The claim on the round that begins with `progress` and these responses, of which only those to open questions
    count."""
    place = (ROUND, progress.call, str(progress.rounds))
    taken = {key: responses[key] for key in progress.open if key in responses}
    return Claim(place, _digest(place, [progress.to_json(), taken]), progress.born, on_crash, ttl)


def claim_rest(progress: Progress, on_crash: OnCrash, ttl: float | None = None) -> Claim:
    """The claim on what is left of a round that was cut short, from `progress` on."""
    left = _digest((), progress.to_json())
    return Claim((ROUND, progress.call, str(progress.rounds), left), left, progress.born, on_crash, ttl)


def _digest(place: tuple[str, ...], taken: object) -> str:
    """With the call's id in it, so that whoever can read where claims are kept cannot try out what gives this."""
    return hashlib.sha256(json.dumps([place, taken], sort_keys=True).encode()).hexdigest()[:32]
