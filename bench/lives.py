# SPDX-License-Identifier: MIT
"""What a child costs that is made and waited for: shells and build systems make thousands."""

import shutil
from collections.abc import Callable

from jobs import Bench
from row import Row, Samples, judged

# How, turns, what is good enough, the goal.
JOBS = {"fork and wait": ("fork", 1000, 1.5, 1.2), "fork, exec and wait": ("exec", 300, 2.0, 1.5)}


def bare(bench: Bench, program: str, how: str, turns: str) -> float:
    return float(bench.run([program, how, turns]))


def recorded(bench: Bench, program: str, how: str, turns: str) -> float:
    shutil.rmtree(bench.trace, ignore_errors=True)
    recorder = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--"]
    return float(bench.run([*recorder, program, how, turns]))


def row_lives(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """Wall time of a turn; the recorder works meanwhile on another core, where there is one."""
    program, rows = str(bench.compiled("lives")), []
    for what, (how, number, enough, goal) in JOBS.items():
        turns, done = str(max(50, int(number * bench.scale))), []
        for _ in range(rounds):
            job = (bench, program, how, turns)
            done.append({"bare": bare(*job), "on": recorded(*job)})
            progress()
        samples = Samples(done)
        ratio = samples.ratio(lambda one: one["on"], "bare", "on")
        texts = (
            f"bare {samples.median('bare') or 0:.0f} us",
            f"{samples.median('on') or 0:.0f} us",
            f"{ratio or 0:.2f}",
        )
        rows.append(Row(what, *texts, "", f"{enough:.1f}", f"{goal:.1f}", judged(ratio, enough, goal)))
    return rows
