# SPDX-License-Identifier: MIT
"""Neither the summary after a run nor a report waits for Parquet."""

import json
import os
import signal
from typing import Any

from jobs import alone
from kit import Box, check, check_true


def report(box: Box, view: str, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Some columns of a view's table, sorted."""
    answer = json.loads(box.fathom("report", box.trace, view, "--top", "0", "--format", "json"))
    rows = next(part for part in json_tables(answer) if part and set(columns) <= set(part[0]))
    return sorted(tuple(row[column] for column in columns) for row in rows)


def json_tables(answer: Any) -> list[list[dict[str, Any]]]:
    """Every list of objects in an answer."""
    if isinstance(answer, list):
        inner = [table for item in answer for table in json_tables(item)]
        return [answer, *inner] if answer and isinstance(answer[0], dict) else inner
    return [table for item in answer.values() for table in json_tables(item)] if isinstance(answer, dict) else []


FUNCTIONS = ("layer", "name", "calls", "bytes")
PROCESSES = ("pid", "command", "calls")


def test_report_packs_nothing(box: Box) -> None:
    """A report of what nobody packed leaves it as it is, and says the same as one after packing."""
    for _ in range(3):
        box.run(box.kit.victim("storm"), 2, 3, 200, env=box.unsupervised())
    pools = sorted((box.trace / "spool").glob("*.pool"))
    before = [report(box, "functions", FUNCTIONS), report(box, "processes", PROCESSES)]
    unpacked = sum(row[0] for row in report(box, "functions", ("self",)))
    check_true(f"turns are there: {before}", any(row[1] == "turn" for row in before[0]))
    check("pools are left", pools, sorted((box.trace / "spool").glob("*.pool")))
    check("no manifest was written", False, (box.trace / "manifest.json").exists())
    check("turns by SQL", box.count("name = 'turn'"), sum(row[2] for row in before[0] if row[1] == "turn"))
    check("pools after SQL", pools, sorted((box.trace / "spool").glob("*.pool")))
    box.fathom("collect", "-q", box.trace)
    check("collect packed", False, (box.trace / "spool").exists())
    check("the same when packed", before, [report(box, "functions", FUNCTIONS), report(box, "processes", PROCESSES)])
    # The longer ago a run began, the better its clock is known.
    packed = sum(row[0] for row in report(box, "functions", ("self",)))
    check_true(f"times: {unpacked} before, {packed} after", abs(packed - unpacked) < 0.01 * packed)


@alone("the program must leave the recorder no time")
def test_interrupted_packing(box: Box) -> None:
    """Ctrl-C while the rest is packed: the program's status, a sound recording, and the rest for the next command."""
    reads = 6_000_000
    # On one core the program leaves no time for packing while it runs, and several files for later.
    script = f"{box.kit.victim('reader')} {reads}; exit 7"
    recorder = box.start("taskset", "-c", 0, box.kit.fathom, "run", "-o", box.trace, "--", "sh", "-c", script)
    assert recorder.stderr is not None
    said = b""
    while b"next: fathom" not in said:
        said += os.read(recorder.stderr.fileno(), 4096) or b"next: fathom (end of file)"
    os.kill(recorder.pid, signal.SIGINT)
    said += box.finish(recorder, status=7)[1]
    check_true(f"it says so: {said!r}", b"packing was interrupted" in said)
    logs = list((box.trace / "spool").glob("drained-*.log"))
    check_true("something is left", len(logs) > 0)
    functions = report(box, "functions", FUNCTIONS)
    check("reads in the report", reads, sum(row[2] for row in functions if row[1] == "pread"))
    info = box.info()
    check("state", ("complete", 7), (info["state"], info["exit"]))
    check("logs after a report and info", logs, list((box.trace / "spool").glob("drained-*.log")))
    check("reads", reads, box.count("name = 'pread'"))
    check("logs after SQL", logs, list((box.trace / "spool").glob("drained-*.log")))
    box.fathom("collect", "-q", box.trace)
    check("collect packed the rest", False, (box.trace / "spool").exists())
    check("reads when packed", reads, box.count("name = 'pread'"))
    check("losses", 0, box.losses())
