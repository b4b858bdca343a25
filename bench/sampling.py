# SPDX-License-Identifier: MIT
"""What layer cpu costs against perf and py-spy, what regions with counts cost, and whether stat keeps its promises."""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dftracer
from jobs import Bench
from row import Row, Sample, Samples, judged

PY_SPY = "py-spy==0.4.1"
SECONDS = 300_000_000  # turns of busy's loop, about a second
PYTHON = """
import sys, time
def inner(turns):
    total = 0
    for i in range(turns):
        total = (total + (i ^ (total >> 3))) & 0xFFFFFF
    return total
before = time.process_time()
inner(int(sys.argv[1]))
print(time.process_time() - before)
"""


def fathom(bench: Bench, hz: int, command: list[str], options: tuple[str, ...] = ()) -> tuple[str, float]:
    """Its output, and the CPU seconds of the recorder with the program's."""
    shutil.rmtree(bench.trace, ignore_errors=True)
    recorder = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--layers", "cpu"]
    return timed(bench, [*recorder, "--sample", str(hz), *options, "--", *command])


def perf(bench: Bench, hz: int, command: list[str]) -> tuple[str, float] | None:
    if shutil.which("perf") is None:
        return None
    recorder = ["perf", "record", "-q", "-F", str(hz), "-g", "-o", str(bench.folder / "perf.data"), "--"]
    try:
        return timed(bench, [*recorder, *command])
    except subprocess.CalledProcessError:
        return None


