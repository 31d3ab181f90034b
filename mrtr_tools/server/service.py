"""What every way of serving one toolbox shares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from mrtr_tools.calls import Call, Reply
from mrtr_tools.records import record
from mrtr_tools.server.load import Load
from mrtr_tools.server.stopping import GRACE
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mrtr_tools.runner import Start
    from mrtr_tools.single_use import Ledger
    from mrtr_tools.tasks.service import TaskService

__all__ = ["ANYBODY", "Service", "check_principal"]

ANYBODY: Final = (
    "callers over HTTP are not authenticated; whoever has a state and its arguments can go on with the call"
)
"""What a server says in its log, once, when nobody tells it who is calling."""


@record(eq=False)
class Service:
    """One toolbox, as a process serves it.

    Attributes:
        toolbox: what is served.
        signer: of its states.
        ledger: keeps what is used once; None where nothing is.
        load: what is under way.
        anonymous_ok: whether somebody who is not authenticated may open a page, use something once or have a task.
        tasks: keeps and runs calls that go on as tasks; None where none does.
        grace: seconds that functions of tasks may take when the process is told to stop.

    Raises:
        TypeError: `anonymous_ok` is neither True nor False: a text such as "no" would be a yes.
    """

    toolbox: Toolbox
    signer: StateSigner
    ledger: Ledger | None = None
    load: Load = field(default_factory=Load)
    anonymous_ok: bool = False
    tasks: TaskService | None = None
    grace: float = GRACE

    def __post_init__(self) -> None:
        if not isinstance(cast("object", self.anonymous_ok), bool):
            raise TypeError("anonymous_ok= is True or False")

    async def begin(self) -> None:
        """Begin with what goes on beside requests.

        Raises:
            DefinitionError: tasks cannot be kept where they are to be.
            InvalidKey: there are tasks that nobody here can open.
        """
        if self.tasks is not None:
            await self.tasks.check()
            self.tasks.begin()

    async def end(self) -> None:
        """End it, when what runs has ended or `grace` is over, and what must not be left half done is done."""
        if self.tasks is not None:
            await self.tasks.end(self.grace)
        if self.ledger is not None:
            await self.ledger.finish()

    def stop(self) -> None:
        """Begin nothing new."""
        self.load.stop()
        if self.tasks is not None:
            self.tasks.stop(self.grace)

    async def answer(self, call: Call, start: Start | None = None) -> Reply:
        """Play one round of a call.

        Args:
            call: the request.
            start: makes the call a task, in place of `tasks`.

        Raises:
            RequestError: the request cannot be served, or not now.
        """
        load, handle = self.load, _handler()
        load.begin(call.principal)
        try:
            if start is None and self.tasks is not None:
                start = self.tasks.start
            return await handle(self.toolbox, call, self.signer, ledger=self.ledger, is_busy=load.is_busy, start=start)
        finally:
            load.end(call.principal)


@cache  # a statement that imports what is there takes longer than to look at the headers of a request
def _handler() -> Callable[..., Awaitable[Reply]]:
    from mrtr_tools.runner import handle_call  # with asyncio and anyio, which a first question does not need

    return handle_call


def check_principal(principal: object) -> None:
    """Refuse what says of nobody who is calling; see `principals.Principal`.

    Raises:
        ValueError: it is neither "subject" nor "client" nor a function.
    """
    if principal not in ("subject", "client") and not callable(principal):
        raise ValueError(f'principal={principal!r} says of nobody who is calling: "subject", "client" or a function')
