# SPDX-License-Identifier: MIT
"""Layer cpu: sampled stacks and stretches off the CPU, against what a program's own clocks say."""

import re
from dataclasses import dataclass

from kit import Box, Skipped, check, check_true

MS = 1_000_000
ALONE = "shares of CPU time are those of the whole machine"


@dataclass(frozen=True)
class Work:
    tid: int
    name: str
    ns: int


def record(box: Box, *options: str) -> list[Work]:
    """The program with known shares, sampled."""
    out = box.record(box.kit.victim("sampled", "-fno-omit-frame-pointer"), options=options)
    if box.value("SELECT state FROM layers WHERE layer = 'cpu'") not in ("on", "partial"):
        raise Skipped(str(box.value("SELECT reason FROM layers WHERE layer = 'cpu'")))
    lines = (line.split() for line in out.decode().splitlines())
    return [Work(int(tid), name, int(ns)) for _, tid, name, ns in lines]


def check_near(what: str, wanted: float, got: float, slack: float) -> None:
    check_true(f"{what}: {got:.6g} is {wanted:.6g} within {slack:.3g}", abs(got - wanted) <= slack)


def test_samples_stand_for_cpu_time(box: Box) -> None:
    works = record(box, "--sample", "997")
    check("functions", {"heavy", "light", "other"}, {work.name for work in works})
    check("losses", 0, box.all_losses())
    for tid in {work.tid for work in works}:
        spent = sum(work.ns for work in works if work.tid == tid)
        sampled = box.value(f"SELECT sum(weight) FROM samples WHERE event = 'cpu-clock' AND tid = {tid}")
        check_near(f"CPU time of thread {tid}", spent, int(sampled), 0.05 * spent + 5 * MS)


def test_functions_have_their_shares(box: Box) -> None:
    works = record(box, "--sample", "997")
    whole = sum(work.ns for work in works)
    told = dict(box.rows('SELECT "function", self FROM hot'))
    for work in works:
        check_near(f"share of {work.name}", work.ns / whole, int(told[work.name]) / whole, 0.08)
    main = box.value("""SELECT total FROM hot WHERE "function" = 'main'""")
    check_true("main holds heavy and light", int(main) > int(told["heavy"]))


def test_lives_add_up(box: Box) -> None:
    record(box)
    life, threads = box.rows('SELECT sum("end" - start), count(*) FROM threads')[0]
    rows = box.rows('SELECT state, cause, name, "time", share FROM "time"')
    check("threads", 2, threads)
    check_near("time of all rows", int(life), sum(int(row[3]) for row in rows), MS)
    check_near("shares", 100, sum(float(row[4]) for row in rows), 0.1)
    check("the last row", "unexplained", rows[-1][0])
    check_true(f"at most 2 % is unexplained: {rows[-1]}", float(rows[-1][4]) <= 2)
    asleep = sum(int(row[3]) for row in rows if row[:2] == ("waiting", "sleep"))
    check_near("naps", 60 * MS, asleep, 15 * MS)
    joined = sum(int(row[3]) for row in rows if row[:2] == ("waiting", "join"))
    check_true(f"the main thread waits for the other one or has ended later: {rows}", joined >= 0)


def test_another_event(box: Box) -> None:
    record(box, "--sample-event", "page-faults", "--sample", "10000")
    faults = box.value("SELECT sum(weight) FROM samples WHERE event = 'page-faults'")
    check_true(f"page faults: {faults}", int(faults) > 50)
    refused = box.fathom("run", "--sample-event", "page-fault", "--", "true", status=2)
    check("nothing on stdout", b"", refused)


PERF_SCRIPT = """\
crew  70/71    1.000100:    1000000 cpu-clock:u:
\t            10 haul<rope<int> >+0x1a (/opt/my ship/boat)
\t            20 haul<rope<int> >+0x2a (/opt/my ship/boat)
\t            30 main+0x10 (/opt/my ship/boat)

crew  70/71    1.001100:    1000000 cpu-clock:k:
\tffffffff81000010 clear_page+0x7 ([kernel.kallsyms])
\t            30 main+0x10 (/opt/my ship/boat)

crew  70/71    1.002100:    2000000 cpu-clock:u:
\t            12 haul<rope<int> >+0x1c (/opt/my ship/boat)
\t            30 main+0x10 (/opt/my ship/boat)

"""


