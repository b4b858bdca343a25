# SPDX-License-Identifier: MIT
"""Counters on the timeline (--count), and counts on regions (--region-events)."""

import json
import shutil
import subprocess
from pathlib import Path

from kit import Box, Skipped, check, check_true
from test_stat import can_count

PAGES = 500  # that a region "touch" of victim "counted" touches
COUNT = ("--layers", "+cpu", "--count")


def counted(box: Box, events: str, *options: str) -> bytes:
    can_count(box)
    return box.record(box.kit.victim("counted"), options=(*COUNT, events, *options))


def test_counts_of_every_process_end_at_what_it_did(box: Box) -> None:
    """Each process has a series that grows; their last values add up to what stat counts of the same program."""
    counted(box, "page-faults,task-clock")
    state, reason = box.rows("SELECT state, reason FROM layers WHERE layer = 'cpu'")[0]
    if state not in ("on", "partial"):
        raise Skipped(str(reason))
    last = dict(
        box.rows("SELECT pid, max(value) FROM counters WHERE layer = 'cpu' AND name = 'page-faults' GROUP BY pid")
    )
    check("processes", set(dict(box.rows("SELECT pid, 1 FROM processes"))), set(last))
    check("processes", 2, len(last))
    check_true(f"the child: {last}", PAGES <= min(last.values()) <= PAGES + 300)
    check_true(f"the program: {last}", 2 * PAGES <= max(last.values()) <= 2 * PAGES + 2000)
    steps = (
        "SELECT value - lag(value) OVER (PARTITION BY pid, name ORDER BY ts) AS more FROM counters WHERE layer = 'cpu'"
    )
    check("values that fall or stay", 0, box.value(f"SELECT count(*) FROM ({steps}) WHERE more <= 0"))
    check("units", {("page-faults", None), ("task-clock", "ns")}, set(box.rows(UNITS)))
    check("losses", 0, box.losses())


UNITS = "SELECT DISTINCT name, unit FROM counters WHERE layer = 'cpu'"


def test_counts_over_time(box: Box) -> None:
    """A process that lives has a row every interval."""
    can_count(box)
    script = "import time\nend = time.time() + 1.5\nwhile time.time() < end: bytearray(1 << 20)"
    box.record("/usr/bin/python3", "-c", script, options=(*COUNT, "task-clock", "--interval", "50ms"))
    rows = box.rows("SELECT ts, value FROM counters WHERE layer = 'cpu' AND name = 'task-clock' ORDER BY ts")
    check_true(f"rows in 1.5 s at 50 ms each: {len(rows)}", 8 <= len(rows) <= 60)
    sampled = box.value("SELECT sum(weight) FROM samples WHERE event = 'cpu-clock'")
    share = float(rows[-1][1]) / float(sampled)
    check_true(f"the last value is the CPU time, got {share:.3f} of it", 0.9 < share < 1.1)


def test_what_cannot_be_counted_is_said(box: Box) -> None:
    """Recorded without the event, with the reason; a name that nobody knows ends it before the program runs."""
    counted(box, "page-faults,context-switches:u")
    reason = str(box.value("SELECT reason FROM layers WHERE layer = 'cpu'"))
    check_true(f"reason {reason}", "--count context-switches:u: this event occurs only in the kernel" in reason)
    check("what was counted", [("page-faults",)], box.rows("SELECT DISTINCT name FROM counters WHERE layer = 'cpu'"))
    for option in ("--count", "--region-events"):
        process = box.start(box.kit.fathom, "run", "--layers", "+cpu", option, "page-fautls", "--", "touch", "made")
        _, err = box.finish(process, 2)
        check_true(f"near names in {err!r}", b"page-faults" in err and err.count(b"\n") == 1)
    box.fathom("run", "--layers", "posix", "--count", "page-faults", "--", "touch", "made", status=2)
    box.fathom("run", "--layers", "posix", "--region-events", "page-faults", "--", "touch", "made", status=2)
    check("the program ran", False, (box.dir / "made").exists())


EVENTS = "page-faults,task-clock,context-switches"


def test_regions_have_their_counts(box: Box) -> None:
    out = box.record(box.kit.victim("counted"), options=("--region-events", EVENTS))
    counts = ", ".join(
        f"CAST(args['{event}'] AS BIGINT)" for event in ("page-faults", "task-clock", "context-switches")
    )
    rows = box.rows(f"SELECT name, dur, {counts}, args['own'] FROM events WHERE layer = 'app' ORDER BY ts")
    touches = [row for row in rows if row[0] == "touch"]
    check("regions that touch, in the program, its thread and its child", 3, len(touches))
    for row in touches:
        check_true(f"faults of {row}", PAGES <= int(row[2]) <= PAGES + 50)
    works = [row for row in rows if row[0] == "work"]
    check("regions that work", 2, len(works))
    for row in works:
        check_true(f"faults of {row}", int(row[2]) <= 50)
        check_true(f"every nap is a switch in {row}", int(row[4]) >= 5)
        check_true(f"CPU time is below the region's in {row}", 0 < int(row[3]) < int(row[1]) + 1_000_000)
        check("the region's own argument", "kept", row[5])
    spent = int(out)
    check_true(
        f"CPU time of {works[0]}, {spent} by the program", abs(int(works[0][3]) - spent) < 0.05 * spent + 200_000
    )


