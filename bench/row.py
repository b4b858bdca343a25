# SPDX-License-Identifier: MIT
"""A row of the bench: what was measured, against which floor, and where it must get to."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass
class Row:
    what: str
    floor: str
    value: str
    ratio: str = ""
    peer: str = ""
    good_enough: str = ""
    goal: str = ""
    verdict: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


Sample = dict[str, float]


class Samples:
    """What the rounds of one row gave."""

    def __init__(self, rounds: list[Sample]) -> None:
        self.rounds = rounds

    def median(self, key: str) -> float | None:
        values = [one[key] for one in self.rounds if key in one]
        return statistics.median(values) if values else None

    def ratio(self, top: Callable[[Sample], float], floor: str, key: str) -> float | None:
        values = [top(one) / one[floor] for one in self.rounds if key in one]
        return statistics.median(values) if values else None


def judged(value: float | None, good_enough: float, goal: float) -> str:
    """For values of which less is better."""
    if value is None:
        return "not measured"
    return "goal" if value <= goal else "good enough" if value <= good_enough else "SHORT"


def add(sample: Sample, key: str, value: float | None) -> None:
    if value is not None:
        sample[key] = value
