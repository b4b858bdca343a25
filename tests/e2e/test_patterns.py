# SPDX-License-Identifier: MIT
"""Access patterns against fio, which writes down itself where it read and wrote."""

import json
import re
import shutil
import sys
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


# Two processes take turns with one open file: each leaves out what the other read.
TURNS = """
import os
fd = os.open("data", os.O_RDONLY)
to_child, to_parent = os.pipe(), os.pipe()
child = os.fork()
mine, theirs = (to_child[0], to_parent[1]) if child == 0 else (to_parent[0], to_child[1])
if child != 0:
    os.read(fd, 4096)
    os.write(theirs, b"x")
for turn in range(20):
    os.read(mine, 1)
    os.read(fd, 4096)
    os.write(theirs, b"x")
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""

# The same by threads. The jumps of the second file are their own: each seeks before it reads.
THREADS = """
import os, threading
fd, other = os.open("data", os.O_RDONLY), os.open("other", os.O_RDONLY)
gates = threading.Semaphore(1), threading.Semaphore(0)
def work(number):
    for turn in range(20):
        gates[number].acquire()
        os.read(fd, 4096)
        os.lseek(other, (turn * 17 + number * 5) % 41 * 4096, os.SEEK_SET)
        os.read(other, 4096)
        gates[1 - number].release()
threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
for one in threads: one.start()
for one in threads: one.join()
"""

# The same file by several functions, and jumps of one who shares his open files with a child that does nothing.
PASSES = """
import os
fd = os.open("data", os.O_RDONLY)
os.pread(fd, 64, 0)
for block in range(42): os.read(fd, 4096)
for block in range(42): os.pread(fd, 4096, block * 4096)
if os.fork() == 0: os._exit(0)
os.wait()
other = os.open("other", os.O_RDONLY)
for block in (7, 31, 3, 22, 40, 1, 18, 9, 35, 12, 27, 5):
    os.lseek(other, block * 4096, os.SEEK_SET)
    os.read(other, 4096)
"""


def patterns_of(box: Box, name: str, *options: str) -> list[str]:
    answer = json.loads(box.fathom("report", box.trace, "patterns", "--format", "json", *options))
    rows = answer["access_patterns"] if isinstance(answer, dict) else answer
    return [row["pattern"] for row in rows if row["file"] == str(box.dir / name)]


def test_a_position_is_that_of_an_open_file(box: Box) -> None:
    for name in ("data", "other"):
        (box.dir / name).write_bytes(bytes(42 * 4096))
    part = ("--where", "pid > 0")
    box.record(sys.executable, "-c", TURNS)
    for options in ((), part):
        check("of each process", ["consecutive"] * 2, patterns_of(box, "data", "--by", "pid", *options))
    check_true("the reads are told", box.count("args['position'] = 'shared' AND bytes = 4096") >= 30)
    box.trace = box.root / "threads.fathom"
    box.record(sys.executable, "-c", THREADS)
    for options in ((), part):
        check("of two threads", ["consecutive"], patterns_of(box, "data", *options))
        jumps = patterns_of(box, "other", *options)
        check_true(f"jumps of two threads are {jumps}", jumps in (["random"], ["mixed"]))
    box.trace = box.root / "passes.fathom"
    box.record(sys.executable, "-c", PASSES)
    for options in ((), part):
        check("passes by several functions", ["consecutive"], patterns_of(box, "data", *options))
        check("jumps of its own", ["random"], patterns_of(box, "other", *options))
