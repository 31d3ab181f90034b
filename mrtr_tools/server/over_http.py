"""Serving one toolbox over HTTP: as an application, and by itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, cast

from mrtr_tools.errors import DefinitionError
from mrtr_tools.server.claiming import Claims, starting_ledger
from mrtr_tools.server.envelope import MAX_REQUEST
from mrtr_tools.server.gate import App, Gate, is_loopback
from mrtr_tools.server.lean import LeanServer
from mrtr_tools.server.load import MAX_CALLS, MAX_CALLS_EACH, Load
from mrtr_tools.server.service import ANYBODY, Service, check_principal
from mrtr_tools.server.signing import TTL, Keys, KeysFile, starting_signer
from mrtr_tools.server.stopping import GRACE
from mrtr_tools.server.tasking import Tasks, serving_proposed_tasks, starting_tasks
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mrtr_tools.server.http import HttpEndpoint
    from mrtr_tools.server.principals import Principal

__all__ = ["http_app", "run_http"]

_log = logging.getLogger("mrtr_tools")

LOOPBACK_HOSTS: Final = [f"{host}{port}" for host in ("127.0.0.1", "localhost", "[::1]") for port in ("", ":*")]
LOOPBACK_ORIGINS: Final = [f"http://{host}" for host in LOOPBACK_HOSTS]


def run_http(
    toolbox: Toolbox,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    keys: Keys | None = None,
    keys_file: KeysFile | None = None,
    audience: str | None = None,
    ttl: float = TTL,
    max_age: float | None = None,
    claims: Claims | None = None,
    tasks: Tasks | None = None,
    task_keys: Keys | None = None,
    task_keys_file: KeysFile | None = None,
    sep_2322_tasks: bool = False,
    allowed_hosts: Sequence[str] | None = None,
    allowed_origins: Sequence[str] | None = None,
    max_request: int = MAX_REQUEST,
    anonymous_ok: bool = False,
    max_calls: int = MAX_CALLS,
    max_calls_each: int = MAX_CALLS_EACH,
    shed_when: Callable[[], bool] | None = None,
    grace: float = GRACE,
    lean: bool = True,
) -> None:
    """Serve over HTTP, at ``/mcp``, until SIGTERM or SIGINT, and return. For several processes, use `http_app`.

    Args:
        toolbox: what to serve.
        host: the interface to listen on.
        port: the port.
        keys: see `http_app`, as for all that follows.
        keys_file: see there.
        audience: see there.
        ttl: see there.
        max_age: see there.
        claims: see there.
        tasks: see there.
        task_keys: see there.
        task_keys_file: see there.
        sep_2322_tasks: see there.
        allowed_hosts: see there; must be given unless `host` is this machine alone.
        allowed_origins: see there.
        max_request: see there.
        anonymous_ok: see there.
        max_calls: see there.
        max_calls_each: see there.
        shed_when: see there.
        grace: seconds that calls under way may take when the process is told to stop. Nothing new is begun then. A step
            of single use is brought to its end, however long it takes.
        lean: see there.

    Raises:
        DefinitionError: a step opens a page or is of single use, and `anonymous_ok` or `claims` is not given.
        InvalidKey: there are no keys, one cannot be used, or they are given in two ways.
        OSError: `keys_file` cannot be read.
        ValueError: `allowed_hosts` is missing, or `ttl` or `max_age` is no positive number.
    """
    if allowed_hosts is None and not is_loopback(host):
        raise ValueError(
            f"host={host!r} lets other machines in: say by which names they call this one, "
            'allowed_hosts=["mcp.example.com"], or a web page could reach it by a name of its own'
        )
    app = http_app(
        toolbox,
        keys=keys,
        keys_file=keys_file,
        audience=audience,
        ttl=ttl,
        max_age=max_age,
        claims=claims,
        tasks=tasks,
        task_keys=task_keys,
        task_keys_file=task_keys_file,
        sep_2322_tasks=sep_2322_tasks,
        allowed_hosts=allowed_hosts,
        allowed_origins=allowed_origins,
        max_request=max_request,
        anonymous_ok=anonymous_ok,
        max_calls=max_calls,
        max_calls_each=max_calls_each,
        shed_when=shed_when,
        grace=grace,
        lean=lean,
    )
    from mrtr_tools.server.web import serve

    serve(app, host=host, port=port, grace=grace)


def http_app(
    toolbox: Toolbox,
    *,
    keys: Keys | None = None,
    keys_file: KeysFile | None = None,
    audience: str | None = None,
    ttl: float = TTL,
    max_age: float | None = None,
    claims: Claims | None = None,
    tasks: Tasks | None = None,
    task_keys: Keys | None = None,
    task_keys_file: KeysFile | None = None,
    sep_2322_tasks: bool = False,
    allowed_hosts: Sequence[str] | None = None,
    allowed_origins: Sequence[str] | None = None,
    max_request: int = MAX_REQUEST,
    anonymous_ok: bool = False,
    principal: Principal | None = None,
    max_calls: int = MAX_CALLS,
    max_calls_each: int = MAX_CALLS_EACH,
    shed_when: Callable[[], bool] | None = None,
    grace: float = GRACE,
    lean: bool = True,
) -> HttpEndpoint:
    """An ASGI application that serves a toolbox at ``/mcp``, to clients of 2026-07-28 and of older revisions.

    A call of 2026-07-28 needs no memory: any process that has the keys can serve any of its rounds. An older client has
    a session with one process. It runs on asyncio, as under uvicorn. An application that it is mounted in takes over
    its lifespan. To authenticate callers, by the middlewares of the SDK:

        inner = http_app(toolbox, principal="subject")
        app = Starlette(
            routes=[Mount("/", RequireAuthMiddleware(inner, required_scopes=[]))],
            middleware=[Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(token_verifier))],
            lifespan=inner.lifespan,
        )

    Args:
        toolbox: what to serve.
        keys: sign states, the current one first; by default `MRTR_TOOLS_KEYS`. All processes of a server share them.
        keys_file: a file of keys in place of `keys`, which only its owner may read, see `mrtr_tools.keys`.
        audience: keeps the states of different servers apart; by default the toolbox's name.
        ttl: seconds that a state lives, unless a tool has a `ttl` of its own. A person may take as long to answer.
        max_age: seconds that a call may take in all; by default a day, or the `ttl` that counts when that is longer.
        claims: where it is kept that a step with ``single_use=True`` ran, for all processes of the server to see: a
            file (SQLite) on one machine, ``redis://...`` for several, or a `ClaimStore`.
        tasks: where calls are kept that go on as durable tasks: a file (SQLite) on one machine, of this server alone;
            ``postgresql://...`` for several; or an `Engine`. Any process of the server shows, answers and runs any of
            them, and one that was told to stop or has died leaves them to others. Without it what may be a task goes on
            without.
        task_keys: seal the tasks, the current one first; they have to last as long as those. By default
            `MRTR_TOOLS_TASK_KEYS`; for a file, else one beside it, ``<file>.keys``, that is made where there is none.
        task_keys_file: a file of keys in place of `task_keys`.
        sep_2322_tasks: serve the tasks of SEP-2322 as it proposed them, too: `tasks/result`, `tasks/input_response` and
            a `task` parameter, in requests without the envelope that 2026-07-28 wants. That was superseded by the
            extension ``io.modelcontextprotocol/tasks``, which is served in any case, and is the only one advertised.
            See `mrtr_tools.server.proposed_tasks`.
        allowed_hosts: the values of the `Host` header to serve, such as ``mcp.example.com``, with ``:*`` for any port;
            by default those of this machine.
        allowed_origins: the values of the `Origin` header to serve, such as ``https://example.com``; by default those
            of this machine, or none when there are `allowed_hosts`. Programs send no such header and are served.
        max_request: bytes that the body of a request may have. A larger one gets 413.
        anonymous_ok: let steps open pages (`ElicitUrl`), and be of single use, although callers are not authenticated
            here. Whoever is sent the link then acts in the call of whoever sent it, and whoever has a state gets what
            its call left; so only where all who reach the server are one person.
        principal: what of an access token says who is calling, see `principals.Principal`. Given, callers have to be
            authenticated, and a request without a user in its scope gets 500.
        max_calls: calls that a process serves at a time. One more is answered with an error (-31001, `data.reason`
            ``overloaded``) and not begun; whoever sent it may send it again.
        max_calls_each: how many of them may be of one principal.
        shed_when: asked after each `then`; while it says so, and while the process stops, the call is handed back with
            its state and no question, so that its client sends it again at once, perhaps to another process. At most 2
            times in a row and 3 in a call; only clients of 2026-07-28. None, and calls stay where they are.
        grace: seconds that functions of tasks may take when the process is told to stop; calls have the time that
            whoever serves this gives them.
        lean: serve requests of 2026-07-28 without the SDK, which is many times faster. What needs an event stream goes
            to the SDK all the same: calls with a `progressToken`, and older clients. False leaves everything to it.

    Raises:
        DefinitionError: a step opens a page or is of single use, and neither `anonymous_ok` nor `principal` is given;
            one is of single use, and there are no `claims`; or there are no tasks for `sep_2322_tasks`.
        InvalidKey: there are no keys, one cannot be used, or they are given in two ways.
        OSError: `keys_file` cannot be read.
        TypeError: one text was given in place of a list, or `anonymous_ok` is neither True nor False.
        ValueError: `allowed_origins` lets in anybody, `principal` is none, or a number is not positive.
    """
    from mrtr_tools.server.handover import SdkApp  # with asyncio, which a program that may serve stdio need not have
    from mrtr_tools.server.http import HttpEndpoint

    hosts = _listed("allowed_hosts", allowed_hosts, LOOPBACK_HOSTS)
    origins = _listed("allowed_origins", allowed_origins, LOOPBACK_ORIGINS if allowed_hosts is None else ())
    gate = Gate(hosts, origins, max_request)
    if principal is not None:
        check_principal(principal)
    else:
        _check_anonymous(toolbox, anonymous_ok=anonymous_ok)
    signer = starting_signer(toolbox, keys, keys_file=keys_file, audience=audience, ttl=ttl, max_age=max_age)
    ledger = starting_ledger(toolbox, signer, claims)
    load = Load(max_calls=max_calls, max_calls_each=max_calls_each, shed_when=shed_when)
    kept = starting_tasks(toolbox, signer, ledger, tasks, task_keys=task_keys, task_keys_file=task_keys_file)
    service = Service(toolbox, signer, ledger, load, anonymous_ok, kept, grace)
    proposed = serving_proposed_tasks(service, wanted=sep_2322_tasks)
    if principal is None:
        _log.warning("%s: %s", toolbox.name, ANYBODY)

    def sdk_app() -> App:
        from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
        from mcp.server.transport_security import TransportSecuritySettings

        from mrtr_tools.server.alone import server_for

        allowed = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
        server = server_for(service, principal or "subject")
        app = server.streamable_http_app(transport_security=allowed, max_request_body_size=max_request)
        return AuthContextMiddleware(app)

    served = LeanServer(service) if lean else None
    return HttpEndpoint(gate, served, SdkApp(sdk_app), principal=principal, service=service, proposed=proposed)


def _check_anonymous(toolbox: Toolbox, *, anonymous_ok: bool) -> None:
    """Refuse what must be for somebody in particular: of a page somebody else may be sent the link, and sign in for the
    caller; and what is used once would be used by whoever has the state."""
    wrong = {
        "ask to open a page": dict.fromkeys(toolbox.steps.asking("url")),
        "may run once in a call": toolbox.steps.used_once,
        "can only go on as a task": [
            step.name for step in toolbox.steps.as_tasks if step.task and step.task.is_required
        ],
    }
    for what, steps in wrong.items():
        if steps and not anonymous_ok:
            raise DefinitionError(
                f"{toolbox.name}: {', '.join(steps)} {what}, and over HTTP nobody knows for whom: give http_app() "
                "principal= behind a middleware that authenticates callers, attach the toolbox to an MCPServer with "
                "auth=, or give anonymous_ok=True where all callers are one person"
            )


def _listed(name: str, given: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    if isinstance(cast("object", given), str):
        raise TypeError(f"{name} must be a list, not one text: {name}=[{given!r}]")
    return list(default if given is None else given)
