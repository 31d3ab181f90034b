"""What every way of serving one toolbox shares."""

from __future__ import annotations

from dataclasses import dataclass, field

from mrtr_tools.calls import Call, Reply
from mrtr_tools.runner import handle_call
from mrtr_tools.server.load import Load
from mrtr_tools.single_use import Ledger
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

__all__ = ["Service"]


@dataclass(frozen=True, slots=True, eq=False)
class Service:
    """One toolbox, as a process serves it.

    Attributes:
        toolbox: what is served.
        signer: of its states.
        ledger: keeps what is used once; None where nothing is.
        load: what is under way.
        anonymous_ok: whether somebody who is not authenticated may be sent to a page, or use something once.
    """

    toolbox: Toolbox
    signer: StateSigner
    ledger: Ledger | None = None
    load: Load = field(default_factory=Load)
    anonymous_ok: bool = False

    async def answer(self, call: Call) -> Reply:
        """Play one round of a call.

        Raises:
            RequestError: the request cannot be served, or not now.
        """
        with self.load.call(call.principal):
            return await handle_call(self.toolbox, call, self.signer, ledger=self.ledger, is_busy=self.load.is_busy)
