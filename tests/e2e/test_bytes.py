# SPDX-License-Identifier: MIT
"""Bytes stand with the files that they came from and went to, and how a file is read is told by its descriptors."""

import json
import re
from typing import Any

from kit import Box, check

TURN = "hooks of the kernel"
SIZE = 256 << 10
BLOCKS = 256
COPIES = ("ranges", "ranges_at", "send", "splices", "requests")


def record(box: Box, way: str, *options: str) -> None:
    box.trace = box.root / f"{way}{len(options)}.fathom"
    (box.dir / "source").write_bytes(bytes(SIZE))
    box.record(box.kit.victim("bytes"), way, options=options)


def table(box: Box, view: str, *options: str) -> list[dict[str, Any]]:
    told = json.loads(box.fathom("report", box.trace, view, "--format", "json", *options))
    return next(rows for rows in told.values() if isinstance(rows, list))


def of_files(box: Box, rows: list[dict[str, Any]], *columns: str) -> list[list[Any]]:
    """These columns of the rows of source and target."""
    names = {str(box.dir / name): name for name in ("source", "target")}
    return sorted([names[row["file"]], *(row[key] for key in columns)] for row in rows if row.get("file") in names)


def expect_files(box: Box, what: str) -> None:
    asked = f"SELECT bytes_read, bytes_written FROM files WHERE path LIKE '{box.dir}/%' ORDER BY path"
    check(f"{what}: bytes of source and target", [(SIZE, 0), (0, SIZE)], box.rows(asked))


def expect_copied(box: Box, way: str, *options: str) -> None:
    """The same in every report, of the whole run and of a part of it that has all."""
    both = [["source", SIZE, 0], ["target", 0, SIZE]]
    check(f"{way}: files", both, of_files(box, table(box, "files", *options), "read", "written"))
    moved = [["source", "read", SIZE], ["target", "write", SIZE]]
    rates = table(box, "bandwidth", "--by", "file", *options)
    check(f"{way}: bandwidth", moved, of_files(box, rates, "direction", "bytes"))
    patterns = table(box, "patterns", *options)
    check(f"{way}: patterns", moved, of_files(box, patterns, "direction", "bytes"))
    reads = [row["pattern"] for row in patterns if row["direction"] == "read" and row["file"].endswith("/source")]
    check(f"{way}: how the source is read", ["consecutive"], reads)


def test_copies(box: Box) -> None:
    for way in COPIES:
        record(box, way)
        expect_files(box, way)
        expect_copied(box, way)
        expect_copied(box, way, "--where", "pid > 0")
        once = "SELECT name, CAST(sum(bytes) AS BIGINT) FROM events WHERE bytes > 0 GROUP BY name ORDER BY name"
        functions = "SELECT name, bytes FROM functions WHERE bytes > 0 ORDER BY name"
        check(f"{way}: a call's bytes count once", box.rows(once), box.rows(functions))


def test_the_summary_of_a_run_has_both_files(box: Box) -> None:
    (box.dir / "source").write_bytes(bytes(SIZE))
    run = (box.kit.fathom, "run", "-o", box.trace, "--", box.kit.victim("bytes"), "ranges")
    _, told = box.finish(box.start(*run), 0)
    lines = [line.split() for line in told.decode().splitlines() if re.search("/(source|target) ", line)]
    check("bytes of source and target", [["256", "KiB"]] * 2, [line[-2:] for line in lines])


def test_where_a_copy_went(box: Box) -> None:
    record(box, "ranges")
    rows = box.rows("SELECT DISTINCT file, category, args['to'] FROM events WHERE name = 'copy_file_range'")
    check("file, category, target", [(str(box.dir / "source"), "read", str(box.dir / "target"))], rows)
    places = box.rows("SELECT \"offset\" FROM events WHERE name = 'copy_file_range' ORDER BY ts")
    check("positions", [(at,) for at in range(0, SIZE, 32 << 10)], places)


def test_bytes_without_calls_have_no_times(box: Box) -> None:
    record(box, "ranges")
    asked = "SELECT DISTINCT dur_min, dur_max FROM summary WHERE calls = 0"
    check("shortest and longest call", [(None, None)], box.rows(asked))


def test_a_copy_into_a_wanted_path(box: Box) -> None:
    record(box, "ranges", "--paths", str(box.dir / "target"))
    asked = f"SELECT bytes_written FROM files WHERE path = '{box.dir}/target'"
    check("bytes of the target", [(SIZE,)], box.rows(asked))


def test_copies_by_system_calls(box: Box) -> None:
    box.needs_layer("syscall")
    for way in COPIES:
        record(box, way, "--layers", "syscall")
        expect_files(box, way)
        part = of_files(box, table(box, "files", "--layers", "syscall"), "read", "written")
        check(f"{way}: files of a part that has all", [["source", SIZE, 0], ["target", 0, SIZE]], part)
        if way == "send":
            sums = "SELECT CAST(sum(calls) AS BIGINT), CAST(sum(bytes) AS BIGINT) FROM intervals"
            check("calls, and their bytes once", [(8, SIZE)], box.rows(sums + " WHERE name = 'sendfile'"))


def test_orders(box: Box) -> None:
    """A position belongs to an open file: in order is in order, however often, and by however many."""
    orders = {"in_turns": "consecutive", "anew": "consecutive", "rewound": "consecutive"}
    orders |= {"jumps": "random", "strides": "strided"}
    for way, pattern in orders.items():
        record(box, way)
        for part in ((), ("--where", "pid > 0")):
            rows = [row for row in table(box, "patterns", *part) if row["file"].endswith("/source")]
            found = [(row["direction"], row["pattern"], row["calls"]) for row in rows]
            check(f"{way} {part}", [("read", pattern, BLOCKS)], found)
            if pattern == "consecutive":
                check(f"{way} {part}: random, strided", (0, 0), (rows[0]["random"], rows[0]["strided"]))
