# SPDX-License-Identifier: MIT
"""Logs of Darshan that others recorded, imported: sums of the recording against sums of the text."""

import os
import platform
from collections import Counter
from pathlib import Path
from typing import Dict, List, Tuple

from kit import FATHOM, HERE, Skip, environment, expect, ran, rows

PARSERS = {"darshan-parser": "", "darshan-dxt-parser": "--dxt"}
MODULES = {"POSIX": "POSIX", "STDIO": "STDIO", "MPI-IO": "MPIIO"}


def parsers(root: Path) -> Tuple[Dict[str, str], List[Path]]:
    """Darshan's parsers on a PATH, and the logs of its package."""
    if platform.machine() != "x86_64":
        raise Skip(f"PyPI has Darshan for x86_64 only, this is {platform.machine()}")
    bin_folder = environment("darshan", "requirements-darshan.txt", "--no-deps")
    for name, option in PARSERS.items():
        program = root / name
        program.write_text(f'#!/bin/sh\nexec {bin_folder}/python -B {HERE}/darshan_text.py {option} "$1"\n')
        program.chmod(0o755)
    logs = sorted((bin_folder.parent / "lib").rglob("example_logs/*.darshan"))
    return {"PATH": f"{root}:{os.environ['PATH']}"}, logs


def counted(text: str, module: str, *names: str) -> float:
    lines = (line.split("\t") for line in text.splitlines() if line.startswith(f"{module}\t"))
    wanted = {f"{MODULES[module]}_{name}" for name in names}
    return sum(max(0.0, float(words[4])) for words in lines if words[3] in wanted)


def test_import_of_darshans_counters(root: Path) -> None:
    env, logs = parsers(root)
    trace = root / "darshan.fathom"
    for log in logs:
        text = ran(root / "darshan-parser", log)
        ran(FATHOM, "import", log, "-o", trace, "--force", env=env)
        expect(f"losses of {log.name}", [], rows(trace, "SELECT * FROM losses"))
        for module, layer in (("POSIX", "posix"), ("STDIO", "stdio"), ("MPI-IO", "app")):
            for verb, moved in (("READ", "READ"), ("WRITE", "WRITTEN")):
                name = f"{'MPI-IO ' * (layer == 'app')}{verb.lower()}"
                sql = (
                    "SELECT coalesce(sum(calls), 0)::BIGINT AS calls, coalesce(sum(bytes), 0)::BIGINT AS bytes, "
                    f"coalesce(sum(dur), 0)::BIGINT AS dur FROM summary WHERE layer = '{layer}' AND name = '{name}'"
                )
                got = rows(trace, sql)[0]
                kinds = [f"{kind}{verb}S" for kind in ("", "INDEP_", "COLL_", "SPLIT_", "NB_")]
                calls = counted(text, module, *kinds)
                where = f"{log.name}, {module} {verb}"
                expect(f"{where}: calls", calls, got["calls"])
                if calls == 0:
                    continue
                expect(f"{where}: bytes", counted(text, module, f"BYTES_{moved}"), got["bytes"])
                expect(f"{where}: time", round(counted(text, module, f"F_{verb}_TIME") * 1e6), got["dur"] // 1000)


def test_import_of_darshans_accesses(root: Path) -> None:
    env, logs = parsers(root)
    trace, sums = root / "dxt.fathom", root / "sums.fathom"
    traced = [log for log in logs if " X_POSIX" in ran(root / "darshan-dxt-parser", log)]
    expect("logs with accesses", True, len(traced) > 0)
    for log in traced:
        words = [line.split() for line in ran(root / "darshan-dxt-parser", log).splitlines() if line.startswith(" X_")]
        ran(FATHOM, "import", log, "-o", trace, "--force", "--format", "darshan-dxt", env=env)
        wanted: Counter = Counter()
        for module, rank, verb, _, offset, length, *_ in words:
            wanted["app" if module == "X_MPIIO" else "posix", verb, int(rank), int(offset), int(length)] += 1
        sql = "SELECT layer, replace(name, 'MPI-IO ', '') AS verb, rank, \"offset\", bytes FROM events"
        expect(log.name, wanted, Counter(tuple(row.values()) for row in rows(trace, sql)))
        # What Darshan traced is what it counted, unless it ran out of room.
        ran(FATHOM, "import", log, "-o", sums, "--force", env=env)
        sql = (
            "SELECT file, name, sum({n})::BIGINT AS n FROM {view} WHERE layer = 'posix' AND name IN ('read', 'write') "
            "GROUP BY ALL ORDER BY ALL"
        )
        counted_calls = rows(sums, sql.format(n="calls", view="summary"))
        if log.name.startswith("ior"):
            expect("accesses and calls", counted_calls, rows(trace, sql.format(n=1, view="events")))
