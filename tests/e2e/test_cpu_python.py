# SPDX-License-Identifier: MIT
"""Functions of Python in the stacks of layer cpu, on every Python that is here."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kit import VICTIMS, Box, Skipped, check, check_true

MS = 1_000_000
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


def record(box: Box, python: Python) -> tuple[dict[str, int], list[Sample]]:
    """What the program's clocks tell, and what was sampled."""
    box.trace = box.root / f"python-3.{python.minor}-{python.program.parts[1]}.fathom"
    out = box.record(python.program, SCRIPT, options=("--layers", "cpu", "--sample", "997"))
    if box.value("SELECT state FROM layers WHERE layer = 'cpu'") not in ("on", "partial"):
        raise Skipped(str(box.value("SELECT reason FROM layers WHERE layer = 'cpu'")))
    return {name: int(ns) for name, ns in (line.split() for line in out.decode().splitlines())}, samples_of(box)


def time_in(samples: list[Sample], *names: str) -> int:
    return sum(sample.weight for sample in samples if sample.event == "cpu-clock" and sample.holds(*names))


def check_time(what: str, spent: int, sampled: int) -> None:
    """A sample stands for 1 ms: of n ms, some sqrt(n) may be missing. Four times that, and 8 % for what is near a
    border of functions."""
    slack = 4 * (spent * MS) ** 0.5 + 0.08 * spent + 5 * MS
    check_true(f"{what}: {sampled} is {spent} within {slack:.0f}", abs(sampled - spent) <= slack)


def test_python_functions(box: Box) -> None:
    """Each function has the CPU time that its thread's own clock tells, in the main thread and in another one."""
    found = 0
    for python in pythons():
        spent, samples = record(box, python)
        where = f"of 3.{python.minor}"
        main = [sample for sample in samples if sample.main]
        for name in ("heavy", "light", "drift", "by_key", "consume", "shorts"):
            check_time(f"{name} {where}", spent[name], time_in(main, name))
        rest = [sample for sample in samples if not sample.main]
        check_time(f"heavy in a thread {where}", spent["thread"], time_in(rest, "heavy", "burn"))
        check_stacks(python, main)
        check_shorts(f"shorts {where}", spent, main)
        naps = [s for s in samples if s.event == "off-cpu" and s.weight >= 29 * MS and s.names[-1:] == ["doze"]]
        check(f"naps {where}", 5, len(naps))
        check(f"losses {where}", 0, box.losses())
        found += 1
    if found == 0:
        raise Skipped("no Python whose insides are known")


def check_stacks(python: Python, samples: list[Sample]) -> None:
    """Python stands in the place of the interpreter, and C functions between two of Python where they are."""
    where = f"of 3.{python.minor}"
    drifting = [s for s in samples if s.names[-1:] == ["drift"]]
    check_true(f"samples of drift {where}", len(drifting) > 0)
    loops = {f.function for s in drifting for f in s.stack if "_PyEval_EvalFrame" in f.function}
    check(f"the interpreter's loop {where}", set(), loops)
    drift = {f for s in drifting for f in s.stack if f.function.endswith("drift")}
    check(f"its name {where}", {"Keel.drift" if python.has_qualified_names else "drift"}, {f.function for f in drift})
    first = SCRIPT.read_text().splitlines().index("    def drift(self, turns):") + 1
    check_true(f"its lines {where}: {drift}", {f.line for f in drift} <= set(range(first, first + 5)))
    check(f"its file {where}", {str(SCRIPT)}, {f.module for f in drift})
    sorting = [s for s in samples if s.holds("by_key", "key")]
    between = [s for s in sorting if is_c_between(s, "by_key", "key")]
    check_true(f"C calls key {where}: {len(between)} of {len(sorting)}", len(between) >= 0.9 * len(sorting) > 0)
    check_true(f"a generator {where}", time_in(samples, "consume", "numbers", "burn") > 0)
    deep = [s for s in samples if s.holds("deep", "burn")]
    whole = [s for s in deep if s.names.count("deep") == 901 and s.names[:2] == ["<module>", "work"]]
    check_true(f"901 levels {where}: {len(whole)} of {len(deep)}", len(whole) > 0)


def is_c_between(sample: Sample, outer: str, inner: str) -> bool:
    names = [frame.function if frame.is_of_script else "" for frame in sample.stack]
    between = sample.stack[names.index(outer) + 1 : names.index(inner)]
    return len(between) > 0 and not any(frame.is_of_script for frame in between)


def check_shorts(what: str, spent: dict[str, int], samples: list[Sample]) -> None:
    """Functions of a microsecond, called in any order: it takes longer to read who runs. Their shares are right even
    so, with an error that is far below what taking one for another would make."""
    small, large = time_in(samples, "shorts", "small"), time_in(samples, "shorts", "large")
    truth = spent["only_small"] / (spent["only_small"] + spent["only_large"])
    got = small / max(1, small + large)
    count = (small + large) / MS
    slack = 4 * (truth * (1 - truth) / max(1, count)) ** 0.5 + 0.05
    check_true(f"share of small in {what}: {got:.3f} is {truth:.3f} within {slack:.3f}", abs(got - truth) <= slack)


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