def timed(bench: Bench, command: list[str]) -> tuple[str, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = bench.run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_of(output: str) -> float:
    return float(output.split()[0])


def one_round(bench: Bench, busy: Path) -> Sample:
    command = [str(busy), "compute", bench.turns(4 * SECONDS)]
    sample: Sample = {"bare": cpu_of(bench.run(command))}
    for hz in (99, 999):
        output, seconds = fathom(bench, hz, command)
        sample[f"fathom {hz}"] = cpu_of(output)
        sample[f"recorder {hz}"] = seconds - cpu_of(output)
        if (told := perf(bench, hz, command)) is not None:
            sample[f"perf {hz}"] = cpu_of(told[0])
            sample[f"perf's recorder {hz}"] = told[1] - cpu_of(told[0])
    return sample


def added(samples: Samples, key: str) -> float | None:
    """Percent of CPU time that the program needed more, of the same rounds."""
    ratio = samples.ratio(lambda one: one[key], "bare", key)
    return None if ratio is None else 100 * (ratio - 1)


def row_sampling(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    busy = bench.compiled("busy")
    done = []
    for _ in range(rounds):
        done.append(one_round(bench, busy))
        progress()
    samples, rows = Samples(done), []
    for hz, enough, goal in ((99, 0.5, 0.3), (999, 3.0, 1.5)):
        ours, theirs = added(samples, f"fathom {hz}"), added(samples, f"perf {hz}")
        beside = samples.median(f"recorder {hz}") or 0
        peer = "perf not installed"
        if theirs is not None:
            other = samples.median(f"perf's recorder {hz}") or 0
            peer = f"perf record -g {theirs:+.2f} % and {other:.2f} s beside it"
        texts = (f"bare {samples.median('bare') or 0:.2f} s", f"{ours or 0:+.2f} %", f"{beside:.2f} s beside it", peer)
        rows.append(Row(f"CPU time of a program, sampled at {hz} Hz", *texts, f"{enough} %", f"{goal} %"))
        rows[-1].verdict = judged(ours, enough, goal)
    return rows


def row_python_sampling(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """py-spy reads a Python program from outside; it stops the program for each sample."""
    spied = dftracer.python_with("py-spy", PY_SPY, sys.executable)
    spy = spied.parent / "py-spy" if spied is not None else None
    command = [sys.executable, "-c", PYTHON, bench.turns(20_000_000)]
    done: list[Sample] = []
    for _ in range(rounds):
        sample: Sample = {"bare": cpu_of(bench.run(command)), "fathom": cpu_of(fathom(bench, 99, command)[0])}
        if spy is not None and spy.exists():
            record = [str(spy), "record", "-r", "99", "-f", "raw", "-o", str(bench.folder / "spy"), "--"]
            lines = bench.run([*record, *command]).splitlines()
            sample["py-spy"] = cpu_of(next(line for line in lines if not line.startswith("py-spy>") and line.strip()))
        done.append(sample)
        progress()
    samples = Samples(done)
    ours, theirs = added(samples, "fathom"), added(samples, "py-spy")
    peer = f"py-spy {theirs:+.2f} %" if theirs is not None else "py-spy not installed"
    texts = (f"bare {samples.median('bare') or 0:.2f} s", f"{ours or 0:+.2f} %", "", peer)
    return [Row("CPU time of a Python program, sampled at 99 Hz", *texts, "0.5 %", "0.3 %", judged(ours, 0.5, 0.3))]


def row_switches(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """Off-CPU accounting where a program does hardly anything but switch."""
    busy = bench.compiled("busy")
    turns = int(bench.turns(200_000))
    done: list[Sample] = []
    for _ in range(rounds):
        bare, wall = map(float, bench.run([str(busy), "switch", str(turns)]).split())
        output, _ = fathom(bench, 99, [str(busy), "switch", str(turns)])
        ours, slow = map(float, output.split())
        done.append({"bare": 1e9 * bare / turns / 2, "ours": 1e9 * ours / turns / 2, "rate": 2 * turns / wall})
        done[-1]["slow"] = slow / wall
        lost = bench.sql("SELECT coalesce(sum(count), 0) FROM losses WHERE reason LIKE 'records %'")
        done[-1]["lost"] = float(lost)
        progress()
    samples = Samples(done)
    more = statistics.median(one["ours"] - one["bare"] for one in done)
    texts = (
        f"bare {samples.median('bare') or 0:.0f} ns",
        f"{more:+.0f} ns",
        f"wall {samples.median('slow') or 0:.2f}, {samples.median('lost') or 0:.0f} records lost",
    )
    what = f"a switch, of {samples.median('rate') or 0:,.0f} a second, accounted for"
    return [Row(what, *texts)]


def row_sample_bytes(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    del rounds
    busy = bench.compiled("busy")
    fathom(bench, 4999, [str(busy), "compute", bench.turns(4 * SECONDS)])
    progress()
    samples = int(bench.sql("SELECT count(*) FROM samples WHERE event = 'cpu-clock'"))
    files = [*bench.trace.glob("samples*.parquet"), *bench.trace.glob("frames*.parquet")]
    each = sum(file.stat().st_size for file in files) / max(1, samples)
    return [Row(f"bytes of a sample at rest, of {samples}", "-", f"{each:.1f} B")]


def verdict_of(bench: Bench, seed: int, runs: int, commands: list[str]) -> str:
    words = [word for command in commands for word in ("--cmd", command)]
    asked = [str(bench.build / "fathom"), "stat", "--format", "json", "-r", str(runs), "--seed", str(seed), *words]
    rows = json.loads(bench.run(asked))["comparison"]
    return str(next(row["verdict"] for row in rows if row["metric"] == "wall"))


def row_stat(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """A program against itself, and against itself with 2 % more to do."""
    busy, turns = bench.compiled("busy"), SECONDS // 20
    same = f"{busy} compute {turns}"
    slower = f"{busy} compute {turns + turns // 50}"
    comparisons = max(10, int(100 * bench.scale))
    alarms = 0
    for seed in range(1, comparisons + 1):
        alarms += verdict_of(bench, seed, 8, [same + " > /dev/null", same + " > /dev/null"]) in ("faster", "slower")
        progress()
    found = [
        verdict_of(bench, seed, 60, [same + " > /dev/null", slower + " > /dev/null"]) for seed in range(1, rounds + 1)
    ]
    share = 100 * alarms / comparisons
    hits = sum(verdict == "slower" for verdict in found)
    title = f"stat, false alarms in {comparisons} comparisons of a program with itself"
    return [
        Row(title, "alpha 5 %", f"{share:.1f} %", "", "", "5 %", "5 %", judged(share, 5, 5)),
        Row(
            "stat, a slowdown of 2 % found with 60 runs",
            "-",
            f"{hits} of {len(found)}",
            "",
            ", ".join(sorted(set(found))),
        ),
    ]


def row_region_events(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """What each region costs more if it is counted: two readings of the kernel's numbers."""
    rows = []
    for events in ("task-clock", "page-faults", "task-clock,page-faults,context-switches"):
        done: list[Sample] = []
        for _ in range(rounds):
            plain = bench.recorded("region", 1_000_000, 1)
            arguments = ("region", bench.turns(300_000), "1")
            ours = float(bench.under_fathom(*arguments, options=("--region-events", events)))
            done.append({"bare": plain, "ours": ours})
            progress()
        samples = Samples(done)
        more = statistics.median(one["ours"] - one["bare"] for one in done)
        floor = f"without {samples.median('bare') or 0:.0f} ns"
        rows.append(Row(f"region with {events.replace(',', ', ')}", floor, f"{more:+.0f} ns"))
    return rows