def test_imported_samples(box: Box) -> None:
    """A function that calls itself counts once, and has the samples in which it is innermost."""
    text = box.root / "perf.txt"
    text.write_text(re.sub(":$", ": ", PERF_SCRIPT, flags=re.M))  # perf leaves a space there
    box.fathom("import", text, "-o", box.trace)
    hot = box.rows('SELECT "function", self, total, samples FROM hot ORDER BY total DESC, self DESC')
    wanted = [
        ("main", 0, 4_000_000, 0),
        ("haul<rope<int> >", 3_000_000, 3_000_000, 2),
        ("clear_page", 1_000_000, 1_000_000, 1),
    ]
    check("functions", wanted, hot)
    nodes = box.rows('SELECT node, execname, event, "count" FROM nodes ORDER BY node')
    wanted_nodes = [
        ("clear_page", "[kernel.kallsyms]", "cpu-clock:k", 1_000_000),
        ("haul<rope<int> >", "boat", "cpu-clock:u", 3_000_000),
    ]
    check("nodes", wanted_nodes, nodes)
    check("nobody knows how long the threads lived", [], box.rows('SELECT * FROM "time"'))


def test_the_overview_begins_with_the_time(box: Box) -> None:
    """A program that only computes is told by its functions, with no option."""
    works = record(box)
    text = box.fathom("report", box.trace).decode()
    words, _, table = text.partition("Where the threads' time went")
    most = max(works, key=lambda work: work.ns).name
    check_true(f"the function that ran longest in {words!r}", f"Most CPU time: {most} " in words)
    check_true("the table of it", f" {most} " in table.split("\n\n")[0])
    check_true("no 'outside recorded calls'", "outside recorded calls" not in text)
    check_true("nor in the layers", "outside" not in box.fathom("report", box.trace, "layers").decode())


def test_nobody_is_in_calls_who_made_none(box: Box) -> None:
    record(box, "--layers", "cpu")
    _, columns, row, *_ = box.fathom("report", box.trace, "processes", "--format", "csv").decode().splitlines()
    told = dict(zip(columns.split(","), row.split(",")))
    check("time in calls, calls", ("", ""), (told["in_calls"], told["calls"]))


def test_sampling_can_be_turned_off(box: Box) -> None:
    box.record("true", options=("--sample", "0"))
    state = box.rows("SELECT state, reason, events FROM layers WHERE layer = 'cpu'")
    check("layer cpu", [("off", "turned off (--sample 0)", 0)], state)
    text = box.fathom("report", box.trace).decode()
    check_true("no account", "Where the threads' time went" not in text)
    for options in (("--sample", "-1"), ("--sample", "0", "--layers", "cpu")):
        box.fathom("run", *options, "-o", box.root / "none", "--", "true", status=2)
    check("a recording of nothing", False, (box.root / "none").exists())


def test_a_recorder_without_memory(box: Box) -> None:
    """Samples end, which is counted; the program and everything else that is recorded go on."""
    if box.kit.emulator:
        raise Skipped("what is preloaded would be the emulator's")
    poor = {"LD_PRELOAD": str(box.kit.victim("no_memory", "-shared", "-fPIC"))}
    command = ("run", "-q", "--sample", "997", "-o", box.trace, "--")
    out = box.run(
        box.kit.fathom, *command, "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done", env=poor
    )
    check("the program's own words", b"done\n", out)
    check("state", "complete", box.value("SELECT value FROM run WHERE key = 'state'"))
    lost = box.rows("SELECT reason, \"count\" FROM losses WHERE layer = 'cpu' AND reason LIKE '%no memory%'")
    check("the rest is counted", [("samples of the rest of the run: no memory for them", 1)], lost)
    check_true("calls are recorded to the end", int(box.value("SELECT count(*) FROM events WHERE name = 'write'")) > 0)
