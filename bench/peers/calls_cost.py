# SPDX-License-Identifier: MIT
"""calls_cost TRACER TURNS: ns of thread CPU of a call and of turns of loops, as a JSON object.

TRACER is none (or somebody outside of the program), cProfile or viztracer.
"""

import json
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
    print(json.dumps(costs))


main()
