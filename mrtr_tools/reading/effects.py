"""What a call does to the world, or learns of it, as far as its name tells."""

from __future__ import annotations

import ast
import re
from enum import Enum
from typing import Final

from mrtr_tools.reading.functions import Function, Module, last_name

__all__ = ["Kind", "is_grave", "kind_of"]


class Kind(Enum):
    """Why it matters that a call runs again."""

    ACTS = "MRTR101"
    MAY_ACT = "MRTR102"
    LIVE = "MRTR103"
    CLOCK = "MRTR104"
    RANDOM = "MRTR105"


_CLOCK: Final = re.compile(
    r"time\.(time|time_ns|localtime|gmtime|ctime|strftime)"  # what only measures how long is no matter
    r"|(datetime\.)?(datetime|date)\.(now|utcnow|today)|(pendulum|arrow)\.(now|utcnow)"
)
_RANDOM: Final = re.compile(
    r"uuid\.uuid[1-8]|uuid4|secrets\.(token_\w+|choice|randbelow|randbits)|random\.\w+|os\.urandom"
    r"|(numpy|np)\.random\.\w+|nanoid\.generate|tempfile\.\w+"
)
_ACTS: Final = re.compile(
    r"os\.(remove|unlink|rename|renames|replace|rmdir|removedirs|makedirs|mkdir|system|kill|killpg|chmod|chown|symlink"
    r"|link|truncate|putenv|execv\w*|spawn\w+)"
    r"|shutil\.(rmtree|move|copy|copy2|copyfile|copytree|chown|make_archive|unpack_archive)"
    r"|subprocess\.\w+|asyncio\.(subprocess\.)?create_subprocess_\w+|anyio\.(run_process|open_process)"
    r"|(requests|httpx|aiohttp)\.(post|put|patch|delete)|smtplib\.\w+\.(send\w+)|webbrowser\.open\w*"
    r"|stripe\.\w+\.(create|capture|cancel|modify|delete|confirm)|urllib\.request\.urlretrieve"
)
_ACTS_METHOD: Final = {
    "write_text", "write_bytes", "unlink", "rmdir", "touch", "mkdir", "rmtree", "commit", "sendmail", "send_message",
    "executemany", "executescript", "put_object", "delete_object", "upload_file", "upload_fileobj", "put_item",
    "delete_item", "insert_one", "insert_many", "update_one", "update_many", "delete_one", "delete_many",
    "replace_one", "bulk_write",
}  # fmt: skip
_HTTP_METHOD: Final = {"post", "put", "patch", "delete"}
_LIVE: Final = re.compile(
    r"(requests|httpx|aiohttp)\.(get|head|request)|urllib\.request\.urlopen|os\.(listdir|scandir|walk|stat)"
    r"|os\.path\.(exists|isfile|isdir|getsize|getmtime)|glob\.i?glob|psutil\.\w+|socket\.\w+"
)
_LIVE_METHOD: Final = {"read_text", "read_bytes", "fetchall", "fetchone", "iterdir", "exists", "is_file", "is_dir"}
_WRITES: Final = re.compile(
    r"\s*(insert|update|delete|replace|create|drop|alter|truncate|merge|grant)\b", re.IGNORECASE
)
_VERBS: Final = {
    "add", "approve", "authenticate", "book", "buy", "cancel", "charge", "checkout", "commit", "create", "delete",
    "deploy", "destroy", "disable", "drop", "email", "enable", "enqueue", "exec", "execute", "grant", "insert", "kill",
    "launch", "log", "login", "merge", "move", "notify", "order", "patch", "pay", "place", "post", "provision",
    "publish", "purchase", "push", "put", "record", "refund", "register", "release", "remove", "rename", "reserve",
    "reset", "restart", "revoke", "rotate", "run", "save", "schedule", "send", "start", "stop", "store", "submit",
    "terminate", "transfer", "trigger", "update", "upload", "upsert", "wipe", "withdraw", "write",
}  # fmt: skip
_SYNC_VERBS: Final = {
    "cancel", "charge", "delete", "deploy", "destroy", "drop", "email", "insert", "login", "notify", "pay", "provision",
    "publish", "purchase", "refund", "remove", "save", "send", "submit", "terminate", "transfer", "update", "upload",
    "write",
}  # fmt: skip
"""What is said of something outside, also where nothing is awaited; to create or to add is often done in memory."""

