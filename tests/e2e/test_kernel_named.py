# SPDX-License-Identifier: MIT
"""What is probed by name: functions and tracepoints of the kernel, C++, static probes; and a daemon at rest."""

import json
import os
import time
from pathlib import Path

from jobs import may_take
from kit import Box, Failure, Skipped, check, check_true
from machine import kernels, run_in_machine
from test_watch import watching

TURN = "hooks of the kernel"
SIGNALS = 40
CALLS = 25
CALLED = "SELECT name, CAST(sum(calls) AS BIGINT) FROM intervals WHERE layer = '{}' GROUP BY name ORDER BY name"
WAKES = 20  # in a second, of all threads together


def named(box: Box, layers: str, functions: str, *command: object, status: int = 0) -> bytes:
    """What Fathom said while it recorded them."""
    box.needs_layer("syscall")
    run = (box.kit.fathom, "run", "-q", "--force", "--layers", layers, "--functions", functions, "-o", box.trace)
    _, said = box.finish(box.start(*run, "--", *command), status=None)
    if b"tracepoints by name" in said and status == 0:
        raise Skipped(said.decode().strip())
    return said


def test_tracepoints(box: Box) -> None:
    """One by its name, others by a pattern: as often as a shell sent itself a signal, and as it made system calls."""
    script = f"trap : USR1; i=0; while [ $i -lt {SIGNALS} ]; do kill -USR1 $$; i=$((i+1)); done"
    named(box, "kernel,syscall", "tracepoint:sys_enter,tracepoint:^signal_(deliver|generate)$", "sh", "-c", script)
    counts = dict(box.rows(CALLED.format("kernel")))
    where = "layer = 'syscall' AND name != 'execve'"  # when that was entered, nobody was recorded yet
    calls = box.value(f"SELECT CAST(sum(calls) AS BIGINT) FROM intervals WHERE {where}")
    # Whoever waits for the shell gets one, too.
    check("points", {"signal_deliver": SIGNALS, "signal_generate": SIGNALS + 1, "sys_enter": calls}, counts)
    unknown = box.rows("SELECT DISTINCT dur, dur_min FROM intervals WHERE layer = 'kernel'")
    check("nobody knows how long a point takes", [(0, None)], unknown)


def test_many_tracepoints(box: Box) -> None:
    """A pattern may fit hundreds: the program runs as ever, and what is there is counted."""
    named(box, "kernel", "tracepoint:^(ext4|sched|signal|task|block)_", "sh", "-c", "true & wait; exit 0")
    forks = box.value("SELECT CAST(sum(calls) AS BIGINT) FROM intervals WHERE name = 'sched_process_fork'")
    check("forks", 1, forks)


def test_names_that_there_are_not(box: Box) -> None:
    """An error before anything runs, which tells near names."""
    cases = {
        "tracepoint:signal_genrate": b"did you mean signal_generate",
        "kernel:vfs_raed": b"did you mean vfs_read",
        "tracepoint:sys_enter_openat": b"--filter syscall:call=openat",
        "libc.so.6:mallok": b"did you mean malloc",
    }
    for text, hint in cases.items():
        said = named(box, "user" if text.startswith("lib") else "kernel", text, "touch", "made", status=3)
        check_true(f"{text}: {said!r}", said.count(b"\n") == 1 and hint in said)
    check("nothing ran", False, (box.dir / "made").exists())


def test_kernel_functions(box: Box) -> None:
    """As often as the program reads; where this kernel takes no programs at its functions, the reason."""
    (box.dir / "data").write_bytes(bytes(4096))
    said = named(box, "kernel,syscall", "kernel:vfs_read", "sh", "-c", f"exec {box.kit.victim('kernel')} 2 2 50")
    if b"vfs_read cannot be probed" in said:
        check_true(f"why: {said!r}", b"no kprobes" in said or b"locked down" in said)
        return
    calls = box.rows(
        "SELECT layer, CAST(sum(calls) AS BIGINT) FROM intervals WHERE name IN ('vfs_read', 'read', 'pread64') "
        "AND (layer = 'kernel' OR errors < calls) GROUP BY layer ORDER BY layer"
    )
    check_true(f"calls by layer: {calls}", len(calls) == 2 and calls[0][1] >= 200)


READS = 300
WORKERS = 4
ELSEWHERE = f"""
head -c 4096 /dev/zero > data
fathom run -q --layers kernel --functions kernel:vfs_read -o named.fathom -- kernel 2 2 {READS}
echo "=== part"
[ -d named.fathom ] && fathom sql named.fathom --format json "SELECT CAST(sum(calls) AS BIGINT) AS calls,
  count(DISTINCT tid) AS threads, min(dur_min) AS least FROM intervals WHERE name = 'vfs_read'" || echo "[]"
"""


