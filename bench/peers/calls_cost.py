# SPDX-License-Identifier: MIT
"""calls_cost TRACER TURNS: ns of thread CPU of a call and of turns of loops, as a JSON object; and what a loop that
works costs here, against the same one in a module that nobody traces, turn about in one process.

TRACER is none (or somebody outside of the program), cProfile or viztracer.
"""

import inspect
import json
import statistics
import sys
import time
from typing import Any, Callable, Dict


def empty() -> None:
    pass


def calls(turns: int) -> None:
    for _ in range(turns):
        empty()


def empty_loop(turns: int) -> None:
    for _ in range(turns):
        pass


def working_loop(turns: int) -> None:
    for _ in range(turns // 200 + 1):
        sum(range(1000))


def cost(function: Callable[[int], None], turns: int) -> float:
    best = float("inf")
    for _ in range(3):
        begin = time.thread_time()
        function(turns)
        best = min(best, (time.thread_time() - begin) / turns * 1e9)
    return best


def timed(function: Callable[[int], None], turns: int) -> float:
    begin = time.thread_time()
    function(turns)
    return time.thread_time() - begin


def against_elsewhere(turns: int) -> float:
    elsewhere: Dict[str, Any] = {"__name__": "elsewhere"}
    exec(inspect.getsource(working_loop), elsewhere)
    pairs = ((timed(working_loop, turns), timed(elsewhere["working_loop"], turns)) for _ in range(40))
    return statistics.median(here / there for here, there in pairs)


def tracer_named(name: str) -> Any:  # noqa: ANN401
    if name == "cProfile":
        import cProfile

        return cProfile.Profile()
    import viztracer

    return viztracer.VizTracer(tracer_entries=10_000_000, ignore_c_function=True, verbose=0)


def main() -> None:
    name, turns = sys.argv[1], int(sys.argv[2])
    tracer = tracer_named(name) if name != "none" else None
    costs: Dict[str, float] = {}
    if tracer is not None:
        (tracer.enable if name == "cProfile" else tracer.start)()
    costs["call"] = cost(calls, turns)
    if tracer is not None:
        (tracer.disable if name == "cProfile" else tracer.stop)()
    costs["empty"] = cost(empty_loop, turns)
    costs["work"] = cost(working_loop, turns)
    costs["against_elsewhere"] = against_elsewhere(turns // 10)
    print(json.dumps(costs))


main()
