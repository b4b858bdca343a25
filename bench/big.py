# SPDX-License-Identifier: MIT
"""A recording of 100 M events: its summary, and GROUP BY against DuckDB alone on a plain Parquet table of its rows."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from dftracer import python_with
from jobs import HERE, Bench
from row import Row, Sample, Samples, judged

EVENTS = 100_000_000
THREADS, FILES = 4, 16
DUCKDB = "duckdb==1.5.5"  # the engine that Fathom brings along

QUERIES = {
    "name": "SELECT name, count(*), sum(dur) FROM events GROUP BY name",
    "file and name": "SELECT file, name, count(*), sum(bytes), avg(dur) FROM events GROUP BY file, name",
    "thread and depth": "SELECT tid, depth, min(ts), max(ts + dur) FROM events GROUP BY tid, depth",
    "0.1 s of time": 'SELECT ts // 100000000 AS t, layer, sum(bytes), max("offset") FROM events GROUP BY t, layer',
    "size": "SELECT size, count(*), quantile_cont(dur, 0.5) FROM events WHERE name = 'pread' GROUP BY size",
}


def record(bench: Bench, events: int = EVENTS) -> tuple[Path, int]:
    """The recording, and how many events the program says that it made."""
    program, trace = bench.compiled("many"), bench.folder / "big.fathom"
    command = [str(bench.build / "fathom"), "run", "-q", "--when-full", "block", "-o", str(trace), "--", str(program)]
    made = bench.run([*command, bench.turns(events), str(THREADS), str(FILES)])
    return trace, int(made)


def plain_seconds(bench: Bench, trace: Path) -> Sample:
    """Each query on a table that DuckDB copied with its own defaults; nothing without DuckDB's package."""
    python = python_with("duckdb", DUCKDB)
    if python is None:
        return {}
    command = [str(python), str(HERE / "peers" / "plain_duckdb.py"), str(trace), str(bench.folder / "plain.parquet")]
    done = subprocess.run(command, input=json.dumps(QUERIES), check=True, capture_output=True, text=True)
    return {f"plain {name}": seconds for name, seconds in json.loads(done.stdout).items()}


def our_seconds(bench: Bench, trace: Path) -> Sample:
    """Of the whole command: start, opening and printing included."""
    fathom = str(bench.build / "fathom")
    return {
        name: bench.seconds([fathom, "sql", str(trace), query, "--format", "csv"]) for name, query in QUERIES.items()
    }


def group_row(name: str, samples: Samples, events: int) -> Row:
    floor = samples.median(f"plain {name}")
    ratio = samples.ratio(lambda one: one[name], f"plain {name}", f"plain {name}")
    return Row(
        f"GROUP BY {name}, {events / 1e6:.0f} M events",
        f"plain DuckDB {floor:.2f} s" if floor else "no DuckDB package",
        f"{samples.median(name):.2f} s",
        f"{ratio:.2f}" if ratio else "",
        "",
        "1.5",
        "1",
        judged(ratio, 1.5, 1.0),
    )


def row_big(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    trace, made = record(bench)
    progress()
    plain_seconds(bench, trace)  # makes the table, warms the files
    taken = []
    for _ in range(min(rounds, 3)):
        taken.append({**plain_seconds(bench, trace), **our_seconds(bench, trace)})
        taken[-1]["report"] = bench.seconds([str(bench.build / "fathom"), "report", str(trace)])
        progress()
    shutil.rmtree(trace)
    samples = Samples(taken)
    seconds = samples.median("report") or 0
    what = f"summary report, {made / 1e6:.0f} M events"
    peer = "dftracer-utils 0.05 s after minutes of indexing"
    first = Row(what, "-", f"{seconds:.2f} s", "", peer, "2 s", "0.1 s", judged(seconds, 2, 0.1))
    return [first, *(group_row(name, samples, made) for name in QUERIES)]
