# SPDX-License-Identifier: MIT
"""The views of reports: they agree with each other, with SQL, and with their parts."""

import json
from typing import Any

from jobs import alone
from kit import Box, check, check_true

VIEWS = (
    *("functions", "loops", "tree", "files", "directories", "patterns", "layers", "overlap", "phases", "training"),
    *("ranks", "processes", "threads", "sizes", "latencies", "bandwidth", "concurrency", "timeline", "resources"),
    *("losses", "intervals"),
)


def tables(box: Box, *options: object) -> dict[str, list[dict[str, Any]]]:
    """The tables of a report by their titles; a single one has no title around it."""
    answer = json.loads(box.fathom("report", box.trace, *options, "--top", "0", "--format", "json"))
    return {"": answer} if isinstance(answer, list) else answer


def first_table(box: Box, *options: object) -> list[dict[str, Any]]:
    return next(iter(tables(box, *options).values()))


def test_every_view(box: Box) -> None:
    """Of what nobody packed yet, and as SQL views; what events and sums tell is the same."""
    box.run(box.kit.victim("storm"), 2, 3, 200, env=box.unsupervised())
    for view in VIEWS:
        tables(box, view)
        box.rows(f"SELECT count(*) FROM {view}")
    own, calls = box.values("SELECT CAST(sum(self) AS BIGINT) FROM events", "SELECT count(*) FROM events")
    tree = first_table(box, "tree")
    check("the tree has all time", own, sum(row["self"] for row in tree))
    check("the tree has all calls", calls, sum(row["calls"] for row in tree))
    check("threads have all time", own, sum(row["self"] for row in first_table(box, "layers", "--by", "tid")))
    check("functions have all time", own, sum(row["self"] for row in first_table(box, "functions")))
    for by in ("host", "pid", "tid"):
        for row in first_table(box, "overlap", "--by", by):
            parts = row["app_io"] + row["unoverlapped_compute"]
            check(f"I/O, and compute without it, by {by}", row["busy"], parts)


def test_parts_make_the_whole(box: Box) -> None:
    """Events are cut at --from and --to, so that two parts of a run have all of its time."""
    box.record(box.kit.victim("storm"), 2, 3, 200)
    middle = box.value("SELECT (min(ts) + max(ts + dur)) // 2 FROM events") / 1e9
    end = box.value("SELECT wall FROM totals") / 1e9
    ways = {"before": ("--to", f"{middle:.9f}"), "after": ("--from", f"{middle:.9f}", "--to", f"{end + 1:.9f}")}
    for view, column in (("functions", "self"), ("layers", "self"), ("overlap", "busy"), ("tree", "self")):
        whole = sum(row[column] for row in first_table(box, view) if not str(row.get("layer")).startswith("("))
        got = 0
        for options in ways.values():
            rows = first_table(box, view, *options)
            got += sum(row[column] for row in rows if not str(row.get("layer")).startswith("("))
        check(f"{column} of {view}", whole, got)


def test_conditions(box: Box) -> None:
    """--where is SQL of somebody else's: it filters, and may not do more."""
    box.record(box.kit.victim("storm"), 2, 3, 200)
    wanted = box.value("SELECT count(*) FROM events WHERE layer = 'posix' AND dur > 1000")
    rows = first_table(box, "functions", "--where", "layer = 'posix' AND dur > 1000 -- long ones")
    check("calls for which it holds", wanted, sum(row["calls"] for row in rows))
    for bad in ("dur >", "nothing = 1", "1) UNION SELECT 1 FROM enable_logging() WHERE (1", "1); DROP VIEW events; --"):
        process = box.start(box.kit.fathom, "report", box.trace, "functions", "--where", bad)
        _, err = box.finish(process, 3)
        check_true(f"one line about {bad!r}: {err!r}", err.startswith(b"fathom: ") and err.count(b"\n") == 1)
    process = box.start(box.kit.fathom, "report", box.trace, "functions", "--depth", "1")
    box.finish(process, 2)


