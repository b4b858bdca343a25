# SPDX-License-Identifier: MIT
"""The rows of the bench: what is measured, against which floor, and where it must get to."""

import statistics
import sys
from collections.abc import Callable

import dftracer
from annotated import row_annotated, row_dropin, row_told
from big import row_big
from calls import row_calls
from cuda import row_cuda
from heap import row_heap
from job_stores import row_nodes, row_updates
from jobs import Bench
from kept import row_kept
from kernel import row_kernel, row_probes, row_rest, row_start
from lives import row_lives
from naming import row_symbols
from page import row_page
from pan_zoom import row_pan_zoom
from row import Row, Sample, Samples, add, judged
from sampling import (
    row_python_sampling,
    row_region_events,
    row_sample_bytes,
    row_sampling,
    row_stat,
    row_switches,
)
from server_load import row_posts, row_server_memory


def region(threads: int) -> Callable[[Bench], Sample]:
    def sample(bench: Bench) -> Sample:
        one = {
            "floor": bench.bare("floor", 3_000_000, threads),
            "off": bench.bare("region", 3_000_000, threads),
            "call": bench.bare("call", 3_000_000, threads),
            "on": bench.recorded("region", 3_000_000, threads),
        }
        add(one, "lttng", bench.under_lttng(1_000_000, threads))
        return one

    return sample


