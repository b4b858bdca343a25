# SPDX-License-Identifier: MIT
"""What annotations in Python cost, against a bare call and DFTracer's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
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


def package(bench: Bench) -> dict[str, str]:
    return {"PYTHONPATH": str(TOP / "python"), "FATHOM_BUILD": str(bench.build)}


def ours(bench: Bench) -> Sample:
    shutil.rmtree(bench.trace, ignore_errors=True)
    recorder = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--"]
    answer = bench.run([*recorder, sys.executable, PROGRAM, "fathom", bench.turns(1_000_000)], package(bench))
    sample: Sample = json.loads(answer)
    sample["floor"] = bench.bare("floor", 3_000_000, 1)
    return sample


def under_dftracer(bench: Bench, version: str, python: str, turns: int, env: dict[str, str]) -> Sample | None:
    """What a program annotated for DFTracer takes: with DFTracer's packages, or with ours in their place."""
    log = bench.folder / "dft"
    variables = {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(log), "DFTRACER_DATA_DIR": str(bench.folder)}
    try:
        answer = bench.run([python, PROGRAM, version, bench.turns(turns)], {**variables, **env})
    except subprocess.CalledProcessError:
        return None
    finally:
        until = time.monotonic() + 60  # a collector of ours goes on for a while
        while list(bench.folder.glob(".dft-*")) and time.monotonic() < until:
            time.sleep(0.05)
        for file in bench.folder.glob("dft*"):
            file.unlink()
    told: Sample = json.loads(answer.splitlines()[-1])
    return told


def theirs(bench: Bench, version: str, more: dict[str, str] | None = None) -> Sample | None:
    python = dftracer.python_with(f"dftracer-{version}", dftracer.VERSIONS[version])
    env = {"PYTHONPATH": "", **(more or {})}
    return under_dftracer(bench, version, str(python), 20_000, env) if python is not None else None


def peers_text(bench: Bench, floor: float) -> str:
    told = {version: theirs(bench, version) for version in dftracer.VERSIONS}
    added = {version: one["decorated"] - one["bare"] for version, one in told.items() if one is not None}
    return ", ".join(f"DFTracer {version} {ns / floor:.0f} B" for version, ns in added.items())


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


DROP_IN = {"decorated": ("decorated function", "bare"), "pread": ("pread of 4 KiB", "bare pread")}


def one_round(bench: Bench, version: str) -> Sample:
    sample: Sample = {"floor": bench.bare("floor", 3_000_000, 1)}
    for name, told in (
        ("ours", under_dftracer(bench, version, sys.executable, 200_000, package(bench))),
        ("theirs", theirs(bench, version)),
    ):
        for kind, (_, bare) in DROP_IN.items():
            if told is not None:
                sample.update({f"{name} {kind}": told[kind] - told[bare], f"{name} {bare}": told[bare]})
    return sample


def row_dropin(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """A program annotated for DFTracer, with our packages in the place of its own; nobody supervises it."""
    rows = []
    for version in dftracer.VERSIONS:
        done = []
        for _ in range(rounds):
            done.append(one_round(bench, version))
            progress()
        samples = Samples(done)
        for kind, (what, bare) in DROP_IN.items():
            key, peer = f"ours {kind}", f"theirs {kind}"
            ratio, their = samples.ratio(lambda one, key=key: one[key], "floor", key), samples.median(peer)  # type: ignore[misc]
            added = samples.median(key) or 0.0
            floor = f"bare {samples.median(f'ours {bare}') or 0:.0f}, B {samples.median('floor') or 0:.1f} ns"
            title = f"drop-in for DFTracer {version}, {what}"
            peer_text = f"DFTracer {their:+.0f} ns" if their is not None else "DFTracer cannot be had"
            verdict = judged(added / their if their else None, 1 / 3, 1 / 10)
            texts = (f"{added:+.1f} ns", f"{ratio or 0:.2f} B", peer_text, "a third of it", "a tenth", verdict)
            rows.append(Row(title, floor, *texts))
    return rows


# With arguments (DFTRACER_INC_METADATA): what each takes beyond a decorated function that has none, and a `with` also
# beyond one whose object is there already and does nothing: Python's own part of it.
TOLD = {
    "decorated function with an argument": ("told", "decorated"),
    "with dft_fn": ("block", "decorated"),
    "with dft_fn and an argument": ("argument", "decorated"),
    "with dft_fn, beyond an empty with": ("block", "decorated", "empty"),
    "with dft_fn and an argument, beyond an empty with": ("argument", "decorated", "empty"),
}
METADATA = {"DFTRACER_INC_METADATA": "1"}


def one_told_round(bench: Bench, version: str) -> Sample:
    sample: Sample = {"floor": bench.bare("floor", 3_000_000, 1)}
    ours_told = under_dftracer(bench, version, sys.executable, 200_000, {**package(bench), **METADATA})
    for name, told in (("ours", ours_told), ("theirs", theirs(bench, version, METADATA))):
        if told is not None:
            kinds = ("decorated", "told", "empty", "block", "argument")
            sample.update({f"{name} {kind}": told[kind] - told["bare"] for kind in kinds})
    return sample


def told_row(version: str, what: str, samples: Samples) -> Row:
    kind, *without = TOLD[what]
    beyond = samples.ratio(
        lambda one: one[f"ours {kind}"] - sum(one[f"ours {less}"] for less in without), "floor", f"ours {kind}"
    )
    added, their = samples.median(f"ours {kind}") or 0.0, samples.median(f"theirs {kind}")
    parts = [f"{less} {samples.median(f'ours {less}') or 0:+.0f}" for less in without]
    peer_text = f"DFTracer {their:+.0f} ns" if their is not None else "DFTracer cannot be had"
    values = (f"{added:+.1f} ns", f"{beyond or 0:.2f} B beyond", peer_text)
    floor = ", ".join([*parts, f"B {samples.median('floor') or 0:.1f} ns"])
    return Row(f"drop-in for DFTracer {version}, {what}", floor, *values, "3 B", "1 B", judged(beyond, 3.0, 1.0))


def row_told(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """The same with arguments and blocks, beyond the decorator."""
    rows = []
    for version in dftracer.VERSIONS:
        done = []
        for _ in range(rounds):
            done.append(one_told_round(bench, version))
            progress()
        samples = Samples(done)
        rows += [told_row(version, what, samples) for what in TOLD]
    return rows
