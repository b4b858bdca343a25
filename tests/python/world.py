# SPDX-License-Identifier: MIT
"""Recordings for the tests of the Python package."""

import importlib.util
import os
import random
from pathlib import Path
from typing import Any, List

from kit import BUILD, FATHOM, TOP, Skip, ran


def need(*packages: str) -> None:
    """Skips where a package is not there."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise Skip(os.environ.get("FATHOM_NO_PACKAGES", f"{package} is not installed"))


def small(root: Path) -> Path:
    """The recording of the golden tests, whose sums stand in its comments."""
    return imported(root, "small", (TOP / "tests" / "golden" / "small.txt").read_text())


def imported(root: Path, name: str, text: str) -> Path:
    (root / f"{name}.txt").write_text(text)
    ran(FATHOM, "import", root / f"{name}.txt", "-o", root / f"{name}.fathom")
    return root / f"{name}.fathom"


def invented(root: Path, seed: int, events: int = 2000) -> Path:
    """A recording of random calls, with bytes whose sums need more digits than a double has."""
    dice = random.Random(seed)
    host, start = f"host{seed}", 1_700_000_000_000_000_000 + seed * 123_456_789
    lines = ["fathom recording 1", f'run host={host} start={start} duration=900000000 exit=0 command="work {seed}"']
    for pid in (100 * seed, 100 * seed + 1):
        lines.append(f'process {pid} name=work command="work {seed}" start=0 end=900000000 rank={pid % 2}')
        lines.append(f"thread {pid}/{pid} start=0 end=900000000")
        now = 0
        for _ in range(events // 2):
            now += dice.randrange(1, 200_000)
            dur = dice.randrange(1, 150_000)
            call = dice.choice(["read", "write", "pread", "fsync"])
            moved = f" bytes={dice.randrange(2**43)}" if call != "fsync" else ""
            group = "read" if "read" in call else "write"
            where = f"file=/data/{dice.randrange(7)}"
            lines.append(f"event {pid}/{pid} {now} +{dur} posix {call} category={group} {where}{moved}")
            now += dur
        lines.append(f"counter {pid} {seed} resource rss {seed * 1024} unit=bytes")
    return imported(root, f"invented{seed}", "\n".join(lines) + "\n")


def unpacked(root: Path) -> Path:
    """A real program's recording that nobody has packed yet."""
    trace = root / "left.fathom"
    script = "for i in 1 2 3; do cat /etc/passwd > $0/copy-$i; done"
    ran("sh", "-c", script, root, env={"LD_PRELOAD": str(BUILD / "libfathom.so"), "FATHOM_OUT": str(trace)})
    return trace


def csv_of(*arguments: Any) -> List[str]:
    return ran(FATHOM, *arguments, "--format", "csv").splitlines()
