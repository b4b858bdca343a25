# SPDX-License-Identifier: MIT
"""What recording a call of the CUDA driver costs. The driver is the tests' fake one: what a real launch takes beside it
is measured by bench/gpu."""

import shutil
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

from jobs import TOP, Bench
from row import Row, Sample, Samples, judged


def driver(bench: Bench) -> Path:
    """The folder of the fake libcuda.so.1."""
    folder = bench.folder / "driver"
    folder.mkdir(exist_ok=True)
    flags = ["-std=c++20", "-O2", "-shared", "-fPIC", "-D_GNU_SOURCE", f"-I{TOP / 'src'}"]
    source = str(TOP / "tests" / "cuda" / "fake_driver.cc")
    command = ["c++", *flags, source, "-Wl,-Bsymbolic", "-Wl,-soname,libcuda.so.1"]
    subprocess.run([*command, "-o", str(folder / "libcuda.so.1")], check=True)
    return folder


def sample(bench: Bench, program: Path, folder: Path) -> Sample:
    environment = {"LD_LIBRARY_PATH": str(folder)}
    command = [str(program), bench.turns(1_000_000)]
    shutil.rmtree(bench.trace, ignore_errors=True)
    recorder = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--layers"]
    one = {
        "floor": bench.bare("floor", 3_000_000, 1),
        "bare": float(bench.run(command, environment)),
        "on": float(bench.run([*recorder, "cuda", "--", *command], environment)),
    }
    shutil.rmtree(bench.trace, ignore_errors=True)
    one["off"] = float(bench.run([*recorder, "app", "--", *command], environment))
    return one


def row_cuda(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    program, folder = bench.compiled("launch"), driver(bench)
    samples = Samples([])
    for _ in range(rounds):
        samples.rounds.append(sample(bench, program, folder))
        progress()
    rows = []
    for key, what in (("on", "call of the CUDA driver, a launch"), ("off", "the same, layer cuda not recorded")):
        ratio = samples.ratio(lambda one, key=key: one[key] - one["bare"], "floor", key)  # type: ignore[misc]
        added = statistics.median([one[key] - one["bare"] for one in samples.rounds])
        floor = f"bare {samples.median('bare') or 0:.0f}, B {samples.median('floor') or 0:.1f} ns"
        bars = ("3.0 B", "1.5 B", judged(ratio, 3.0, 1.5)) if key == "on" else ("", "", "")
        rows.append(Row(what, floor, f"{added:+.1f} ns", f"{ratio or 0:.2f} B", "Alnair 168-335 ns", *bars))
    return rows
