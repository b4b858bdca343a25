# SPDX-License-Identifier: MIT
"""Loops in every form that Python has; test_loops.py knows how often each begins and turns."""

from __future__ import annotations

import asyncio
import contextlib


def exits(items):
    """A docstring stays one."""
    for item in items:
        if item == 2:
            continue
        if item == 4:
            break
    else:
        raise AssertionError
    for item in items:
        pass
    else:
        item = None
    while items:
        items = items[1:]
    else:
        items = None
    for item in ():
        raise AssertionError
    return item


def cleans(items):
    for item in items:
        with contextlib.nullcontext():
            if item == 1:
                break
    for item in items:
        try:
            if item == 2:
                break
        finally:
            for _ in range(2):
                pass
    for item in items:
        try:
            if item:
                raise ValueError(item)
        except ValueError:
            continue
    for _ in range(2):
        pass


def first(items):
    for item in items:  # no loop: it never turns back
        return item


def searches(items):
    for item in items:
        if item == 3:
            return item
    return None


def conditions(a, b):
    turns = 0
    while a or b:
        a, b = b, None
        turns += 1
    while turns and turns < 5:
        turns += 1
    while (turns := turns - 1) > 0:
        pass
    while not turns:
        turns = 1
    while 1:
        turns += 1
        if turns % 7:
            continue
        break
    return turns


class Ship:
    """A class with loops in its body."""

    decks = []
    for deck in range(3):
        decks.append(deck)
    names = [f"{deck}" for deck in range(4)]
    del deck

    def sail(self):
        for _ in range(2):

            @staticmethod
            def inner():
                for _ in range(3):
                    pass

            inner.__func__()
        return (lambda n: [x for x in range(n)])(3)


def comprehensions(n):
    one = [x for x in range(n)]
    two = {x: y for x in range(n) for y in range(2)}
    three = {x for x in {1, 2, 3} if x > 1}
    four = sum(x for x in range(n))
    five = [y for x in range(n) for y in [x + 1]]
    six = [[y for y in range(x)] for x in range(n)]
    seven = [x for x in range(n) if x % 2 if x]
    return one, two, three, four, five, six, seven, [z for z in []]


def makes_global():
    global made

    def made():
        for _ in range(2):
            pass

    made()


def yields(n):
    for x in range(n):
        while x:
            x -= 1
            got = yield x
            if got:
                return
    yield from (y for y in range(2))


def delegates():
    for _ in range(2):
        yield from yields(3)


def throws():
    for x in range(3):
        try:
            yield x
        except ValueError:
            pass


async def ticks(n):
    for x in range(n):
        await asyncio.sleep(0)
        yield x


async def awaits():
    for _ in range(3):
        await asyncio.sleep(0)
    while True:
        await asyncio.sleep(0)
        break
    return [x for x in range(2)]


def one_liners():
    for x in range(3): pass  # fmt: skip
    while x: x -= 1  # fmt: skip
    for x in (1,
              2): x += 1  # fmt: skip
    return x


def escapes():
    for outer in range(2):
        try:
            for inner in range(5):
                if inner == 2:
                    raise KeyError(outer)
        except KeyError:
            pass
    return outer


def recurses(n):
    for _ in range(1):
        if n:
            recurses(n - 1)


VARIABLE = 0
for VARIABLE in range(2):
    exits([1, 2, 3, 4, 5])
cleans([0, 1, 2])
first([1, 2])
searches([1, 2, 3, 4])
conditions(1, 1)
Ship().sail()
comprehensions(4)
makes_global()
list(yields(3))
list(delegates())
generator = throws()
next(generator)
generator.throw(ValueError)
generator.close()
asyncio.run(awaits())
one_liners()
escapes()
recurses(3)


async def drains():
    async for _ in ticks(0):
        pass
    return [x async for x in ticks(2)]


asyncio.run(drains())
print(sorted(name for name in globals() if not name.startswith("_")))


def annotated(one: [x for x in range(2)], two: int = 0) -> {x for x in ()}:
    three: (x for x in two) = f"{[x for x in range(two)]}{two!r:>{[x for x in range(3)][2]}}"
    return three


print(annotated.__annotations__, annotated(1, 2))
# ruff: noqa
