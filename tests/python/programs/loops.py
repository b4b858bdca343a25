# SPDX-License-Identifier: MIT
"""Loops that begin, turn and end in every way, a known number of times."""

import asyncio


def nested(rows):
    total = 0
    for row in range(rows):
        for cell in range(4):
            total += cell
        if row == 7:
            break
    while total > 0:
        total -= 10
    while True:
        total += 1
        if total > 5:
            break
    return [x for x in range(6)]


def yields():
    for number in range(5):  # noqa: UP028
        yield number


async def stream():
    for number in range(3):
        yield number


async def reads():
    async for _ in stream():
        pass


def returns():
    for number in range(100):
        if number == 3:
            return


def raises():
    try:
        for number in range(100):
            if number == 4:
                raise ValueError
    except ValueError:
        pass
    for _ in range(2):
        pass


def retries():
    turns = 0
    while True:
        try:
            turns += 1
            if turns < 3:
                raise ValueError
            return turns
        except ValueError:
            pass


for _ in range(3):
    nested(10)
list(yields())
returns()
raises()
retries()
asyncio.run(reads())
