# SPDX-License-Identifier: MIT
"""fork, exec and threads: what was done stands under the program that did it, and who lived is counted."""

import json
import os
import secrets
from pathlib import Path

from kit import Box, Skipped, check, check_true

PIPELINE = 'cat "$0" | sort -rn | tail -1'
JOIN = 'e.host = p.host AND e.pid = p.pid AND e.ts BETWEEN p.start AND p."end"'
THREADS = """
import threading, time
threads = [threading.Thread(target=time.sleep, args=(0.3,)) for _ in range(5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
GROUPS = [
    Path("/sys/fs/cgroup") / name for name in ("", "unified", "systemd", "pids")
]  # version 2, or a hierarchy of 1


def record_pipeline(box: Box) -> None:
    (box.dir / "numbers").write_text("".join(f"{number}\n" for number in range(5000)))
    check("output", b"0\n", box.record("sh", "-c", PIPELINE, box.dir / "numbers"))


def test_events_name_their_program(box: Box) -> None:
    box.not_emulated("qemu-user follows no exec")
    record_pipeline(box)
    moved, joined, doubled = box.answers(
        "SELECT program FROM events WHERE category = 'read' GROUP BY program HAVING sum(bytes) > 20000",
        f"SELECT count(*) FROM events e JOIN processes p ON {JOIN} WHERE e.program = p.name",
        "SELECT count(*) FROM events",
    )
    check_true(f"cat and sort are among {moved}", {"cat", "sort"} <= {program for (program,) in moved})
    check("events that join one row, of their program", doubled, joined)


def test_a_process_that_becomes_another_is_one(box: Box) -> None:
    box.not_emulated("qemu-user follows no exec")
    record_pipeline(box)
    (lives,), (pids,), (overlaps,) = (
        answer[0]
        for answer in box.answers(
            "SELECT count(*) FROM processes WHERE image = 0",
            "SELECT count(DISTINCT pid) FROM processes",
            "SELECT count(*) FROM processes a JOIN processes b USING (pid) "
            'WHERE a.start < b.start AND a."end" >= b.start',
        )
    )
    check("processes", (pids, 4, 0), (lives, pids, overlaps))
    words = json.loads(box.fathom("report", box.trace, "--format", "json"))["words"][0]["text"]
    check_true(f"4 processes are told in {words!r}", " 4 processes, " in words)


def test_processes_tell_programs_apart(box: Box) -> None:
    box.not_emulated("qemu-user follows no exec")
    record_pipeline(box)
    report = json.loads(box.fathom("report", box.trace, "processes", "--top", "0", "--format", "json"))
    (rows, *_) = report.values()
    size = (box.dir / "numbers").stat().st_size
    read = {row["name"]: row["read"] for row in rows if row["name"] in ("cat", "tail")}
    check("bytes that were read", {"cat": size, "tail": size}, read)
    shells = [row for row in rows if row["name"] not in ("cat", "sort", "tail")]
    check("shells with bytes of others", [], [row for row in shells if (row["read"] or 0) >= size])


def test_viewers_show_what_ran(box: Box) -> None:
    box.not_emulated("qemu-user follows no exec")
    record_pipeline(box)
    out = box.root / "out.json"
    box.fathom("export", box.trace, "--format", "chrome", "-o", out)
    named = [event for event in json.loads(out.read_text())["traceEvents"] if event["name"] == "process_name"]
    names = sorted(event["args"]["name"] for event in named)
    check("names", ["cat", "sort", "tail"], [name for name in names if name in ("cat", "sort", "tail")])
    check("processes with one name", len({event["pid"] for event in named}), len(named))


def test_threads_that_call_nothing_lived(box: Box) -> None:
    box.record("python3", "-c", THREADS)
    box.not_emulated("python3 is of this machine")
    threads, short = box.values(
        "SELECT count(*) FROM threads",
        'SELECT count(*) FROM threads WHERE tid <> pid AND ("end" - start < 290000000 OR "end" IS NULL)',
    )
    check("threads, and those told too short", (6, 0), (threads, short))
    check("losses", 0, box.losses())


def test_threads_of_c11(box: Box) -> None:
    box.record(box.kit.victim("c11_threads"))
    check("threads", 6, box.value("SELECT count(*) FROM threads"))


def test_the_container_of_a_process(box: Box) -> None:
    """As engines name control groups; the last id is the innermost container's."""
    box.not_emulated("qemu-user follows no exec")
    number = secrets.token_hex(32)
    roots = [root for root in GROUPS if (root / "cgroup.procs").exists()]
    if not roots:
        raise Skipped("no hierarchy of control groups here")
    group = roots[0] / f"fathom-test-{os.getpid()}" / f"docker-{number}.scope"
    try:
        group.mkdir(parents=True)
    except OSError as error:
        raise Skipped(f"no control group can be made: {error}") from None
    try:
        box.record("sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec cat /dev/null', group)
        check("container", [(number,)], box.rows("SELECT container FROM processes WHERE name = 'cat'"))
    finally:
        group.rmdir()
        group.parent.rmdir()


def test_a_run_lasts_as_long_as_its_last_process(box: Box) -> None:
    """What goes on in the background is recorded, and nothing happens after the end of the run."""
    box.not_emulated("qemu-user follows no exec")
    box.record("sh", "-c", "(sleep 0.4; cat /dev/null) > /dev/null 2>&1 &")
    box.wait_for("end of the last process", lambda: box.info()["state"] == "complete")
    wall = box.info()["duration_ns"]
    last, ended = box.values("SELECT max(ts + dur) FROM events", 'SELECT max("end") FROM processes')
    check_true(f"{last} and {ended} are not after {wall}", 400_000_000 <= max(last, ended) <= wall)
