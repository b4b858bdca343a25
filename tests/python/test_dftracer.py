# SPDX-License-Identifier: MIT
"""Programs annotated for DFTracer, with ours in its place: beside DFTracer itself, and where that one loses events."""

import gzip
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Set, Tuple

from kit import BUILD, FATHOM, TOP, Skip, environment, expect, ran, rows

PROGRAMS = Path(__file__).resolve().parent / "programs"
PROGRAM = PROGRAMS / "dftracer_program.py"
Table = Dict[Tuple[str, str], int]

# Of dftracer_program.py: what five steps, a model and a loop log.
APP = {("step", "TRAIN"): 5, ("load", "IO"): 5, ("Model.__init__", "TRAIN"): 1, ("Model.forward", "TRAIN"): 1}
APP.update({("Model.static", "TRAIN"): 1, ("loop.iter", "LOOP"): 4, ("loop.yield", "LOOP"): 4})
# Calls that we have more of, since DFTracer does not bind them on this libc. What it has more of: nothing.
MORE = {"fstat", "fstat64", "stat64"}
LATER_S = 30


def lines_of(path: Path) -> List[Dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.splitlines() if line.strip() not in (b"[", b"]", b"")]


def events_in(root: Path) -> List[Dict[str, Any]]:
    lines = [line for path in sorted(root.glob("log*")) for line in lines_of(path)]
    return [line for line in lines if line["ph"] in ("X", 1) and line["cat"] != "dftracer"]


def table_of(root: Path, *categories: str) -> Table:
    events = [event for event in events_in(root) if not categories or event["cat"] in categories]
    return dict(Counter((event["name"], event["cat"]) for event in events))


def settings(root: Path, **more: str) -> Dict[str, str]:
    data = root / "data"
    data.mkdir(parents=True, exist_ok=True)
    usual = {"ENABLE": "1", "LOG_FILE": str(root / "log"), "DATA_DIR": str(data)}
    return {f"DFTRACER_{name}": value for name, value in {**usual, **more}.items() if value}


def run_program(root: Path, *arguments: str, **more: str) -> None:
    expect("stdout", "done\n", ran(sys.executable, PROGRAM, *arguments, env=settings(root, **more)))


def run_real(
    root: Path, python: Path, *arguments: str, program: Path = PROGRAM, packages: str = "", said: str = "done\n"
) -> None:
    """With DFTracer's own packages instead of ours. It leaves a file of its own where it is called."""
    variables = {**os.environ, **settings(root), "PYTHONPATH": packages}
    done = subprocess.run([python, program, *arguments], env=variables, cwd=root, capture_output=True, check=False)
    expect("status and stdout", (0, True), (done.returncode, done.stdout.decode().startswith(said)))


def wait_for(wanted: Table, root: Path, *categories: str) -> None:
    """The file of a killed program is complete soon after."""
    until = time.monotonic() + LATER_S
    got: Any = None
    while got != wanted and time.monotonic() < until:
        time.sleep(0.1)
        try:
            got = table_of(root, *categories)
        except (ValueError, EOFError) as half:
            got = half
    expect("events", wanted, got)


def differences(theirs: Table, ours: Table) -> Tuple[Dict[Any, Any], Set[str]]:
    """What DFTracer has more of, with both counts, and names that we have more of beyond the known ones."""
    fewer = {key: (count, ours.get(key, 0)) for key, count in theirs.items() if ours.get(key, 0) < count}
    return fewer, {key[0] for key, count in ours.items() if count > theirs.get(key, 0)} - MORE


def beside(root: Path, generation: str, python: Path) -> None:
    theirs, ours = root / "theirs", root / "ours"
    run_real(theirs, python, generation)
    run_program(ours, generation)
    our_table = table_of(ours)
    expect(f"what DFTracer {generation} has more of, and we", ({}, set()), differences(table_of(theirs), our_table))
    expect("annotations", APP, {key: count for key, count in our_table.items() if key in APP})


def real(name: str, requirements: str) -> Path:
    if platform.machine() != "x86_64":
        raise Skip(f"PyPI has DFTracer for x86_64 only, this is {platform.machine()}")
    return environment(name, requirements) / "python"


def test_beside_version_1(root: Path) -> None:
    beside(root, "1", real("v1", "requirements-dftracer1.txt"))


def test_beside_version_2(root: Path) -> None:
    beside(root, "2", real("v2", "requirements.txt"))


def test_ends_without_finalize(root: Path) -> None:
    for how in ("return", "_exit", "SIGTERM", "SIGKILL"):
        place = root / how
        done = subprocess.run(
            [sys.executable, PROGRAM, "1", how], env={**os.environ, **settings(place)}, capture_output=True, check=False
        )
        status = {"return": 0, "_exit": 3}.get(how) if not how.startswith("SIG") else -getattr(signal, how)
        expect(f"status and words of {how}", (status, b"done\n", b""), (done.returncode, done.stdout, done.stderr))
        if how == "return":
            expect("annotations at once", APP, table_of(place, "TRAIN", "IO", "LOOP"))
        wait_for(APP, place, "TRAIN", "IO", "LOOP")


