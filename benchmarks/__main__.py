"""Measure everything and print one table; exits 1 when a bound is missed."""

import asyncio

from benchmarks import growth, in_process
from benchmarks.measuring import report


async def main() -> int:
    return report([*await growth.measured(), *await in_process.measured()])


raise SystemExit(asyncio.run(main()))
