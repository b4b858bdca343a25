# SPDX-License-Identifier: MIT
"""Functions of Python in the stacks of layer cpu, on every Python that is here."""

import bisect
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kit import VICTIMS, Box, Skipped, check, check_true

ALONE = "shares of CPU time are those of the whole machine"
SCRIPT = VICTIMS / "python_frames.py"
SOURCES = Path(__file__).resolve().parent.parent.parent / "src"
OFFSETS = Path(__file__).resolve().parent / "python_offsets"
FIRST, LAST_BY_TABLE = 8, 12  # minor versions


@dataclass(frozen=True)
class Python:
    program: Path
    minor: int

    @property
    def has_qualified_names(self) -> bool:
        return self.minor >= 11


def pythons() -> Iterator[Python]:
    """The system's and pyenv's, whose insides are known."""
    versions = sorted((Path.home() / ".pyenv" / "versions").glob("3.*/bin/python3"))
    for program in [Path("/usr/bin/python3"), *versions]:
        if not program.exists():
            continue
        ask = [program, "-c", "import sys; print(sys.version_info[1])"]
        told = subprocess.run(ask, stdout=subprocess.PIPE, check=True)
        if int(told.stdout) >= FIRST:
            yield Python(program, int(told.stdout))


@dataclass(frozen=True)
class Frame:
    function: str
    module: str
    line: int | None

    @property
    def is_of_script(self) -> bool:
        return Path(self.module).name == SCRIPT.name


@dataclass(frozen=True)
class Sample:
    event: str
    weight: int
    tid: int
    main: bool
    stack: tuple[Frame, ...]  # outermost first

    @property
    def names(self) -> list[str]:
        return [frame.function.rsplit(".", 1)[-1] for frame in self.stack if frame.is_of_script]

    def holds(self, *names: str) -> bool:
        """These functions, one called by the other."""
        mine = self.names
        return any(mine[i : i + len(names)] == list(names) for i in range(len(mine)))


def samples_of(box: Box) -> list[Sample]:
    frames, samples = box.answers(
        "SELECT stack, \"function\", coalesce(module, ''), line FROM frames ORDER BY stack, depth",
        "SELECT event, weight, tid, tid = pid, stack FROM samples",
    )
    stacks: dict[int, list[Frame]] = {}
    for stack, function, module, line in frames:
        stacks.setdefault(stack, []).append(Frame(function, module, line))
    return [Sample(event, int(w), tid, main, tuple(stacks.get(stack, []))) for event, w, tid, main, stack in samples]


def record(box: Box, python: Python) -> tuple[bytes, list[Sample]]:
    """What the program says, and its samples."""
    box.trace = box.root / f"python-3.{python.minor}-{python.program.parts[1]}.fathom"
    out = box.record(python.program, SCRIPT, options=("--layers", "cpu", "--sample", "997"))
    if box.value("SELECT state FROM layers WHERE layer = 'cpu'") not in ("on", "partial"):
        raise Skipped(str(box.value("SELECT reason FROM layers WHERE layer = 'cpu'")))
    return out, samples_of(box)


def test_python_functions(box: Box) -> None:
    """They stand in the stacks by their names, with file and line, 900 levels of one that calls itself too."""
    found = 0
    for python in pythons():
        check_stacks(python, [sample for sample in record(box, python)[1] if sample.main])
        found += 1
    if found == 0:
        raise Skipped("no Python whose insides are known")


def check_stacks(python: Python, samples: list[Sample]) -> None:
    """By a method, and by a recursion."""
    where = f"of 3.{python.minor}"
    drifting = [s for s in samples if s.names[-1:] == ["drift"]]
    check_true(f"samples of drift {where}", len(drifting) > 0)
    drift = {f for s in drifting for f in s.stack if f.function.endswith("drift")}
    check(f"its name {where}", {"Keel.drift" if python.has_qualified_names else "drift"}, {f.function for f in drift})
    first = SCRIPT.read_text().splitlines().index("    def drift(self, turns):") + 1
    check_true(f"its lines {where}: {drift}", {f.line for f in drift} <= set(range(first, first + 5)))
    check(f"its file {where}", {str(SCRIPT)}, {f.module for f in drift})
    deep = [s for s in samples if s.holds("deep", "burn")]
    whole = [s for s in deep if s.names.count("deep") == 901 and s.names[:2] == ["<module>", "work"]]
    check_true(f"901 levels {where}: {len(whole)} of {len(deep)}", len(whole) > 0)


# What work() calls, none of them by way of another; functions of microseconds are one group.
TIMED = {name: (name,) for name in ("heavy", "light", "drift", "by_key", "consume", "deep")}
TIMED["shorts"] = ("small", "large")
SCATTER = 5  # standard deviations: of a million right shares, less than one lies beyond
OTHERWISE = 0.02  # calls of the clock, and samples whose callers have ended before they were read
ONE_BY_ONE = 10  # the last minor version in which each function of Python has a C function of its own


