# SPDX-License-Identifier: MIT
"""Layers of the kernel: counted there, against what programs know of themselves."""

import json
import os
from pathlib import Path

from kit import Box, Skipped, check, check_true

TURN = "hooks of the kernel"
SYSCALL = ("--layers", "syscall")
CALLS = 400


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
    box.needs_layer("syscall")
    record_workers(box, 3, 2)
    expect_workers(box, 5, "intervals", "CAST(sum(calls) AS BIGINT)", "CAST(sum(errors) AS BIGINT)")
    check("events", 0, box.count("layer = 'syscall'"))
    ended = box.rows("SELECT exit FROM processes ORDER BY exit")
    check("exits of the processes", [(0,), (40,), (41,)], ended)
    check("rows off the second", 0, box.value("SELECT count(*) FROM intervals WHERE width != 1000000000 OR ts % width"))
    (state,) = box.rows("SELECT state FROM layers WHERE layer = 'syscall'")
    check_true(f"state of the layer: {state}", state[0] in ("on", "partial"))


def test_lives_of_threads(box: Box) -> None:
    """No library tells of them: the kernel saw them begin and end. No process was in calls for longer than it lived,
    and no call of a thread lies outside of its life, not even the one that began the program."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    layers = "syscall,sched"
    box.record(box.kit.victim("kernel"), 3, 2, CALLS, options=("--layers", layers, "--detail", layers))
    (rows,), (wrong,) = box.answers(
        "SELECT count(*), count(DISTINCT (pid, tid)) FROM threads",
        'SELECT count(*) FROM threads WHERE start IS NULL OR "end" IS NULL OR "end" < start',
    )
    check("threads of three processes, without begin or end", ((6, 6), (0,)), (rows, wrong))
    outside = (
        'SELECT e.layer, e.name, e.ts - t.start, t."end" - e.ts - e.dur FROM events e JOIN threads t USING (pid, tid) '
        'WHERE e.ts < t.start OR e.ts + e.dur > t."end"'
    )
    check("calls outside of their thread's life", [], box.rows(outside))
    check("programs begun", 1, box.count("name = 'execve'"))
    life = 'SELECT CAST(sum("end" - start) AS BIGINT) FROM threads WHERE pid = {pid}'
    for row in json.loads(box.fathom("report", box.trace, "processes", "--format", "json"))["processes"]:
        lived = box.value(life.format(pid=row["pid"]))
        check_true(f"{row} lived for {lived} ns", row["in_calls"] <= lived)


def test_static_program(box: Box) -> None:
    """No library enters it, and the kernel counts it all the same."""
    box.needs_layer("syscall")
    record_workers(box, 2, 1, flags=("-static",))
    expect_workers(box, 3, "intervals", "CAST(sum(calls) AS BIGINT)", "CAST(sum(errors) AS BIGINT)")


def test_detail(box: Box) -> None:
    """With single calls: both tell the same, to the nanosecond."""
    box.needs_layer("syscall")
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
    box.needs_layer("syscall")
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
    box.needs_layer("syscall")
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
    box.needs_layer("syscall")
    record_workers(box, 1, 0)
    answer = json.loads(box.fathom("report", box.trace, "intervals", "--top", "0", "--format", "json"))
    text = json.dumps(answer)
    check_true("getppid and the file stand in the report", "getppid" in text and str(box.dir / "data") in text)
    out = box.root / "counters.pfw"
    box.fathom("export", box.trace, "--format", "pfw", "--dialect", "datacrumbs", "-o", out)
    bracket, *rest = out.read_text().splitlines()
    lines = [json.loads(line) for line in rest]
    check("first line", "[", bracket)
    check(
        "calls as its notebook reads them",
        [],
        [line for line in lines if line["args"]["freq"] != line["args"]["count"]],
    )
    mine = [line["args"]["count"] for line in lines if line["name"] == "getppid"]
    check("DataCrumbs' counters", (CALLS, {"sys"}), (sum(mine), {line["cat"] for line in lines}))


def losses_of(box: Box) -> dict[tuple[str, str], int]:
    return {(row[0], row[1]): row[2] for row in box.rows("SELECT layer, reason, count FROM losses")}


def test_filters(box: Box) -> None:
    """Only what was asked for, in sums and one by one; what was left out is counted, by cause."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    program = box.kit.victim("kernel")
    for name, texts, calls in (
        ("path", f"path={box.dir}/data", CALLS + 2),  # with open and close
        ("call", "call=getppid,call=pread64", 2 * CALLS + 3),
        ("min", "min=1h", 0),
    ):
        box.trace = box.root / f"{name}.fathom"
        box.record(program, 0, 1, CALLS, options=(*SYSCALL, "--detail", "syscall", "--filter", texts))
        sums = "SELECT coalesce(CAST(sum(calls) AS BIGINT), 0) FROM intervals"
        found, more = box.value(sums), 20 if name == "call" else 0  # the loader reads files, too
        check_true(f"{name}: {found} calls", calls <= found <= calls + more)
        check(f"{name}: one by one", box.value(sums), box.count("layer = 'syscall'"))
        left = losses_of(box)
        check(f"{name}: causes", [("syscall", f"left out by --filter {name}")], list(left))
        check_true(f"{name}: left out {left}", sum(left.values()) > 10)
        check("the filter is told", texts.replace(",", ", "), box.info()["facts"]["kernel.filter"])
    wrong = (box.kit.fathom, "run", "--layers", "syscall", "-o", box.root / "x")
    box.finish(box.start(*wrong, "--filter", "volume=3", "--", "true"), status=2)
    box.finish(box.start(*wrong, "--filter", "path=/no/such", "--", "true"), status=3)
    box.finish(box.start(box.kit.fathom, "run", "--filter", "min=1s", "--", "true"), status=2)


