# SPDX-License-Identifier: MIT
"""Hostile programs: threads, signals, jumps, and programs that take things away from themselves."""

import os
import platform
import re
import shutil
from pathlib import Path

from jobs import may_take
from kit import COUNT, LOSSES, Box, Skipped, check, check_true

LOOKS = "name = 'pread' AND size = 13"


def test_thread_storm(box: Box) -> None:
    number = 20_000 if box.kit.full else 2000
    box.record(box.kit.victim("threads"), "storm", number)
    check("reads", number, box.count(LOOKS))
    check("regions", number, box.count("name = 'life'"))
    check("losses", 0, box.losses())


def test_tiny_stacks(box: Box) -> None:
    number = 5000 if box.kit.full else 500
    box.record(box.kit.victim("threads"), "tiny", number)
    check("reads", number, box.count(LOOKS))
    check("losses", 0, box.losses())


def test_pthread_exit_through_regions(box: Box) -> None:
    """Regions that never end are no events; what follows in other threads is as deep as it is."""
    box.record(box.kit.victim("threads"), "exit", 300)
    check("reads", 300, box.count(LOOKS))
    check(
        "depths",
        [(2, 300)],
        box.rows(f"SELECT depth, count(*) FROM events WHERE {LOOKS} GROUP BY depth"),
    )


def test_cancelled_in_read(box: Box) -> None:
    """A thread that is cancelled in a hook runs its clean-up, and the recording goes on."""
    out = box.record(box.kit.victim("threads"), "cancel", 48)
    check("cleaned", 48, box.told(out)["cleaned"])
    check("reads", 96, box.count(LOOKS))


def test_calls_in_thread_destructors(box: Box) -> None:
    box.record(box.kit.victim("threads"), "keys", 2000)
    check("reads", 4000, box.count(LOOKS))
    late = 'SELECT count(*) FROM events e JOIN threads t USING (pid, tid) WHERE ts + dur > t."end" AND ts >= start'
    check("rows of threads, calls after the end", [2001, 0], box.values("SELECT count(*) FROM threads", late))
    check("losses", 0, box.losses())


def test_unwinding(box: Box) -> None:
    """Destructors of a cancelled C++ thread run, and exceptions pass through a hook."""
    out = box.record(box.kit.victim("unwinding"), 20)
    check("as without a recorder", box.run(box.kit.victim("unwinding"), 20), out)
    check("as it should be", {"destroyed": 20, "caught": 20}, box.told(out))


def signal_storm(box: Box, mode: str, number: int) -> None:
    told = box.told(box.record(box.kit.victim("signals"), mode, number))
    turns, handled = sum(range(number)), told["handled"]
    check("changed errno", 0, told["errors"])
    check_true("handlers ran", handled > 0)
    calls = box.counts(
        "name = 'turn'",
        "name = 'pread' AND size = 11",
        "name = 'fputc'",
        "name = 'close' AND error = 'EBADF'",
        "name = 'handler'",
        "name = 'pread' AND size = 7",
    )
    check("regions, reads, stdio, failed closes; handlers, their reads", [number] * 4 + [handled] * 2, calls)
    sums = box.values(
        "SELECT sum(args['i']::BIGINT) FROM events WHERE name = 'turn'",
        "SELECT sum(args['n']::BIGINT) FROM events WHERE name = 'handler'",
        LOSSES,
    )
    check("arguments of regions and handlers, losses", [turns, sum(range(handled)), 0], sums)


def test_signal_storm(box: Box) -> None:
    """A handler with regions and reads every 100 us, inside of hooks: every event is there, errno is untouched."""
    signal_storm(box, "storm", 2_000_000 if box.kit.full else 100_000)


def test_handlers_in_handlers(box: Box) -> None:
    signal_storm(box, "crossing", 2_000_000 if box.kit.full else 150_000)


