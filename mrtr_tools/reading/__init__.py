"""Reading code that asks, without running it: what `mrtr-tools check` reports, and `mrtr-tools port` goes by."""

from mrtr_tools.reading.checking import check
from mrtr_tools.reading.rules import RULES, Finding, Rule, Severity
from mrtr_tools.reading.sources import Source, parse_source, read_source

__all__ = ["RULES", "Finding", "Rule", "Severity", "Source", "check", "parse_source", "read_source"]
