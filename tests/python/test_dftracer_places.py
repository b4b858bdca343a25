# SPDX-License-Identifier: MIT
"""Where programs annotated for DFTracer run: under shells, as servers, in each mode, as its documents have them."""

import re
import sys
from pathlib import Path
from typing import Dict, List

from kit import BUILD, Failure, expect, ran
from test_annotations import pythons
from test_dftracer import APP, PROGRAM, Table, differences, events_in, real, run_real, settings, table_of, wait_for
from world import need

ANNOTATED = ("TRAIN", "IO", "LOOP")
BEGIN = {
    "1": "from dftracer.logger import dftracer, dft_fn\nlog = dftracer.initialize_log(None, None, -1)\n",
    "2": "from dftracer.python import dftracer, dft_fn\nlog = dftracer.initialize_log(None, None, -1)\n",
}
SERVES = """
import os
fn = dft_fn('S')
@fn.log
def serve(): os.close(os.open(os.environ['DFTRACER_DATA_DIR'] + '/file', os.O_CREAT | os.O_RDWR))
"""
# Leaves its parent, its session and its descriptors, and ends by what nobody can catch.
DAEMON = """
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 256)
for _ in range(50): serve()
os.kill(os.getpid(), 9)
"""
# The child is unknown until it calls what is recorded, and its parent is gone long before: a busy machine does the same
# with any child.
LATE = """
import ctypes, platform, signal, time
number = {'x86_64': 56, 'aarch64': 220}[platform.machine()]  # clone
if ctypes.CDLL(None).syscall(number, signal.SIGCHLD, 0, 0, 0, 0): os._exit(0)
time.sleep(2)
for _ in range(20): serve()
"""
# Its children are those that it made: the collector is none.
PREFORK = """
for _ in range(3):
    if os.fork() == 0:
        for _ in range(10): serve()
        os._exit(0)
ended = {os.wait()[0] for _ in range(3)}
assert len(ended) == 3
try: os.wait()
except ChildProcessError: print('alone')
"""
# What is left out of the program of DFTracer's README.
LEFT_OUT = """import os
from multiprocessing import get_context
from time import sleep
import numpy as np
cwd = os.getcwd()
def init(): pass
"""


def test_shells(root: Path) -> None:
    """One after the other, in a pipe, and as jobs that the shell waits for."""
    lines = {"after": "$P 1 && $P 2", "pipe": "$P 1 | cat; $P 2 | cat", "jobs": "$P 1 & $P 2 & wait"}
    for name, line in lines.items():
        place = root / name
        # The data are apart: both make the same directories.
        text = line.replace("$P 2", 'DFTRACER_DATA_DIR="$0" $P 2').replace("$P", f'"{sys.executable}" "{PROGRAM}"')
        (place / "data" / "second").mkdir(parents=True)
        # Unbuffered, one job would write between another's word and its line end.
        env = {**settings(place), "PYTHONUNBUFFERED": ""}
        expect(name, "done\ndone\n", ran("sh", "-c", text, place / "data" / "second", env=env))
        wait_for({key: 2 * count for key, count in APP.items()}, place, *ANNOTATED)


def test_servers(root: Path) -> None:
    for generation, begin in BEGIN.items():
        place = root / f"daemon{generation}"
        ran(sys.executable, "-c", begin + SERVES + DAEMON, env=settings(place))
        wait_for({("serve", "S"): 50}, place, "S")
        place = root / f"late{generation}"
        ran(sys.executable, "-c", begin + SERVES + LATE, env=settings(place))
        wait_for({("serve", "S"): 20}, place, "S")
        place = root / f"prefork{generation}"
        expect("said", "alone\n", ran(sys.executable, "-c", begin + SERVES + PREFORK, env=settings(place)))
        wait_for({("serve", "S"): 30}, place, "S")


def io_of(root: Path) -> Table:
    table = table_of(root, "POSIX")
    return {(name, cat): table.get((name, cat), 0) for name, cat in (("open64", "POSIX"), ("pread64", "POSIX"))}


