# SPDX-License-Identifier: MIT
"""Regions that do not end in the order in which they began: tasks, generators, threads that go on with each other's."""

import asyncio
import contextlib
import threading

import fathom


@fathom.trace
async def fetch(number):
    fathom.arg("number", number)
    await asyncio.sleep(0)
    with fathom.region("decode", number=number):
        await asyncio.sleep(0.001 * (number % 5))
        fathom.arg("again", number)
        step(number)
    fathom.arg("done", number)


@fathom.trace
def step(number):
    fathom.arg("number", number)


async def undecorated(number):
    with fathom.region("plain", number=number):
        await asyncio.sleep(0.001 * (number % 3))
        fathom.arg("late", number)
        with fathom.region("within"):
            await asyncio.sleep(0)
            fathom.arg("number", number)


@fathom.trace
async def outer(number):
    with fathom.region("around", number=number):
        await fetch(number)
        async for item in stream(3):
            assert item < 3


@fathom.trace
async def stream(number):
    for item in range(number):
        fathom.arg("last", item)
        await asyncio.sleep(0)
        yield item


async def cancelled():
    task = asyncio.ensure_future(sleeps())
    await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@fathom.trace
async def sleeps():
    await asyncio.sleep(10)


@fathom.trace
def numbers(count):
    try:
        for number in range(count):
            with fathom.region("turn", number=number):
                yield number
    finally:
        fathom.arg("seen", number)


@fathom.trace
def delegates(count):
    return (yield from numbers(count))


def generators():
    one, two = numbers(10), numbers(10)
    for _ in range(3):
        next(one)
        next(two)
    one.close()
    del two
    assert list(delegates(2)) == [0, 1]
    with contextlib.suppress(KeyError):
        numbers(1).throw(KeyError)  # never began: no event
    numbers(1).close()
    with contextlib.suppress(KeyError):
        failing = numbers(3)
        next(failing)
        failing.throw(KeyError("x"))
    with contextlib.suppress(TypeError):
        fresh = numbers(1)
        fresh.send(1)
    assert list(fresh) == [0]


@contextlib.contextmanager
def opened_here():
    with fathom.region("moved"):
        yield


def threads():
    """A block that is entered in one thread and left in another, as servers do it."""
    block = opened_here()
    thread = threading.Thread(target=block.__enter__)
    thread.start()
    thread.join()
    block.__exit__(None, None, None)
    stepped = numbers(3)
    next(stepped)
    thread = threading.Thread(target=lambda: next(stepped))
    thread.start()
    thread.join()
    assert list(stepped) == [2]


def worker_that_goes_on():
    block, entered, left = opened_here(), threading.Event(), threading.Event()

    def work():
        block.__enter__()
        entered.set()
        left.wait()
        with fathom.region("healed"):
            pass

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait()
    block.__exit__(None, None, None)
    left.set()
    thread.join()


def by_hand():
    one, two, three = fathom.region("one"), fathom.region("two", k=1), fathom.region("three")
    for region in (one, two, three):
        region.__enter__()
    fathom.arg("of", "three")
    one.__exit__(None, None, None)
    fathom.arg("still", "three")
    step(-1)
    three.__exit__(None, None, None)
    fathom.arg("of", "two")
    two.__exit__(None, None, None)
    with two:
        pass
    fathom.region("forgotten").__enter__()


async def main():
    await asyncio.gather(*[fetch(i) for i in range(20)], *[undecorated(i) for i in range(20)])
    await asyncio.gather(*[outer(i) for i in range(5)])
    await cancelled()


if __name__ == "__main__":
    asyncio.run(main())
    generators()
    threads()
    worker_that_goes_on()
    by_hand()
    with fathom.region("last"):
        pass
