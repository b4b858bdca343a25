#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts in the recordings that bench/gpu/torch2.sh left: phases against what the programs say, kernels by phase.

usage: torch2_counts.py FATHOM SPOOLS    SPOOLS is the unpacked torch2-spools.tar.gz, FATHOM the program
"""

import json
import sys
from pathlib import Path

from device import CALLED, KERNELS, ask, one

# The phase in whose time the call of a kernel lies. A thread of PyTorch computes gradients: any thread counts.
PHASE = """SELECT coalesce(p.name, 'none') AS phase, count(*) AS n FROM events AS g
  JOIN events AS c ON {called}
  LEFT JOIN events AS p ON p.layer = 'app' AND p.pid = g.pid AND p.category IN ('compute', 'compile', 'dataloader')
    AND p.name IN ('forward', 'backward', 'optimizer', 'compile', 'fetch') AND c.ts BETWEEN p.ts AND p.ts + p.dur
    AND NOT (p.name = 'compile' AND p.tid <> c.tid)
  WHERE g.{kernels} GROUP BY ALL ORDER BY n DESC"""


def told(fathom: str, recording: Path) -> dict[str, int]:
    sql = "SELECT name, count(*) AS n FROM events WHERE layer = 'app' GROUP BY name"
    return {str(row["name"]): int(str(row["n"])) for row in ask(fathom, recording, sql)}


def main() -> int:
    fathom, spools, wrong = sys.argv[1], Path(sys.argv[2]), 0
    for recording in sorted(spools.glob("torch2-*.fathom")):
        oracle = json.loads(recording.with_suffix(".json").read_text())
        counted = told(fathom, recording)
        got = {name: counted.get(name, 0) for name in oracle["phases"]}
        good = got == oracle["phases"]
        wrong += not good
        print(f"== {recording.stem}, PyTorch {oracle['torch']}: phases {'as expected' if good else 'DIFFER'}")
        print("  expected", oracle["phases"], "\n  recorded", counted)
        known = "(SELECT correlation FROM events WHERE layer = 'cuda' AND correlation IS NOT NULL)"
        print("  kernels", one(fathom, recording, f"SELECT count(*) FROM events WHERE {KERNELS}"), end=", ")
        lost = f"SELECT count(*) FROM events WHERE {KERNELS} AND correlation NOT IN {known}"
        print("without their call", one(fathom, recording, lost))
        print(
            "  by phase", ask(fathom, recording, PHASE.format(called=CALLED, kernels=KERNELS.replace("AND ", "AND g.")))
        )
        view = "SELECT steps, step_p50, step_max, data, compute, compile, other FROM training WHERE scope = 'run'"
        print("  training", ask(fathom, recording, view))
        print("  losses", ask(fathom, recording, "SELECT layer, reason, count FROM losses WHERE count > 0"))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
