# SPDX-License-Identifier: MIT
"""Functions of many kinds, called a known number of times, in threads, tasks and a forked child."""

import asyncio
import os
import sys
import threading


def leaf():
    return len("leaf")


def numbers(count):
    for number in range(count):  # noqa: UP028
        yield number


class Ship:
    def sail(self):
        return leaf()


def fails():
    raise ValueError


def catches():
    try:
        fails()
    except ValueError:
        return leaf()


def stopped():
    generator = numbers(5)
    next(generator)
    generator.close()
    thrown = numbers(5)
    next(thrown)
    try:
        thrown.throw(KeyError)
    except KeyError as error:
        assert not error.args


def deep(levels):
    return deep(levels - 1) if levels else 0


async def waits(turns):
    for _ in range(turns):
        await asyncio.sleep(0)


async def tasks():
    await asyncio.gather(*(waits(3) for _ in range(4)))


def threads():
    running = [threading.Thread(target=leaf) for _ in range(5)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def main():
    assert list(numbers(4)) == [0, 1, 2, 3]
    assert Ship().sail() == 4 and catches() == 4
    stopped()
    deep(600)
    asyncio.run(tasks())
    threads()
    child = os.fork()
    if child == 0:
        leaf()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    error = sys.exc_info()
    assert error == (None, None, None)


main()
