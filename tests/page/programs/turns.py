# SPDX-License-Identifier: MIT
"""Functions that call each other in loops: work for the layer python."""

import time


def inner(number: int) -> int:
    return sum(range(number))


def outer(turn: int) -> None:
    for number in range(5):
        inner(1000 * number + turn)
    time.sleep(0.01)


def main() -> None:
    for turn in range(4):
        outer(turn)


main()
