# SPDX-License-Identifier: MIT
"""What counting malloc and free costs: inside the program (layer heap), and by probes of the kernel (layer user)."""

import statistics
import subprocess
from collections.abc import Callable

from jobs import Bench
from row import Row, Sample, Samples, add

PROBES = ("--layers", "user", "--functions", "libc.so.6:malloc,libc.so.6:free")


def under_probes(bench: Bench, turns: int) -> float | None:
    try:
        return float(bench.under_fathom("malloc", bench.turns(turns), "1", options=PROBES))
    except subprocess.CalledProcessError:
        return None  # no privilege, or a kernel without them


def sample(bench: Bench) -> Sample:
    turns = 5_000_000
    one = {
        "floor": bench.bare("floor", 3_000_000, 1),
        "bare": bench.bare("malloc", turns, 1),
        "on": float(bench.under_fathom("malloc", bench.turns(turns), "1", options=("--layers", "heap"))),
    }
    add(one, "probes", under_probes(bench, turns // 20))
    return one


def row_heap(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """All in one run: a pair is two calls."""
    done = []
    for _ in range(rounds):
        done.append(sample(bench))
        progress()
    samples = Samples(done)
    ratio = samples.ratio(lambda one: (one["on"] - one["bare"]) / 2, "floor", "on") or 0
    probes = samples.ratio(lambda one: (one["probes"] - one["bare"]) / 2, "floor", "probes")
    added = statistics.median([(one["on"] - one["bare"]) / 2 for one in done])
    floor = f"bare pair {samples.median('bare') or 0:.1f}, B {samples.median('floor') or 0:.1f} ns"
    peer = f"uprobes {probes:.1f} B" if probes is not None else "uprobes cannot be had"
    return [Row("malloc or free, counted", floor, f"{added:+.1f} ns", f"{ratio:.2f} B", peer)]