def test_pools(root: Path) -> None:
    wanted = {**APP, ("step", "TRAIN"): 25, ("load", "IO"): 25}
    for how in ("fork", "spawn"):
        run_program(root / how, "2", how)
        wait_for(wanted, root / how, "TRAIN", "IO", "LOOP")
        expect("preads", 25, table_of(root / how)[("pread64", "POSIX")])
        # None of a child by vfork, as which Python starts spawned workers and their tracker.
        expect("files of the program and its two workers at most", True, len(list((root / how).glob("log*"))) <= 3)


def test_settings_of_yaml(root: Path) -> None:
    """Both names of the block; directories as a text and as a list; a variable wins."""
    for block, directories in (("tracer", f"{root}/nowhere:{root}/data"), ("profiler", "")):
        (root / block).mkdir()
        text = f"enable: true\n{block}:\n  log_file: {root}/{block}/log\n  compression: on\n"
        if directories:
            text += f"  data_dirs: {directories}  # both\n"
        else:
            text += f"  data_dirs:\n    - '{root}/nowhere'\n    - {root}/data\n"
        text += "features:\n  metadata: true\n  io:\n    enable: true\n    stdio: no\n"
        (root / "dftracer.yaml").write_text(text)
        known = {"ENABLE": "", "LOG_FILE": "", "DATA_DIR": "", "TRACE_COMPRESSION": "0"}
        variables = settings(root, **known, CONFIGURATION=str(root / "dftracer.yaml"))
        code = PROGRAM.read_text().replace('os.environ["DFTRACER_DATA_DIR"]', repr(str(root / "data")))
        (root / "program.py").write_text(code)
        expect("stdout", "done\n", ran(sys.executable, root / "program.py", "2", env=variables))
        (log,) = (root / block).glob("log*")
        expect("compressed", ".pfw", log.suffix)
        expect("annotations", APP, table_of(root / block, "TRAIN", "IO", "LOOP"))
        expect("preads", 5, table_of(root / block)[("pread64", "POSIX")])
        steps = [event["args"]["step"] for event in events_in(root / block) if event["name"] == "load"]
        expect("steps of the blocks", [0, 1, 2, 3, 4], steps)


def test_recording_is_kept_where_it_was_named(root: Path) -> None:
    variables = {**settings(root), "FATHOM_OUT": str(root / "own.fathom")}
    expect("stdout", "done\n", ran(sys.executable, PROGRAM, "2", env=variables))
    expect("annotations", APP, table_of(root, "TRAIN", "IO", "LOOP"))
    until = time.monotonic() + LATER_S
    while not (root / "own.fathom" / "processes.parquet").exists() and time.monotonic() < until:
        time.sleep(0.1)
    sql = "SELECT name, category, count(*) AS n FROM events WHERE layer = 'app' GROUP BY ALL"
    got = {(row["name"], row["category"]): row["n"] for row in rows(root / "own.fathom", sql)}
    expect("annotations in the recording", APP, got)


def test_supervised_runs_have_no_files(root: Path) -> None:
    words = [FATHOM, "run", "-q", "-o", root / "own.fathom", "--", sys.executable, PROGRAM, "2"]
    ran(*words, env=settings(root))
    expect("files", [], sorted(root.glob("log*")) + sorted(root.glob(".log*")))
    got = rows(root / "own.fathom", "SELECT count(*) AS n FROM events WHERE layer = 'app'")[0]["n"]
    expect("annotations", sum(APP.values()), got)


def hidden(root: Path) -> Path:
    (place,) = root.glob(".log-*.fathom")
    return place


def test_killed_collector(root: Path) -> None:
    """Another one goes on, and each event is there once."""
    code = (
        "import os, signal, sys, time\nfrom dftracer.python import dftracer, dft_fn\nlog = dftracer.initialize_log()\n"
        "fn = dft_fn('K')\n@fn.log\ndef f(): pass\n"
        "for _ in range(100000): f()\ntime.sleep(0.3)\n"
        "own = sys.argv[1]\n"
        "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
        "    try: words = open(f'/proc/{pid}/cmdline').read().split('\\0')\n"
        "    except OSError: continue\n"
        "    if words[1:2] == ['collect'] and any(word.startswith(own) for word in words): os.kill(int(pid), 9)\n"
        "for _ in range(1000): f()\nlog.finalize()\nprint('done')\n"
    )
    expect("stdout", "done\n", ran(sys.executable, "-c", code, root, env=settings(root)))
    ran(FATHOM, "collect", hidden(root))
    expect("events", {("f", "K"): 101000}, table_of(root))
    expect("the directory is gone", [], list(root.glob(".log*")))