@may_take(600)
def test_kernel_functions_of_other_kernels(box: Box) -> None:
    """Where there are kprobes: every read, by thread, with its time."""
    if not box.kit.full:
        raise Skipped("--full boots other kernels in a virtual machine")
    box.not_emulated("it emulates by itself")
    programs = {"bin/fathom": box.kit.fathom, "bin/libduckdb.so": (box.kit.build / "libduckdb.so").resolve()}
    programs |= {"bin/kernel": box.kit.victim("kernel")}
    for kernel in kernels():
        folder = box.root / kernel.name
        folder.mkdir()
        said, *parts = run_in_machine(kernel, ELSEWHERE, programs, folder, ()).split("=== part\n")
        rows = json.loads(parts[0]) if parts else []
        if not rows and "-5.10." not in kernel.name:  # there a probe does not know where it is
            raise Failure(f"{kernel.name}: {said}")
        for row in rows:
            enough = row["calls"] >= WORKERS * READS and row["threads"] >= WORKERS and row["least"] > 0
            check_true(f"{kernel.name}: {row}", enough)


def test_doctor_names_what_is_missing(box: Box) -> None:
    """Of layers at functions: lockdown and kprobes, and no line to type that would not help."""
    box.needs_layer("syscall")
    layers = {row["layer"]: row for row in json.loads(box.fathom("doctor", "--format", "json"))["layers"]}
    has_kprobes = Path("/sys/bus/event_source/devices/kprobe").exists()
    if layers["vfs"]["state"] != "available":
        reason = layers["vfs"]["reason"]
        check_true(f"why: {reason}", has_kprobes or "no kprobes" in reason)
        check("a line to type", None, layers["vfs"]["fix"])
    check("layer kernel", "available", layers["kernel"]["state"])


def test_doctor_of_root_without_privilege(box: Box) -> None:
    """Root of a container cannot become root: the line that it typed is no fix."""
    if os.geteuid() != 0:
        raise Skipped("only root can drop what root may")
    box.needs_layer("syscall")
    bare = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    out, _ = box.finish(box.start(*bare, box.kit.fathom, "doctor", "--format", "json"))
    rows = {row["layer"]: row for row in json.loads(out)["layers"]}
    check("state and line", ("unavailable", None), (rows["syscall"]["state"], rows["syscall"]["fix"]))


def test_names_of_cpp(box: Box) -> None:
    """Plain, with parameters, in a namespace, and as the compiler wrote it."""
    program = box.kit.victim("plain_names")
    cases = {
        "outer": {"outer(int)": CALLS, "outer(long, char)": CALLS},
        "outer(int)": {"outer(int)": CALLS},
        "outer(long, char)": {"outer(long, char)": CALLS},
        "inner::outer": {"inner::outer(int)": CALLS},
        "_Z5outeri": {"outer(int)": CALLS},
        "^outer$": {"outer(int)": CALLS, "outer(long, char)": CALLS},
    }
    for text, want in cases.items():
        said = named(box, "user", f"{program}:{text}", program, CALLS)
        if b"layer user cannot be recorded" in said:
            raise Skipped(said.decode().strip())
        check(text, want, dict(box.rows(CALLED.format("user"))))


def test_static_probes_by_wildcards(box: Box) -> None:
    program = box.kit.victim("plain_names")
    for text, want in {"victim:step_*": {"one": 1, "two": 2}, "v*:*_t?o": {"two": 2}, "*:step_one": {"one": 1}}.items():
        named(box, "user", f"usdt:{program}:{text}", program, CALLS)
        counts = {f"victim:step_{name}": times * CALLS for name, times in want.items()}
        check(text, counts, dict(box.rows(CALLED.format("user"))))
    said = named(box, "user", f"usdt:{program}:victim:stop_*", program, CALLS, status=3)
    check_true(f"what there is not: {said!r}", b"there is no static probe 'victim:stop_*'" in said)


def test_idle_daemon(box: Box) -> None:
    """Nobody is woken for nothing: threads of a daemon that watches a sleeper sleep, too."""
    box.needs_layer("syscall")
    sleeper = box.start("sleep", "60")
    with watching(box, "--layers", "syscall,sched,block") as daemon:
        daemon.ask("attach", sleeper.pid)
        time.sleep(3)  # until it rests for as long as it does
        before, began = wakes(daemon.process.pid), time.monotonic()
        time.sleep(3)
        each_second = (wakes(daemon.process.pid) - before) / (time.monotonic() - began)
        check_true(f"{each_second:.1f} wakes a second", each_second < WAKES)
    sleeper.kill()
    sleeper.wait()


def wakes(pid: int) -> int:
    count = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        lines = status.read_text().splitlines()
        count += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return count
