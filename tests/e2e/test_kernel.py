# SPDX-License-Identifier: MIT
"""Layers of the kernel: counted there, against what programs know of themselves."""

import json
import os
from pathlib import Path

from kit import Box, Skipped, check, check_true

SYSCALL = ("--layers", "syscall")
CALLS = 400


def needs_kernel(box: Box) -> None:
    """Skipped where programs cannot be loaded into the kernel, with the reason that Fathom gives."""
    box.not_emulated("the kernel is this machine's")
    layers = json.loads(box.fathom("doctor", "--format", "json"))["layers"]
    found = next(row for row in layers if row["layer"] == "syscall")
    if found["state"] != "available":
        raise Skipped(f"layer syscall: {found['reason']}")


def record_workers(box: Box, threads: int, children: int, *options: str, flags: tuple[str, ...] = ()) -> None:
    (box.dir / "data").write_bytes(bytes(4096))
    box.record(box.kit.victim("kernel", *flags), threads, children, CALLS, options=(*SYSCALL, *options))
    check("losses", 0, box.losses())


def expect_workers(box: Box, workers: int, view: str, calls: str, errors: str) -> None:
    """Each worker's own calls, by thread: exact, with bytes and errors, on the right file."""
    data = box.dir / "data"
    where = f"FROM {view} WHERE layer = 'syscall'"
    asked = box.rows(f"SELECT tid, {calls} {where} AND name = 'getppid' GROUP BY tid")
    check(f"getppid by thread in {view}", [CALLS] * workers, [row[1] for row in asked])
    sums = f"{calls}, {errors}, sum(bytes)"
    reads = box.rows(f"SELECT tid, {sums} {where} AND name = 'pread64' AND file = '{data}' GROUP BY tid")
    check(f"reads by thread in {view}", [(CALLS, 0, 100 * CALLS)] * workers, [row[1:] for row in reads])
    vain = box.rows(f"SELECT tid, {calls}, {errors} {where} AND name = 'pread64' AND file IS NULL GROUP BY tid")
    check(f"failures by thread in {view}", [(3, 3)] * workers, [row[1:] for row in vain])


def test_calls_by_thread_and_process(box: Box) -> None:
    needs_kernel(box)
    record_workers(box, 3, 2)
    expect_workers(box, 5, "intervals", "CAST(sum(calls) AS BIGINT)", "CAST(sum(errors) AS BIGINT)")
    check("events", 0, box.count("layer = 'syscall'"))
    ended = box.rows("SELECT exit FROM processes ORDER BY exit")
    check("exits of the processes", [(0,), (40,), (41,)], ended)
    check("rows off the second", 0, box.value("SELECT count(*) FROM intervals WHERE width != 1000000000 OR ts % width"))
    (state,) = box.rows("SELECT state FROM layers WHERE layer = 'syscall'")
    check_true(f"state of the layer: {state}", state[0] in ("on", "partial"))


def test_static_program(box: Box) -> None:
    """No library enters it, and the kernel counts it all the same."""
    needs_kernel(box)
    record_workers(box, 2, 1, flags=("-static",))
    expect_workers(box, 3, "intervals", "CAST(sum(calls) AS BIGINT)", "CAST(sum(errors) AS BIGINT)")


def test_detail(box: Box) -> None:
    """With single calls: both tell the same, to the nanosecond."""
    needs_kernel(box)
    record_workers(box, 2, 2, "--detail", "syscall", "--interval", "10ms")
    expect_workers(box, 4, "intervals", "CAST(sum(calls) AS BIGINT)", "CAST(sum(errors) AS BIGINT)")
    expect_workers(box, 4, "events", "count(*)", "count(error)")
    sums = "tid, name, file, {}, sum(dur), min({}), max({}) FROM {} WHERE layer = 'syscall' GROUP BY ALL ORDER BY ALL"
    events = box.rows("SELECT " + sums.format("count(*)", "dur", "dur", "events"))
    intervals = box.rows("SELECT " + sums.format("sum(calls)", "dur_min", "dur_max", "intervals"))
    check("sums of single calls", intervals, events)
    check("widths", [(10_000_000,)], box.rows("SELECT DISTINCT width FROM intervals"))
    buckets = "SELECT count(*) FROM intervals WHERE list_sum(hist) != calls"
    check("histograms without every call", 0, box.value(buckets))


def test_beside_the_library(box: Box) -> None:
    """One clock: a call of libc holds its system call."""
    needs_kernel(box)
    program = box.kit.victim("reader")
    box.record(program, 500, options=("--layers", "+syscall", "--detail", "syscall"))
    near = "p.tid = s.tid AND s.ts >= p.ts - 20000 AND s.ts + s.dur <= p.ts + p.dur + 20000"
    sql = (
        f"SELECT count(*), count(DISTINCT p.ts) FROM events p JOIN events s ON {near} "
        "WHERE p.layer = 'posix' AND p.name LIKE '%read%' AND s.layer = 'syscall' AND s.name LIKE '%read%'"
    )
    pairs, reads = box.rows(sql)[0]
    check_true(f"{reads} reads hold {pairs} system calls", reads >= 500 and pairs >= reads)


