# SPDX-License-Identifier: MIT
"""The drop-in for Alnair's interposer: libpfinterpose.so and PFLOG, with logs that are read while programs run."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from kit import Box, check, check_true
from test_cuda import CUDA, built, driver, driver_saw, environment, program

NAMES = "mem_used cuInit cuMemAlloc cuMemFree cuLaunchKernel cuMemcpyH2D cuMemcpyD2H cuGetProcAddress cuMemcpyH2D_ASYNC"
ROWS = [*NAMES.split(), "cudaMemcpy", "cudaMemcpyAsync"]
LINE = re.compile(r"name:(\w+), start:\d{19}, burst:\d+, bytes:(\d+), kind:(-?\d+)")


def library(box: Box) -> Path:
    return box.kit.build / "libpfinterpose.so"


def runtime(box: Box) -> Path:
    driver(box)
    flags = ("cc", "-O1", "-Wall", "-shared", "-fPIC", CUDA / "fake_runtime.c")
    return built(box, "driver/libcudart.so.12", *flags, "-Wl,-soname,libcudart.so.12")


def copying(box: Box) -> Path:
    """A program that is linked with a run-time library, and beside it a library that has one inside."""
    runtime(box)
    inside = ("cc", "-O1", "-Wall", "-fno-optimize-sibling-calls", "-shared", "-fPIC", CUDA / "copies.c")
    built(box, "driver/libcopies.so", *inside, CUDA / "fake_runtime.c")
    return built(box, "cuda-copying", "cc", "-O1", "-Wall", CUDA / "runtime_program.c", runtime(box))


def preloaded(box: Box, **more: str) -> dict[str, str]:
    return {**environment(box), "LD_PRELOAD": str(library(box)), **more}


def counts(log: Path) -> dict[str, int]:
    lines = [line.split(",") for line in log.read_text().splitlines()]
    check(f"rows of {log.name}", [f"name:{name}" for name in ROWS], [line[0] for line in lines])
    return {line[0][5:]: int(line[1][6:]) for line in lines}


def timeline(log: Path) -> list[tuple[str, int, int]]:
    """Name, bytes and kind of each line."""
    found = [LINE.fullmatch(line) for line in log.read_text().splitlines()]
    check_true(f"lines of {log.name}", all(found))
    return [(one[1], int(one[2]), int(one[3])) for one in found if one]


Call = tuple[str, str, str]  # name, bytes, kind


def starts_and_bursts(log: Path) -> dict[Call, list[tuple[int, int]]]:
    """Of the calls that look alike, in the order of their times."""
    times: dict[Call, list[tuple[int, int]]] = {}
    for line in log.read_text().splitlines():
        name, start, burst, size, kind = (word.split(":")[1] for word in line.split(", "))
        times.setdefault((name, size, kind), []).append((int(start), int(burst)))
    return {call: sorted(of_call) for call, of_call in times.items()}


def same_logs(box: Box, logs: Path) -> None:
    """As `export` writes them from the recording, whose times were read from a clock that was read more often."""
    exported = box.dir / "exported"
    shutil.rmtree(exported, ignore_errors=True)
    box.fathom("export", box.trace, "--format", "alnair", "-o", exported)
    check("files", sorted(log.name for log in exported.iterdir()), sorted(log.name for log in logs.iterdir()))
    for log in exported.iterdir():
        if log.name.startswith("metrics"):
            check(log.name, counts(log), counts(logs / log.name))
            continue
        wanted, got = starts_and_bursts(log), starts_and_bursts(logs / log.name)
        check(
            f"calls of {log.name}",
            {key: len(rows) for key, rows in wanted.items()},
            {key: len(rows) for key, rows in got.items()},
        )
        for call, rows in wanted.items():
            for (start, burst), (live_start, live_burst) in zip(rows, got[call]):
                check_true(f"start of {call}: {start}, {live_start}", abs(start - live_start) <= 1000)
                check_true(f"burst of {call}: {burst}, {live_burst}", abs(burst - live_burst) <= 1)


def nothing_hidden(box: Box, folder: Path) -> None:
    box.wait_for("end of the collector", lambda: not list(folder.glob(".*")))


def test_by_its_name_alone(box: Box) -> None:
    """Its logs, in ./test, from the program's first call to its last, and what the driver counted."""
    for style in ("linked", "dlsym", "resolver", "resolver1"):
        out = box.run(program(box, style), style, "work", env=preloaded(box))
        check(f"{style}: as without", b"refused 2\n", out)
        found, saw = counts(box.dir / "test/metrics.log"), driver_saw(box)
        for name, function in (("cuMemAlloc", "cuMemAlloc"), ("cuMemcpyH2D", "cuMemcpyHtoD"), ("cuInit", "cuInit")):
            check(f"{style}: {name}", saw[function], found[name])
        check(f"{style}: launches", saw["cuLaunchKernel"] + saw["cuLaunchKernelEx"], found["cuLaunchKernel"])
        check(f"{style}: memory", 0, found["mem_used"])
        check(f"{style}: lines", 15, len(timeline(box.dir / "test/timeline.log")))
        nothing_hidden(box, box.dir / "test")
        shutil.rmtree(box.dir / "test")
        (box.dir / "calls").unlink()