def test_one_in_so_many(box: Box) -> None:
    """Some by chance; those and the ones that were left out are all."""
    box.needs_layer("syscall")
    record_workers_of(box, "one-in=10")
    taken = box.value("SELECT CAST(sum(calls) AS BIGINT) FROM intervals")
    left = losses_of(box)[("syscall", "left out by --filter one-in")]
    check_true(f"{taken} of {taken + left}", taken + left >= 8 * CALLS and taken + left > 5 * taken > 0)


def record_workers_of(box: Box, filters: str, *options: str) -> None:
    (box.dir / "data").write_bytes(bytes(4096))
    box.record(box.kit.victim("kernel"), 2, 2, CALLS, options=(*SYSCALL, "--filter", filters, *options))


def test_control_group(box: Box) -> None:
    """Of the processes of a run only those in the group."""
    box.needs_layer("syscall")
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    roots = [Path(words[1]) for words in mounts if words[2] == "cgroup2"]
    group = roots[0] / f"fathom-test-{os.getpid()}" if roots else Path("/none")
    try:
        group.mkdir()
    except OSError as error:
        raise Skipped(f"no control group of version 2 can be made: {error}") from error
    try:
        script = f"cat /dev/null; sh -c 'echo $$ > {group}/cgroup.procs; exec head -c 5000 /dev/zero' > /dev/null"
        box.record("sh", "-c", script, options=(*SYSCALL, "--filter", f"cgroup={group}"))
        reads = "SELECT coalesce(sum(bytes), 0) FROM intervals WHERE name = 'read' AND file = '/dev/zero'"
        check_true("one in it read", box.value(reads) >= 5000)
        outside = "SELECT count(*) FROM intervals WHERE file = '/dev/null' AND name = 'read'"
        check("cat, which is not in it", 0, box.value(outside))
    finally:
        group.rmdir()


def test_no_room(box: Box) -> None:
    """A tiny ring and few rows: what does not fit is counted by cause, and nothing is missing."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    box.record(box.kit.victim("kernel"), 0, 1, 20 * CALLS, options=(*SYSCALL, "--detail", "syscall"))
    (whole,) = box.rows("SELECT CAST(sum(calls) AS BIGINT) FROM intervals")
    box.trace = box.root / "small.fathom"
    room = ("--kernel-ring", "64K", "--kernel-rows", "4")
    box.record(box.kit.victim("kernel"), 0, 1, 20 * CALLS, options=(*SYSCALL, "--detail", "syscall", *room))
    left = losses_of(box)
    calls = box.value("SELECT CAST(sum(calls) AS BIGINT) FROM intervals")
    lost = left.get(("syscall", "no room for sums"), 0)
    check("sums and what had no room", whole[0], calls + lost)
    single = left.get(("syscall", "no room in the ring of single calls"), 0)
    check("single calls and what had no room", whole[0], box.count("layer = 'syscall'") + single)
    check_true(f"something was lost: {left}", lost + single > 0)


def test_cost_is_told(box: Box) -> None:
    box.needs_layer("syscall")
    record_workers(box, 1, 0)
    facts = box.info()["facts"]
    check("durations", "with the cost of probes", facts["kernel.durations"])
    for fact in ("kernel.syscall.added_ns", "kernel.syscall.shown_ns"):
        check_true(f"{fact}: {facts[fact]}", int(facts[fact]) > 0)
    known = box.rows("SELECT value FROM run WHERE key = 'kernel.syscall.added_ns'")
    check("in view run", [(facts["kernel.syscall.added_ns"],)], known)


def test_files_and_timeline_of_the_kernel(box: Box) -> None:
    """Recordings of the kernel alone: bytes by direction, and calls over time."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(5000))
    box.record("sh", "-c", "dd if=data of=copy bs=1000 status=none", options=SYSCALL)
    sql = f"SELECT path, bytes_read, bytes_written FROM files WHERE path LIKE '{box.dir}/%' ORDER BY path"
    check("files", [(f"{box.dir}/copy", 0, 5000), (f"{box.dir}/data", 5000, 0)], box.rows(sql))
    calls = box.value("SELECT CAST(sum(calls) AS BIGINT) FROM intervals")
    check("calls over time", calls, box.value("SELECT CAST(sum(calls) AS BIGINT) FROM timeline"))


