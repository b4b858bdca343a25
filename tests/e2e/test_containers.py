# SPDX-License-Identifier: MIT
"""What an application needs, of a control group that the test makes: numbers against the group's own files."""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from jobs import alone
from kit import Box, Skipped, check, check_true

CONTROLLERS = ("cpu", "cpuacct", "memory", "blkio", "pids")
GROUPS = Path("/sys/fs/cgroup")
MIB = 1 << 20
# Joins a group, takes 48 MiB and 300 ms of CPU, and writes a file; then it waits until it may end.
PROGRAM = """
import os, sys, time
for folder in sys.argv[2:]:
    open(folder + "/cgroup.procs", "w").write("0")
held = bytearray(48 << 20)
began = time.process_time()
while time.process_time() - began < 0.3: pass
open(sys.argv[1] + ".done", "w").close()
while not os.path.exists(sys.argv[1] + ".end"): time.sleep(0.05)
"""


@contextlib.contextmanager
def own_group() -> Iterator[str]:
    """A group in all hierarchies of version 1."""
    name = f"fathom-e2e-{os.getpid()}"
    folders = [GROUPS / controller / name for controller in CONTROLLERS]
    made = []
    try:
        for folder in folders:
            try:
                folder.mkdir()
            except OSError as error:
                raise Skipped(f"control groups of version 1 cannot be made here: {error}") from error
            made.append(folder)
        yield name
    finally:
        for folder in made:
            remove(folder)


@contextlib.contextmanager
def unified_group() -> Iterator[Path]:
    """A group of version 2, with whatever controllers that hierarchy has."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    places = [Path(place) for _, place, kind, *_ in mounts if kind == "cgroup2"]
    if not places:
        raise Skipped("no control groups of version 2 are mounted here")
    folder = places[0] / f"fathom-e2e-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        raise Skipped(f"control groups of version 2 cannot be made here: {error}") from error
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """Its last process may still be on its way."""
    for _ in range(100):
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.05)


def usage_of(group: Path) -> int:
    """CPU time in ns, of version 2."""
    lines = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(lines["usage_usec"]) * 1000


@alone("measures what a control group uses")
def test_a_watched_control_group_of_version_2(box: Box) -> None:
    """What is there without a controller, too: time and pressure. The rest has numbers, or a reason."""
    with unified_group() as group:
        mark = box.dir / "mark"
        options = ("--cgroup", group, "--layers", "resource", "--socket", box.root / "s", "-o", box.trace)
        watch = box.start(box.kit.fathom, "watch", *options)
        box.wait_for("the daemon", lambda: box.trace.exists())
        program = box.start(sys.executable, "-c", PROGRAM, mark, group)
        box.wait_for("the program's work", lambda: Path(f"{mark}.done").exists())
        time.sleep(0.5)
        Path(f"{mark}.end").touch()
        program.wait(60)
        used, presses = usage_of(group), (group / "cpu.pressure").exists()
        counts = (group / "memory.current").exists()
        time.sleep(0.3)
        watch.send_signal(signal.SIGINT)
        watch.wait(60)
    asked = box.values(
        "SELECT max(value) FROM counters WHERE name = 'cgroup_cpu'",
        "SELECT count(*) FROM counters WHERE name = 'cgroup_cpu_pressure'",
        "SELECT coalesce(max(value), 0) FROM counters WHERE name = 'cgroup_working_set'",
    )
    check("CPU time", used, int(asked[0]))
    check("pressure", presses, int(asked[1]) > 0)
    check("memory", counts, int(asked[2]) >= 48 * MIB)


@alone("measures what a control group uses")
def test_a_watched_control_group(box: Box) -> None:
    with own_group() as name:
        mark = box.dir / "mark"
        group = GROUPS / "memory" / name
        options = ("--cgroup", group, "--layers", "resource", "--socket", box.root / "s", "-o", box.trace)
        watch = box.start(box.kit.fathom, "watch", *options)
        box.wait_for("the daemon", lambda: box.trace.exists())
        folders = [str(GROUPS / controller / name) for controller in CONTROLLERS]
        program = box.start(sys.executable, "-c", PROGRAM, mark, *folders)
        box.wait_for("the program's work", lambda: Path(f"{mark}.done").exists())
        time.sleep(0.5)  # some samples of it at rest
        Path(f"{mark}.end").touch()
        program.wait(60)
        peak = int((group / "memory.max_usage_in_bytes").read_text())  # its end needs some, too
        used = int((GROUPS / "cpuacct" / name / "cpuacct.usage").read_text())
        time.sleep(0.3)
        watch.send_signal(signal.SIGINT)
        watch.wait(60)
    asked = box.values(
        "SELECT max(value) FROM counters WHERE name = 'cgroup_cpu'",
        "SELECT max(value) FROM counters WHERE name = 'cgroup_memory_peak'",
        "SELECT max(value) FROM counters WHERE name = 'cgroup_working_set'",
        "SELECT sum(v) FROM (SELECT max(value) AS v FROM counters WHERE name LIKE 'cgroup_cpu%_time' GROUP BY name)",
        "SELECT count(*) FROM run WHERE key = 'cgroup.network'",
    )
    check("CPU time", used, int(asked[0]))
    check_true(f"peak of memory: {asked[1]} of {peak}", peak >= int(asked[1]) >= 48 * MIB and int(asked[2]) >= 48 * MIB)
    check("time of the cores", used, int(asked[3]))
    check("the recording says that its network is the machine's", 1, int(asked[4]))
    profile = json.loads(box.fathom("needs", box.trace, "--format", "json"))
    needs = profile["needs"]
    check("peak of the working set", int(asked[2]), int(needs["memory_bytes"]["peak"]))
    wall = profile["runs"][0]["wall"]
    check_true("cores are time by time", abs(needs["cpu_cores"]["typical"] * wall - used / 1e9) < 1e-6 * wall + 0.01)
    check_true("a network that is not its own has a reason", bool(needs["net_in_rate"]["reason"]))
    limit = int(profile["recommend"]["limits"]["memory"].removesuffix("Mi")) * MIB
    check_true("the limit covers the peak", int(asked[2]) <= limit <= 2 * int(asked[2]) + 64 * MIB)