def test_handlers_on_their_own_stack(box: Box) -> None:
    """It may lie above the thread's stack or below: neither looks like a longjmp."""
    for mode in ("above", "below"):
        box.trace = box.root / f"{mode}.fathom"
        told = box.told(box.record(box.kit.victim("signals"), mode, 0))
        check("changed errno", 0, told["errors"])
        regions, handlers, arguments, losses, deep, deeper, calls = box.values(
            COUNT.format("name = 'turn'"),
            COUNT.format("name = 'handler'"),
            "SELECT sum(args['i']::BIGINT) FROM events WHERE name = 'turn'",
            LOSSES,
            COUNT.format("name = 'turn' AND depth IS DISTINCT FROM 0"),
            COUNT.format("name = 'pread' AND size = 11 AND depth IS DISTINCT FROM 1"),
            COUNT.format("name = 'pread' AND size = 11"),
        )
        check("regions and handlers", (40_000, told["handled"]), (regions, handlers))
        check("sum of arguments", 40_000 * 39_999 // 2, arguments)
        check("turns that are not at the top, calls that are not in turns", (0, 0), (deep, deeper))
        check_true("calls in turns", calls > 0)
        check("losses", 0, losses)


def test_jumps_out_of_hooks(box: Box) -> None:
    """siglongjmp out of a handler that interrupted a hook: what was done before and after is there."""
    number = 20_000 if box.kit.full else 1500
    told = box.told(box.record(box.kit.victim("signals"), "jumps", number))
    check_true("jumps happened", told["jumped"] > 0)
    check("regions", number, box.count("name = 'after'"))
    reads = box.count("name = 'pread' AND size = 7")
    check_true(f"reads of handlers: {reads} of {told}", told["finished"] <= reads <= told["handled"])
    check(
        "depth of regions",
        [(0,)],
        box.rows("SELECT DISTINCT depth FROM events WHERE name = 'after'"),
    )
    reads = box.count("name = 'pread' AND size = 11")
    check_true(f"reads {reads}", reads <= 50 * number)


def test_forks_in_handlers(box: Box) -> None:
    """A child made in a handler comes back into the hook that was interrupted, and its records are its own."""
    number = 400_000 if box.kit.full else 60_000
    told = box.told(box.record(box.kit.victim("signals"), "forks", number))
    check("children that failed", 0, told["errors"])
    check_true("children", told["children"] > 0)
    check("regions of children", 20 * told["children"], box.count("name = 'child'"))
    parent = box.value("SELECT pid FROM processes ORDER BY start LIMIT 1")
    check("regions of the parent", number, box.count(f"name = 'turn' AND pid = {parent}"))
    check("reads of the parent", number, box.count(f"name = 'pread' AND size = 11 AND pid = {parent}"))


def stepping(box: Box, act: str) -> None:
    """Nobody packs meanwhile: what is written to the wrong segment stays there."""
    if platform.machine() != "x86_64":
        raise Skipped("the trap flag is one of x86_64")
    box.not_emulated("it has no trap flag")
    for subject in ("pread", "fputc", *(("exec", "name") if box.kit.full else ())):
        box.trace = box.root / f"{subject}.fathom"
        told = box.told(box.run(box.kit.victim("stepping"), act, subject, env=box.unsupervised()))
        check(f"{subject}: what was done", True, told["children" if act == "fork" else "fills"] > 50)
        of_parent = "pid = (SELECT pid FROM processes ORDER BY start LIMIT 1)"
        name = {"name": "subject", "exec": "execl"}.get(subject, subject)
        counted = ("name = 'round'", "name = 'fill'", "name = 'child'", f"name = '{name}' AND {of_parent}")
        rounds, fills, children, calls, losses = box.values(*(COUNT.format(where) for where in counted), LOSSES)
        check(f"{subject}: rounds", told["rounds"], rounds)
        check(f"{subject}: regions of a segment", 4000 * told["fills"], fills)
        check(f"{subject}: regions of children", 20 * told["children"], children)
        check(f"{subject}: calls", told["rounds"], calls)
        check(f"{subject}: losses", 0, losses)


@may_take(1800)
def test_forks_at_every_instruction(box: Box) -> None:
    stepping(box, "fork")


@may_take(1800)
def test_records_at_every_instruction(box: Box) -> None:
    stepping(box, "write")


def test_longjmp_over_regions(box: Box) -> None:
    box.record(box.kit.victim("signals"), "regions", 500)
    depths = box.rows(
        "SELECT name, min(depth), max(depth), count(*) FROM events WHERE name IN ('shore', 'land') "
        "GROUP BY ALL ORDER BY ALL"
    )
    check("depths", [("land", 1, 1, 500), ("shore", 0, 0, 500)], depths)
    check("regions that never ended", 0, box.count("name = 'dive'"))


def test_coroutines(box: Box) -> None:
    box.record(box.kit.victim("coroutines"), 2000)
    check_true("regions", box.count("name = 'step'") >= 3 * 1999)
    steps = box.rows("SELECT args['who'], count(*) FROM events WHERE name = 'step' GROUP BY ALL ORDER BY ALL")
    check("each knows its arguments", ["0", "1", "2"], [str(step[0]) for step in steps])
    check("losses", 0, box.losses())


def rough(box: Box, mode: str, *more: object, lossless: bool = True) -> int:
    box.record(box.kit.victim("rough"), mode, *more)
    told = box.dir / "told"
    reads = int(told.read_text()) if told.exists() else 2100
    if lossless:
        check("reads", reads, box.count(LOOKS))
        check("losses", 0, box.losses())
    else:
        check_true("reads kept and lost", box.count(LOOKS) + box.losses() >= reads)
    return reads


def test_no_descriptor_is_kept(box: Box) -> None:
    """The program finds as many open descriptors as it opened itself."""
    rough(box, "nothing", 20_000)


def test_closed_streams(box: Box) -> None:
    rough(box, "closed", 20_000)


def test_close_range_over_everything(box: Box) -> None:
    rough(box, "range", 20_000)
    check(
        "name after it",
        [(f"{box.dir}/data",)],
        box.rows(f"SELECT DISTINCT file FROM events WHERE {LOOKS}"),
    )


def test_closefrom_over_everything(box: Box) -> None:
    rough(box, "from", 20_000)
    check(
        "name after it",
        [(f"{box.dir}/data",)],
        box.rows(f"SELECT DISTINCT file FROM events WHERE {LOOKS}"),
    )


def test_limits(box: Box) -> None:
    """Whatever the program forbids itself: it runs, and what cannot be kept is counted."""
    for mode in ("fsize", "nofile", "as", "nproc"):
        box.trace = box.root / f"{mode}.fathom"
        rough(box, mode, 30_000, lossless=False)
        (box.dir / "told").unlink(missing_ok=True)


def test_limits_from_the_start(box: Box) -> None:
    """Limits that were there before us: the program is never killed for them."""
    for limit in ("-f 0", "-f 1", "-f 40", "-n 4", "-v 100000"):
        box.trace = box.root / f"limit{limit.replace(' ', '')}.fathom"
        preload = f"LD_PRELOAD={box.kit.library} FATHOM_OUT={box.trace}"
        command = f"ulimit {limit}; {preload} exec cat /proc/self/stat"
        plain = f"ulimit {limit}; exec cat /proc/self/stat"
        wanted = box.start("sh", "-c", plain)
        box.finish(wanted, None)
        got = box.start("sh", "-c", command)
        box.finish(got, None)
        check(f"exit with ulimit {limit}", wanted.returncode, got.returncode)


def test_chroot(box: Box) -> None:
    if os.geteuid() != 0:
        raise Skipped("chroot needs root")
    rough(box, "chroot", 30_000, lossless=False)


FILL = "dd if=/dev/zero of=small/filler bs=4k 2>/dev/null || true"


def full_disk(box: Box, *commands: str) -> None:
    """Runs shell commands in a mount namespace of their own, with a small file system over `small`."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Skipped("a mount namespace needs root and unshare")
    (box.dir / "small").mkdir()
    mount = "mount -t tmpfs -o size=1500k none small"
    box.run("unshare", "-m", "sh", "-ec", "; ".join((mount, *commands)))


def test_full_disk(box: Box) -> None:
    """The disk fills up below the recording: no SIGBUS, the program ends well, and the loss is counted."""
    reader = f"LD_PRELOAD={box.kit.library} FATHOM_OUT=small/t FATHOM_SPOOL_MAX=0 {box.kit.victim('reader')}"
    full_disk(box, f"{reader} 300000", FILL, f"{reader} 1000", "rm -f small/filler", f"cp -r small/t {box.trace}")
    kept, lost = box.count("name = 'pread'"), box.losses()
    check_true(f"kept {kept}, lost {lost}", kept > 0 and kept + lost >= 300_000)


def test_full_disk_from_the_start(box: Box) -> None:
    full_disk(box, FILL, f"LD_PRELOAD={box.kit.library} FATHOM_OUT=small/t {box.kit.victim('reader')} 1000")


def test_full_shared_memory(box: Box) -> None:
    """The recording lies in a full /dev/shm, under `fathom run`."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Skipped("a mount namespace needs root and unshare")
    reader = box.kit.victim("reader")
    script = (
        "mount -t tmpfs -o size=1m none /dev/shm;"
        "dd if=/dev/zero of=/dev/shm/filler bs=4k count=200 2>/dev/null || true;"
        f"{box.kit.fathom} run -q -o /dev/shm/t -- {reader} 20000"
    )
    box.run("unshare", "-m", "sh", "-ec", script, status=None)


def test_descriptors_of_any_height(box: Box) -> None:
    rough(box, "high")
    rows = dict(box.rows("SELECT fd, file FROM events WHERE name = 'write' AND bytes = 5"))
    check_true(f"some are high: {rows}", 1024 in rows)
    check("files", {number: f"{box.dir}/high-{number}" for number in rows}, rows)
    reads = box.rows("SELECT fd, \"offset\", file FROM events WHERE name = 'read' AND bytes = 2 ORDER BY fd")
    check("where they are read", [(number, 2, f"{box.dir}/high-{number}") for number in sorted(rows)], reads)


def test_many_files(box: Box) -> None:
    number = 100_000 if box.kit.full else 10_000
    rough(box, "many", number)
    for call in ("open", "write", "pread", "close", "unlink"):
        files = box.value(f"SELECT count(DISTINCT file) FROM events WHERE name = '{call}' AND file LIKE '%/many-%'")
        check(f"files of {call}", number, files)


def test_renamed_while_open(box: Box) -> None:
    rough(box, "renamed")
    files = [
        Path(row[0]).name for row in box.rows("SELECT file FROM events WHERE name = 'write' AND bytes = 1 ORDER BY ts")
    ]
    check("first write", "old", files[0])
    check_true(f"second write {files}", files[1] in ("old", "new"))
    check("after reopening", ["new", "new"], files[2:])


def test_raw_system_calls(box: Box) -> None:
    """Descriptors that syscall() made, closed and replaced have the right names."""
    rough(box, "raw")
    rows = box.rows(
        "SELECT bytes, parse_filename(file) FROM events WHERE name = 'write' AND bytes BETWEEN 2 AND 5 ORDER BY bytes"
    )
    check("names", [(2, "raw-a"), (3, "raw-b"), (4, "raw-c"), (5, "raw-d")], rows)


def test_a_name_many_times(box: Box) -> None:
    number = 1_000_000 if box.kit.full else 100_000
    rough(box, "interned", number)
    check("stat", number, box.count(f"name = 'stat' AND file = '{box.dir}/data'"))
    check("texts", number, box.count("args['text'] = 'always the same'"))


def test_names(box: Box) -> None:
    """Quotes, line ends, UTF-8, bytes that are not text, and a path of 4095 bytes."""
    box.record(box.kit.victim("names"))
    wanted = [
        "with \"quotes\" and 'more'", "two\nlines\tand\ra tab", "gr\u00fc\u00df \u65e5\u672c",
        "not\\xff\\xfeUTF-8", "back\\slash",
        "-rf", " spaces ", "percent%s%n", "\\xc3", "a,b;c", "z",
    ]  # fmt: skip
    for call in ("open", "write", "close"):
        got = [
            row[0] for row in box.rows(f"SELECT file FROM events WHERE name = '{call}' AND error IS NULL ORDER BY ts")
        ]
        check(
            f"files of {call}",
            [f"{box.dir}/{name}" for name in wanted],
            [file for file in got if file and file.startswith(str(box.dir))],
        )
    texts = [row[0] for row in box.rows("SELECT args['name'] FROM events WHERE name = 'touch' ORDER BY ts")]
    check("texts", wanted[:-1], texts[:-1])
    check("the long text", 4095, len(texts[-1]))
    check("the one too long", 1, box.count("error = 'ENAMETOOLONG'"))
    check("losses", 0, box.losses())


def plugins(box: Box, *flags: str) -> list[Path]:
    return [box.kit.victim("plugin", "-shared", "-fPIC", f"-DWHO={name}", *flags) for name in ("anna", "bert", "cleo")]


def test_plugins_come_and_go(box: Box) -> None:
    """Libraries with annotations, loaded where another one lay before: every event bears its own name."""
    turns = 3000 if box.kit.full else 300
    box.record(box.kit.victim("plugins"), turns, *plugins(box))
    rows = box.rows(
        "SELECT name, count(*), sum(args['turn']::BIGINT) FROM events WHERE layer = 'app' GROUP BY name ORDER BY name"
    )
    wanted = [(name, turns // 3, sum(range(start, turns, 3))) for start, name in enumerate(("anna", "bert", "cleo"))]
    check("regions", wanted, rows)
    files = box.rows("SELECT parse_filename(file), count(*) FROM events WHERE name = 'write' GROUP BY ALL ORDER BY ALL")
    check("files", [(f"plugin-{name}", turns // 3) for name in ("anna", "bert", "cleo")], files)


def test_functions_of_plugins(box: Box) -> None:
    """Functions known by address alone, at an address that belonged to another library a moment ago."""
    box.record(box.kit.victim("plugins"), 60, *plugins(box, "-finstrument-functions"))
    rows = box.rows("SELECT name, count(*) FROM events WHERE name LIKE 'work_of_%' GROUP BY ALL ORDER BY ALL")
    check("functions", [(f"work_of_{name}", 20) for name in ("anna", "bert", "cleo")], rows)


def test_no_allocation_of_ours(box: Box) -> None:
    """A program with an allocator that counts sees the same number of calls."""
    victim = box.kit.victim("own_malloc")
    alone = box.run(victim)
    check("calls of malloc", alone, box.record(victim))
    check("reads", 7000, box.count(LOOKS))
    check("losses", 0, box.losses())


def test_one_layer_alone(box: Box) -> None:
    """Names depend on calls of both layers: with one of them off, those of the other are still right."""
    sizes = {"a": 5, "b": 7, "c": 9}
    for layer, calls in (("stdio", "'fgets'"), ("posix", "'read'")):
        box.trace = box.root / f"{layer}.fathom"
        box.record(box.kit.victim("halves"), options=("--layers", layer))
        rows = box.rows(f"SELECT bytes, file, count(*) FROM events WHERE name IN ({calls}) AND bytes < 10 GROUP BY ALL")
        names = {str(box.dir / "a"): "a", str(box.dir / "b"): "b", str(box.dir / "sub" / "c"): "c"}
        wrong = [row for row in rows if row[1] is not None and sizes.get(names.get(row[1], "")) != row[0]]
        check(f"wrong names with {layer} alone (bytes, file, times)", [], wrong)
        check_true(f"names with {layer} alone: {rows}", any(row[1] == str(box.dir / "sub" / "c") for row in rows))


def strace_sums(path: Path, directory: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """Calls and bytes by call and file, of files below the directory, as strace saw them."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    line = re.compile(rf"(read|write)\(\d+<({re.escape(str(directory))}/[^>]*)>.*\) = (\d+)$")
    for found in filter(None, map(line.search, path.read_text(errors="replace").splitlines())):
        calls, total = sums.get((found[1], found[2]), (0, 0))
        sums[found[1], found[2]] = (calls + 1, total + int(found[3]))
    return sums


def test_calls_before_libc_is_ready_wait_for_nobody(box: Box) -> None:
    """The originals are looked up once: who comes again goes on, and yields to no thread that does not exist."""
    box.not_emulated("strace sees the emulator")
    if shutil.which("strace") is None:
        raise Skipped("there is no strace")
    library = ["env", f"LD_PRELOAD={box.kit.library}", f"FATHOM_OUT={box.trace}"]
    command = ["strace", "-f", "-e", "trace=sched_yield", "-o", "strace.log", *library, box.kit.victim("early")]
    check("stdout", b"ran\n", box.run(*command))
    check("yields", 0, (box.dir / "strace.log").read_text().count("sched_yield("))


def test_as_strace_sees_it(box: Box) -> None:
    """Reads and writes of ordinary programs, by file: calls and bytes as the kernel saw them in the same run."""
    if shutil.which("strace") is None:
        raise Skipped("there is no strace")
    (box.dir / "lines").write_text("".join(f"{i}\n" for i in range(100_000)))
    script = "tar cf all.tar lines; dd if=lines of=copy bs=777 2>/dev/null; cmp lines copy"
    library = [word for pair in box.unsupervised().items() for word in ("-E", "=".join(pair))]
    box.run("strace", "-f", "-y", "-e", "trace=read,write", "-o", "strace.log", *library, "sh", "-c", script)
    seen = strace_sums(box.dir / "strace.log", box.dir)
    check_true(f"strace saw something: {seen}", len(seen) >= 4)
    rows = box.rows(
        f"SELECT name, file, count(*), sum(bytes) FROM events WHERE layer = 'posix' AND name IN ('read', 'write') "
        f"AND file LIKE '{box.dir}/%' AND error IS NULL GROUP BY ALL"
    )
    check("calls and bytes", seen, {(name, file): (calls, total) for name, file, calls, total in rows})


def test_annotations_of_every_compiler(box: Box) -> None:
    """The headers compile without a warning from C99 and C++11 on, and annotate whatever the compiler."""
    strict = ("-Wextra", "-pedantic", "-Werror")
    ways = (("gcc", "c", "c99"), ("gcc", "c", "gnu17"), ("clang", "c", "c99"))
    ways += (("g++", "c++", "c++11"), ("g++", "c++", "c++20"), ("clang++", "c++", "c++11"))
    regions = "SELECT string_agg(name, ' ' ORDER BY name) FROM events WHERE layer = 'app' AND dur > 0"
    for compiler, language, standard in ways:
        if shutil.which(compiler) is None:
            continue
        program = box.kit.victim("annotated", "-x", language, f"-std={standard}", *strict, compiler=compiler)
        box.record(program, options=("--force",))
        wanted = "inner load object work" if language == "c++" else "inner load work"
        check(f"regions by {compiler} -std={standard}", wanted, box.value(regions))
