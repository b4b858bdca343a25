# SPDX-License-Identifier: MIT
"""grows N: everything that can be annotated, N times; prints how many KiB the process grew in the second half."""

import asyncio
import contextlib
import gc
import resource
import sys

import fathom


@fathom.trace
def call(value):
    fathom.arg("value", value)


@fathom.trace
def numbers(count):
    yield from range(count)


@fathom.trace
async def waits(value):
    with fathom.region("block", value=value):
        await asyncio.sleep(0)


@fathom.trace
async def streams():
    yield 1
    yield 2


@fathom.trace
def fails():
    raise KeyError


async def turns(count):
    for i in fathom.iter(range(count), "turn"):
        call(i)
        next(numbers(3))
        await waits(i)
        async for _ in streams():
            break
        with contextlib.suppress(KeyError):
            fails()
        with fathom.region(f"name {i % 50_000}"):
            fathom.counter("i", i)
        fathom.trace(lambda: None)()


def grown(count):
    asyncio.run(turns(count))
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


half = int(sys.argv[1]) // 2
before = grown(half)
print(grown(half) - before)