def test_where_scripts_expect_it(box: Box) -> None:
    """A link to the library, or a copy of it, in Alnair's build/lib: it finds fathom, or says where the logs wait."""
    own, elsewhere = str(box.kit.build), "/usr/bin:/bin"
    for kind, path in (("link", elsewhere), ("copy", f"{own}:{elsewhere}"), ("alone", elsewhere)):
        place = box.dir / kind / "build" / "lib" / "libpfinterpose.so"
        place.parent.mkdir(parents=True)
        if kind == "link":
            place.symlink_to(library(box))
        else:
            shutil.copy(library(box), place)
        logs = box.dir / kind / "logs"
        variables = {**environment(box), "LD_PRELOAD": str(place), "PFLOG": str(logs), "PATH": path}
        line = '"$0" linked work; "$0" linked work'
        words = ["sh", "-c", line, str(program(box, "linked"))]
        done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
        check(f"{kind}: as without", "refused 2\nrefused 2\n", done.stdout)
        if kind == "alone":
            (hidden,) = logs.glob(".*")
            said = f"fathom: no program fathom to trust beside the library or on PATH; run `fathom collect {hidden}` "
            check("said once", f"{said}to write the files\n", done.stderr)
            box.fathom("collect", hidden)
        check(f"{kind}: said", "" if kind != "alone" else done.stderr, done.stderr)
        check(f"{kind}: lines", 30, len(timeline(logs / "timeline.log")))
        check(f"{kind}: left", [], list(logs.glob(".*")))


def test_programs_without_cuda(box: Box) -> None:
    """The shells around it have the variables, too: they make nothing."""
    box.run("sh", "-c", "ls | cat; true", env=preloaded(box))
    check("made", [], [path.name for path in box.dir.iterdir()])
    box.run("/bin/true", env={"LD_PRELOAD": str(library(box)), "PFLOG": str(box.dir / "logs")})
    check("made", False, (box.dir / "logs").exists())


def test_copies_of_the_run_time_library(box: Box) -> None:
    """Linked, asked for by name, and of a library that has its own inside, beside one that is not meant."""
    used = copying(box)
    for style in ("linked", "looked-up", "library"):
        logs = box.dir / "deep" / style
        check("refused", b"refused 21\n", box.run(used, style, env=preloaded(box, PFLOG=str(logs))))
        found = counts(logs / "metrics.log")
        check(f"{style}: copies", (5, 5), (found["cudaMemcpy"], found["cudaMemcpyAsync"]))
        check(f"{style}: memory", 65536, found["mem_used"])
        lines = [line for line in timeline(logs / "timeline.log") if line[0].startswith("cuda")]
        there, back = ("cudaMemcpy", 1000, 1), ("cudaMemcpy", 2000, 2)
        later = [("cudaMemcpyAsync", 3000, kind) for kind in (1, 1, 1, 1, 9)]
        check(f"{style}: lines", [there] * 3 + [back] * 2 + later, lines)


