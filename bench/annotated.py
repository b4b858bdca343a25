# SPDX-License-Identifier: MIT
"""What annotations in Python cost, against a bare call and DFTracer's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable

import dftracer
from jobs import HERE, TOP, Bench
from row import Row, Sample, Samples, judged

PROGRAM = str(HERE / "peers" / "annotated_cost.py")  # apart from the bench's own module dftracer
KINDS = {
    "decorated": ("Python, decorated function", "bare", 4.0, 2.2),
    "block": ("Python, with region", "bare", 0.0, 0.0),
    "argument": ("Python, with region and an argument", "bare", 0.0, 0.0),
    "coroutine": ("Python, decorated coroutine", "bare coroutine", 0.0, 0.0),
}


def ours(bench: Bench) -> Sample:
    shutil.rmtree(bench.trace, ignore_errors=True)
    recorder = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--"]
    package = {"PYTHONPATH": str(TOP / "python"), "FATHOM_BUILD": str(bench.build)}
    answer = bench.run([*recorder, sys.executable, PROGRAM, "fathom", bench.turns(1_000_000)], package)
    sample: Sample = json.loads(answer)
    sample["floor"] = bench.bare("floor", 3_000_000, 1)
    return sample


def theirs(bench: Bench, version: str) -> float | None:
    """What DFTracer's decorator adds, in ns."""
    python = dftracer.python_with(f"dftracer-{version}", dftracer.VERSIONS[version])
    if python is None:
        return None
    variables = {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(bench.folder / "dft"), "DFTRACER_DATA_DIR": "all"}
    try:
        answer = bench.run([str(python), PROGRAM, version, bench.turns(20_000)], variables)
    except subprocess.CalledProcessError:
        return None
    finally:
        for file in bench.folder.glob("dft*"):
            file.unlink()
    told = json.loads(answer.splitlines()[-1])
    return float(told["decorated"] - told["bare"])


def peers_text(bench: Bench, floor: float) -> str:
    added = {version: theirs(bench, version) for version in dftracer.VERSIONS}
    return ", ".join(f"DFTracer {version} {ns / floor:.0f} B" for version, ns in added.items() if ns is not None)


def row_annotated(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    done = []
    for _ in range(rounds):
        done.append(ours(bench))
        progress()
    samples = Samples(done)
    floor = samples.median("floor") or 1.0
    rows = []
    for kind, (what, bare, enough, goal) in KINDS.items():
        ratio = samples.ratio(lambda one, kind=kind, bare=bare: one[kind] - one[bare], "floor", kind)  # type: ignore[misc]
        added = (samples.median(kind) or 0) - (samples.median(bare) or 0)
        bars = (f"{enough} B", f"{goal} B", judged(ratio, enough, goal)) if enough else ("", "", "")
        peer = peers_text(bench, floor) if kind == "decorated" else ""
        texts = (f"bare {samples.median(bare) or 0:.0f}, B {floor:.1f} ns", f"{added:+.1f} ns", f"{ratio or 0:.2f} B")
        rows.append(Row(what, *texts, peer, *bars))
    return rows
