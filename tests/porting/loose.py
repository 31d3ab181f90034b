"""The context of `resumable`, but a type checker takes its answers as they come: most tests know what was answered."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Context = Any
else:
    from mrtr_tools.porting import Context

__all__ = ["Context"]