def test_shares_of_functions(box: Box) -> None:
    """By one Python, against its own clock. From 3.11 on, several functions share one C function, and whose sample it
    was depends on how soon it is read, which a busy machine decides.

    A share p of n samples scatters by sqrt(p (1 - p) / n). Samples that stand for more time than others count as fewer:
    n is the square of the sum by the sum of squares."""
    python = next((one for one in pythons() if one.minor <= ONE_BY_ONE), None)
    if python is None:
        raise Skipped(f"no Python of 3.{FIRST} to 3.{ONE_BY_ONE} here")
    out, taken = record(box, python)
    samples = [sample for sample in taken if sample.main and sample.event == "cpu-clock"]
    told = {name: int(ns) for name, ns in (line.split() for line in out.decode().splitlines())}
    told["shorts"] += told["only_small"] + told["only_large"]
    timed = {name: [s.weight for s in samples if set(marks) & set(s.names)] for name, marks in TIMED.items()}
    weights = [weight for group in timed.values() for weight in group]
    whole, n = sum(weights), sum(weights) ** 2 / sum(weight * weight for weight in weights)
    check_true(f"samples: {n}", n > 100)
    for name, group in timed.items():
        share = told[name] / sum(told[one] for one in TIMED)
        most = SCATTER * (share * (1 - share) / n) ** 0.5 + OTHERWISE
        got = sum(group) / whole
        check_true(f"{name}: {got:.4f} is {share:.4f} within {most:.4f} (n = {n:.0f})", abs(got - share) <= most)


INSTANTS = VICTIMS / "python_instants.py"
BUSY = 2  # programs beside it that never rest


def test_names_are_of_the_instant(box: Box) -> None:
    """The innermost function of each sample is the one that ran at that moment, by the program's own clock, however
    late the recorder comes: all CPUs are busy meanwhile."""
    found = 0
    for python in pythons():
        others = [subprocess.Popen(["timeout", "300", "sh", "-c", "while :; do :; done"]) for _ in range(BUSY)]
        try:
            told, samples = record_instants(box, python)
        finally:
            for other in others:
                other.terminate()
                other.wait()
        check_instants(python, told, samples)
        found += 1
    if found == 0:
        raise Skipped("no Python whose insides are known")


Instants = list[tuple[int, str]]  # since when, a function or ""


def record_instants(box: Box, python: Python) -> tuple[Instants, list[tuple[int, str]]]:
    """What ran when, and what the samples name: the innermost function of the script, "" where the interpreter's own
    stands inside of it."""
    box.trace = box.root / f"instants-3.{python.minor}-{python.program.parts[1]}.fathom"
    log = box.root / "instants"
    box.record(python.program, INSTANTS, log, "0.7", options=("--layers", "cpu", "--sample", "997"))
    if box.value("SELECT state FROM layers WHERE layer = 'cpu'") not in ("on", "partial"):
        raise Skipped(str(box.value("SELECT reason FROM layers WHERE layer = 'cpu'")))
    start = json.loads((box.trace / "manifest.json").read_text())["start_realtime_ns"]
    lines = [line.partition(" ") for line in log.read_text().splitlines()]
    frames, samples = box.answers(
        "SELECT stack, \"function\", coalesce(module, '') FROM frames ORDER BY stack, depth",
        "SELECT ts, stack FROM samples WHERE event = 'cpu-clock' AND tid = pid",
    )
    innermost: dict[int, str] = {}
    for stack, function, module in frames:
        if Path(module).name == INSTANTS.name:
            innermost[stack] = function.rsplit(".", 1)[-1]
        elif "_PyEval_EvalFrame" in function:
            innermost[stack] = ""
    named = [(int(ts), innermost.get(stack, "")) for ts, stack in samples]
    return [(int(ns) - start, name) for ns, _, name in lines], named


def check_instants(python: Python, told: Instants, samples: list[tuple[int, str]]) -> None:
    times = [ns for ns, _ in told]
    wrong, unread, total = [], 0, 0
    for ts, name in samples:
        index = bisect.bisect_right(times, ts) - 1
        if index < 0 or index + 1 >= len(told) or told[index][1] == "":
            continue  # between two functions, or outside
        total += 1
        if name == "":
            unread += 1
        elif name != told[index][1]:
            wrong.append((ts - told[index][0], told[index + 1][0] - ts, told[index][1], name))
    check_true(f"samples of {python.program}: {total}", total > 100)
    check_true(f"wrong names of {python.program}: {wrong} of {total}", not wrong)
    check_true(f"uncertain ones of {python.program}: {unread} of {total}", unread <= 0.1 * total)


def test_offsets_are_those_of_the_headers(box: Box) -> None:
    """The numbers by which memory is read are those that each version's own headers give."""
    compiler = shutil.which("c++")
    if compiler is None:
        raise Skipped("no compiler")
    layouts = box.root / "layouts"
    sources = (OFFSETS / "layouts.cc", SOURCES / "sources/perf/python/layout.cc")
    box.run(compiler, "-std=c++20", "-I", SOURCES, *sources, "-o", layouts)
    compared = 0
    for python in pythons():
        where = "import sysconfig; print(sysconfig.get_path('include'))"
        include = box.run(python.program, "-c", where).decode().strip()
        if python.minor > LAST_BY_TABLE or not Path(include, "internal", "pycore_pystate.h").exists():
            continue
        offsets = box.root / f"offsets-{python.minor}"
        box.run("cc", "-w", "-I", include, "-I", Path(include, "internal"), OFFSETS / "offsets.c", "-o", offsets)
        theirs, ours = (dict(line.split() for line in box.run(*command).decode().splitlines())
                        for command in ((offsets,), (layouts, python.minor)))  # fmt: skip
        check(f"offsets of 3.{python.minor}", theirs, ours)
        compared += 1
    if compared == 0:
        raise Skipped("no Python with its internal headers")
