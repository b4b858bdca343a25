# SPDX-License-Identifier: MIT
"""Access patterns against fio, which writes down itself where it read and wrote."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

from kit import Box, Skipped, check, check_true

MIB = 1 << 20
BLOCK = "--bs=4k"
# What fio is told, and what the view must call it.
JOBS = {
    ("--rw=read",): {"read": "consecutive"},
    ("--rw=write",): {"write": "consecutive"},
    ("--rw=randread",): {"read": "random"},
    ("--rw=randwrite",): {"write": "random"},
    ("--rw=read:12k",): {"read": "strided"},
    ("--rw=rw",): {"read": "consecutive", "write": "consecutive"},
    ("--rw=randread", "--percentage_random=50"): {"read": "mixed"},
}
SLACK = 0.01  # of the calls


def moves_of(log: Path) -> dict[str, list[tuple[int, int]]]:
    """Offset and length of each call, by direction, as fio's own log has them."""
    moves: dict[str, list[tuple[int, int]]] = {}
    for direction, offset, length in re.findall(r"\b(read|write) (\d+) (\d+)$", log.read_text(), re.MULTILINE):
        moves.setdefault(direction, []).append((int(offset), int(length)))
    return moves


def counted(moves: list[tuple[int, int]]) -> dict[str, int]:
    """How many went on where the one before ended, and how many left the same gap as the one before. The first goes on,
    and so does one that begins the file anew."""
    gaps = [0] + [now[0] - (before[0] + before[1]) for before, now in zip(moves, moves[1:], strict=False)]
    strided = sum(gap != 0 and gap == before for before, gap in zip(gaps, gaps[1:], strict=False))
    return {"calls": len(moves), "consecutive": gaps.count(0), "strided": strided}


def rows_of(box: Box, file: Path) -> dict[str, dict[str, Any]]:
    answer = json.loads(box.fathom("report", box.trace, "patterns", "--format", "json"))
    rows = answer["access_patterns"] if isinstance(answer, dict) else answer
    return {row["direction"]: row for row in rows if row["file"] == str(file)}


def check_job(box: Box, job: tuple[str, ...], wanted: dict[str, str]) -> None:
    file, log = box.dir / "fio.dat", box.dir / "log"
    file.write_bytes(bytes(4 * MIB))
    shutil.rmtree(box.trace, ignore_errors=True)
    log.unlink(missing_ok=True)  # fio would go on behind its last line
    same = (
        f"--filename={file}",
        "--size=4m",
        BLOCK,
        "--ioengine=psync",
        "--thread",
        "--minimal",
        f"--write_iolog={log}",
    )
    box.record("fio", "--name=job", *job, *same)
    rows, moves = rows_of(box, file), moves_of(log)
    check(f"patterns of {job}", wanted, {direction: row["pattern"] for direction, row in rows.items()})
    for direction, row in rows.items():
        truth = counted(moves[direction])
        truth["random"] = 0 if "rand" not in job[0] else truth["calls"] - truth["consecutive"]
        for column, number in truth.items():
            near = abs(row[column] - number) <= SLACK * truth["calls"]
            check_true(f"{column} of {direction} of {job}: fio did {number}, the view says {row[column]}", near)


def test_patterns_of_fio(box: Box) -> None:
    """Sequential, random, strided and mixed jobs: of each count at most one call of a hundred differs."""
    if shutil.which("fio") is None:
        raise Skipped("fio is not installed")
    box.not_emulated("fio is of this machine")
    for job, wanted in JOBS.items():
        check_job(box, job, wanted)
