# SPDX-License-Identifier: MIT
"""What it costs to trace every function of Python, and its loops, against a bare call, cProfile and viztracer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import dftracer
from jobs import HERE, Bench
from row import Row, Sample, Samples, judged

PROGRAM = str(HERE / "peers" / "calls_cost.py")
VIZTRACER = "viztracer==1.1.1"
LOOPS = ["--python-modules", "__main__", "--python-loops", "__main__"]


def interpreters(bench: Bench) -> dict[str, str]:
    """Pythons for which the build has an extension, by version."""
    found = {}
    for file in sorted((bench.build / "python").glob("_record.cpython-3*.so")):
        minor = re.sub(r"_record\.cpython-3(\d+)-.*", r"\1", file.name)
        pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"3.{minor}.*/bin/python3"))
        places = [shutil.which(f"python3.{minor}"), *map(str, pyenv)]
        for place in filter(None, places):
            if subprocess.run([place, "-S", "-c", ""], capture_output=True, check=False).returncode == 0:
                found[f"3.{minor}"] = place
                break
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def told(bench: Bench, python: str, tracer: str, turns: int) -> dict[str, float]:
    answer: dict[str, float] = json.loads(bench.run([python, PROGRAM, tracer, bench.turns(turns)]))
    return answer


def recorded(bench: Bench, python: str, options: list[str]) -> dict[str, float]:
    shutil.rmtree(bench.trace, ignore_errors=True)
    recorder = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--layers", "python", *options, "--"]
    answer: dict[str, float] = json.loads(bench.run([*recorder, python, PROGRAM, "none", bench.turns(500_000)]))
    question = "SELECT count(*) FROM events WHERE name = 'calls'"
    asked = bench.run([str(bench.build / "fathom"), "sql", str(bench.trace), question, "--format", "csv"])
    if asked.split()[-1] == "0":
        raise RuntimeError(f"{python} was not traced; fathom report {bench.trace} layers says why")
    return answer


def one_round(bench: Bench, version: str, python: str) -> Sample:
    bare = told(bench, python, "none", 500_000)
    sample: Sample = {"floor": bench.bare("floor", 3_000_000, 1), "bare": bare["call"]}
    sample["ours"] = recorded(bench, python, [])["call"] - bare["call"]
    sample["cProfile"] = told(bench, python, "cProfile", 200_000)["call"] - bare["call"]
    with_viztracer = dftracer.python_with(f"viztracer-{version}", VIZTRACER, python)
    if with_viztracer is not None:
        sample["viztracer"] = told(bench, str(with_viztracer), "viztracer", 200_000)["call"] - bare["call"]
    loops = recorded(bench, python, LOOPS)
    sample.update(turn=bare["empty"], work=bare["work"], empty_added=loops["empty"] - bare["empty"])
    sample["work_added"] = loops["against_elsewhere"] - 1
    return sample


def row_of_calls(version: str, samples: Samples) -> Row:
    ratio = samples.ratio(lambda one: one["ours"], "floor", "ours")
    peers = {name: samples.ratio(lambda one, name=name: one[name], "floor", name) for name in ("cProfile", "viztracer")}  # type: ignore[misc]
    enough = 3.0 if int(version.split(".")[1]) >= 12 else peers["cProfile"] or 0.0
    peer = ", ".join(f"{name} {value:.2f} B" for name, value in peers.items() if value is not None)
    texts = (
        f"bare {samples.median('bare') or 0:.0f}, B {samples.median('floor') or 0:.1f} ns",
        f"{samples.median('ours') or 0:+.1f} ns",
        f"{ratio or 0:.2f} B",
    )
    bars = (f"{enough:.1f} B", "2.0 B", judged(ratio, enough, 2.0))
    return Row(f"Python {version}, every function traced", *texts, peer, *bars)


def rows_of_loops(version: str, samples: Samples) -> list[Row]:
    added, share = samples.median("empty_added"), samples.median("work_added")
    if added is None or share is None:
        return []
    floor = f"bare {samples.median('turn') or 0:.0f}, B {samples.median('floor') or 0:.1f} ns"
    ratio = samples.ratio(lambda one: one["empty_added"], "floor", "empty_added")
    work = f"bare {(samples.median('work') or 0) * 200 / 1000:.1f} us a turn"
    return [
        Row(f"Python {version}, turn of an empty loop", floor, f"{added:+.1f} ns", f"{ratio or 0:.2f} B"),
        Row(
            f"Python {version}, loop that works",
            work,
            f"{share * 100:+.1f} %",
            "",
            "",
            "3 %",
            "3 %",
            judged(share, 0.03, 0.03),
        ),
    ]


def row_calls(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    rows = []
    for version, python in interpreters(bench).items():
        done = []
        for _ in range(rounds):
            done.append(one_round(bench, version, python))
            progress()
        samples = Samples(done)
        rows += [row_of_calls(version, samples), *rows_of_loops(version, samples)]
    return rows
