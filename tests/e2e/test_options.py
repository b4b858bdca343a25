# SPDX-License-Identifier: MIT
"""Options that a command cannot use are refused, and what it could not write is told."""

import json
import subprocess
from pathlib import Path

from kit import Box, check, check_true

TEXT = """fathom recording 1
run host=alpha start=1700000000000000000 duration=1000 exit=0 command=work
process 7 name=work start=0 end=1000 host=alpha
process 7 name=work start=0 end=1000 host=beta
event 7/7 10 +5 posix read category=read file=/data/a bytes=4 host=alpha
event 7/7 20 +5 posix read category=read file=/data/a bytes=4 host=beta
counter 7 3 resource zz 1 unit=bytes host=alpha
counter 7 2 resource zz 2 unit=bytes host=alpha
counter 7 1 resource aa 3 unit=bytes host=alpha
"""


def recording(box: Box) -> None:
    (box.dir / "two.txt").write_text(TEXT)
    box.fathom("import", "two.txt", "-o", box.trace)


def test_rates_are_checked(box: Box) -> None:
    for rate in ("0", "-1", "nan", "1001"):
        box.fathom("collect", "--hz", rate, box.trace, status=2)
        box.fathom("run", "--hz", rate, "-o", box.trace, "--", "true", status=2)


def test_a_switch_can_be_turned_off(box: Box) -> None:
    """`--all` and `--user` exclude each other; without a daemon there is nobody to ask."""
    who = ("--user", "root", "--socket", box.root / "nobody")
    box.fathom("watch", "status", "--all", *who, status=2)
    box.fathom("watch", "status", "--all=false", *who, status=3)


def test_tables_of_formats_that_have_none(box: Box) -> None:
    recording(box)
    for name, status in (("csv", 0), ("parquet", 0), ("chrome", 2), ("html", 2), ("pfw", 2)):
        box.fathom("export", box.trace, "--format", name, "--table", "counters", "-o", "out", status=status)


def test_events_that_match_a_condition(box: Box) -> None:
    recording(box)

    def exported(name: str, *options: str, status: int = 0) -> str:
        return box.fathom("export", box.trace, "--format", name, "-o", "-", *options, status=status).decode()

    one = ("--where", "file = '/data/a' AND ts > 15 -- the second")
    check("rows of csv", [2, 1], [len(exported("csv", *where).splitlines()) - 1 for where in ((), one)])
    traced = [json.loads(exported("chrome", *where))["traceEvents"] for where in ((), one)]
    check("spans of chrome", [2, 1], [sum(row["ph"] == "X" for row in rows) for rows in traced])
    calls = [exported("collapsed", "--weight", "calls", *where) for where in ((), one)]
    check("time of calls", [10, 5], [sum(int(line.split()[-1]) for line in text.splitlines()) for text in calls])
    # What has no columns of events, and what is no condition.
    exported("csv", "--table", "counters", *one, status=2)
    exported("flamegraph", *one, status=2)
    exported("csv", "--where", "true) UNION SELECT * FROM read_text('/etc/passwd') --", status=3)


def test_names_of_anonymous_files(box: Box) -> None:
    recording(box)
    box.fathom("export", box.trace, "--format", "pfw", "--split", "process", "--anonymize", "-o", "out.pfw")
    names = sorted(path.name for path in box.dir.glob("out*"))
    check(f"files {names}", 2, len(names))
    check_true(f"no host in {names}", not any(host in name for host in ("alpha", "beta") for name in names))


def test_counters_are_in_order(box: Box) -> None:
    recording(box)
    box.fathom("export", box.trace, "--format", "chrome", "-o", "out.json")
    events = json.loads((box.dir / "out.json").read_text())["traceEvents"]
    counters = [(event["name"], event["ts"]) for event in events if event["ph"] == "C"]
    check("counters by name, then time", sorted(counters), counters)
    check("how many", 3, len(counters))


def test_an_output_that_is_full(box: Box) -> None:
    """Also where the last row of the limit is the one that finds no room."""
    recording(box)
    sql = "SELECT repeat('x', 100000) AS text FROM range(100)"
    with Path("/dev/full").open("wb") as full:
        words = [box.kit.fathom, "sql", box.trace, sql, "--format", "csv", "--limit", "50"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    check_true(f"status {done.returncode}, {done.stderr!r}", done.returncode == 3 and b"cannot write" in done.stderr)


def test_anonymous_tables_name_no_program(box: Box) -> None:
    box.record("cat", "/dev/null")
    for table in ("events", "processes", "threads"):
        text = box.fathom("export", box.trace, "--format", "csv", "--table", table, "--anonymize", "-o", "-").decode()
        cells = {cell for line in text.splitlines()[1:] for cell in line.split(",")}
        check_true(f"rows of {table}", len(text.splitlines()) > 1)
        check(f"cells of {table} that name the program", set(), cells & {"cat", "cat /dev/null"})
