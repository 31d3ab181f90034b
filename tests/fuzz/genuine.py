"""What a state holds, if it is genuine: read as its layout is documented, with nothing of `mrtr_tools.state`.

So whether a function was allowed to run does not depend on the code that let it run.
"""

import base64
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mrtr_tools.calls import arguments_digest
from mrtr_tools.errors import InvalidParams
from tests.fuzz.desk import KEY, toolbox

Json = Any


def derived(purpose: str, audience: str = toolbox.name) -> bytes:
    """HKDF-SHA256 (RFC 5869) for one block, without a salt."""
    extracted = hmac.digest(bytes(32), KEY.secret, "sha256")
    label = f"mrtr-tools/v1/{purpose}\0{audience}".encode()
    return hmac.digest(extracted, label + b"\x01", "sha256")


KEY_ID = derived("kid")[:4]
SIGN, SIGN_PLAIN, SEAL = derived("state/sign"), derived("state/sign-unsealed"), derived("state/seal")


def text_of(raw: bytes) -> str:
    """Unpadded base64url."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(raw: bytes) -> str:
    """A token with a genuine signature over any bytes."""
    body = text_of(raw)
    secret = SIGN if raw[:1] == b"\x01" else SIGN_PLAIN
    return f"{body}.{text_of(hmac.digest(secret, body.encode(), 'sha256'))}"


def sealed(payload: bytes, salt: bytes = bytes(24)) -> str:
    """A genuine token with any payload."""
    head = b"\x01" + KEY_ID + salt
    return signed(head + AESGCM(hmac.digest(SEAL, salt, "sha256")).encrypt(bytes(12), payload, head))


def payload_of(token: object) -> list[Json] | None:
    """What a sealed token holds; None for whatever is no genuine one, to the character."""
    if not isinstance(token, str) or not token.isascii():
        return None
    body = token.partition(".")[0]
    try:
        raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except ValueError:
        return None
    if raw[:5] != b"\x01" + KEY_ID or signed(raw) != token:
        return None
    head, salt = raw[:29], raw[5:29]
    return json.loads(AESGCM(hmac.digest(SEAL, salt, "sha256")).decrypt(bytes(12), raw[29:], head))


# Whether a function was allowed to run

YES = "yes"  # accepted, and true where there is something to say
NEEDS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "pay": ("tools/call", "", {"ok": YES}),
    "visit": ("tools/call", "", {"page": "accept"}),
    "consider, after a yes": ("tools/call", "", {"ok": YES}),
    "buy": ("tools/call", "", {"order": "accept"}),
    "fill": (
        "tools/call",
        "",
        dict.fromkeys(
            ["text", "number", "count", "flag", "day", "moment", "mail", "price", "one", "many", "pick"], "accept"
        ),
    ),
    "ask_around": ("tools/call", "", dict.fromkeys(["said", "heard", "roots", "seat"], "any")),
    "confirm_booking": ("tools/call", "confirm_booking", {"who.login": "accept", "ok": YES}),
    "account": ("tools/call", "confirm_booking", {"who.login": "accept"}),
    "letter": ("prompts/get", "", {"tone": "accept"}),
    "note": ("resources/read", "", {"ok": YES}),
}
"""Of each function that must be asked for: the method, the step, and what has to be answered, and how."""


def may_run(function: str, message: Json) -> bool:
    """Whether a request of 2026-07-28 has what a function needs: a genuine state of this very call, and the answers."""
    if function not in NEEDS:
        return True
    method, step, needed = NEEDS[function]
    params = message.get("params") if isinstance(message, dict) and message.get("method") == method else None
    if not isinstance(params, dict):
        return False
    payload = payload_of(params.get("requestState"))
    if payload is None:
        return False
    _, _, progress, bound_method, bound_target, bound_arguments, principal = payload
    is_resource = method == "resources/read"
    here = (method, params.get("uri" if is_resource else "name"), _digest({} if is_resource else params), None)
    if (bound_method, bound_target, bound_arguments, principal) != here or progress.get("step", "") != step:
        return False
    return all(_is_answered(progress, params.get("inputResponses"), path, how) for path, how in needed.items())


def _digest(params: Json) -> str | None:
    """Of the arguments of a request; None where they are none."""
    arguments = params.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        return None
    try:
        return arguments_digest(arguments or {})
    except (InvalidParams, TypeError, ValueError):
        return None


def _is_answered(progress: Json, responses: Json, path: str, how: str) -> bool:
    slots = progress.get("slots", {})
    if any(known in slots for known in (path, path.partition(".")[0])):
        return True
    keys = [key for key, row in progress.get("open", {}).items() if row[0] == path]
    given = responses if isinstance(responses, dict) else {}
    return any(is_answer(given[key], path, how) for key in keys if key in given)


def is_answer(response: Json, path: str, how: str) -> bool:
    """Whether a response can be an answer at all, and a yes where one is needed."""
    if not isinstance(response, dict):
        return False
    if how == "any":
        return True
    content = response.get("content")
    yes = how != YES or (isinstance(content, dict) and content.get(path) is True)
    return response.get("action") == "accept" and yes


def may_run_pushed(function: str, responses: Sequence[Json]) -> bool:
    """Whether an older client, which is asked in mid-call and has no state, gave the answers that a function needs."""
    _, _, needed = NEEDS.get(function, ("", "", {}))
    return all(
        any(is_answer(response, path.rpartition(".")[2], how) for response in responses) for path, how in needed.items()
    )