_LATER: Final = {"start_soon", "create_task", "add_task"}
"""What runs something beside the body; that is judged where it asks."""

_GRAVE: Final = {
    "authenticate", "book", "buy", "cancel", "charge", "checkout", "create", "delete", "deploy", "destroy", "drop",
    "email", "insert", "login", "notify", "order", "pay", "place", "post", "provision", "publish", "purchase", "refund",
    "remove", "reserve", "send", "submit", "terminate", "transfer", "upload", "withdraw",
}  # fmt: skip
_HARMLESS: Final = re.compile(
    r"(logging|logger|log|_log|_logger|console|structlog|warnings)(\.\w+)+|asyncio\.\w+|anyio\.\w+|trio\.\w+"
    r"|(pydantic\.)?create_model|print|dataclasses\.\w+|json\.\w+|re\.\w+|functools\.\w+|itertools\.\w+"
    r"|(mcp|mcp_types|fastmcp|mrtr_tools)\.[\w.]+"
)


def kind_of(module: Module, call: ast.Call, function: Function | None) -> Kind | None:
    """What a call does that should not happen in each round again; None for what seems pure.

    Awaited calls of what is not known are taken for reading live data. Calls of functions whose body can be read are
    not judged here.
    """
    name = module.full_name(call.func) or ""
    if _CLOCK.fullmatch(name):
        return Kind.CLOCK
    if _RANDOM.fullmatch(name):
        return Kind.RANDOM
    if name in ("open", "io.open", "aiofiles.open", "anyio.open_file"):
        return Kind.ACTS if _opens_to_write(call) else Kind.LIVE
    if _ACTS.fullmatch(name):
        return Kind.ACTS
    if _LIVE.fullmatch(name):
        return Kind.LIVE
    if not name or _HARMLESS.fullmatch(name) or name.partition(".")[0] in _contexts(function):
        return None
    return _by_method(call, name, awaited=isinstance(module.source.parents.get(call), ast.Await))


def _contexts(function: Function | None) -> frozenset[str]:
    return function.contexts if function is not None else frozenset()


def _by_method(call: ast.Call, name: str, *, awaited: bool) -> Kind | None:
    method = last_name(call.func)
    is_method = isinstance(call.func, ast.Attribute)
    if method == "execute" and call.args and isinstance(call.args[0], ast.Constant):
        return Kind.ACTS if _WRITES.match(str(call.args[0].value)) else Kind.LIVE
    if is_method and method in _ACTS_METHOD:
        return Kind.ACTS
    if (
        is_method
        and method in _HTTP_METHOD
        and (awaited or re.search(r"client|session|http|api", name.rpartition(".")[0]))
    ):
        return Kind.ACTS
    if method in _LATER:
        return None
    verb = _verb(method)
    if verb in _VERBS if awaited else verb in _SYNC_VERBS and (not is_method or "_" in method.strip("_")):
        return Kind.MAY_ACT
    return Kind.LIVE if awaited or (is_method and method in _LIVE_METHOD) else None


def is_grave(module: Module, call: ast.Call) -> bool:
    """Whether a call that may act does so outside of this process, if its name tells the truth."""
    words = re.findall(r"[A-Z]?[a-z0-9]+", last_name(call.func))
    return isinstance(module.source.parents.get(call), ast.Await) and bool(words) and words[0] in _GRAVE


def _verb(name: str) -> str:
    """The first word of a function's name; none of a class's."""
    words = re.findall(r"[A-Z]?[a-z0-9]+", name)
    return words[0] if words and words[0].islower() else ""


def _opens_to_write(call: ast.Call) -> bool:
    mode = next(
        (each.value for each in call.keywords if each.arg == "mode"), call.args[1] if len(call.args) > 1 else None
    )
    return isinstance(mode, ast.Constant) and any(letter in str(mode.value) for letter in "wax+")
