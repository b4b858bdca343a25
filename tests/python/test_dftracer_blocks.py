# SPDX-License-Identifier: MIT
"""Blocks and decorators of DFTracer: which events they are, how deep, and with which arguments, on every Python."""

from pathlib import Path
from typing import Dict, List

from kit import FATHOM, expect, ran, rows
from test_annotations import PROGRAMS, pythons

PROGRAM = PROGRAMS / "dftracer_blocks.py"
# Events of one thread: name, depth, arguments.
WANTED: Dict[str, List[str]] = {
    "task": ["{step=0}", "{step=1}", "{step=2}"],
    "turn": ["{step=1}"],
    "early": ["{}"],
    "by hand": ["{epoch=2}"],
    "main": ["{}"],
    "tagged": ["{large=1180591620717411303424, step=3, text=a\\x00b}"],
    "Model.method": ["{epoch=1, image_idx=4, step=7}", "{epoch=2, step=7}"],
    "Model.fails": ["{exception=ValueError, step=7}"],
    "told": ["{epoch=1, step=5}", "{epoch=2, step=6}", "{epoch=3}"],
    "forward": ["{step=9}"],
    "deep": sorted(f"{{step={number}}}" for number in range(40)),
}


def test_blocks_and_decorators(root: Path) -> None:
    for version, python in pythons().items():
        trace = root / f"{version}.fathom"
        expect(f"Python {version}", "done\n", ran(FATHOM, "run", "-q", "-o", trace, "--", python, "-X", "dev", PROGRAM))
        sql = "SELECT name, depth, CAST(map_from_entries(list_sort(list_filter(map_entries(args), lambda e: "
        sql += "e.key NOT LIKE 'dftracer.%'))) AS VARCHAR) AS args FROM events WHERE layer = 'app' ORDER BY ts, tid"
        found = rows(trace, sql)
        got = {name: sorted(row["args"] or "{}" for row in found if row["name"] == name) for name in WANTED}
        expect(f"Python {version}: arguments", WANTED, got)
        shared = sorted(row["depth"] for row in found if row["name"] == "shared")
        expect(f"Python {version}: one object, open twice and by tasks and threads", [0] * 304 + [1], shared)
        depths = {row["depth"] for row in found if row["name"] == "task"}
        expect(f"Python {version}: inside their own task's", {1}, depths)
