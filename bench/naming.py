# SPDX-License-Identifier: MIT
"""Names for a million samples of a C++ program with debug information, against addr2line."""

from __future__ import annotations

import random
import re
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from jobs import HERE, Bench
from row import Row, Sample, Samples, add, judged

PARTS = 6
SAMPLES = 1_000_000
PLACES = 50_000  # that a program of this size is sampled at


def subject(bench: Bench) -> Path:
    """A program of several files, each with inlined templates of its own."""
    program = bench.folder / "symbolized"
    objects = []
    for part in range(PARTS):
        objects.append(str(bench.folder / f"symbolized{part}.o"))
        source = str(HERE / "symbolized.cc")
        subprocess.run(
            ["c++", "-std=c++17", "-O2", "-g", f"-DPART={part}", "-c", source, "-o", objects[-1]], check=True
        )
    subprocess.run(["c++", "-o", str(program), *objects], check=True)
    return program


def addresses(bench: Bench, program: Path) -> Path:
    """Few places have most of the samples, as in real programs."""
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "-j", ".text", str(program)], check=True, capture_output=True, text=True
    ).stdout
    dice = random.Random(1)
    every = re.findall(r"^ *([0-9a-f]+):", listing, re.MULTILINE)
    places = dice.sample(every, min(PLACES, len(every)))
    weights = [1 / (rank + 1) for rank in range(len(places))]
    path = bench.folder / "addresses"
    path.write_text("\n".join(dice.choices(places, weights, k=int(bench.turns(SAMPLES)))) + "\n")
    return path


def peer_seconds(program: Path, asked: Path) -> float | None:
    if not shutil.which("addr2line"):
        return None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with asked.open() as questions:
        command = ["addr2line", "-i", "-f", "-C", "-e", str(program)]
        subprocess.run(command, check=True, stdin=questions, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def our_seconds(bench: Bench, program: Path, asked: Path) -> float:
    with asked.open() as questions:
        command = [str(bench.build / "bench" / "symbolize"), str(program)]
        done = subprocess.run(command, check=True, stdin=questions, capture_output=True, text=True)
    return float(done.stdout.split()[0])


def row_symbols(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    build = ["cmake", "--build", str(bench.build), "--target", "symbolize"]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    program = subject(bench)
    asked = addresses(bench, program)
    done: list[Sample] = []
    for _ in range(min(rounds, 3)):
        one: Sample = {"ours": our_seconds(bench, program, asked)}
        add(one, "addr2line", peer_seconds(program, asked))
        done.append(one)
        progress()
    samples = Samples(done)
    ratio = samples.ratio(lambda one: one["ours"], "addr2line", "addr2line")
    theirs = samples.median("addr2line")
    peer = f"addr2line {theirs:.2f} s" if theirs is not None else "addr2line not installed"
    value = f"{samples.median('ours') or 0:.2f} s"
    what = f"names for {int(bench.turns(SAMPLES)):,} samples of C++"
    shown = f"{ratio:.2f}" if ratio is not None else ""
    return [Row(what, peer, value, shown, peer, "1.0", "0.2", judged(ratio, 1.0, 0.2))]
