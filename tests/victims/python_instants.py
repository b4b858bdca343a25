# SPDX-License-Identifier: MIT
"""Writes which function surely ran when: NS NAME for each moment from which on that is known, NS alone where it is not
known any more. Arguments: a file for that, CPU seconds. Runs on every Python from 3.8 on."""

import random
import sys
import time
from pathlib import Path

now = time.perf_counter_ns
moments = []
note = moments.append


def burn(turns):
    note(("burn", now()))
    mixed = 1
    for _ in range(turns):
        mixed = mixed * 5 % 1000003
    note((None, now()))
    return mixed


def tiny():
    note(("tiny", now()))
    note((None, now()))


def middle(turns):
    note(("middle", now()))
    mixed = 1
    for _ in range(turns):
        mixed = mixed * 5 % 1000003
    note((None, now()))
    burn(turns)
    note(("middle", now()))
    for _ in range(turns):
        mixed = mixed * 5 % 1000003
    note((None, now()))
    return mixed


def many(turns):
    for _ in range(turns // 4):
        tiny()


def numbers(turns):
    for _ in range(3):
        note(("numbers", now()))
        mixed = 1
        for _ in range(turns):
            mixed = mixed * 5 % 1000003
        note((None, now()))
        yield mixed


def consume(turns):
    total = 0
    for number in numbers(turns):
        note(("consume", now()))
        for _ in range(turns):
            total += number
        note((None, now()))
    return total


def added(turns):
    return sum(numbers(turns))


def key(turns):
    note(("key", now()))
    mixed = 1
    for _ in range(turns):
        mixed = mixed * 5 % 1000003
    note((None, now()))
    return burn(turns)


def by_key(turns):
    return sorted([turns] * 4, key=key)


def deep(turns, levels=8):
    note(("deep", now()))
    mixed = 1
    for _ in range(turns // 4):
        mixed = mixed * 5 % 1000003
    note((None, now()))
    return deep(turns, levels - 1) if levels else mixed


def throw(turns):
    note(("throw", now()))
    mixed = 1
    for _ in range(turns):
        mixed = mixed * 5 % 1000003
    note((None, now()))
    raise ValueError(mixed)


def caught(turns):
    try:
        throw(turns)
    except ValueError:
        note(("caught", now()))
        for _ in range(turns):
            turns = turns * 1
        note((None, now()))


def listed(turns):
    return [burn(turns) for _ in range(3)]


def begin():
    """Until the recorder has read what it needs of the interpreter."""
    end = time.process_time() + 0.3
    while time.process_time() < end:
        burn(10000)


begin()
moments.clear()
choose = random.Random(7)
end = time.process_time() + float(sys.argv[2])
while time.process_time() < end:
    choose.choice([middle, many, consume, added, by_key, deep, caught, listed])(choose.choice([5, 50, 300, 1000]))
apart = []
for _ in range(1000):
    before = now()
    real = time.time_ns()
    after = now()
    apart.append((after - before, real - (before + after) // 2))
offset = min(apart)[1]
with Path(sys.argv[1]).open("w") as out:
    out.writelines(f"{ns + offset} {name or ''}\n" for name, ns in moments)
