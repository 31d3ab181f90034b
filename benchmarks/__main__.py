"""Measure everything and print one table after the other; exits 1 when a bound is missed."""

from benchmarks import growth, in_process, memory, over_http, over_stdio, porting, starting, tasks
from benchmarks.measuring import main

raise SystemExit(
    main(
        http=over_http.measured,
        stdio=over_stdio.measured,
        starting=starting.measured,
        memory=memory.measured,
        growth=growth.measured,
        tasks=tasks.measured,
        in_process=in_process.measured,
        porting=porting.measured,
    )
)