def test_what_the_flusher_writes(box: Box) -> None:
    """Pages that a program left dirty and the kernel writes on its own are the kernel's, and are there."""
    box.needs_layer("syscall")
    script = "dd if=/dev/zero of=out bs=1M count=4 status=none; sleep 0.1; (echo 1 > go; sleep 2) & wait"
    run = (box.kit.fathom, "run", "-q", "--layers", "syscall,block", "-o", box.trace)
    process = box.start(*run, "--", "sh", "-c", script)
    box.wait_for("the file", lambda: (box.dir / "go").exists())
    os.sync()  # by somebody who is not recorded: it wakes the flusher
    box.finish(process)
    if not box.rows("SELECT 1 FROM layers WHERE layer = 'block' AND state IN ('on', 'partial')"):
        raise Skipped("layer block cannot be recorded")
    moved = "SELECT coalesce(sum(bytes), 0) FROM intervals WHERE layer = 'block' AND name = 'write' AND pid {} 0"
    written, own = box.value(moved.format("=")), box.value(moved.format("!="))
    check_true(f"written by the kernel {written}, by programs {own}", written > 0 and written + own >= 4 << 20)
    check("the kernel is a process", [("[kernel]",)], box.rows("SELECT name FROM processes WHERE pid = 0"))


def test_explain(box: Box) -> None:
    """One cold read: the parts of every level add up to the call, and the rest has a name."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(os.urandom(1 << 20))
    script = "import os; f = os.open('data', 0); os.fsync(f); os.posix_fadvise(f, 0, 0, 4); os.pread(f, 4096, 0)"
    below = "syscall,fs,pagecache,block,sched"
    box.record("python3", "-c", script, options=("--layers", f"+{below}", "--detail", below))
    file = box.dir / "data"
    words = ("report", box.trace, "explain", "--call", "pread", "--file", file, "--format", "json")
    rows = json.loads(box.fathom(*words))["where_the_time_went"]
    duration = box.value(f"SELECT sum(dur) FROM events WHERE layer = 'posix' AND name = 'pread' AND file = '{file}'")
    check("the call's own row", (1, duration), (rows[0]["calls"], rows[0]["time"]))
    after = [*(row["depth"] for row in rows[1:]), 0]
    leaves = [row["time"] for row, next_depth in zip(rows, after, strict=True) if next_depth <= row["depth"]]
    check("the parts add up", duration, sum(leaves))
    seen = {(row["layer"], row["call"]) for row in rows}
    check_true(f"levels: {seen}", {("posix", "pread"), ("syscall", "pread64")} <= seen)
    box.finish(box.start(box.kit.fathom, "report", box.trace, "files", "--call", "read"), status=2)


def test_without_kernel_types(box: Box) -> None:
    """Where the kernel does not tell its types, one line says so; tracefs is needed by nobody."""
    box.needs_layer("syscall")
    hide = 'mount -t tmpfs none /sys/kernel/{} && exec "$@"'
    run = (box.kit.fathom, "run", "-q", "--layers", "syscall", "-o", box.trace, "--", "true")
    hidden = ("unshare", "-m", "sh", "-c", hide.format("btf"), "sh")
    _, said = box.finish(box.start(*hidden, *run), status=None)
    if b"unshare" in said or b"mount" in said:
        raise Skipped(said.decode().strip())
    check_true(f"one line: {said!r}", said.count(b"\n") == 1 and b"/sys/kernel/btf/vmlinux" in said)
    bare = 'umount -q /sys/kernel/tracing; umount -q /sys/kernel/debug; exec "$@"'
    box.finish(box.start("unshare", "-m", "sh", "-c", bare, "sh", *run))
    check_true("calls", box.value("SELECT sum(calls) FROM intervals") > 10)


def test_outliving_process(box: Box) -> None:
    """It is recorded to its end, though `run` has returned."""
    box.needs_layer("syscall")
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
    box.needs_layer("syscall")
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
    box.needs_layer("syscall")
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