def compiled(root: Path, source: str, library: str) -> Path:
    program = root / source.replace(".", "-")
    words = ["cc" if source.endswith(".c") else "c++", "-Wall", "-Wextra", "-Werror", PROGRAMS / source, "-o", program]
    words += [f"-I{TOP}/include", f"-L{BUILD}", f"-l{library}", f"-Wl,-rpath,{BUILD}", f"-Wl,-rpath-link,{BUILD}"]
    ran(*words)
    return program


def variables_of(root: Path) -> Dict[str, str]:
    return {**settings(root, INC_METADATA="1"), "FILE": str(root / "data" / "file")}


REGIONS: Table = {("work", "C_APP"): 3, ("inner", "C_APP"): 3, ("open", "POSIX"): 3, ("write", "POSIX"): 3}
REGIONS[("close", "POSIX")] = 3


def test_c_and_cpp(root: Path) -> None:
    for source, library in (("dftracer_regions.c", "dftracer_core"), ("dftracer_regions.cpp", "dftracer")):
        place = root / library
        place.mkdir()
        program = compiled(root, source, library)
        expect("stdout", "done\n", ran(program, env=variables_of(place)))
        table = table_of(place)
        category = "C_APP" if library == "dftracer_core" else "CPP_APP"
        expect("functions and regions", (3, 3), (table[("work", category)], table[("inner", category)]))
        expect("opened", 3, table[("open", "POSIX")])
        told = {event["args"]["text"] for event in events_in(place) if event["name"] == "inner"}
        expect("text", {'a "quoted" one'}, told)
        expect("numbers", [0, 1, 2], [event["args"]["index"] for event in events_in(place) if event["name"] == "work"])


def written_at_once(root: Path, *words: Any) -> None:
    """A program that adopts orphans has its files, too, and nothing else is left."""
    expect("stdout", "done\n", ran(*words, env=variables_of(root)))
    expect("events", REGIONS, table_of(root))
    until = time.monotonic() + LATER_S
    while list(root.glob(".log*")) and time.monotonic() < until:
        time.sleep(0.1)
    expect("the directory is gone", [], list(root.glob(".log*")))


def test_programs_that_adopt_orphans(root: Path) -> None:
    program = compiled(root, "dftracer_regions.c", "dftracer_core")
    for name in ("reaper", "pid1"):
        (root / name).mkdir()
    reaper = "import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
    written_at_once(root / "reaper", sys.executable, "-c", reaper, program)
    if os.geteuid() != 0:
        raise Skip("only root can make a PID 1; a subreaper was tried")
    written_at_once(root / "pid1", "unshare", "-p", "-f", "--mount-proc", program)


def test_where_no_collector_may_be(root: Path) -> None:
    """The program is none the worse, and its user makes the files later; nobody else can."""
    if os.geteuid() != 0:
        raise Skip("only root can become a user that may make no process")
    program = compiled(root, "dftracer_regions.c", "dftracer_core")
    place = root / "limited"
    limited = "import os, resource, sys; os.setgroups([]); os.setuid(65534)\n"
    limited += "resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)); os.execv(sys.argv[1], sys.argv[1:])"
    root.chmod(0o755)
    for path in (place, place / "data"):
        path.mkdir()
        os.chown(path, 65534, 65534)
    owner = ["setpriv", "--reuid", "65534", "--clear-groups"]
    if subprocess.run([*owner, program], env={"FILE": "/dev/null"}, capture_output=True, check=False).returncode != 0:
        raise Skip("the build cannot be read by another user")
    expect("stdout", "done\n", ran(sys.executable, "-c", limited, program, env=variables_of(place)))
    expect("files", [], list(place.glob("log*")))
    refused = subprocess.run([FATHOM, "collect", "-q", hidden(place)], capture_output=True, text=True, check=False)
    expect("whose it is", (3, True), (refused.returncode, "belongs to another user" in refused.stderr))
    ran(*owner, FATHOM, "collect", "-q", hidden(place))
    expect("files of the program that asked for them", 1, len(list(place.glob("log*"))))


def test_our_files_are_read(root: Path) -> None:
    for generation in ("1", "2"):
        place = root / generation
        run_program(place, generation, INC_METADATA="1")
        (log,) = place.glob("log*")
        trace = root / f"{generation}.fathom"
        ran(FATHOM, "import", log, "-o", trace)
        wanted = len([line for line in lines_of(log) if line["ph"] in ("X", 1)])
        expect("events imported", wanted, rows(trace, "SELECT count(*) AS n FROM events")[0]["n"])
        if generation == "2" and platform.machine() == "x86_64":
            ran(real("v2", "requirements.txt").parent / "dftracer_validate", "--files", log)


def test_nothing_is_loaded_where_nothing_is_asked(root: Path) -> None:
    code = (
        "import dftracer.python, dftracer.logger\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libfathom.so' not in maps, 'loaded'\n"
        "@dftracer.python.dft_fn('A').log\ndef f(): pass\n"
        "assert type(f).__name__ == 'function'\nprint('done')\n"
    )
    expect("stdout", "done\n", ran(sys.executable, "-c", code, env={"DFTRACER_LOG_FILE": str(root / "log")}))
    expect("files", [], list(root.iterdir()))