def test_layers_below(box: Box) -> None:
    """What reached the device, the page cache and the file system; a layer that cannot be recorded says why."""
    needs_kernel(box)
    layers = ("sched", "vfs", "fs", "pagecache", "block", "net")
    size = 1 << 20
    script = f"dd if=/dev/zero of=out bs={size} count=1 conv=fsync status=none; sleep 0.1"
    box.record("sh", "-c", script, options=("--layers", "syscall," + ",".join(layers)))
    check("losses", 0, box.losses())
    states = {row[0]: row[1:] for row in box.rows("SELECT layer, state, reason, events FROM layers")}
    for layer in layers:
        state, reason, events = states[layer]
        check_true(f"layer {layer}: {states[layer]}", events > 0 or bool(reason))
        if state == "unavailable":
            print(f"     layer {layer} is not tried here: {reason}", flush=True)
    out = box.dir / "out"
    moved = "SELECT coalesce(sum(bytes), 0) FROM intervals WHERE layer = '{}' AND name = 'write'"
    if states["sched"][2]:
        slept = "SELECT coalesce(max(dur_max), 0) FROM intervals WHERE layer = 'sched' AND name = 'sleep'"
        check_true("a sleep of 100 ms", box.value(slept) >= 100_000_000)
    if states["fs"][2]:
        check("bytes through the file system", size, box.value(f"{moved.format('fs')} AND file = '{out}'"))
        synced = f"SELECT sum(calls) FROM intervals WHERE layer = 'fs' AND name = 'fsync' AND file = '{out}'"
        check("fsync", 1, int(box.value(synced)))
    if states["block"][2]:
        check_true("bytes to the device", box.value(moved.format("block")) >= size)


def test_report(box: Box) -> None:
    needs_kernel(box)
    record_workers(box, 1, 0)
    answer = json.loads(box.fathom("report", box.trace, "intervals", "--top", "0", "--format", "json"))
    text = json.dumps(answer)
    check_true("getppid and the file stand in the report", "getppid" in text and str(box.dir / "data") in text)
    out = box.root / "counters.pfw"
    box.fathom("export", box.trace, "--format", "pfw", "--dialect", "datacrumbs", "-o", out)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    mine = [line["args"]["count"] for line in lines if line["name"] == "getppid"]
    check("DataCrumbs' counters", (CALLS, {"sys"}), (sum(mine), {line["cat"] for line in lines}))


def test_outliving_process(box: Box) -> None:
    """It is recorded to its end, though `run` has returned."""
    needs_kernel(box)
    script = "(sleep 1; cat data > copy; touch done) > /dev/null 2>&1 &"
    (box.dir / "data").write_bytes(bytes(5000))
    box.record("sh", "-c", script, options=SYSCALL)
    box.wait_for("its end", lambda: (box.dir / "done").exists())
    box.wait_for("a complete recording", lambda: box.info()["state"] == "complete")
    reads = f"SELECT sum(bytes) FROM intervals WHERE file = '{box.dir / 'data'}'"
    check("bytes that it read", 5000, int(box.value(reads)))


def test_without_privilege(box: Box) -> None:
    """One line before anything runs; the other layers work."""
    if os.geteuid() != 0:
        raise Skipped("only root can drop what root may")
    needs_kernel(box)
    bare = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    command = (box.kit.fathom, "run", "-q", "--layers", "syscall", "-o", box.trace, "--", "touch", "made")
    _, said = box.finish(box.start(*bare, *command), status=3)
    check_true(f"one line: {said!r}", said.count(b"\n") == 1 and b"CAP_BPF" in said)
    check("nothing ran, nothing is left", (False, False), ((box.dir / "made").exists(), Path(box.trace).exists()))
    box.run(*bare, box.kit.fathom, "run", "-q", "-o", box.trace, "--", "true")
    reason = box.value("SELECT reason FROM layers WHERE layer = 'syscall'")
    check_true(f"the layer is off: {reason}", "not asked for" in reason)


def test_functions(box: Box) -> None:
    """By name and by pattern, in threads and children; a program that is not recorded is not counted."""
    needs_kernel(box)
    (box.dir / "data").write_bytes(bytes(4096))
    program = box.kit.victim("kernel")
    functions = f"{program}:work,{program}:^ma.n$"
    command = (box.kit.fathom, "run", "-q", "--layers", "user", "--functions", functions, "-o", box.trace)
    stranger = box.start("sh", "-c", f"while :; do {program} 1 1 1; done")
    _, said = box.finish(box.start(*command, "--", program, 3, 2, 5), status=None)
    if b"layer user cannot be recorded" in said:
        raise Skipped(said.decode().strip())
    check("the stranger is still there", None, stranger.poll())
    # What a child takes over from main by fork returns in nobody's name.
    check(
        "calls",
        [("main", 1), ("work", 5)],
        box.rows("SELECT name, sum(calls) FROM intervals GROUP BY name ORDER BY name"),
    )
    for text in ("sound", f"{program}:no_such_function", "/no/such/file:main"):
        wrong = (box.kit.fathom, "run", "--layers", "user", "--functions", text, "-o", box.root / "x", "--", "true")
        box.finish(box.start(*wrong), status=2 if text == "sound" else 3)


def test_wrong_options(box: Box) -> None:
    for options in (("--interval", "sound"), ("--interval", "1us"), ("--detail", "sound"), ("--detail", "block")):
        command = (box.kit.fathom, "run", "--layers", "resource", *options, "-o", box.trace, "--", "touch", "made")
        _, said = box.finish(box.start(*command), status=2)
        check_true(f"one line: {said!r}", said.startswith(b"fathom: ") and said.count(b"\n") == 1)
    check("nothing ran", False, (box.dir / "made").exists())
