# SPDX-License-Identifier: MIT
"""A timeline that is panned and zoomed at random: CPU time of an answer, on recordings of 10 M and 100 M events."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from jobs import Bench
from row import Row, judged

SIZES = (10_000_000, 100_000_000)
STEPS = 500
ENOUGH_MS, GOAL_MS = 50.0, 16.0


def built(bench: Bench, name: str) -> Path:
    subprocess.run(["cmake", "--build", str(bench.build), "--target", name], check=True, stdout=subprocess.DEVNULL)
    return bench.build / "bench" / name


def recording(bench: Bench, events: str) -> Path:
    """The training job of `bench/run scale`, packed."""
    trace = bench.folder / "pan.fathom"
    bench.run([str(built(bench, "scale_spool")), str(trace), events])
    bench.run([str(bench.build / "fathom"), "collect", "-q", str(trace)])
    return trace


def row_pan_zoom(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    del rounds
    program = built(bench, "pan_zoom")
    rows = []
    for size in SIZES:
        trace = recording(bench, bench.turns(size))
        progress()
        engine = {"FATHOM_DUCKDB": str(bench.build / "libduckdb.so")}
        told = json.loads(bench.run([str(program), str(trace), str(STEPS)], engine))
        shutil.rmtree(trace)
        progress()
        what = f"timeline, p95 of an answer, {told['events'] / 1e6:.0f} M events"
        first = f"index {told['build_s']:.1f} s, {told['mib']:.0f} MiB"
        value = f"{told['p95_cpu_ms']:.1f} ms"
        verdict = judged(told["p95_cpu_ms"], ENOUGH_MS, GOAL_MS)
        rows.append(Row(what, first, value, "", "", f"{ENOUGH_MS:.0f} ms", f"{GOAL_MS:.0f} ms", verdict))
    return rows
