# SPDX-License-Identifier: MIT
"""Layers of the kernel against what others count: arithmetic, strace, the kernel's own accounts and statistics.
Small here, whole with --full."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kit import Box, Row, Skipped, check, check_true
from test_kernel import SYSCALL, losses_of

TURN = "hooks of the kernel"


# What depends on who comes first, or never returns and is in no table of strace's.
BY_CHANCE = {"futex", "mmap", "munmap", "mprotect", "madvise", "brk", "exit", "exit_group", "restart_syscall"}
# What a call that moved bytes is to /proc/PID/io.
READERS = "('read', 'pread64', 'readv', 'preadv', 'sendfile', 'copy_file_range')"
WRITERS = "('write', 'pwrite64', 'writev', 'pwritev', 'sendfile', 'copy_file_range')"


def sums_by(box: Box, key: str, where: str = "true") -> dict[object, Row]:
    """Calls, errors and bytes (0 where there are none) by the key."""
    sums = ", ".join(f"CAST(coalesce(sum({one}), 0) AS BIGINT)" for one in ("calls", "errors", "bytes"))
    return {row[0]: row[1:] for row in box.rows(f"SELECT {key}, {sums} FROM intervals WHERE {where} GROUP BY ALL")}


def straced(box: Box, *command: object) -> dict[str, tuple[int, int]]:
    """Calls and errors by name, of a program with its threads and children."""
    strace = shutil.which("strace")
    if not strace:
        raise Skipped("strace is missing")
    table = box.root / "strace.txt"
    box.run(strace, "-f", "-c", "-U", "calls,errors,name", "-o", table, "--", *command)
    rows = re.findall(r"^ *(\d+) +(\d*) +(\w+)$", table.read_text(), re.MULTILINE)
    return {name: (int(calls), int(errors or 0)) for calls, errors, name in rows if name != "total"}


def test_family_against_strace(box: Box) -> None:
    """Threads, children and the programs that they become: all that is not left to chance, name by name."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    threads, children, calls = (16, 40, 2000) if box.kit.full else (4, 6, 100)
    for flags in ((), ("-static",)):
        box.trace = box.root / f"family{len(flags)}.fathom"
        command = (box.kit.victim("crowd", *flags), "family", threads, children, calls)
        box.record(*command, options=SYSCALL)
        check("losses", 0, box.losses())
        own = sums_by(box, "name")
        workers = threads + children
        check("getppid", ((workers + children) * calls, 0, 0), own["getppid"])
        reads = sums_by(box, "name", f"file = '{box.dir / 'data'}'")["pread64"]
        check("reads", (workers * calls, 0, 64 * workers * calls), reads)
        wanted = {name: row for name, row in straced(box, *command).items() if name not in BY_CHANCE}
        got = {name: row[:2] for name, row in own.items() if name not in BY_CHANCE}
        check("strace's table", wanted, got)
        check("ends", children + 1, own["exit_group"][0])