def calls_of_part(box: Box, *options: object) -> tuple[dict[str, int], int]:
    """Calls by function in a part of a run, and how many calls that were added up it says to have left out."""
    answer = tables(box, "functions", *options)
    words = [row["text"] for row in answer.get("words", [])]
    left = sum(int(text.split()[2]) for text in words if text.startswith("Left out: "))
    rows = next(table for title, table in answer.items() if title in ("", "functions_by_self_time"))
    return {row["name"]: row["calls"] for row in rows}, left


def test_parts_of_what_was_added_up(box: Box) -> None:
    """Calls without events of their own: by layer, process, name and whole intervals; what cannot be told is told."""
    box.not_emulated("the recorder chooses the library")
    heap = box.kit.victim("heap")
    script = f"{heap} work 50 1 0; sleep 0.15; {heap} work 20 0 1"
    box.record("sh", "-c", script, options=("--layers", "+heap", "--interval", "50ms"))
    sums = "SELECT name, CAST(sum(calls) AS BIGINT) FROM {} WHERE layer = 'heap' AND {} GROUP BY name"
    whole = dict(box.rows(sums.format("summary", "true")))
    check("the layer", (whole, 0), calls_of_part(box, "--layers", "heap"))
    check("one function", ({"valloc": whole["valloc"]}, 0), calls_of_part(box, "--where", "name = 'valloc'"))
    by_pid = box.rows("SELECT pid, CAST(sum(calls) AS BIGINT) FROM summary WHERE layer = 'heap' GROUP BY pid")
    for pid, calls in by_pid:
        part, left = calls_of_part(box, "--layers", "heap", "--pid", pid)
        check(f"process {pid}", (calls, 0), (sum(part.values()), left))
    total = sum(whole.values())
    for middle in (0.1, 0.12):
        parts = [calls_of_part(box, "--layers", "heap", way, middle) for way in ("--to", "--from")]
        inside, left = sum(sum(part.values()) for part, _ in parts), [left for _, left in parts]
        cut = f"ts < {middle * 1e9} AND ts + width > {middle * 1e9}"
        across = box.value(
            f"SELECT coalesce(CAST(sum(calls) AS BIGINT), 0) FROM intervals WHERE layer = 'heap' AND {cut}"
        )
        check(f"both sides of {middle}", (total - across, [across, across]), (inside, left))
    part, left = calls_of_part(box, "--where", "layer = 'heap' AND size > 3")
    check("a condition on single calls", ({}, total), (part, left))
    busy = {row["layer"]: row["calls"] for row in first_table(box, "timeline", "--layers", "heap")}
    check("over time", {"heap": total}, busy)


@alone("hooks of the kernel are those of the whole machine")
def test_parts_of_single_calls_and_their_sums(box: Box) -> None:
    """A layer of the kernel in detail has both, and counts once."""
    box.needs_layer("syscall")
    box.record("sh", "-c", "cat /dev/null; true", options=("--layers", "syscall", "--detail", "syscall"))
    whole = dict(box.rows("SELECT name, CAST(sum(calls) AS BIGINT) FROM summary GROUP BY name"))
    check("calls", (whole, 0), calls_of_part(box, "--layers", "syscall"))
    fast = dict(box.rows("SELECT name, count(*) FROM events WHERE dur < 100000 GROUP BY name"))
    check("a condition", (fast, 0), calls_of_part(box, "--where", "dur < 100000"))


def test_a_part_counts_who_lives_in_it(box: Box) -> None:
    """Of a process that became another program, also where it did so before."""
    (box.dir / "life.sh").write_text("sleep 0.1\nexec sleep 1\n")
    box.record("sh", "life.sh")
    begin = int(box.value("SELECT max(start) FROM processes WHERE image = 1 AND name = 'sleep'")) / 1e9
    part = ("--from", f"{begin + 0.2:.6f}", "--to", f"{begin + 0.6:.6f}")
    said = box.fathom("report", box.trace, *part).decode()
    check_true(f"one of each in {said[:200]}", "1 process, 1 thread," in said)
    rows = json.loads(box.fathom("report", box.trace, "processes", *part, "--format", "json"))["processes"]
    check("processes", ["sleep"], [row["name"] for row in rows])
