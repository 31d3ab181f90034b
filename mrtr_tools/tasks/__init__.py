"""Durable tasks: the steps of a call that goes on when its request is over."""

from __future__ import annotations

from mrtr_tools.tasks.engine import ENDED, Engine, GaveUp, Leg, Row, Status
from mrtr_tools.tasks.memory import MemoryEngine

__all__ = ["ENDED", "Engine", "GaveUp", "Leg", "MemoryEngine", "Row", "Status"]