def test_modes(root: Path) -> None:
    """FUNCTION begins where the program says so; PRELOAD needs no word of it; HYBRID is both, and each call once."""
    reads = "import os\nfd = os.open(os.environ['DFTRACER_DATA_DIR'] + '/file', os.O_CREAT | os.O_RDWR)\n"
    reads += "[os.pread(fd, 8, 0) for _ in range(5)]\n"
    preload = {"LD_PRELOAD": str(BUILD / "libdftracer_preload.so")}
    for generation, begin in BEGIN.items():
        for mode, variables, once in (("FUNCTION", {}, 1), ("PRELOAD", preload, 2), ("HYBRID", preload, 2)):
            place = root / f"{mode}{generation}"
            program = reads + begin + reads + "log.finalize()\n"
            ran(sys.executable, "-c", program, env={**settings(place, INIT=mode), **variables})
            expect(f"{mode}, {generation}", {("open64", "POSIX"): once, ("pread64", "POSIX"): 5 * once}, io_of(place))
        place = root / f"unknowing{generation}"
        variables = {**preload, "FATHOM_DFTRACER": generation}
        ran(sys.executable, "-c", reads, env={**settings(place, INIT="PRELOAD"), **variables})
        expect(f"imports nothing, {generation}", {("open64", "POSIX"): 1, ("pread64", "POSIX"): 5}, io_of(place))
        (log,) = place.glob("log*")
        wanted = r"log-.+-\d+\.pfw" if generation == "1" else r"log-[0-9a-f]{16}-preload\.pfw\.gz"
        expect(f"{log.name} is {wanted}", True, re.fullmatch(wanted, log.name) is not None)


def test_on_every_python(root: Path) -> None:
    """With the native module of each version, and Python's own checks on; annotations, I/O, the workers of a pool."""
    wanted = {**APP, ("step", "TRAIN"): 25, ("load", "IO"): 25}
    for version, python in pythons().items():
        for generation in ("1", "2"):
            place = root / f"{version}-{generation}"
            said = ran(python, "-X", "dev", PROGRAM, generation, "fork", env=settings(place))
            expect(f"Python {version}", "done\n", said)
            wait_for(wanted, place, *ANNOTATED)
            expect(f"Python {version}, preads", 25, table_of(place)[("pread64", "POSIX")])


def readme_program(packages: Path) -> str:
    (about,) = packages.glob("pydftracer-1.0.3.dist-info/METADATA")
    found = re.search(r"^```python\n(.*?)^```$", about.read_text(), re.DOTALL | re.MULTILINE)
    if found is None:
        raise Failure("the README has no program")
    return LEFT_OUT + found.group(1)


def by_process(root: Path) -> List[Table]:
    """Tables of the two processes; the one that logs an annotation first."""
    tables: Dict[str, Table] = {}
    for event in events_in(root):
        table = tables.setdefault(str(event["pid"]), {})
        key = (event["name"], event["cat"])
        table[key] = table.get(key, 0) + 1
    return sorted(tables.values(), key=lambda table: ("log_events", "COMPUTE") not in table)


def test_the_program_of_its_readme(root: Path) -> None:
    """As the package of 1.0.3 has it, with the imports that it leaves out; parent and spawned worker."""
    need("numpy")
    python = real("v1", "requirements-dftracer1.txt")
    (packages,) = python.parent.parent.glob("lib/python3*/site-packages")
    import numpy

    (root / "packages").mkdir()
    for folder in Path(numpy.__file__).parent.parent.glob("numpy*"):
        (root / "packages" / folder.name).symlink_to(folder)
    found = {}
    for name in ("theirs", "ours"):
        place = root / name
        (place / "data").mkdir(parents=True)
        program = place / "program.py"
        program.write_text(readme_program(packages))
        if name == "theirs":
            run_real(place, python, program=program, packages=str(root / "packages"), said="Calling spawn on 2")
        else:
            ran("env", "-C", place, sys.executable, program, env=settings(place))
        found[name] = by_process(place)
    expect("processes", (2, 2), (len(found["theirs"]), len(found["ours"])))
    for who, theirs, ours in zip(("parent", "worker"), found["theirs"], found["ours"]):
        expect(f"{who}: what DFTracer has more of, and we unexpectedly", ({}, set()), differences(theirs, ours))
    expect("annotations", 1, found["ours"][0][("log_events", "COMPUTE")])