def test_nobody_asked(box: Box) -> None:
    """libfathom.so has no such hooks, and a program goes past those of the other where nothing is recorded."""
    for name, env in (("libfathom.so", {}), ("libpfinterpose.so", {"PFLOG": "/proc/nowhere"})):
        preload = {**environment(box), "LD_PRELOAD": str(box.kit.build / name), **env}
        check(name, b"refused 21\n", box.run(copying(box), "linked", env=preload))
    symbols = subprocess.run(["nm", "-D", box.kit.library], capture_output=True, text=True, check=True).stdout
    check("hooks", [], re.findall(r"cudaMemcpy\w*", symbols))


def test_while_it_runs(box: Box) -> None:
    """The logs grow with the program, and whoever reads metrics.log finds all of it at any moment."""
    logs = box.dir / "logs"
    env = {**os.environ, **preloaded(box, PFLOG=str(logs))}
    with subprocess.Popen(
        [copying(box), "linked", "wait"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdin and running.stdout
        box.wait_for(
            "counts", lambda: (logs / "metrics.log").exists() and counts(logs / "metrics.log")["cudaMemcpy"] == 5
        )
        box.wait_for("lines", lambda: len(timeline(logs / "timeline.log")) == 21)
        check("it lives", None, running.poll())
        running.stdin.close()
        while running.poll() is None:
            counts(logs / "metrics.log")
        running.wait()
    check("at the end", 105, counts(logs / "metrics.log")["cudaMemcpy"])
    check("each call once", 221, len(timeline(logs / "timeline.log")))


def test_killed_collector(box: Box) -> None:
    """Whoever goes on for it writes each call once, in files that were there before, too."""
    logs = box.dir / "logs"
    logs.mkdir()
    (logs / "timeline.log").write_text("name:cuInit, start:1700000000000000000, burst:1, bytes:0, kind:-1\n")
    env = {**os.environ, **preloaded(box, PFLOG=str(logs))}
    command = [copying(box), "linked", "wait"]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as running:
        assert running.stdin
        box.wait_for("lines", lambda: len(timeline(logs / "timeline.log")) == 22)
        (hidden,) = logs.glob(".*")
        found = subprocess.run(["pgrep", "-f", f"collect --quiet -- {hidden}"], capture_output=True, text=True)
        os.kill(int(found.stdout), signal.SIGKILL)
        running.stdin.close()
    check("it waits for nobody", 0, running.returncode)
    box.fathom("collect", hidden)
    check("sums", 105, counts(logs / "metrics.log")["cudaMemcpy"])
    check("lines", 222, len(timeline(logs / "timeline.log")))


def test_every_end(box: Box) -> None:
    """Killed, and by _exit: the last calls are there."""
    for end, status in (("kill", -9), ("quick", 0)):
        logs = box.dir / end
        done = subprocess.run(
            [copying(box), "linked", end], env={**os.environ, **preloaded(box, PFLOG=str(logs))}, capture_output=True
        )
        check("status", status, done.returncode)
        box.wait_for("logs", lambda folder=logs: len(list(folder.glob("*.log"))) == 2 and not list(folder.glob(".*")))
        check(end, (5, 5), tuple(counts(logs / "metrics.log")[name] for name in ("cudaMemcpy", "cudaMemcpyAsync")))
        check(f"{end}: lines", 21, len(timeline(logs / "timeline.log")))


def test_several_processes(box: Box) -> None:
    """A pair of files for each, and the plain names hold the sum; the next run goes on in timeline.log."""
    logs = box.dir / "logs"
    for turn in (1, 2):
        box.run(copying(box), "linked", "fork", env=preloaded(box, PFLOG=str(logs)))
        nothing_hidden(box, logs)
        check("sum", 10, counts(logs / "metrics.log")["cudaMemcpy"])
        check("timeline", 42 * turn, len(timeline(logs / "timeline.log")))
        check("files", 2 + 4 * turn, len(list(logs.iterdir())))
        for log in logs.glob("metrics-*.log"):
            check("of each", 5, counts(log)["cudaMemcpy"])
            check("lines of each", 21, len(timeline(logs / log.name.replace("metrics", "timeline"))))


def test_bursts_and_threads(box: Box) -> None:
    """More than fits into the segments of a thread, from many: each call once, while the logs are written."""
    for what, number, name, count in (
        ("burst", 30_000, "cuLaunchKernel", 30_000),
        ("threads", 64, "cuMemcpyH2D", 6400),
    ):
        logs = box.dir / what
        box.run(program(box), "resolver", what, number, env=preloaded(box, PFLOG=str(logs)))
        check(what, count, counts(logs / "metrics.log")[name])
    check("lines", 6400, sum(name == "cuMemcpyH2D" for name, _, _ in timeline(box.dir / "threads/timeline.log")))


def test_with_a_recording(box: Box) -> None:
    """Under `fathom run`, and where FATHOM_OUT names a recording: both are there, and export says the same."""
    logs = box.dir / "logs"
    command = (box.kit.fathom, "run", "-q", "--layers", "+cuda", "-o", box.trace, "--", copying(box), "linked")
    box.run(*command, env=environment(box, PFLOG=str(logs)))
    check("supervised", 5, counts(logs / "metrics.log")["cudaMemcpyAsync"])
    runtime_calls = "SELECT category, count(*) FROM events WHERE name LIKE 'cudaMemcpy%' GROUP BY ALL"
    check("recorded", [("runtime", 10)], box.rows(runtime_calls))
    check("errors", [(21,)], box.rows("SELECT ret FROM events WHERE category = 'runtime' AND ret <> 0"))
    same_logs(box, logs)
    shutil.rmtree(box.trace)
    logs = box.dir / "named"
    box.run(copying(box), "linked", env=preloaded(box, PFLOG=str(logs), FATHOM_OUT=str(box.trace)))
    check("unsupervised", 5, counts(logs / "metrics.log")["cudaMemcpyAsync"])
    check("kept", 5, box.count("name = 'cudaMemcpyAsync'"))


def test_a_recording_of_few_files(box: Box) -> None:
    """However often rows are asked for, a recording that is kept is packed as others are."""
    logs = box.dir / "logs"
    env = preloaded(box, PFLOG=str(logs), FATHOM_OUT=str(box.trace))
    box.run(program(box), "resolver", "burst", 30_000, env=env)
    check("logs", 30_000, counts(logs / "metrics.log")["cuLaunchKernel"])
    box.wait_for("end of the collector", lambda: not (box.trace / "spool").exists())
    check("files", ["events-0.parquet"], [file.name for file in box.trace.glob("events-*.parquet")])
    check("recorded", 30_000, box.count("name = 'cuLaunchKernel'"))


def test_no_collector_beside_it(box: Box) -> None:
    """The recording waits in its hidden place then, and `fathom collect` of it writes the logs where it is told to."""
    alone = box.dir / "alone" / "libpfinterpose.so"
    alone.parent.mkdir()
    shutil.copy(library(box), alone)
    logs = box.dir / "logs"
    box.run(copying(box), "linked", env={**environment(box), "LD_PRELOAD": str(alone), "PFLOG": str(logs)})
    (hidden,) = logs.iterdir()
    header = bytearray((hidden / "spool/run.header").read_bytes())
    header[88:92] = b"else"  # of the machine's boot: it was brought here
    (hidden / "spool/run.header").write_bytes(header)
    here = box.dir / "here"
    logs.rename(here)
    box.fathom("collect", here / hidden.name, "--alnair", here)
    check("copies", 5, counts(here / "metrics.log")["cudaMemcpy"])
    check("nowhere else", False, logs.exists())
    nothing_hidden(box, here)


RACE = """
#include <dlfcn.h>
#include <pthread.h>
static pthread_barrier_t gate;
static void* use(void* nothing) {
  pthread_barrier_wait(&gate);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
  for (int i = 0; i < 50; i++) init(0);
  return nothing;
}
int main(void) {
  pthread_t all[16];
  pthread_barrier_init(&gate, 0, 16);
  for (int i = 0; i < 16; i++) pthread_create(&all[i], 0, use, 0);
  for (int i = 0; i < 16; i++) pthread_join(all[i], 0);
  return 0;
}
"""


def test_threads_that_begin_together(box: Box) -> None:
    """Each is given the hook, whichever joins the run."""
    source = box.dir / "race.c"
    source.write_text(RACE)
    used = built(box, "cuda-race", "cc", "-O1", "-pthread", source, "-ldl")
    for turn in range(5):
        logs = box.dir / str(turn)
        box.run(used, env=preloaded(box, PFLOG=str(logs)))
        check("calls", 800, counts(logs / "metrics.log")["cuInit"])
