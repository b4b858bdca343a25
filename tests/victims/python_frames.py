# SPDX-License-Identifier: MIT
"""Functions of Python with known shares of the CPU's time: NAME NS for each, as the thread's own clock tells. Runs on
every Python from 3.8 on."""

import random
import threading
import time

ROUNDS = 40


def burn(turns):
    mixed = 1
    for _ in range(turns):
        mixed = mixed * 5 % 1000003
    return mixed


def heavy(turns):
    return burn(turns)


def light(turns):
    return burn(turns)


class Keel:
    def drift(self, turns):
        mixed = 1
        for _ in range(turns):
            mixed = mixed * 5 % 1000003
        return mixed


def key(turns):
    return burn(turns)


def by_key(turns):
    return sorted([turns // 4] * 4, key=key)


def numbers(turns):
    for _ in range(4):
        yield burn(turns // 4)


def consume(turns):
    return sum(numbers(turns))


def deep(turns, levels=900):
    return deep(turns, levels - 1) if levels else burn(turns)


def small():
    return burn(10)


def large():
    return burn(90)


def shorts(calls):
    for function in calls:
        function()


def only_small(count):
    for _ in range(count):
        small()


def only_large(count):
    for _ in range(count):
        large()


def timed(spent, function, *arguments):
    before = time.thread_time_ns()
    function(*arguments)
    name = function.__name__
    spent[name] = spent.get(name, 0) + time.thread_time_ns() - before


def work(spent):
    calls = [small, large] * 100
    random.Random(7).shuffle(calls)
    for _ in range(ROUNDS):
        timed(spent, heavy, 60000)
        timed(spent, light, 20000)
        timed(spent, Keel().drift, 30000)
        timed(spent, by_key, 30000)
        timed(spent, consume, 30000)
        timed(spent, deep, 30000)
        timed(spent, shorts, calls)
        timed(spent, only_small, 100)
        timed(spent, only_large, 100)
    timed(spent, deep, 1000000)  # long enough for a recorder that is late to find it still there


def doze():
    for _ in range(5):
        time.sleep(0.03)


def begin():
    """Until the recorder has read what it needs of the interpreter."""
    end = time.monotonic() + 1
    while time.monotonic() < end:
        mixed = 1
        for _ in range(10000):
            mixed = mixed * 5 % 1000003


begin()
spent = {}
work(spent)
for name, ns in spent.items():
    print(name, ns)
other = {}
thread = threading.Thread(target=timed, args=(other, heavy, 1500000))
thread.start()
thread.join()
print("thread", other["heavy"])
doze()
