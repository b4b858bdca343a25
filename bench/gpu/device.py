#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts in the recordings that bench/gpu/device.sh left, and holds them against torch.profiler and arithmetic.

usage: device.py FATHOM SPOOLS TORCH.json    SPOOLS is the unpacked device-spools.tar.gz, FATHOM the program
"""

import json
import subprocess
import sys
from pathlib import Path

KERNELS = "layer = 'gpu' AND category = 'kernel'"
CALLED = "c.layer = 'cuda' AND c.pid = g.pid AND c.correlation = g.correlation"


def ask(fathom: str, recording: Path, sql: str) -> list[dict[str, object]]:
    done = subprocess.run([fathom, "sql", str(recording), sql, "--format", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr.strip())
        return []
    return json.loads(done.stdout)


def one(fathom: str, recording: Path, sql: str) -> object:
    rows = ask(fathom, recording, sql)
    return next(iter(rows[0].values())) if rows else None


def tell(fathom: str, recording: Path) -> None:
    print(f"== {recording.name}")
    by = "SELECT category, any_value(args['clock']) AS clock, count(*) AS n, sum(bytes) AS bytes"
    for row in ask(fathom, recording, f"{by} FROM events WHERE layer = 'gpu' GROUP BY category ORDER BY category"):
        print(" ", row)
    calls = "SELECT count(*) FROM events WHERE layer = 'cuda' AND category = 'launch' AND args['capturing'] IS NULL"
    numbered = one(fathom, recording, f"{calls} AND correlation IS NOT NULL")
    print("  launches", one(fathom, recording, calls), "with a number", numbered)
    known = "(SELECT correlation FROM events WHERE layer = 'cuda' AND correlation IS NOT NULL)"
    lost = one(fathom, recording, f"SELECT count(*) FROM events WHERE layer = 'gpu' AND correlation NOT IN {known}")
    print("  device rows whose call is not there", lost)
    twice = "SELECT count(*) FROM events WHERE layer = 'cuda' AND correlation > 0 GROUP BY pid, correlation"
    print("  numbers of several calls", one(fathom, recording, f"SELECT count(*) FROM ({twice} HAVING count(*) > 1)"))
    lead = "min(g.ts - c.ts) AS least_lead_ns, median(g.ts - c.ts) AS median_lead_ns, max(g.ts - c.ts) AS most_lead_ns"
    print(
        " ",
        ask(
            fathom,
            recording,
            f"SELECT {lead} FROM events g JOIN events c ON {CALLED} WHERE g.layer = 'gpu' AND g.category = 'kernel'",
        ),
    )
    print("  losses", ask(fathom, recording, "SELECT layer, reason, count FROM losses WHERE count > 0"))
    print("  layer", ask(fathom, recording, "SELECT state, reason, events FROM layers WHERE layer = 'gpu'"))
    print("  library", one(fathom, recording, "SELECT any_value(meta['gpu.clock']) FROM processes"))


def marked(fathom: str, recording: Path, what: str) -> object:
    """Of what the device did between the marks."""
    begin, end = (
        f"(SELECT max(ts) FROM events WHERE file LIKE '%nonexistent-mark-{mark}')" for mark in ("begin", "end")
    )
    return one(fathom, recording, f"SELECT {what} AND ts BETWEEN {begin} AND {end}")


def main() -> None:
    fathom, spools, told = sys.argv[1], Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text())
    recordings = sorted(spools.glob("*.fathom"))
    for recording in recordings:
        tell(fathom, recording)
    print("== held against torch.profiler, in a run of its own")
    for kind in ("mlp", "vit", "graph", "loader", "compile"):
        recording = spools / f"torch-{kind}.fathom"
        if not recording.exists() or f"profiled-{kind}" not in told:
            continue
        profiled = told[f"profiled-{kind}"]
        copied = sum(n for name, n in profiled["bytes"].items() if name.startswith("gpu_memcpy"))
        was_set = sum(n for name, n in profiled["bytes"].items() if name.startswith("gpu_memset"))
        rows = [marked(fathom, recording, f"count(*) FROM events WHERE {KERNELS}")]
        rows += [
            marked(
                fathom, recording, f"coalesce(sum(bytes), 0) FROM events WHERE layer = 'gpu' AND category = '{one_of}'"
            )
            for one_of in ("copy", "set")
        ]
        print(f"{kind}: torch.profiler {[profiled['counts'].get('kernel:'), copied, was_set]}, layer gpu {rows}")


if __name__ == "__main__":
    main()
