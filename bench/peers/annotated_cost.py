# SPDX-License-Identifier: MIT
"""annotated_cost TRACER TURNS: ns of thread CPU that a bare call and annotated code take, as a JSON object.

TRACER is fathom, or a version of DFTracer, whose program also reads a file of its DFTRACER_DATA_DIR.
"""

import atexit
import contextlib
import json
import os
import sys
import time
from typing import Any, Callable, Dict


def bare(value: int) -> int:
    return value


async def coroutine(value: int) -> int:
    return value


def finished(function: Callable[[int], Any]) -> Callable[[int], None]:
    def call(value: int) -> None:
        with contextlib.suppress(StopIteration):
            function(value).send(None)

    return call


def cost(call: Callable[[int], Any], turns: int) -> float:
    begin = time.thread_time()
    for turn in range(turns):
        call(turn)
    return (time.thread_time() - begin) / turns * 1e9


def by_fathom() -> Dict[str, Callable[[int], Any]]:
    import fathom

    def block(value: int) -> None:
        with fathom.region("block"):
            pass

    def block_with_argument(value: int) -> None:
        with fathom.region("block", value=value):
            pass

    kinds: Dict[str, Callable[[int], Any]] = {"decorated": fathom.trace(bare), "block": block}
    kinds.update(argument=block_with_argument, coroutine=finished(fathom.trace(coroutine)))
    return kinds


def reader() -> Callable[[int], Any]:
    """Reads 4 KiB of a file that DFTracer is told to look at."""
    path = f"{os.environ['DFTRACER_DATA_DIR']}/dftracer-reads"
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
    os.write(descriptor, b"x" * 4096)
    return lambda value: os.pread(descriptor, 4096, 0)


def by_dftracer(version: str) -> Dict[str, Callable[[int], Any]]:
    if version.startswith("1."):
        from dftracer.logger import dft_fn, dftracer
    else:
        from dftracer.python import dft_fn, dftracer
    log = dftracer.initialize_log(os.environ["DFTRACER_LOG_FILE"], None, -1)
    atexit.register(log.finalize)

    def step(step: int) -> int:
        return step

    def block(value: int) -> None:
        with dft_fn("bench", name="block"):
            pass

    def block_with_argument(value: int) -> None:
        with dft_fn("bench", name="block", step=value):
            pass

    nothing = dft_fn("bench", name="nothing", enable=False)

    def empty(value: int) -> None:
        with nothing:
            pass

    kinds: Dict[str, Callable[[int], Any]] = {"decorated": dft_fn("bench").log(bare), "told": dft_fn("bench").log(step)}
    kinds.update(empty=empty, block=block, argument=block_with_argument, pread=reader())
    return kinds


def main() -> None:
    tracer, turns = sys.argv[1], int(sys.argv[2])
    told = {"bare": cost(bare, turns), "bare coroutine": cost(finished(coroutine), turns)}
    if tracer != "fathom":
        told["bare pread"] = cost(reader(), turns)
    kinds = by_fathom() if tracer == "fathom" else by_dftracer(tracer)
    for name, call in kinds.items():
        call(0)
        told[name] = cost(call, turns)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
