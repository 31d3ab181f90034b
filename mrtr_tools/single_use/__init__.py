"""Claims: what makes ``single_use=True`` hold when the same request comes twice, to two machines, at the same time.

`MemoryClaims` is for one process whose states end with it, `SqliteClaims` for all processes of one machine, and
`mrtr_tools.single_use.redis.RedisClaims` for several machines.
"""

from mrtr_tools.single_use.ledger import Ledger
from mrtr_tools.single_use.memory import MemoryClaims
from mrtr_tools.single_use.sqlite import SqliteClaims
from mrtr_tools.single_use.store import ClaimStore

__all__ = ["ClaimStore", "Ledger", "MemoryClaims", "SqliteClaims"]