def intercepted(what: str, turns: int, threads: int, peers: bool) -> Callable[[Bench], Sample]:
    def sample(bench: Bench) -> Sample:
        one: Sample = {
            "floor": bench.bare("floor", 3_000_000, threads),
            "bare": bench.bare(what, turns, threads),
            "on": bench.recorded(what, turns, threads),
        }
        if peers:
            for version in dftracer.VERSIONS:
                add(one, f"DFTracer {version}", bench.under_dftracer(version, what, turns // 10, threads))
            if what == "pread":
                add(one, "strace", bench.strace(what, turns // 50, threads))
        return one

    return sample


def peers_text(samples: Samples) -> str:
    texts = []
    for name in (*(f"DFTracer {version}" for version in dftracer.VERSIONS), "strace"):
        ratio = samples.ratio(lambda one, name=name: one[name] - one["bare"], "floor", name)  # type: ignore[misc]
        if ratio is not None:
            texts.append(f"{name} {ratio:.0f} B")
    return ", ".join(texts)


def row_region(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    rows = []
    for threads in (1, 2):
        samples = collect(region(threads), bench, rounds, progress)
        ratio = samples.ratio(lambda one: one["on"], "floor", "on")
        floor, on = samples.median("floor") or 0, samples.median("on") or 0
        what = f"annotated region, {threads} thread{'s' * (threads > 1)}"
        lttng = samples.ratio(lambda one: one["lttng"], "floor", "lttng")
        peer = f"LTTng {lttng:.1f} B" if lttng is not None else "LTTng not installed"
        texts = (f"B {floor:.1f} ns", f"{on:.1f} ns", f"{ratio:.2f} B", peer)
        rows.append(Row(what, *texts, "1.9 B", "1.15 B", judged(ratio, 1.9, 1.15)))
        if threads == 1:
            off = statistics.median([one["off"] - one["call"] for one in samples.rounds])
            verdict = judged(off, 1.0, 0.1)
            rows.append(
                Row(
                    "region, not recording",
                    "an empty call",
                    f"{off:+.2f} ns",
                    "",
                    "LTTng 0.2 ns",
                    "1 ns",
                    "0",
                    verdict,
                )
            )
    return rows


def row_intercepted(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    kinds = [
        ("pread", "intercepted pread of 4 KiB", 600_000, 3.0, 1.5),
        ("read64", "intercepted fread of 64 bytes", 3_000_000, 2.5, 1.3),
        ("openclose", "open and close (2 events)", 300_000, 0, 0),
        ("stat", "stat", 300_000, 0, 0),
    ]
    rows = []
    for what, name, turns, enough, goal in kinds:
        for threads in (1, 2) if enough else (1,):
            samples = collect(intercepted(what, turns, threads, threads == 1), bench, rounds, progress)
            ratio = samples.ratio(lambda one: one["on"] - one["bare"], "floor", "on")
            bare, floor = samples.median("bare") or 0, samples.median("floor") or 0
            added = statistics.median([one["on"] - one["bare"] for one in samples.rounds])
            title = f"{name}, {threads} thread{'s' * (threads > 1)}"
            verdict = judged(ratio, enough, goal) if enough else ""
            bars = (f"{enough} B", f"{goal} B") if enough else ("", "")
            rows.append(
                Row(
                    title,
                    f"bare {bare:.0f}, B {floor:.1f} ns",
                    f"{added:+.1f} ns",
                    f"{ratio:.2f} B",
                    peers_text(samples),
                    *bars,
                    verdict,
                )
            )
    return rows


def row_packing(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """Bytes at rest of a recording of preads."""
    del rounds
    turns = 3_000_000
    bench.recorded("pread", turns, 1)
    progress()
    events = int(bench.sql("SELECT count(*) FROM events"))
    size = sum(file.stat().st_size for file in bench.trace.glob("events*.parquet"))
    each = size / events
    return [
        Row(
            "bytes of a POSIX event at rest",
            "-",
            f"{each:.2f} B",
            "",
            "DFTracer 11.5-23",
            "7",
            "5",
            judged(each, 7, 5),
        )
    ]


def row_speed_of_packing(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """CPU seconds of one core from the spool to Parquet, summary and all."""
    rates = []
    for _ in range(min(rounds, 3)):
        bench.unpacked("pread", bench.turns(3_000_000), "1")
        seconds = bench.cpu_seconds([str(bench.build / "fathom"), "collect", "-q", str(bench.trace)])
        rates.append(int(bench.sql("SELECT count(*) FROM events")) / seconds / 1e6)
        progress()
    rate = statistics.median(rates)
    verdict = "goal" if rate >= 3 else "good enough" if rate >= 1.5 else "SHORT"
    peer = "DFTracer 0.16-1.3 M in the program"
    return [Row("spool to Parquet, one core", "-", f"{rate:.2f} M events/s", "", peer, "1.5 M", "3 M", verdict)]


def row_stalls(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """Calls over 200 us while about 20 MB/s were recorded, against the same into fresh anonymous memory."""
    del rounds
    seconds = str(max(3, int(60 * bench.scale)))
    control = bench.run([str(bench.cost), "stall", seconds, "1"]).split()
    progress()
    ours = bench.under_fathom("stall", seconds, "0").split()
    progress()
    verdict = "good enough" if int(ours[0]) <= 3 * max(1, int(control[0])) and float(ours[1]) <= 5000 else "SHORT"
    value = f"{ours[0]} calls, longest {float(ours[1]) / 1000:.2f} ms"
    floor = f"control {control[0]}, {float(control[1]) / 1000:.2f} ms"
    return [
        Row(
            f"stalls over 200 us in {seconds} s",
            floor,
            value,
            "",
            "DFTracer 148-276 ms",
            "3 x, 5 ms",
            "1.5 x, 1 ms",
            verdict,
        )
    ]


def row_memory(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """Peak resident memory that recording adds to the program."""
    del rounds
    rows = []
    for threads in (1, 8):
        arguments = ("memory", bench.turns(2_000_000), str(threads))
        bare = int(bench.run([str(bench.cost), *arguments]).split()[-1])
        ours = int(bench.under_fathom(*arguments).split()[-1])
        progress()
        added, bar, goal = (ours - bare) / 1024, 16 + 2 * threads, 8 + threads
        verdict = "goal" if added <= goal else "good enough" if added <= bar else "SHORT"
        title = f"memory of the program, {threads} thread{'s' * (threads > 1)}"
        rows.append(
            Row(title, f"bare {bare / 1024:.1f} MiB", f"+{added:.1f} MiB", "", "", f"{bar} MiB", f"{goal} MiB", verdict)
        )
    return rows


def collect(sample: Callable[[Bench], Sample], bench: Bench, rounds: int, progress: Callable[[], None]) -> Samples:
    done = []
    for _ in range(rounds):
        done.append(sample(bench))
        progress()
    return Samples(done)


RowMaker = Callable[[Bench, int, Callable[[], None]], list[Row]]
ROWS: list[RowMaker] = [row_region, row_intercepted, row_packing, row_speed_of_packing, row_stalls, row_memory]
ROWS += [row_heap, row_cuda, row_annotated, row_dropin, row_told, row_calls, row_kernel, row_probes, row_kept]
ROWS += [row_updates, row_nodes, row_posts, row_server_memory, row_page]
ROWS += [row_lives, row_symbols, row_big, row_pan_zoom, row_start, row_rest]
ROWS += [row_sampling, row_python_sampling, row_switches, row_sample_bytes, row_stat, row_region_events]


def measure(bench: Bench, makers: list[RowMaker], rounds: int, progress: bool) -> list[Row]:
    def dot() -> None:
        if progress and sys.stderr.isatty():
            print(".", end="", file=sys.stderr, flush=True)

    rows: list[Row] = []
    for maker in makers:
        rows += maker(bench, rounds, dot)
    return rows