def test_brief_processes(box: Box) -> None:
    """Children that live for a moment, and programs that some of them become: none is missing, each with its end."""
    box.needs_layer("syscall")
    count = 10_000 if box.kit.full else 400
    box.record(box.kit.victim("crowd", "-static"), "brief", count, options=SYSCALL)
    check("losses", 0, box.losses())
    own = sums_by(box, "name")
    check("calls", (count, count // 2 + 1, count + 1), tuple(own[n][0] for n in ("getppid", "execve", "exit_group")))
    check("lives that called", count, box.value("SELECT count(DISTINCT pid) FROM intervals WHERE name = 'getppid'"))
    ended = "SELECT count(*), count(DISTINCT pid) FROM processes WHERE exit IS NOT NULL"
    check("ends", [(count + 1, count + 1)], box.rows(ended))
    programs = "SELECT count(*), min(exit), max(exit) FROM processes WHERE command LIKE 'leaf %'"
    check("programs", [(count // 2, 1, 99)], box.rows(programs))
    wrong = "SELECT count(*) FROM processes WHERE command LIKE 'leaf %' AND command NOT LIKE '% ' || exit"
    check("programs with another one's end", 0, box.value(wrong))
    check("images that were left for them", count // 2, box.value("SELECT count(*) FROM processes WHERE exit IS NULL"))


def test_io_submit(box: Box) -> None:
    """What is handed over by io_submit has its bytes and errors, under the thread that did it; what nobody fetches is
    told, what was refused is not counted."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    rounds = 500 if box.kit.full else 50
    out = box.record(box.kit.victim("aio"), rounds, options=(*SYSCALL, "--detail", "syscall"))
    check("taken of the last five", 2, box.told(out)["taken"])
    by_name = sums_by(box, "name", "name LIKE 'aio:%'")
    reads, writes = 8 * rounds, 8 * rounds
    wanted = {
        "aio:pread": (reads + 2, 1, 512 * reads + 12),
        "aio:pwrite": (writes, 0, 100 * writes),
        "aio:preadv": (1, 0, 100),
        "aio:fsync": (1, 0, 0),
    }
    check("operations", wanted, by_name)
    threads = "SELECT count(DISTINCT tid) FROM intervals WHERE name LIKE 'aio:%'"
    check("threads", 1, box.value(threads))
    files = box.rows("SELECT DISTINCT file FROM intervals WHERE name LIKE 'aio:%' ORDER BY 1")
    check("files", [(str(box.dir / "data"),), (str(box.dir / "out"),)], files)
    single = box.rows(
        "SELECT name, count(*), count(error), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM events "
        "WHERE name LIKE 'aio:%' GROUP BY ALL"
    )
    check("one by one", wanted, {row[0]: row[1:] for row in single})
    check("losses", {("syscall", "results of io_submit that no system call fetched"): 1}, losses_of(box))


def test_io_uring(box: Box) -> None:
    """Every completion, whoever hands it over: the program, workers of the kernel, a thread that polls."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    calls = 5000 if box.kit.full else 200
    for how in ("plain", "async", "polled"):
        box.trace = box.root / f"{how}.fathom"
        out = box.start(
            box.kit.fathom, "run", "-q", *SYSCALL, "-o", box.trace, "--", box.kit.victim("uring"), calls, how
        )
        box.finish(out, None)
        if out.returncode == 3:
            raise Skipped("io_uring is not allowed here")
        check(f"{how}: end", 0, out.returncode)
        own = sums_by(box, "name", "name LIKE 'io_uring:%'")
        wanted = {
            "io_uring:read": (calls + 4, 4, 512 * calls),
            "io_uring:nop": (calls, 0, 0),
            "io_uring:async_cancel": (1, 0, 0),
        }
        check(f"{how}: completions", wanted, own)
        on_data = sums_by(box, "name", f"file = '{box.dir / 'data'}' AND name LIKE 'io_uring:%'")
        check(f"{how}: of the file", {"io_uring:read": (calls, 0, 512 * calls)}, on_data)
        check("losses", 0, box.losses())


def accounts_of(box: Box, how: str, rounds: int) -> dict[str, int]:
    """What the kernel has on a child's account, next to the recording of it."""
    box.trace = box.root / f"{how}.fathom"
    layers = ("--layers", "syscall,pagecache,block")
    told = box.told(box.record(box.kit.victim("accounts", "-static"), how, rounds, options=layers))
    check("losses", 0, box.losses())
    if not box.rows("SELECT 1 FROM layers WHERE layer = 'block' AND state IN ('on', 'partial')"):
        raise Skipped("layer block cannot be recorded")
    return told


def moved(box: Box, child: int, layer: str, names: str) -> Row:
    """Calls that did not fail, and bytes."""
    sql = (
        "SELECT CAST(coalesce(sum(calls - errors), 0) AS BIGINT), CAST(coalesce(sum(bytes), 0) AS BIGINT) "
        f"FROM intervals WHERE pid = {child} AND layer = '{layer}' AND name IN {names}"
    )
    return box.rows(sql)[0]


def test_bytes_against_accounts(box: Box) -> None:
    """Bytes of calls are rchar and wchar of /proc/PID/io; those of devices and dirtied pages what is beside them."""
    box.needs_layer("syscall")
    if not Path("/proc/self/io").exists():
        raise Skipped("this kernel keeps no accounts (/proc/PID/io)")
    (box.dir / "data").write_bytes(os.urandom(1 << 20))
    rounds = 500 if box.kit.full else 30
    told = accounts_of(box, "chars", rounds)
    check("read", (told["syscr"], told["rchar"]), moved(box, told["child"], "syscall", READERS))
    check("written", (told["syscw"], told["wchar"]), moved(box, told["child"], "syscall", WRITERS))
    check("by arithmetic", (14_000 * rounds, 11_400 * rounds), (told["rchar"], told["wchar"]))
    told = accounts_of(box, "direct", rounds)
    check("from the device", told["read_bytes"], moved(box, told["child"], "block", "('read')")[1])
    pages = 4096 * moved(box, told["child"], "pagecache", "('dirty')")[0]
    check("to the device", told["write_bytes"] - pages, moved(box, told["child"], "block", "('write')")[1])


def test_faults_of_mapped_files(box: Box) -> None:
    """Pages of a mapping that were not in memory: as many as the kernel tells the parent, each from the device."""
    box.needs_layer("syscall")
    pages = 200 if box.kit.full else 32
    (box.dir / "data").write_bytes(os.urandom(4096 * pages))
    told = accounts_of(box, "mapped", pages)
    faults = sums_by(box, "name", f"layer = 'pagecache' AND file = '{box.dir / 'data'}' AND pid = {told['child']}")
    check("faults", (told["major"], 0, 4096 * told["major"]), faults["fault"])
    check("pages", pages, told["major"])
    check("pages that were taken in", pages, faults["add"][0])
    from_device = moved(box, told["child"], "block", "('read')")[1]
    rows = box.rows("SELECT pid, tid, name, calls, errors, bytes, file FROM intervals WHERE layer = 'block'")
    check(f"from the device, of child {told['child']} in {rows}", told["read_bytes"], from_device)


@contextmanager
def loop_device(box: Box, size: int) -> Iterator[Path]:
    """A block device that nobody else uses."""
    image = box.root / "image"
    image.write_bytes(bytes(size))
    if not shutil.which("losetup"):
        raise Skipped("losetup is missing")
    made = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Skipped(f"no loop device: {made.stderr.strip()}")
    device = Path(made.stdout.strip())
    try:
        yield device
    finally:
        subprocess.run(["losetup", "-d", device], check=True)


def statistics_of(device: Path) -> dict[str, tuple[int, int]]:
    """Requests that ended and bytes, by direction."""
    fields = [int(word) for word in Path(f"/sys/block/{device.name}/stat").read_text().split()]
    flushes = fields[15]  # empty writes, too
    return {
        "read": (fields[0], 512 * fields[2]),
        "write": (fields[4] - flushes, 512 * fields[6]),
        "flush": (flushes, 0),
    }


def test_blocks_against_statistics(box: Box) -> None:
    """Requests and bytes of a device, as its own statistics have them."""
    box.needs_layer("syscall")
    count = 500 if box.kit.full else 40
    with loop_device(box, 64 << 20) as device:
        script = (
            f"dd if=/dev/zero of={device} bs=64k count={count} oflag=direct status=none && "
            f"dd if={device} of=/dev/null bs=16k count={count} iflag=direct status=none && "
            f"dd if=/dev/zero of={device} bs=8k count={count} conv=fsync status=none"
        )
        before = statistics_of(device)
        box.record("sh", "-c", script, options=("--layers", "syscall,block"))
        after = statistics_of(device)
    if not box.rows("SELECT 1 FROM layers WHERE layer = 'block' AND state IN ('on', 'partial')"):
        raise Skipped("layer block cannot be recorded")
    check("losses", 0, box.losses())
    own = sums_by(box, "name", f"layer = 'block' AND file = '{device}'")
    for name in before:
        wanted = tuple(b - a for a, b in zip(before[name], after[name], strict=True))
        check(f"{name}: requests, bytes", wanted, (own[name][0], own[name][2]))
    check_true(f"all was written: {own}", own["write"][2] >= 72 * 1024 * count)