def test_a_region_that_goes_on_in_a_child_has_no_counts_there(box: Box) -> None:
    """The child counts from 0: a difference would be wrong."""
    box.record(box.kit.victim("counted"), options=("--region-events", "page-faults"))
    own = "pid = (SELECT pid FROM processes ORDER BY start LIMIT 1)"
    rows = box.rows(f"SELECT {own}, args['page-faults'] FROM events WHERE name = 'around' ORDER BY 1")
    check("the child's", (False, None), rows[0])
    check_true(f"the program's: {rows}", rows[1][0] is True and rows[1][1] is not None)


def test_regions_without_the_option_have_none(box: Box) -> None:
    box.record(box.kit.victim("counted"))
    check("counts", 0, box.value("SELECT count(*) FROM events WHERE args['page-faults'] IS NOT NULL"))


def test_events_that_regions_cannot_count(box: Box) -> None:
    box.record(box.kit.victim("counted"), options=("--region-events", "page-faults,cpu-migrations"))
    state, reason = box.rows("SELECT state, reason FROM layers WHERE layer = 'app'")[0]
    check("state", "partial", state)
    check_true(f"reason {reason}", "--region-events cpu-migrations: a thread cannot read it of itself" in str(reason))
    check("regions with counts", 6, box.value("SELECT count(*) FROM events WHERE args['page-faults'] IS NOT NULL"))


def test_imported_benchmarks_are_compared(box: Box) -> None:
    """Results of other tools, and stat's own, are repetitions like recordings."""
    for name, seconds in (
        ("before", [0.100, 0.101, 0.102, 0.103, 0.104]),
        ("after", [0.2, 0.201, 0.202, 0.203, 0.204]),
    ):
        results = {"results": [{"command": "sort big", "mean": 0, "times": seconds, "exit_codes": [0] * 5}]}
        (box.dir / f"{name}.json").write_text(json.dumps(results))
        box.fathom("import", box.dir / f"{name}.json", "-o", box.root / name)
    process = box.start(box.kit.fathom, "diff", box.root / "before", box.root / "after", "--format", "json")
    out, _ = box.finish(process, 1)
    (wall,) = [row for row in json.loads(out)["run_time"] if row["figure"] == "wall time"]
    check("medians", (102_000_000, 202_000_000), (wall["before"], wall["after"]))
    check_true(f"p {wall}", abs(wall["p"] - 2 / 252) < 1e-3)
    limits = box.dir / "budget.yaml"
    limits.write_text("budgets:\n - measure: wall\n   max: 150 ms\n")
    box.fathom("check", box.root / "before", "--budget", limits)
    box.fathom("check", box.root / "after", "--budget", limits, status=1)
    stat = box.fathom("stat", "--format", "json", "-r", "4", "-o", box.dir / "stat.json", "--", "true")
    check("words of the program", b"", stat)
    box.fathom("import", box.dir / "stat.json", "-o", box.root / "stat")
    box.fathom("diff", box.root / "stat", box.root / "stat")


GOOGLE = """
#include <benchmark/benchmark.h>
#include <vector>
static void BM_fill(benchmark::State& state) {
  for (auto _ : state) { std::vector<int> v(state.range(0), 1); benchmark::DoNotOptimize(v); }
}
BENCHMARK(BM_fill)->Arg(64);
BENCHMARK_MAIN();
"""


def imported_runs(box: Box, results: Path, name: str) -> int:
    box.fathom("import", results, "-o", box.root / name)
    return len(list((box.root / name).glob("*/*/manifest.json")))


def test_results_of_the_tools_themselves(box: Box) -> None:
    """hyperfine and Google Benchmark as they are today; with --full, where they are installed."""
    if not box.kit.full:
        raise Skipped("with --full")
    hyperfine = shutil.which("hyperfine")
    if hyperfine is None:
        raise Skipped("hyperfine is not installed")
    box.run(hyperfine, "-N", "-r", "5", "--export-json", "h.json", "true")
    check("runs of hyperfine", 5, imported_runs(box, box.dir / "h.json", "hyperfine"))
    (box.dir / "b.cc").write_text(GOOGLE)
    program = box.dir / "b"
    compiled = subprocess.run(["c++", "-O1", box.dir / "b.cc", "-o", program, "-lbenchmark", "-lpthread"], check=False)
    if compiled.returncode != 0:
        raise Skipped("Google Benchmark is not installed")
    options = ["--benchmark_min_time=0.01", "--benchmark_repetitions=4", "--benchmark_format=json"]
    (box.dir / "g.json").write_bytes(box.run(program, *options))
    check("runs of Google Benchmark", 4, imported_runs(box, box.dir / "g.json", "google"))
    lone = box.run(program, *options, "--benchmark_report_aggregates_only=true")
    (box.dir / "a.json").write_bytes(lone)
    check("runs of aggregates alone", 1, imported_runs(box, box.dir / "a.json", "aggregates"))
    box.fathom("diff", box.root / "google", box.root / "google")
