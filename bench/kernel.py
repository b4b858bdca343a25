# SPDX-License-Identifier: MIT
"""What layers of the kernel cost: calls that are recorded and others, many probes, their start, a daemon at rest."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from jobs import Bench
from row import Row, Sample, Samples, add, judged

TURNS = 600_000
# Both ends of each call of one program, with a histogram, as bpftrace's users write it.
SCRIPT = """
tracepoint:raw_syscalls:sys_enter /pid == cpid/ {{ @begin[tid] = nsecs; }}
tracepoint:raw_syscalls:sys_exit /@begin[tid]/ {{ @[args->id] = hist(nsecs - @begin[tid]); delete(@begin[tid]); }}
"""


def reason_against(bench: Bench, layer: str) -> str:
    """Why a layer cannot be recorded here; "" where it can."""
    layers = json.loads(bench.run([str(bench.build / "fathom"), "doctor", "--format", "json"]))["layers"]
    found = next(row for row in layers if row["layer"] == layer)
    return "" if found["state"] == "available" else str(found["reason"])


def recorded(bench: Bench, *options: str) -> float:
    shutil.rmtree(bench.trace, ignore_errors=True)
    command = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--layers", "syscall", *options, "--"]
    return float(bench.run([*command, str(bench.cost), "pread", bench.turns(TURNS), "1"]))


def beside_a_recording(bench: Bench) -> float:
    """Of a process that nobody records, while another one is recorded."""
    trace = bench.folder / "other.fathom"
    shutil.rmtree(trace, ignore_errors=True)
    command = [str(bench.build / "fathom"), "run", "-q", "-o", str(trace), "--layers", "syscall", "--"]
    waiting = "touch ready; read line; true"
    ready = bench.folder / "ready"
    ready.unlink(missing_ok=True)
    other = subprocess.Popen([*command, "sh", "-c", waiting], cwd=bench.folder, stdin=subprocess.PIPE)
    try:
        while not ready.exists() and other.poll() is None:
            subprocess.run(["sleep", "0.05"], check=True)
        return bench.bare("pread", TURNS, 1)
    finally:
        other.communicate(b"\n")


# It looks its tracepoints up in files that not every machine has mounted.
WITH_TRACEFS = 'mount -t tracefs none /sys/kernel/tracing; mount -t debugfs none /sys/kernel/debug; exec $0 "$@"'


def under_bpftrace(bench: Bench) -> float | None:
    if shutil.which("bpftrace") is None:
        return None
    command = ["unshare", "--mount", "sh", "-c", WITH_TRACEFS]
    command += ["bpftrace", "-q", "-o", "/dev/null", "-e", SCRIPT.format()]
    try:
        text = bench.run([*command, "-c", f"{bench.cost} pread {bench.turns(TURNS)} 1"])
        return float(text.split()[0])
    except (subprocess.CalledProcessError, IndexError, ValueError):
        return None


def one_round(bench: Bench) -> Sample:
    sample: Sample = {
        "bare": bench.bare("pread", TURNS, 1),
        "sums": recorded(bench),
        "detail": recorded(bench, "--detail", "syscall"),
        "others": beside_a_recording(bench),
    }
    for name, peer in (("bpftrace", under_bpftrace(bench)), ("strace", bench.strace("pread", TURNS // 50, 1))):
        add(sample, name, None if peer is None else peer - sample["bare"])
    return sample


def peers_of(samples: Samples) -> str:
    texts = []
    for name in ("bpftrace", "strace"):
        values = [one[name] for one in samples.rounds if name in one]
        texts.append(f"{name} {statistics.median(values):+.0f} ns" if values else f"{name} not measured")
    return ", ".join(texts)


def row_kernel(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    reason = reason_against(bench, "syscall")
    if reason:
        return [Row("system call, recorded by the kernel", "-", "", "", "", "", "", f"not measured: {reason}")]
    samples = Samples([])
    for _ in range(rounds):
        samples.rounds.append(one_round(bench))
        progress()
    bpftrace = samples.ratio(lambda one: one["sums"] - one["bare"], "bpftrace", "bpftrace")
    rows = []
    for key, what in (
        ("sums", "pread of 4 KiB, added up in the kernel by file"),
        ("detail", "pread of 4 KiB, also one by one"),
        ("others", "pread of 4 KiB of a process that is not recorded"),
    ):
        added = statistics.median([one[key] - one["bare"] for one in samples.rounds])
        ratio = samples.ratio(lambda one, key=key: one[key], "bare", key)  # type: ignore[misc]
        bars = ("0.6 x bpftrace", "0.45 x bpftrace", judged(bpftrace, 0.6, 0.45)) if key == "sums" else ("", "", "")
        shown = f"{ratio or 0:.2f} bare" + (f", {bpftrace:.2f} bpftrace" if bpftrace and key == "sums" else "")
        floor = f"bare {samples.median('bare') or 0:.0f} ns"
        rows.append(Row(what, floor, f"{added:+.0f} ns", shown, peers_of(samples), *bars))
    return rows


def program_of(bench: Bench, count: int) -> Path:
    """That calls one of so many functions."""
    program = bench.folder / f"many{count}"
    if not program.exists():
        source = "".join(f"int many_{i}(int x) {{ return x + {i}; }}\n" for i in range(count))
        source += "int main(void) { return many_1(-1); }\n"
        command = ["cc", "-O0", "-x", "c", "-", "-o", str(program)]
        subprocess.run(command, input=source, text=True, check=True)
    return program


def row_probes(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """Put at functions and taken away again: what that adds to a run of a program that calls one of them."""
    reason = reason_against(bench, "user")
    if reason:
        return [Row("probes at functions", "-", "", "", "", "", "", f"not measured: {reason}")]
    rows = []
    for count, enough in ((2000, 1.5), (20_000, 0.0)):
        program = program_of(bench, count)
        times = []
        for _ in range(rounds):
            shutil.rmtree(bench.trace, ignore_errors=True)
            command = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--layers", "user"]
            one = bench.seconds([*command, "--functions", f"{program}:many_1", "--", str(program)])
            shutil.rmtree(bench.trace, ignore_errors=True)
            times.append(bench.seconds([*command, "--functions", f"{program}:^many_", "--", str(program)]) - one)
            progress()
        seconds = statistics.median(times)
        bars = (f"{enough} s", "1 s", judged(seconds, enough, 1.0)) if enough else ("", "", "")
        rows.append(
            Row(f"probes at {count} functions, put and taken away", "one probe", f"{seconds:+.2f} s", "", "", *bars)
        )
    return rows


LAYERS = "syscall,fs,pagecache,block"
# What is good enough, and the goal: half of what layer syscall alone, and several layers, once took.
STARTS = {"syscall": (0.73, 0.55), LAYERS: (1.1, 0.55)}


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row_start(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """Layers of the kernel, loaded for a program that ends at once, against a run without them."""
    reason = reason_against(bench, "syscall")
    if reason:
        return [Row("start of layers", "-", "", "", "", "", "", f"not measured: {reason}")]
    times: dict[str, list[tuple[float, float]]] = {"resource": [], **{layers: [] for layers in STARTS}}
    for _ in range(rounds):
        for layers, taken in times.items():
            shutil.rmtree(bench.trace, ignore_errors=True)
            run = [str(bench.build / "fathom"), "run", "-q", "-o", str(bench.trace), "--layers", layers, "--", "true"]
            before = cpu_of_children()
            taken.append((bench.seconds(run), cpu_of_children() - before))
        progress()
    wall, cpu = ({layers: statistics.median(one[i] for one in times[layers]) for layers in times} for i in (0, 1))
    floor = f"without them {wall['resource']:.2f} s"
    rows = []
    for layers, (enough, goal) in STARTS.items():
        seconds = wall[layers] - wall["resource"]
        used = f"{cpu[layers] - cpu['resource']:+.2f} s of CPU"
        bars = (f"{enough} s", f"{goal} s", judged(seconds, enough, goal))
        rows.append(Row(f"start of layers {layers}", floor, f"{seconds:+.2f} s", used, "", *bars))
    return rows


def cpu_ns(pid: int) -> int:
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks)


def row_rest(bench: Bench, rounds: int, progress: Callable[[], None]) -> list[Row]:
    """A daemon that watches a program that sleeps: its share of a core, over ten seconds."""
    what = "daemon that watches a sleeping program"
    reason = reason_against(bench, "syscall")
    if reason:
        return [Row(what, "-", "", "", "", "", "", f"not measured: {reason}")]
    shutil.rmtree(bench.trace, ignore_errors=True)
    socket = str(bench.folder / "rest.sock")
    words = ["watch", "--socket", socket, "--layers", f"{LAYERS},sched,net", "-o", str(bench.trace)]
    daemon = subprocess.Popen([str(bench.build / "fathom"), *words], stdout=subprocess.PIPE)
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        assert daemon.stdout
        daemon.stdout.readline()
        bench.run([str(bench.build / "fathom"), "attach", "--socket", socket, str(sleeper.pid)])
        shares = []
        for _ in range(min(rounds, 3)):
            before = cpu_ns(daemon.pid)
            time.sleep(10)
            shares.append((cpu_ns(daemon.pid) - before) / 10e9 * 100)
            progress()
    finally:
        sleeper.kill()
        sleeper.wait()
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()
    share = statistics.median(shares)
    return [Row(what, "-", f"{share:.2f} %", "of a core", "", "0.2 %", "0.1 %", judged(share, 0.2, 0.1))]
