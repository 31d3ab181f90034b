"""Writing code that asks anew: what `mrtr-tools port` does. It needs the extra ``port``."""

from mrtr_tools.rewriting.outcomes import Outcome, Reason, Rewritten, Verdict
from mrtr_tools.rewriting.port import port

__all__ = ["Outcome", "Reason", "Rewritten", "Verdict", "port"]
